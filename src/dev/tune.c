#include "dev/tune.h"

#include "base/mem.h"
#include "base/str.h"
#include "dev/source.h"
#include "dev/tune_line.h"
#include "sys/file.h"

#include <stdio.h>
#include <string.h>

#define FILE_MAX ((size_t)16 << 20)

struct clm__tune {
  clm__tune_entry *entries;
  size_t count;
  char *path; /* of the user's file; NULL where there is no folder for one */
};

/* The length of the line at `text`, without its end. */
static size_t line_length(const char *text) { return strcspn(text, "\n"); }

static const char *next_line(const char *text)
{
  text += line_length(text);
  return *text == '\n' ? text + 1 : text;
}

static clm_status add_entry(clm__tune *tune, const clm__tune_entry *entry)
{
  CLM_TRY(clm__mem_resize(tune->count + 1, sizeof *entry, &tune->entries));
  tune->entries[tune->count++] = *entry;
  return CLM_OK;
}

static clm_status read_text(clm__tune *tune, const char *text, const char *file, bool is_users)
{
  for (int number = 1; *text != '\0'; text = next_line(text), number++) {
    clm__tune_entry entry;
    const char *reason = NULL;
    clm__tune_line_read(text, line_length(text), &entry, &reason);
    CLM_REQUIRE(reason == NULL, CLM_BAD_DATA, "%s, line %d: %s", file, number, reason);
    entry.is_users = is_users;
    if (entry.op_pass[0] != '\0') CLM_TRY(add_entry(tune, &entry));
  }
  return CLM_OK;
}

static clm_status find_path(const char *path, char **found)
{
  char *folder = NULL;
  if (path != NULL) return clm__mem_copy_text(path, found);
  CLM_TRY(clm__file_cache_folder(&folder));
  if (folder == NULL) return CLM_OK;
  const clm_status status = clm__file_join(folder, "tuning.txt", found);
  clm__mem_free(folder);
  return status;
}

/* The text of the user's file, NULL where there is none; taken by the caller. */
static clm_status load_file(const char *path, char **text)
{
  size_t size = 0;
  if (path == NULL || !clm__file_exists(path)) return CLM_OK;
  return clm__file_read(path, FILE_MAX, text, &size);
}

static clm_status add_users(clm__tune *tune, const char *path)
{
  char *text = NULL;
  CLM_TRY(find_path(path, &tune->path));
  CLM_TRY(load_file(tune->path, &text));
  if (text == NULL) return CLM_OK;
  const clm_status status = read_text(tune, text, tune->path, true);
  clm__mem_free(text);
  return status;
}

clm_status clm__tune_open_shipped(clm__tune **tune)
{
  clm__tune *opened = NULL;
  const char *shipped = clm__source_find("tuning.txt");
  CLM_REQUIRE(shipped != NULL, CLM_INTERNAL, "the shipped tuning values are missing");
  CLM_TRY(clm__mem_alloc(1, sizeof *opened, &opened));
  const clm_status status = read_text(opened, shipped, "the shipped tuning.txt", false);
  if (status != CLM_OK) {
    clm__tune_close(opened);
    return status;
  }
  *tune = opened;
  return CLM_OK;
}

clm_status clm__tune_open(const char *path, clm__tune **tune)
{
  clm__tune *opened = NULL;
  CLM_TRY(clm__tune_open_shipped(&opened));
  const clm_status status = add_users(opened, path);
  if (status != CLM_OK) {
    clm__tune_close(opened);
    return status;
  }
  *tune = opened;
  return CLM_OK;
}

void clm__tune_close(clm__tune *tune)
{
  if (tune == NULL) return;
  clm__mem_free(tune->entries);
  clm__mem_free(tune->path);
  clm__mem_free(tune);
}

/* How well an entry fits, 0 where it does not: file, then device, then shape. */
static int rank(const clm__tune_entry *entry, const clm__device_info *info, const char *op_pass,
                const char *shape)
{
  const bool is_any_shape = strcmp(entry->shape, "*") == 0;
  if (strcmp(entry->op_pass, op_pass) != 0) return 0;
  if (!is_any_shape && strcmp(entry->shape, shape) != 0) return 0;
  const int device = clm__tune_device_rank(entry->device, info);
  if (device == 0) return 0;
  return (entry->is_users ? 10000 : 0) + 2 * device + !is_any_shape;
}

