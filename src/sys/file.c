#define _GNU_SOURCE
#include "sys/file.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/testswitch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static clm_status read_all(int descriptor, const char *path, size_t limit_bytes,
                           clm__file_buffer *buffer)
{
  struct stat info;
  CLM_REQUIRE(fstat(descriptor, &info) == 0, CLM_IO, "cannot read %s: %s", path, strerror(errno));
  CLM_REQUIRE(S_ISREG(info.st_mode), CLM_NO_INPUT, "cannot read %s: it is %s", path,
              S_ISDIR(info.st_mode) ? "a folder" : "not a plain file");
  CLM_REQUIRE((uint64_t)info.st_size <= limit_bytes, CLM_BAD_DATA,
              "%s is too large: %lld bytes, the limit is %zu", path, (long long)info.st_size,
              limit_bytes);
  const size_t size = (size_t)info.st_size;
  if (size >= buffer->capacity_bytes) {
    CLM_TRY(clm__mem_resize(size + 1, 1, &buffer->bytes));
    buffer->capacity_bytes = size + 1;
  }
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(descriptor, buffer->bytes + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    CLM_REQUIRE(got >= 0, CLM_IO, "cannot read %s: %s", path, strerror(errno));
    if (got == 0) break;
    done += (size_t)got;
  }
  buffer->bytes[done] = '\0';
  buffer->size_bytes = done;
  return CLM_OK;
}

clm_status clm__file_read_into(const char *path, size_t limit_bytes, clm__file_buffer *buffer)
{
  /* Without O_NONBLOCK opening a pipe would wait for its writer, perhaps for ever. */
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  CLM_REQUIRE(descriptor >= 0, CLM_NO_INPUT, "cannot open %s: %s", path, strerror(errno));
  const clm_status status = read_all(descriptor, path, limit_bytes, buffer);
  (void)close(descriptor);
  return status;
}

void clm__file_buffer_fini(clm__file_buffer *buffer)
{
  clm__mem_free(buffer->bytes);
  *buffer = (clm__file_buffer){0};
}

clm_status clm__file_read(const char *path, size_t limit_bytes, char **content, size_t *size_bytes)
{
  clm__file_buffer buffer = {0};
  const clm_status status = clm__file_read_into(path, limit_bytes, &buffer);
  if (status != CLM_OK) {
    clm__file_buffer_fini(&buffer);
    return status;
  }
  *content = buffer.bytes;
  *size_bytes = buffer.size_bytes;
  return CLM_OK;
}

bool clm__file_must_fail(void)
{
  static atomic_uint_fast64_t write_count;
  if (atomic_fetch_add(&write_count, 1) + 1 !=
      clm__testswitch_number("CLEMATIS_TEST_FAIL_WRITE", 0))
    return false;
  errno = ENOSPC;
  return true;
}

