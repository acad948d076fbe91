/* libpng with the settings of TensorFlow's tf.image.decode_image
 * (tensorflow/core/lib/png/png_io.cc, CommonInitDecode). The long jump by which libpng reports
 * errors ends in run_job. */
#include "data/decode.h"
#include "data/exif.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

typedef struct png_job {
  png_structp png;
  png_infop info;
  const uint8_t *at;
  size_t left_bytes;
  bool truncated;
  char message[128];
  const clm__decode_options *options;
  clm__image *image;
} png_job;

static void on_error(png_structp png, png_const_charp message)
{
  png_job *job = png_get_error_ptr(png);
  (void)snprintf(job->message, sizeof job->message, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png;
  (void)message;
}

static void on_read(png_structp png, png_bytep target, size_t count)
{
  png_job *job = png_get_io_ptr(png);
  if (count > job->left_bytes) {
    job->truncated = true;
    png_error(png, "the file ends too early");
  }
  memcpy(target, job->at, count);
  job->at += count;
  job->left_bytes -= count;
}

static bool has_transparency(const png_job *job)
{
  const png_byte kind = png_get_color_type(job->png, job->info);
  return (kind & PNG_COLOR_MASK_ALPHA) != 0 ||
         png_get_valid(job->png, job->info, PNG_INFO_tRNS) != 0;
}

/* Keeps, adds or strips alpha: what is there and what is wanted decide. */
static void set_up_alpha(const png_job *job, bool wanted)
{
  const png_byte kind = png_get_color_type(job->png, job->info);
  const bool has_alpha = (kind & PNG_COLOR_MASK_ALPHA) != 0;
  const bool is_deep = png_get_bit_depth(job->png, job->info) > 8;
  if (!wanted)
    png_set_strip_alpha(job->png);
  else if (!has_alpha && has_transparency(job))
    png_set_tRNS_to_alpha(job->png);
  else if (!has_alpha)
    png_set_add_alpha(job->png, is_deep ? 0xFFFF : 0xFF, PNG_FILLER_AFTER);
}

/* Asks libpng for 8-bit grey or colours, and for alpha where it is wanted. */
static void set_up(const png_job *job, bool alpha)
{
  const png_byte kind = png_get_color_type(job->png, job->info);
  const png_byte bit_depth = png_get_bit_depth(job->png, job->info);
  const bool wants_grey = job->options->channels == 1;
  const bool is_grey = (kind & PNG_COLOR_MASK_COLOR) == 0;
  set_up_alpha(job, alpha);
  /* The high byte, not the nearest one. */
  if (bit_depth > 8) png_set_strip_16(job->png);
  png_set_packing(job->png);
  if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(job->png);
  if (is_grey && bit_depth < 8) png_set_expand_gray_1_2_4_to_8(job->png);
  if (wants_grey && !is_grey) png_set_rgb_to_gray(job->png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (!wants_grey && is_grey) png_set_gray_to_rgb(job->png);
}

static void read_rows(const png_job *job, int pass_count)
{
  const size_t stride = (size_t)job->image->width * (size_t)job->image->channels;
  for (int pass = 0; pass < pass_count; pass++)
    for (int y = 0; y < job->image->height; y++)
      png_read_row(job->png, job->image->pixels + (size_t)y * stride, NULL);
  png_read_end(job->png, job->info);
}

/* Composites on white and takes the alpha channel away, in place. */
static void blend_on_white(clm__image *image)
{
  const size_t pixel_count = (size_t)image->height * (size_t)image->width;
  const int colours = image->channels - 1;
  const uint8_t *from = image->pixels;
  uint8_t *to = image->pixels;
  for (size_t i = 0; i < pixel_count; i++, from += colours + 1, to += colours) {
    const int alpha = from[colours];
    for (int c = 0; c < colours; c++)
      to[c] = (uint8_t)((from[c] * alpha + 255 * (255 - alpha) + 127) / 255);
  }
  image->channels = colours;
}

static clm_status set_upright(const png_job *job)
{
  png_uint_32 size_bytes = 0;
  png_bytep exif = NULL;
  if (png_get_eXIf_1(job->png, job->info, &size_bytes, &exif) == 0) return CLM_OK;
  return clm__image_set_upright(job->image, clm__exif_orientation(exif, size_bytes));
}

/* May be left by a long jump: owns nothing. */
static clm_status decode_job(png_job *job)
{
  png_set_read_fn(job->png, job, on_read);
  png_read_info(job->png, job->info);
  const bool blend =
      job->options->blend_alpha && job->options->channels != 4 && has_transparency(job);
  const bool alpha = blend || job->options->channels == 4;
  set_up(job, alpha);
  const int pass_count = png_set_interlace_handling(job->png);
  png_read_update_info(job->png, job->info);
  const int channels = job->options->channels + (blend ? 1 : 0);
  CLM_REQUIRE(png_get_channels(job->png, job->info) == channels &&
                  png_get_bit_depth(job->png, job->info) == 8,
              CLM_UNSUPPORTED, "a kind of PNG that is not supported");
  CLM_TRY(clm__decode_check_size(job->options, png_get_image_height(job->png, job->info),
                                 png_get_image_width(job->png, job->info), channels));
  CLM_TRY(clm__image_prepare(job->image, (int)png_get_image_height(job->png, job->info),
                             (int)png_get_image_width(job->png, job->info), channels));
  read_rows(job, pass_count);
  if (blend) blend_on_white(job->image);
  if (job->options->apply_exif) CLM_TRY(set_upright(job));
  return CLM_OK;
}

static clm_status fail_foreign(const png_job *job)
{
  CLM_REQUIRE(!job->truncated, CLM_BAD_DATA, "truncated PNG");
  CLM_FAIL(CLM_BAD_DATA, "damaged PNG (%s)", job->message);
}

/* Comes back here from a long jump. What must survive it belongs to the caller. */
static clm_status run_job(png_job *job)
{
  if (setjmp(png_jmpbuf(job->png)) != 0) return fail_foreign(job);
  return decode_job(job);
}

clm_status clm__decode_png(const void *bytes, size_t size_bytes, const clm__decode_options *options,
                           clm__image *image)
{
  png_job job = {.at = bytes, .left_bytes = size_bytes, .options = options, .image = image};
  job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
  if (job.png != NULL) job.info = png_create_info_struct(job.png);
  clm_status status = CLM_OK;
  if (job.info != NULL)
    status = run_job(&job);
  else
    status = clm__error_fail(CLM_NO_MEMORY, __FILE__, __LINE__, __func__,
                             "out of memory while decoding a PNG");
  png_destroy_read_struct(&job.png, &job.info, NULL);
  return status;
}
