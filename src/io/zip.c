#include "io/zip.h"

#include "base/mem.h"
#include "base/num.h"
#include "sys/file.h"
#include "sys/scratch.h"

#include <stdint.h>
#include <string.h>

#include <zip.h>

struct clm__zip {
  zip_t *archive;
};

/* Turns libzip's error into one of ours. */
static clm_status fail(const zip_error_t *error, clm_status otherwise, const char *what)
{
  zip_error_t copy = *error;
  const int code = zip_error_code_zip(&copy);
  const clm_status status = code == ZIP_ER_MEMORY                         ? CLM_NO_MEMORY
                            : code == ZIP_ER_NOENT || code == ZIP_ER_OPEN ? CLM_NO_INPUT
                                                                          : otherwise;
  zip_error_t words;
  zip_error_init(&words);
  zip_error_set(&words, code, zip_error_code_system(&copy));
  const clm_status result = clm__error_fail(status, __FILE__, __LINE__, __func__, "%s: %s", what,
                                            zip_error_strerror(&words));
  zip_error_fini(&words);
  return result;
}

/* Takes over the source, which is freed where opening fails. */
static clm_status open_source(zip_source_t *source, const char *what, clm__zip **zip)
{
  zip_error_t error;
  zip_error_init(&error);
  clm__zip *made = NULL;
  clm_status status = clm__mem_alloc(1, sizeof *made, &made);
  if (status == CLM_OK) {
    made->archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (made->archive == NULL) status = fail(&error, CLM_BAD_DATA, what);
  }
  zip_error_fini(&error);
  if (status != CLM_OK) {
    zip_source_free(source);
    clm__mem_free(made);
    return status;
  }
  *zip = made;
  return CLM_OK;
}

clm_status clm__zip_open(const char *path, clm__zip **zip)
{
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_file_create(path, 0, -1, &error);
  clm_status status = CLM_OK;
  if (source == NULL) status = fail(&error, CLM_NO_INPUT, path);
  zip_error_fini(&error);
  return status == CLM_OK ? open_source(source, path, zip) : status;
}

clm_status clm__zip_open_bytes(const void *bytes, size_t size_bytes, clm__zip **zip)
{
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_buffer_create(bytes, size_bytes, 0, &error);
  clm_status status = CLM_OK;
  if (source == NULL) status = fail(&error, CLM_BAD_DATA, "the archive");
  zip_error_fini(&error);
  return status == CLM_OK ? open_source(source, "the archive", zip) : status;
}

void clm__zip_close(clm__zip *zip)
{
  if (zip == NULL) return;
  zip_discard(zip->archive);
  clm__mem_free(zip);
}

bool clm__zip_has(const clm__zip *zip, const char *name)
{
  return zip_name_locate(zip->archive, name, 0) >= 0;
}

/* What a member claims to be, checked. */
static clm_status look_up(const clm__zip *zip, const char *name, size_t limit_bytes,
                          zip_stat_t *info)
{
  const uint64_t small_bytes = UINT64_C(16) << 20;
  CLM_REQUIRE(clm__zip_has(zip, name), CLM_BAD_DATA, "the archive has no member %s", name);
  zip_stat_init(info);
  if (zip_stat(zip->archive, name, 0, info) != 0)
    return fail(zip_get_error(zip->archive), CLM_BAD_DATA, name);
  const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  CLM_REQUIRE((info->valid & needed) == needed, CLM_BAD_DATA,
              "the archive does not tell the size of %s", name);
  CLM_REQUIRE(info->size <= limit_bytes, CLM_BAD_DATA,
              "the archive's member %s is too large: %llu bytes, the limit is %zu", name,
              (unsigned long long)info->size, limit_bytes);
  CLM_REQUIRE(info->size <= small_bytes || info->size / 100 <= info->comp_size, CLM_BAD_DATA,
              "the archive's member %s claims to be over 100 times as large as its packed form",
              name);
  return CLM_OK;
}

/* Reads to the end of the member, where libzip compares the checksum. */
static clm_status read_all(zip_file_t *file, const char *name, size_t size_bytes, char **bytes)
{
  size_t done = 0;
  size_t capacity = 0;
  for (;;) {
    if (done == capacity) {
      const size_t step = (size_t)1 << 20;
      capacity = clm__min_size(clm__max_size(2 * capacity, step), size_bytes + 1);
      CLM_TRY(clm__mem_resize(capacity + 1, 1, bytes));
    }
    const zip_int64_t got = zip_fread(file, *bytes + done, capacity - done);
    if (got < 0) return fail(zip_file_get_error(file), CLM_BAD_DATA, name);
    if (got == 0) break;
    done += (size_t)got;
    CLM_REQUIRE(done <= size_bytes, CLM_BAD_DATA, "the archive's member %s is longer than told",
                name);
  }
  CLM_REQUIRE(done == size_bytes, CLM_BAD_DATA, "the archive's member %s is cut short", name);
  (*bytes)[done] = '\0';
  return CLM_OK;
}

