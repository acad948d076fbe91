#include "data/walk.h"

#include "base/mem.h"
#include "base/num.h"
#include "sys/file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* A folder on the way down; a link back to one of them would lead round for ever. */
typedef struct ancestor {
  const struct ancestor *above;
  dev_t device;
  ino_t inode;
} ancestor;

typedef struct folder_walk {
  clm__walk *walk;
  const char *folder;
  bool follow_links;
  int label;
} folder_walk;

/* The endings that Keras lists, in any case. */
static bool has_image_ending(const char *name)
{
  static const char *const endings[] = {".bmp", ".gif", ".jpeg", ".jpg", ".png"};
  const size_t length = strlen(name);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    const size_t ending = strlen(endings[i]);
    if (length >= ending && strcasecmp(name + length - ending, endings[i]) == 0) return true;
  }
  return false;
}

static int compare_files(const void *a, const void *b)
{
  const clm__walk_file *left = a;
  const clm__walk_file *right = b;
  const size_t shared = clm__min_size(left->folder_length, right->folder_length);
  const int order = memcmp(left->path, right->path, shared);
  if (order != 0) return order;
  if (left->folder_length != right->folder_length)
    return left->folder_length < right->folder_length ? -1 : 1;
  return strcmp(left->path + shared, right->path + shared);
}

/* "name" below "", else "relative/name"; taken by the caller. */
static clm_status join_relative(const char *relative, const char *name, char **path)
{
  if (*relative == '\0') return clm__mem_copy_text(name, path);
  return clm__file_join(relative, name, path);
}

static clm_status add_file(folder_walk *walker, const char *relative, const char *name)
{
  clm__walk *walk = walker->walk;
  CLM_REQUIRE(walk->count < UINT32_MAX, CLM_BAD_DATA, "%s holds more than 2^32 pictures",
              walker->folder);
  if ((walk->count & (walk->count + 1)) == 0)
    CLM_TRY(clm__mem_resize(walk->count * 2 + 2, sizeof *walk->files, &walk->files));
  clm__walk_file file = {.folder_length = strlen(relative), .label = walker->label};
  CLM_TRY(join_relative(relative, name, &file.path));
  walk->files[walk->count++] = file;
  return CLM_OK;
}

static clm_status walk_folder(folder_walk *walker, const char *relative, const ancestor *above);

static clm_status walk_entry(folder_walk *walker, const char *relative,
                             const clm__file_entry *entry, const ancestor *above)
{
  const bool hidden = entry->name[0] == '.';
  if (!hidden && entry->is_folder && (!entry->is_link || walker->follow_links)) {
    char *path = NULL;
    CLM_TRY(join_relative(relative, entry->name, &path));
    const clm_status status = walk_folder(walker, path, above);
    clm__mem_free(path);
    return status;
  }
  if (!hidden && !entry->is_folder && has_image_ending(entry->name))
    return add_file(walker, relative, entry->name);
  walker->walk->ignored_entries++;
  return CLM_OK;
}

static bool is_among(const ancestor *above, const struct stat *info)
{
  for (; above != NULL; above = above->above)
    if (above->device == info->st_dev && above->inode == info->st_ino) return true;
  return false;
}

static clm_status walk_full(folder_walk *walker, const char *relative, const char *full,
                            const ancestor *above)
{
  struct stat info = {0};
  if (stat(full, &info) == 0 && is_among(above, &info)) {
    walker->walk->ignored_entries++;
    return CLM_OK;
  }
  const ancestor here = {.above = above, .device = info.st_dev, .inode = info.st_ino};
  clm__file_listing listing = {0};
  CLM_TRY(clm__file_list(full, &listing));
  clm_status status = CLM_OK;
  for (size_t i = 0; i < listing.count && status == CLM_OK; i++)
    status = walk_entry(walker, relative, &listing.entries[i], &here);
  clm__file_listing_fini(&listing);
  return status;
}

static clm_status walk_folder(folder_walk *walker, const char *relative, const ancestor *above)
{
  char *full = NULL;
  CLM_TRY(clm__file_join(walker->folder, relative, &full));
  const clm_status status = walk_full(walker, relative, full, above);
  clm__mem_free(full);
  return status;
}

/* Walks one class (or everything, relative "") and sorts what it found. */
static clm_status walk_sorted(folder_walk *walker, const char *relative)
{
  clm__walk *walk = walker->walk;
  const size_t before = walk->count;
  CLM_TRY(walk_folder(walker, relative, NULL));
  if (walk->count > before)
    qsort(walk->files + before, walk->count - before, sizeof *walk->files, compare_files);
  return CLM_OK;
}

static clm_status add_class(folder_walk *walker, const char *name)
{
  clm__walk *walk = walker->walk;
  const size_t count = (size_t)walk->class_count;
  CLM_TRY(clm__mem_resize(count + 1, sizeof *walk->class_names, &walk->class_names));
  CLM_TRY(clm__mem_copy_text(name, &walk->class_names[count]));
  walker->label = walk->class_count++;
  return walk_sorted(walker, name);
}

static clm_status walk_top(folder_walk *walker, const clm__file_listing *listing)
{
  for (size_t i = 0; i < listing->count; i++) {
    const clm__file_entry *entry = &listing->entries[i];
    if (entry->is_folder && entry->name[0] != '.') {
      CLM_TRY(add_class(walker, entry->name));
      continue;
    }
    walker->walk->ignored_entries++;
    if (!entry->is_folder && entry->name[0] != '.' && has_image_ending(entry->name))
      walker->walk->loose_images++;
  }
  return CLM_OK;
}

clm_status clm__walk_classes(const char *folder, bool follow_links, clm__walk *walk)
{
  clm__file_listing listing = {0};
  CLM_TRY(clm__file_list(folder, &listing));
  clm__walk found = {0};
  folder_walk walker = {.walk = &found, .folder = folder, .follow_links = follow_links};
  const clm_status status = walk_top(&walker, &listing);
  clm__file_listing_fini(&listing);
  if (status == CLM_OK)
    *walk = found;
  else
    clm__walk_fini(&found);
  return status;
}

clm_status clm__walk_flat(const char *folder, bool follow_links, clm__walk *walk)
{
  clm__walk found = {0};
  folder_walk walker = {
      .walk = &found, .folder = folder, .follow_links = follow_links, .label = -1};
  const clm_status status = walk_sorted(&walker, "");
  if (status == CLM_OK)
    *walk = found;
  else
    clm__walk_fini(&found);
  return status;
}

void clm__walk_fini(clm__walk *walk)
{
  for (int i = 0; i < walk->class_count; i++) clm__mem_free(walk->class_names[i]);
  for (size_t i = 0; i < walk->count; i++) clm__mem_free(walk->files[i].path);
  clm__mem_free(walk->class_names);
  clm__mem_free(walk->files);
  *walk = (clm__walk){0};
}
