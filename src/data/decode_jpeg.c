/* libjpeg-turbo with the settings of TensorFlow's tf.image.decode_image
 * (tensorflow/core/lib/jpeg/jpeg_mem.cc, UncompressLow). The only file that knows libjpeg and the
 * long jump by which it reports errors. */
#include "data/decode.h"

#include "base/num.h"
#include "data/exif.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* A progressive file may hold any number of scans, each of which costs a pass over the picture. */
#define SCAN_LIMIT 500
/* A progressive file is held as coefficients before its first row comes out. */
#define MEMORY_LIMIT_BYTES (1L << 29)
#define MARKER_EXIF (JPEG_APP0 + 1)

typedef struct jpeg_job {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  jmp_buf on_error;
  char message[JMSG_LENGTH_MAX];
  const clm__decode_options *options;
  clm__image *image; /* NULL: nothing is read but what comes before the first row */
} jpeg_job;

/* ---- What libjpeg calls ---- */

static void on_error(j_common_ptr info)
{
  jpeg_job *job = info->client_data;
  info->err->format_message(info, job->message);
  longjmp(job->on_error, 1);
}

/* Keras accepts files with damaged pixels that libjpeg only warns of. */
static void on_message(j_common_ptr info) { (void)info; }

static void source_begin(j_decompress_ptr info) { (void)info; }

/* The whole file is there from the start: whoever wants more reads a truncated file. Reading is
 * suspended then, so that a file whose last pixel is there may lack its end, as with TensorFlow. */
static boolean source_refill(j_decompress_ptr info)
{
  (void)info;
  return FALSE;
}

static void source_skip(j_decompress_ptr info, long count)
{
  if (count <= 0) return;
  const size_t left = info->src->bytes_in_buffer;
  const size_t step = (size_t)count < left ? (size_t)count : left;
  info->src->next_input_byte += step;
  info->src->bytes_in_buffer -= step;
}

static void source_end(j_decompress_ptr info) { (void)info; }

static void on_progress(j_common_ptr info)
{
  if (((j_decompress_ptr)info)->input_scan_number <= SCAN_LIMIT) return;
  jpeg_job *job = info->client_data;
  (void)snprintf(job->message, sizeof job->message, "more than %d scans", SCAN_LIMIT);
  info->err->msg_code = JERR_BAD_PROGRESSION;
  longjmp(job->on_error, 1);
}

/* libjpeg's complaint in our words. */
static clm_status fail_foreign(const jpeg_job *job)
{
  switch (job->errors.msg_code) {
  case JERR_OUT_OF_MEMORY:
    CLM_FAIL(CLM_NO_MEMORY, "out of memory while decoding a JPEG (%s)", job->message);
  case JERR_BAD_PRECISION:
  case JERR_SOF_UNSUPPORTED:
  case JERR_ARITH_NOTIMPL:
  case JERR_CONVERSION_NOTIMPL:
  case JERR_NOT_COMPILED:
    CLM_FAIL(CLM_UNSUPPORTED, "a kind of JPEG that is not supported (%s)", job->message);
  case JERR_NO_BACKING_STORE:
    CLM_FAIL(CLM_BAD_DATA, "too large: decoding it takes more than %ld MiB",
             MEMORY_LIMIT_BYTES >> 20);
  default:
    CLM_FAIL(CLM_BAD_DATA, "damaged JPEG (%s)", job->message);
  }
}

/* ---- Decoding ---- */

static void open_job(jpeg_job *job, const void *bytes, size_t size_bytes)
{
  jpeg_create_decompress(&job->info);
  job->source = (struct jpeg_source_mgr){.next_input_byte = bytes,
                                         .bytes_in_buffer = size_bytes,
                                         .init_source = source_begin,
                                         .fill_input_buffer = source_refill,
                                         .skip_input_data = source_skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = source_end};
  job->progress = (struct jpeg_progress_mgr){.progress_monitor = on_progress};
  job->info.src = &job->source;
  job->info.progress = &job->progress;
  job->info.mem->max_memory_to_use = MEMORY_LIMIT_BYTES;
  if (job->options->apply_exif) jpeg_save_markers(&job->info, MARKER_EXIF, 0xFFFF);
}

static bool is_cmyk(const struct jpeg_decompress_struct *info)
{
  return info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
}

static J_COLOR_SPACE wanted_colours(const jpeg_job *job)
{
  if (job->options->channels == 1) return JCS_GRAYSCALE;
  if (is_cmyk(&job->info)) return JCS_CMYK;
  return job->options->channels == 4 ? JCS_EXT_RGBA : JCS_RGB;
}

/* The largest of the divisors 1, 2, 4, 8 that leaves the wanted size. */
static unsigned int scale_divisor(const jpeg_job *job)
{
  const int least_height = job->options->least_height;
  const int least_width = job->options->least_width;
  if (least_height <= 0 || least_width <= 0) return 1;
  unsigned int divisor = 1;
  while (divisor < 8 && job->info.image_height / (divisor * 2) >= (unsigned int)least_height &&
         job->info.image_width / (divisor * 2) >= (unsigned int)least_width)
    divisor *= 2;
  return divisor;
}

