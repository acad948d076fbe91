/* A list of samples as bytes: numbers with the lowest byte first, texts behind their length. */
#include "data/dataset.h"

#include "base/mem.h"
#include "base/str.h"

#include <limits.h>
#include <string.h>

#define MAGIC 0x31444c43U /* "CLD1" */
/* The length of a text that is not there. */
#define NO_TEXT UINT32_MAX
/* Any sample takes so many bytes: label, length of path, length of fault. */
#define SAMPLE_LEAST 12

/* ---- packing ---- */

static clm_status put_number(clm__str *bytes, uint64_t value, size_t size)
{
  char digits[8];
  for (size_t i = 0; i < size; i++) digits[i] = (char)(value >> (8 * i) & 0xff);
  return clm__str_add_bytes(bytes, digits, size);
}

static clm_status put_text(clm__str *bytes, const char *text)
{
  if (text == NULL) return put_number(bytes, NO_TEXT, 4);
  const size_t length = strlen(text);
  CLM_TRY(put_number(bytes, length, 4));
  return clm__str_add_bytes(bytes, text, length);
}

static clm_status put_all(clm__str *bytes, const clm__dataset *dataset)
{
  CLM_TRY(put_number(bytes, MAGIC, 4));
  CLM_TRY(put_number(bytes, (uint64_t)dataset->class_count, 4));
  CLM_TRY(put_number(bytes, dataset->all_count, 8));
  CLM_TRY(put_number(bytes, dataset->count, 8));
  CLM_TRY(put_number(bytes, dataset->train_count, 8));
  CLM_TRY(put_number(bytes, dataset->ignored_entries, 8));
  for (int i = 0; i < dataset->class_count; i++) CLM_TRY(put_text(bytes, dataset->class_names[i]));
  for (size_t i = 0; i < dataset->all_count; i++) {
    const clm__sample *sample = &dataset->samples[i];
    CLM_TRY(put_number(bytes, (uint32_t)sample->label, 4));
    CLM_TRY(put_text(bytes, sample->path));
    CLM_TRY(put_text(bytes, sample->fault));
  }
  return CLM_OK;
}

clm_status clm__dataset_pack(const clm__dataset *dataset, char **bytes, size_t *size_bytes)
{
  clm__str packed = {0};
  clm_status status = put_all(&packed, dataset);
  const size_t length = packed.length;
  if (status == CLM_OK) status = clm__str_take(&packed, bytes);
  clm__str_fini(&packed);
  if (status == CLM_OK) *size_bytes = length;
  return status;
}

/* ---- unpacking ---- */

typedef struct source {
  const unsigned char *at;
  size_t left;
} source;

static clm_status fail(const char *what)
{
  CLM_FAIL(CLM_BAD_DATA, "the list of images that came from rank 0 is damaged: %s", what);
}

static clm_status get_number(source *from, size_t size, uint64_t *value)
{
  if (from->left < size) return fail("it ends too early");
  uint64_t got = 0;
  for (size_t i = 0; i < size; i++) got |= (uint64_t)from->at[i] << (8 * i);
  from->at += size;
  from->left -= size;
  *value = got;
  return CLM_OK;
}

static clm_status get_text(source *from, char **text)
{
  uint64_t length = 0;
  CLM_TRY(get_number(from, 4, &length));
  if (length == NO_TEXT) return CLM_OK;
  if (length > from->left) return fail("a text ends too early");
  if (memchr(from->at, '\0', length) != NULL) return fail("a text holds a NUL byte");
  char *copy = NULL;
  CLM_TRY(clm__mem_alloc(length + 1, 1, &copy));
  memcpy(copy, from->at, length);
  from->at += length;
  from->left -= length;
  *text = copy;
  return CLM_OK;
}

/* A path that leads out of the folder could make a rank read any file. */
static bool is_inside(const char *path)
{
  if (path[0] == '\0' || path[0] == '/') return false;
  for (const char *part = path; part != NULL;) {
    const size_t length = strcspn(part, "/");
    if (length == 2 && part[0] == '.' && part[1] == '.') return false;
    part = part[length] == '/' ? part + length + 1 : NULL;
  }
  return true;
}

static clm_status get_classes(source *from, size_t count, clm__dataset *dataset)
{
  CLM_TRY(clm__mem_alloc(count, sizeof *dataset->class_names, &dataset->class_names));
  while (dataset->class_count < (int)count) {
    char *name = NULL;
    CLM_TRY(get_text(from, &name));
    if (name == NULL) return fail("a class has no name");
    dataset->class_names[dataset->class_count++] = name;
  }
  return CLM_OK;
}

static clm_status get_sample(source *from, clm__dataset *dataset)
{
  const bool is_left_out = dataset->all_count >= dataset->count;
  clm__sample *sample = &dataset->samples[dataset->all_count++];
  uint64_t label = 0;
  CLM_TRY(get_number(from, 4, &label));
  sample->label = label == UINT32_MAX ? -1 : (int)(label & INT_MAX);
  CLM_TRY(get_text(from, &sample->path));
  CLM_TRY(get_text(from, &sample->fault));
  if (sample->path == NULL || !is_inside(sample->path)) return fail("a path leads elsewhere");
  if (label != UINT32_MAX && label >= (uint64_t)dataset->class_count)
    return fail("an image has an unknown class");
  if (is_left_out && sample->fault == NULL) return fail("an image is left out without a reason");
  return CLM_OK;
}

static clm_status get_all(source *from, clm__dataset *dataset)
{
  uint64_t magic = 0;
  uint64_t class_count = 0;
  uint64_t counts[4] = {0};
  CLM_TRY(get_number(from, 4, &magic));
  if (magic != MAGIC) return fail("it is none");
  CLM_TRY(get_number(from, 4, &class_count));
  for (int i = 0; i < 4; i++) CLM_TRY(get_number(from, 8, &counts[i]));
  const uint64_t all_count = counts[0];
  dataset->count = (size_t)counts[1];
  dataset->train_count = (size_t)counts[2];
  dataset->ignored_entries = (size_t)counts[3];
  if (class_count > from->left / 4 || class_count > INT_MAX ||
      all_count > from->left / SAMPLE_LEAST || counts[1] > all_count || counts[2] > counts[1])
    return fail("its numbers do not fit each other");
  CLM_TRY(get_classes(from, (size_t)class_count, dataset));
  CLM_TRY(clm__mem_alloc((size_t)all_count, sizeof *dataset->samples, &dataset->samples));
  while (dataset->all_count < all_count) CLM_TRY(get_sample(from, dataset));
  return from->left == 0 ? CLM_OK : fail("it is too long");
}

clm_status clm__dataset_unpack(const void *bytes, size_t size_bytes, const char *folder,
                               clm__dataset **dataset)
{
  source from = {.at = bytes, .left = size_bytes};
  clm__dataset *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  clm_status status = clm__mem_copy_text(folder, &made->folder);
  if (status == CLM_OK) status = get_all(&from, made);
  if (status != CLM_OK) {
    clm__dataset_close(made);
    return clm__error_pass(status, __FILE__, __LINE__, __func__);
  }
  *dataset = made;
  return CLM_OK;
}
