/* libpng for writing. The long jump by which it reports errors ends in run_job. */
#include "data/encode_png.h"

#include "base/mem.h"
#include "base/str.h"
#include "sys/file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

/* Small enough to be quick: a drawn picture shrinks little more at higher levels. */
#define COMPRESSION_LEVEL 2

typedef struct write_job {
  const clm__image *image;
  clm__str file;
  clm_status status; /* of the memory of file */
  char message[128];
} write_job;

static void on_error(png_structp png, png_const_charp message)
{
  write_job *job = png_get_error_ptr(png);
  (void)snprintf(job->message, sizeof job->message, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png;
  (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t count)
{
  write_job *job = png_get_io_ptr(png);
  job->status = clm__str_add_bytes(&job->file, (const char *)bytes, count);
  if (job->status != CLM_OK) png_error(png, "no memory");
}

static void on_flush(png_structp png) { (void)png; }

static void write_image(png_structp png, png_infop info, write_job *job)
{
  const clm__image *image = job->image;
  const size_t row_bytes = 3 * (size_t)image->width;
  png_set_write_fn(png, job, on_write, on_flush);
  png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, COMPRESSION_LEVEL);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
  png_write_info(png, info);
  for (int y = 0; y < image->height; y++) png_write_row(png, image->pixels + (size_t)y * row_bytes);
  png_write_end(png, info);
}

/* Nothing that changes after setjmp lives in this function's frame. */
static clm_status run_job(png_structp png, png_infop info, write_job *job)
{
  if (setjmp(png_jmpbuf(png)) != 0) {
    if (job->status != CLM_OK) return clm__error_pass(job->status, __FILE__, __LINE__, __func__);
    CLM_FAIL(CLM_INTERNAL, "cannot make a PNG file: %s", job->message);
  }
  write_image(png, info, job);
  return CLM_OK;
}

static clm_status write_bytes(const char *path, const clm__str *file)
{
  FILE *stream = fopen(path, "wb");
  CLM_REQUIRE(stream != NULL, CLM_IO, "cannot write %s: %s", path, strerror(errno));
  const bool is_written = fwrite(file->text, 1, file->length, stream) == file->length;
  const int reason = errno;
  if (fclose(stream) == 0 && is_written) return CLM_OK;
  CLM_FAIL(CLM_IO, "cannot write %s: %s", path, strerror(is_written ? errno : reason));
}

/* Not clm__file_write, which waits for the disk: hundreds of pictures that can be drawn again are
 * not worth that. */
static clm_status write_file(const char *path, const clm__str *file)
{
  char *temporary = NULL;
  clm_status status = CLM_OK;
  CLM_TRY(clm__file_temporary_name(path, &temporary));
  CLM_TRY_TO(done, status, write_bytes(temporary, file));
  if (rename(temporary, path) != 0)
    CLM_FAIL_TO(done, status, CLM_IO, "cannot write %s: %s", path, strerror(errno));
done:
  if (status != CLM_OK) (void)remove(temporary);
  clm__mem_free(temporary);
  return status;
}

clm_status clm__encode_png(const clm__image *image, const char *path)
{
  CLM_ASSERT(image->channels == 3);
  write_job job = {.image = image};
  clm_status status = CLM_OK;
  png_infop info = NULL;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
  if (png == NULL) CLM_FAIL_TO(done, status, CLM_NO_MEMORY, "no memory to write %s", path);
  info = png_create_info_struct(png);
  if (info == NULL) CLM_FAIL_TO(done, status, CLM_NO_MEMORY, "no memory to write %s", path);
  CLM_TRY_TO(done, status, run_job(png, info, &job));
  CLM_TRY_TO(done, status, write_file(path, &job.file));
done:
  png_destroy_write_struct(&png, &info);
  clm__str_fini(&job.file);
  return status;
}