static void set_up(jpeg_job *job)
{
  job->info.out_color_space = wanted_colours(job);
  job->info.do_fancy_upsampling = TRUE;
  job->info.dct_method = JDCT_IFAST;
  job->info.scale_num = 1;
  job->info.scale_denom = scale_divisor(job);
  jpeg_calc_output_dimensions(&job->info);
}

/* TensorFlow's arithmetic. Adobe's files hold inverted ink. */
static void cmyk_to_rgb(const JSAMPLE *cmyk, bool inverted, int channels, int width, uint8_t *rgb)
{
  for (int x = 0; x < width; x++, cmyk += 4, rgb += channels) {
    const int k = inverted ? cmyk[3] : 255 - cmyk[3];
    for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)(k * (inverted ? cmyk[c] : 255 - cmyk[c]) / 255);
    if (channels == 4) rgb[3] = 255;
  }
}

static clm_status read_rows(jpeg_job *job)
{
  struct jpeg_decompress_struct *info = &job->info;
  clm__image *image = job->image;
  const size_t stride = (size_t)image->width * (size_t)image->channels;
  const bool from_cmyk = info->out_color_space == JCS_CMYK;
  /* The line belongs to libjpeg's memory of this picture and goes with it. */
  JSAMPLE *line = !from_cmyk ? NULL
                             : info->mem->alloc_large((j_common_ptr)info, JPOOL_IMAGE,
                                                      (size_t)image->width * 4);
  while (info->output_scanline < info->output_height) {
    uint8_t *target = image->pixels + info->output_scanline * stride;
    JSAMPROW row = from_cmyk ? line : target;
    CLM_REQUIRE(jpeg_read_scanlines(info, &row, 1) == 1, CLM_BAD_DATA,
                "truncated JPEG: it ends in line %u of %u", info->output_scanline + 1,
                info->output_height);
    if (from_cmyk)
      cmyk_to_rgb(line, info->saw_Adobe_marker != 0, image->channels, image->width, target);
  }
  /* A missing end after the last pixel is no fault. */
  (void)jpeg_finish_decompress(info);
  return CLM_OK;
}

/* Markers are kept only where EXIF is asked for; they are gone once the last row is read. */
static int find_orientation(const struct jpeg_decompress_struct *info)
{
  static const char intro[] = "Exif\0";
  for (jpeg_saved_marker_ptr marker = info->marker_list; marker != NULL; marker = marker->next) {
    const size_t length = marker->data_length;
    if (length < sizeof intro || memcmp(marker->data, intro, sizeof intro) != 0) continue;
    return clm__exif_orientation(marker->data + sizeof intro, length - sizeof intro);
  }
  return 1;
}

/* May be left by a long jump: owns nothing. */
static clm_status decode_job(jpeg_job *job)
{
  struct jpeg_decompress_struct *info = &job->info;
  CLM_REQUIRE(jpeg_read_header(info, TRUE) == JPEG_HEADER_OK, CLM_BAD_DATA,
              "truncated JPEG: it ends within its header");
  CLM_REQUIRE(job->options->channels != 1 || !is_cmyk(info), CLM_UNSUPPORTED,
              "a CMYK JPEG cannot be read as grey: convert it to RGB or grey");
  set_up(job);
  /* As in TensorFlow the components of the file count, too. */
  const int bytes_each = clm__max_int(info->num_components, job->options->channels);
  CLM_TRY(
      clm__decode_check_size(job->options, info->output_height, info->output_width, bytes_each));
  CLM_REQUIRE(jpeg_start_decompress(info), CLM_BAD_DATA, "truncated JPEG: it ends within a scan");
  if (job->image == NULL) return CLM_OK;
  CLM_TRY(clm__image_prepare(job->image, (int)info->output_height, (int)info->output_width,
                             job->options->channels));
  const int orientation = find_orientation(info);
  CLM_TRY(read_rows(job));
  return clm__image_set_upright(job->image, orientation);
}

/* Comes back here from a long jump. What must survive it belongs to the caller. */
static clm_status run_job(jpeg_job *job, const void *bytes, size_t size_bytes)
{
  if (setjmp(job->on_error) != 0) return fail_foreign(job);
  open_job(job, bytes, size_bytes);
  return decode_job(job);
}

static clm_status decode(const void *bytes, size_t size_bytes, const clm__decode_options *options,
                         clm__image *image)
{
  jpeg_job job = {.options = options, .image = image};
  job.info.err = jpeg_std_error(&job.errors);
  job.errors.error_exit = on_error;
  job.errors.output_message = on_message;
  job.info.client_data = &job;
  const clm_status status = run_job(&job, bytes, size_bytes);
  jpeg_destroy_decompress(&job.info);
  return status;
}

clm_status clm__decode_jpeg(const void *bytes, size_t size_bytes,
                            const clm__decode_options *options, clm__image *image)
{
  return decode(bytes, size_bytes, options, image);
}

clm_status clm__decode_jpeg_begin(const void *bytes, size_t size_bytes,
                                  const clm__decode_options *options)
{
  return decode(bytes, size_bytes, options, NULL);
}