clm_status clm__zip_read(const clm__zip *zip, const char *name, size_t limit_bytes, char **bytes,
                         size_t *size_bytes)
{
  zip_stat_t info;
  CLM_TRY(look_up(zip, name, limit_bytes, &info));
  zip_file_t *file = zip_fopen(zip->archive, name, 0);
  if (file == NULL) return fail(zip_get_error(zip->archive), CLM_BAD_DATA, name);
  char *content = NULL;
  const clm_status status = read_all(file, name, (size_t)info.size, &content);
  (void)zip_fclose(file);
  if (status != CLM_OK) {
    clm__mem_free(content);
    return status;
  }
  *bytes = content;
  *size_bytes = (size_t)info.size;
  return CLM_OK;
}

static clm_status add_member(zip_t *archive, const clm__zip_member *member)
{
  const zip_uint32_t owner_reads_and_writes = (zip_uint32_t)0600 << 16;
  zip_source_t *source = zip_source_buffer(archive, member->bytes, member->size_bytes, 0);
  if (source == NULL) return fail(zip_get_error(archive), CLM_NO_MEMORY, member->name);
  const zip_int64_t index = zip_file_add(archive, member->name, source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    const clm_status status = fail(zip_get_error(archive), CLM_NO_MEMORY, member->name);
    zip_source_free(source);
    return status;
  }
  const zip_uint64_t at = (zip_uint64_t)index;
  if (zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_external_attributes(archive, at, 0, ZIP_OPSYS_UNIX, owner_reads_and_writes) != 0)
    return fail(zip_get_error(archive), CLM_NO_MEMORY, member->name);
  return CLM_OK;
}

/* Packs the members into `target`, which stays open for its owner. */
static clm_status pack(zip_source_t *target, const clm__zip_member *members, size_t count)
{
  zip_error_t error;
  zip_error_init(&error);
  clm_status status = CLM_OK;
  zip_source_keep(target);
  zip_t *archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  if (archive == NULL) {
    zip_source_free(target);
    status = fail(&error, CLM_NO_MEMORY, "packing an archive");
  }
  zip_error_fini(&error);
  for (size_t i = 0; i < count && status == CLM_OK; i++) status = add_member(archive, &members[i]);
  if (status == CLM_OK && zip_close(archive) == 0) return CLM_OK;
  if (status == CLM_OK) status = fail(zip_get_error(archive), CLM_NO_MEMORY, "packing an archive");
  if (archive != NULL) zip_discard(archive);
  return status;
}

static clm_status unload(zip_source_t *source, char **bytes, size_t *size_bytes)
{
  zip_stat_t info;
  zip_stat_init(&info);
  CLM_REQUIRE(zip_source_stat(source, &info) == 0 && (info.valid & ZIP_STAT_SIZE) != 0,
              CLM_NO_MEMORY, "packing an archive failed");
  char *content = NULL;
  CLM_TRY(clm__mem_alloc((size_t)info.size, 1, &content));
  zip_int64_t got = -1;
  if (zip_source_open(source) == 0) {
    got = zip_source_read(source, content, info.size);
    (void)zip_source_close(source);
  }
  if (got != (zip_int64_t)info.size) {
    clm__mem_free(content);
    CLM_FAIL(CLM_NO_MEMORY, "packing an archive failed");
  }
  *bytes = content;
  *size_bytes = (size_t)info.size;
  return CLM_OK;
}

/* Packs the members into a new source in memory, which the caller frees. */
static clm_status pack_new(const clm__zip_member *members, size_t count, zip_source_t **target)
{
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *made = zip_source_buffer_create(NULL, 0, 0, &error);
  clm_status status = CLM_OK;
  if (made == NULL) status = fail(&error, CLM_NO_MEMORY, "packing an archive");
  zip_error_fini(&error);
  if (status == CLM_OK) status = pack(made, members, count);
  if (status != CLM_OK) {
    zip_source_free(made);
    return status;
  }
  *target = made;
  return CLM_OK;
}

