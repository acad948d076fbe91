#include "data/reader.h"

#include <string.h>

/* No picture that fits CLM__IMAGE_LIMIT_BYTES needs a larger file. */
#define FILE_LIMIT_BYTES CLM__IMAGE_LIMIT_BYTES
/* Kept from one file to the next; more is given back. */
#define KEPT_BYTES ((size_t)64 << 20)

bool clm__reader_is_fault(clm_status status)
{
  return status == CLM_NO_INPUT || status == CLM_IO || status == CLM_BAD_DATA ||
         status == CLM_UNSUPPORTED;
}

/* "cannot open /data/a.jpg: reason" -> "cannot open: reason": who reports it names the path. */
static clm_status drop_path(clm_status status, const char *path)
{
  clm_error error = *clm_error_last();
  char *found = strstr(error.message, path);
  if (found == NULL) return status;
  const char *rest = found + strlen(path);
  if (found > error.message)
    found--;
  else if (*rest == ' ')
    rest++;
  memmove(found, rest, strlen(rest) + 1);
  return clm__error_raise(&error);
}

static clm_status read_file(clm__reader *reader, const char *folder, const char *path)
{
  reader->path.length = 0;
  CLM_TRY(clm__str_add(&reader->path, "%s/%s", folder, path));
  const char *full = clm__str_get(&reader->path);
  const clm_status status = clm__file_read_into(full, FILE_LIMIT_BYTES, &reader->file);
  return status == CLM_OK ? CLM_OK : drop_path(status, full);
}

clm_status clm__reader_read(clm__reader *reader, const char *folder, const char *path,
                            const clm__decode_options *options)
{
  CLM_TRY(read_file(reader, folder, path));
  CLM_TRY(clm__decode(reader->file.bytes, reader->file.size_bytes, options, &reader->image));
  return CLM_OK;
}

clm_status clm__reader_verify(clm__reader *reader, const char *folder, const char *path)
{
  CLM_TRY(read_file(reader, folder, path));
  CLM_TRY(clm__decode_verify(reader->file.bytes, reader->file.size_bytes, &reader->image));
  return CLM_OK;
}

void clm__reader_trim(clm__reader *reader)
{
  if (reader->file.capacity_bytes > KEPT_BYTES) clm__file_buffer_fini(&reader->file);
  if (reader->image.capacity_bytes > KEPT_BYTES) clm__image_fini(&reader->image);
}

void clm__reader_fini(clm__reader *reader)
{
  clm__file_buffer_fini(&reader->file);
  clm__str_fini(&reader->path);
  clm__image_fini(&reader->image);
}