/* Writes everything and flushes it. errno tells the reason where the result is false. */
static bool write_all(int descriptor, const char *content, size_t size_bytes)
{
  if (clm__file_must_fail()) return false;
  size_t done = 0;
  while (done < size_bytes) {
    const ssize_t put = write(descriptor, content + done, size_bytes - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    done += (size_t)put;
  }
  return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

static clm_status write_to(const char *path, int flags, const void *content, size_t size_bytes)
{
  const int descriptor = open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  CLM_REQUIRE(descriptor >= 0, CLM_IO, "cannot write %s: %s", path, strerror(errno));
  const bool written = write_all(descriptor, content, size_bytes);
  const int code = errno;
  const bool closed = close(descriptor) == 0;
  CLM_REQUIRE(written, CLM_IO, "cannot write %s: %s", path, strerror(code));
  CLM_REQUIRE(closed, CLM_IO, "cannot write %s: %s", path, strerror(errno));
  return CLM_OK;
}

clm_status clm__file_temporary_name(const char *path, char **temporary)
{
  static atomic_uint counter;
  clm__str name = {0};
  CLM_TRY(
      clm__str_add(&name, "%s.%ld.%u.tmp", path, (long)getpid(), atomic_fetch_add(&counter, 1)));
  return clm__str_take(&name, temporary);
}

static clm_status flush_path(const char *path, int flags)
{
  const int descriptor = open(path, flags | O_CLOEXEC);
  CLM_REQUIRE(descriptor >= 0, CLM_IO, "cannot open %s: %s", path, strerror(errno));
  /* Some file systems cannot flush a folder; that is no reason to fail. */
  const bool flushed = fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
  const int code = errno;
  (void)close(descriptor);
  CLM_REQUIRE(flushed, CLM_IO, "cannot flush %s: %s", path, strerror(code));
  return CLM_OK;
}

static clm_status flush_folder_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return flush_path(".", O_RDONLY | O_DIRECTORY);
  clm__str folder = {0};
  clm_status status = clm__str_add(&folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  if (status == CLM_OK) status = flush_path(clm__str_get(&folder), O_RDONLY | O_DIRECTORY);
  clm__str_fini(&folder);
  return status;
}

clm_status clm__file_commit(const char *temporary, const char *path)
{
  clm_status status = flush_path(temporary, O_RDONLY);
  if (status == CLM_OK && rename(temporary, path) != 0)
    status = clm__error_fail(CLM_IO, __FILE__, __LINE__, __func__, "cannot rename %s to %s: %s",
                             temporary, path, strerror(errno));
  if (status != CLM_OK) {
    (void)unlink(temporary);
    return status;
  }
  return flush_folder_of(path);
}

clm_status clm__file_write(const char *path, const void *content, size_t size_bytes)
{
  char *temporary = NULL;
  CLM_TRY(clm__file_temporary_name(path, &temporary));
  clm_status status = write_to(temporary, O_TRUNC, content, size_bytes);
  if (status == CLM_OK)
    status = clm__file_commit(temporary, path);
  else
    (void)unlink(temporary);
  clm__mem_free(temporary);
  return status;
}

clm_status clm__file_append(const char *path, const void *content, size_t size_bytes)
{
  return write_to(path, O_APPEND, content, size_bytes);
}

static clm_status make_one_folder(const char *path)
{
  if (mkdir(path, 0777) == 0) return CLM_OK;
  const int code = errno;
  if (clm__file_is_folder(path)) return CLM_OK;
  CLM_FAIL(CLM_IO, "cannot make the folder %s: %s", path, strerror(code));
}

clm_status clm__file_make_folder(const char *path)
{
  char *copy = NULL;
  CLM_TRY(clm__mem_copy_text(path, &copy));
  clm_status status = CLM_OK;
  for (char *slash = strchr(copy + (copy[0] == '/'), '/'); slash != NULL && status == CLM_OK;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    status = make_one_folder(copy);
    *slash = '/';
  }
  if (status == CLM_OK) status = make_one_folder(copy);
  clm__mem_free(copy);
  return status;
}

clm_status clm__file_remove(const char *path)
{
  CLM_REQUIRE(unlink(path) == 0 || errno == ENOENT, CLM_IO, "cannot remove %s: %s", path,
              strerror(errno));
  return CLM_OK;
}

bool clm__file_exists(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0;
}

bool clm__file_is_folder(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

clm_status clm__file_join(const char *folder, const char *name, char **path)
{
  const size_t length = strlen(folder);
  const bool has_slash = length > 0 && folder[length - 1] == '/';
  clm__str joined = {0};
  CLM_TRY(clm__str_add(&joined, "%s%s%s", folder, has_slash ? "" : "/", name));
  return clm__str_take(&joined, path);
}

const char *clm__file_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static int compare_entries(const void *a, const void *b)
{
  return strcmp(((const clm__file_entry *)a)->name, ((const clm__file_entry *)b)->name);
}

static clm_status add_entry(clm__file_listing *listing, DIR *folder, const char *name)
{
  if ((listing->count & (listing->count + 1)) == 0)
    CLM_TRY(clm__mem_resize(listing->count * 2 + 2, sizeof *listing->entries, &listing->entries));
  clm__file_entry entry = {0};
  struct stat info;
  if (fstatat(dirfd(folder), name, &info, AT_SYMLINK_NOFOLLOW) == 0)
    entry.is_link = S_ISLNK(info.st_mode);
  if (fstatat(dirfd(folder), name, &info, 0) == 0) {
    entry.is_folder = S_ISDIR(info.st_mode);
    entry.size_bytes = (uint64_t)info.st_size;
  }
  CLM_TRY(clm__mem_copy_text(name, &entry.name));
  listing->entries[listing->count++] = entry;
  return CLM_OK;
}

clm_status clm__file_list(const char *folder, clm__file_listing *listing)
{
  DIR *handle = opendir(folder);
  CLM_REQUIRE(handle != NULL, CLM_NO_INPUT, "cannot list the folder %s: %s", folder,
              strerror(errno));
  clm__file_listing found = {0};
  clm_status status = CLM_OK;
  for (;;) {
    errno = 0;
    const struct dirent *item = readdir(handle);
    if (item == NULL && errno != 0)
      status = clm__error_fail(CLM_IO, __FILE__, __LINE__, __func__, "cannot list %s: %s", folder,
                               strerror(errno));
    if (item == NULL) break;
    if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) continue;
    status = add_entry(&found, handle, item->d_name);
    if (status != CLM_OK) break;
  }
  (void)closedir(handle);
  if (status != CLM_OK) {
    clm__file_listing_fini(&found);
    return status;
  }
  if (found.count > 1) qsort(found.entries, found.count, sizeof *found.entries, compare_entries);
  *listing = found;
  return CLM_OK;
}

void clm__file_listing_fini(clm__file_listing *listing)
{
  for (size_t i = 0; i < listing->count; i++) clm__mem_free(listing->entries[i].name);
  clm__mem_free(listing->entries);
  *listing = (clm__file_listing){0};
}

clm_status clm__file_cache_folder(char **path)
{
  const char *own = getenv("CLEMATIS_CACHE");
  if (own != NULL && *own != '\0') return clm__mem_copy_text(own, path);
  const char *shared = getenv("XDG_CACHE_HOME");
  if (shared != NULL && *shared == '/') return clm__file_join(shared, "clematis", path);
  const char *home = getenv("HOME");
  if (home != NULL && *home == '/') return clm__file_join(home, ".cache/clematis", path);
  *path = NULL;
  return CLM_OK;
}

/* Whether a name ends in ".<digits>.<digits>.tmp". */
static bool is_temporary(const char *name)
{
  const size_t length = strlen(name);
  const size_t suffix = strlen(".tmp");
  if (length < suffix || strcmp(name + length - suffix, ".tmp") != 0) return false;
  const char *at = name + length - suffix;
  for (int numbers = 0; numbers < 2; numbers++) {
    const char *end = at;
    while (at > name && at[-1] >= '0' && at[-1] <= '9') at--;
    if (at == end || at == name || at[-1] != '.') return false;
    at--;
  }
  return at > name;
}

clm_status clm__file_remove_temporaries(const char *folder)
{
  clm__file_listing listing = {0};
  CLM_TRY(clm__file_list(folder, &listing));
  clm_status status = CLM_OK;
  for (size_t i = 0; i < listing.count && status == CLM_OK; i++) {
    if (listing.entries[i].is_folder || !is_temporary(listing.entries[i].name)) continue;
    char *path = NULL;
    status = clm__file_join(folder, listing.entries[i].name, &path);
    if (status == CLM_OK) status = clm__file_remove(path);
    clm__mem_free(path);
  }
  clm__file_listing_fini(&listing);
  return status;
}