clm_status clm__zip_pack(const clm__zip_member *members, size_t count, char **bytes,
                         size_t *size_bytes)
{
  zip_source_t *target = NULL;
  CLM_TRY(pack_new(members, count, &target));
  const clm_status status = unload(target, bytes, size_bytes);
  zip_source_free(target);
  return status;
}

/* ---- to a file ---- */

/* A file that libzip writes to: at its place, never reading. */
typedef struct target {
  clm__scratch *file;
  uint64_t place;
  uint64_t size_bytes;
  clm_error failure;
} target;

static zip_int64_t write_target(target *to, const void *data, zip_uint64_t count)
{
  if (clm__scratch_write(to->file, to->place, data, (size_t)count) != CLM_OK) {
    to->failure = *clm_error_last();
    return -1;
  }
  to->place += count;
  if (to->place > to->size_bytes) to->size_bytes = to->place;
  return (zip_int64_t)count;
}

static zip_int64_t seek_target(target *to, void *data, zip_uint64_t length)
{
  zip_error_t error;
  zip_error_init(&error);
  const zip_int64_t place =
      zip_source_seek_compute_offset(to->place, to->size_bytes, data, length, &error);
  zip_error_fini(&error);
  if (place >= 0) to->place = (uint64_t)place;
  return place < 0 ? -1 : 0;
}

static zip_int64_t stat_target(const target *to, void *data)
{
  zip_stat_t *info = data;
  zip_stat_init(info);
  info->size = to->size_bytes;
  info->valid = ZIP_STAT_SIZE;
  return sizeof *info;
}

static zip_int64_t tell_failure(void *data, zip_uint64_t length)
{
  const int codes[2] = {ZIP_ER_WRITE, 0};
  if (length < sizeof codes) return -1;
  memcpy(data, codes, sizeof codes);
  return sizeof codes;
}

static zip_int64_t serve(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
  target *to = user;
  switch (command) {
  case ZIP_SOURCE_BEGIN_WRITE:
    to->place = 0;
    return 0;
  case ZIP_SOURCE_WRITE:
    return write_target(to, data, length);
  case ZIP_SOURCE_SEEK_WRITE:
    return seek_target(to, data, length);
  case ZIP_SOURCE_TELL_WRITE:
    return (zip_int64_t)to->place;
  case ZIP_SOURCE_STAT:
    return stat_target(to, data);
  case ZIP_SOURCE_ERROR:
    return tell_failure(data, length);
  case ZIP_SOURCE_COMMIT_WRITE:
  case ZIP_SOURCE_ROLLBACK_WRITE:
  case ZIP_SOURCE_OPEN:
  case ZIP_SOURCE_CLOSE:
  case ZIP_SOURCE_FREE:
    return 0;
  case ZIP_SOURCE_SUPPORTS:
    return zip_source_make_command_bitmap(
        ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
        ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS,
        ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
        ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_REMOVE, -1);
  default:
    return -1;
  }
}

/* Piece by piece, since the packed archive in memory would be the most that a training holds. */
static clm_status pack_to(clm__scratch *file, const clm__zip_member *members, size_t count)
{
  target to = {.file = file};
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_function_create(serve, &to, &error);
  clm_status status = CLM_OK;
  if (source == NULL) status = fail(&error, CLM_NO_MEMORY, "packing an archive");
  zip_error_fini(&error);
  CLM_TRY(status);
  status = pack(source, members, count);
  zip_source_free(source);
  if (to.failure.status != CLM_OK) return clm__error_raise(&to.failure);
  CLM_TRY(status);
  return clm__scratch_flush(file);
}

static clm_status write_temporary(const char *temporary, const clm__zip_member *members,
                                  size_t count)
{
  clm__scratch *file = NULL;
  CLM_TRY(clm__scratch_create(temporary, &file));
  const clm_status status = pack_to(file, members, count);
  clm__scratch_close(file);
  return status;
}

clm_status clm__zip_write(const char *path, const clm__zip_member *members, size_t count)
{
  char *temporary = NULL;
  CLM_TRY(clm__file_temporary_name(path, &temporary));
  clm_status status = write_temporary(temporary, members, count);
  if (status == CLM_OK) {
    status = clm__file_commit(temporary, path);
  } else {
    const clm_error error = *clm_error_last();
    if (clm__file_remove(temporary) != CLM_OK) status = clm__error_raise(&error);
  }
  clm__mem_free(temporary);
  return status;
}