void clm__tune_find(const clm__tune *tune, const clm__device_info *info, const char *op_pass,
                    const char *shape, clm__tune_values *values)
{
  int best = 1;
  *values = (clm__tune_values){0};
  for (size_t i = 0; tune != NULL && i < tune->count; i++) {
    const int found = rank(&tune->entries[i], info, op_pass, shape);
    if (found < best) continue; /* of equals the later line counts */
    best = found;
    *values = tune->entries[i].values;
  }
}

bool clm__tune_has(const clm__tune *tune, const clm__device_info *info, const char *op_pass,
                   const char *shape)
{
  char device[CLM__TUNE_DEVICE_SIZE];
  clm__tune_device_word(info, device);
  for (size_t i = 0; i < tune->count; i++) {
    const clm__tune_entry *entry = &tune->entries[i];
    if (entry->is_users && strcmp(entry->op_pass, op_pass) == 0 &&
        strcmp(entry->shape, shape) == 0 && strcmp(entry->device, device) == 0)
      return true;
  }
  return false;
}

const char *clm__tune_path(const clm__tune *tune) { return tune->path; }

static bool is_same_key(const clm__tune_entry *a, const clm__tune_entry *b)
{
  return strcmp(a->op_pass, b->op_pass) == 0 && strcmp(a->shape, b->shape) == 0 &&
         strcmp(a->device, b->device) == 0;
}

/* The old text without the lines of the same key, and the new line; taken by the caller. */
static clm_status join_text(const char *old, const clm__tune_entry *entry, const char *line,
                            clm__str *text)
{
  for (; *old != '\0'; old = next_line(old)) {
    clm__tune_entry other;
    const char *reason = NULL;
    const size_t length = line_length(old);
    clm__tune_line_read(old, length, &other, &reason);
    if (reason == NULL && is_same_key(&other, entry)) continue;
    CLM_TRY(clm__str_add_bytes(text, old, length));
    CLM_TRY(clm__str_add_bytes(text, "\n", 1));
  }
  return clm__str_add(text, "%s\n", line);
}

static clm_status make_folder_above(const char *path)
{
  char *folder = NULL;
  const char *name = clm__file_base_name(path);
  if (name == path) return CLM_OK;
  CLM_TRY(clm__mem_copy_text(path, &folder));
  folder[name - path - 1] = '\0';
  const clm_status status = folder[0] != '\0' ? clm__file_make_folder(folder) : CLM_OK;
  clm__mem_free(folder);
  return status;
}

static clm_status write_line(const char *path, const clm__tune_entry *entry, const char *line)
{
  clm__str text = {0};
  char *old = NULL;
  clm_status status = CLM_OK;
  CLM_TRY_TO(done, status, make_folder_above(path));
  CLM_TRY_TO(done, status, load_file(path, &old));
  CLM_TRY_TO(done, status, join_text(old != NULL ? old : "", entry, line, &text));
  CLM_TRY_TO(done, status, clm__file_write(path, text.text, text.length));
done:
  clm__str_fini(&text);
  clm__mem_free(old);
  return status;
}

clm_status clm__tune_record(clm__tune *tune, const clm__device_info *info, const char *op_pass,
                            const char *shape, const clm__tune_values *values)
{
  char device[CLM__TUNE_DEVICE_SIZE], line[1024];
  clm__tune_entry entry;
  const char *reason = NULL;
  CLM_REQUIRE(tune->path != NULL, CLM_IO,
              "tuning values have no place: set CLEMATIS_CACHE or HOME to a folder");
  clm__tune_device_word(info, device);
  const int length =
      snprintf(line, sizeof line, "%s | %s | %s | %s%s%s", op_pass, shape, device, values->variant,
               values->defines[0] != '\0' ? " " : "", values->defines);
  clm__tune_line_read(line, (size_t)length, &entry, &reason);
  CLM_REQUIRE((size_t)length < sizeof line && reason == NULL && strchr(line, '\n') == NULL &&
                  entry.op_pass[0] != '\0',
              CLM_BAD_DATA, "the tuning values \"%s\" cannot be recorded: %s", line,
              reason != NULL ? reason : "they are no line of the file");
  CLM_TRY(write_line(tune->path, &entry, line));
  entry.is_users = true;
  return add_entry(tune, &entry);
}
