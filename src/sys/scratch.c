#define _GNU_SOURCE
#include "sys/scratch.h"

#include "base/mem.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/vfs.h>
#endif

struct clm__scratch {
  int descriptor;
  char *name; /* for messages */
};

static clm_status adopt(int descriptor, char *name, clm__scratch **scratch)
{
  const int code = errno;
  clm__scratch *made = NULL;
  clm_status status = CLM_OK;
  if (descriptor < 0)
    status = clm__error_fail(CLM_IO, __FILE__, __LINE__, __func__, "cannot write %s: %s", name,
                             strerror(code));
  if (status == CLM_OK) status = clm__mem_alloc(1, sizeof *made, &made);
  if (status != CLM_OK) {
    if (descriptor >= 0) (void)close(descriptor);
    clm__mem_free(name);
    return status;
  }
  *made = (clm__scratch){.descriptor = descriptor, .name = name};
  *scratch = made;
  return CLM_OK;
}

/* Not every file system can promise room; on the others a write may fail later. */
static clm_status reserve(const clm__scratch *scratch, uint64_t size_bytes)
{
#ifdef __linux__
  if (size_bytes == 0 || fallocate(scratch->descriptor, 0, 0, (off_t)size_bytes) == 0)
    return CLM_OK;
  CLM_REQUIRE(errno == EOPNOTSUPP || errno == ENOSYS, CLM_IO,
              "there is no room for %.1f MiB in %s: %s", (double)size_bytes / 1048576.0,
              scratch->name, strerror(errno));
#else
  (void)scratch;
  (void)size_bytes;
#endif
  return CLM_OK;
}

clm_status clm__scratch_open(const char *folder, uint64_t size_bytes, clm__scratch **scratch)
{
  clm__scratch *made = NULL;
  char *name = NULL;
  CLM_TRY(clm__file_join(folder, "clematis-XXXXXX", &name));
  const int descriptor = mkostemp(name, O_CLOEXEC);
  if (descriptor >= 0) (void)unlink(name);
  CLM_TRY(adopt(descriptor, name, &made));
  const clm_status status = reserve(made, size_bytes);
  if (status != CLM_OK) {
    clm__scratch_close(made);
    return status;
  }
  *scratch = made;
  return CLM_OK;
}

clm_status clm__scratch_create(const char *path, clm__scratch **scratch)
{
  char *name = NULL;
  CLM_TRY(clm__mem_copy_text(path, &name));
  return adopt(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), name, scratch);
}

void clm__scratch_close(clm__scratch *scratch)
{
  if (scratch == NULL) return;
  (void)close(scratch->descriptor);
  clm__mem_free(scratch->name);
  clm__mem_free(scratch);
}

static bool write_all(int descriptor, uint64_t offset, const char *bytes, size_t count)
{
  if (clm__file_must_fail()) return false;
  while (count > 0) {
    const ssize_t put = pwrite(descriptor, bytes, count, (off_t)offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes += put;
    offset += (uint64_t)put;
    count -= (size_t)put;
  }
  return true;
}

clm_status clm__scratch_write(clm__scratch *scratch, uint64_t offset, const void *bytes,
                              size_t count)
{
  CLM_REQUIRE(write_all(scratch->descriptor, offset, bytes, count), CLM_IO, "cannot write %s: %s",
              scratch->name, strerror(errno));
  return CLM_OK;
}

clm_status clm__scratch_read(const clm__scratch *scratch, uint64_t offset, void *bytes,
                             size_t count)
{
  char *at = bytes;
  while (count > 0) {
    const ssize_t got = pread(scratch->descriptor, at, count, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    CLM_REQUIRE(got > 0, CLM_IO, "cannot read %s: %s", scratch->name,
                got < 0 ? strerror(errno) : "it ends too early");
    at += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return CLM_OK;
}

clm_status clm__scratch_flush(clm__scratch *scratch)
{
  CLM_REQUIRE(fsync(scratch->descriptor) == 0 || errno == EINVAL || errno == EROFS, CLM_IO,
              "cannot write %s: %s", scratch->name, strerror(errno));
  return CLM_OK;
}

const char *clm__scratch_folder(void)
{
  const char *wanted = getenv("TMPDIR");
  return wanted != NULL && wanted[0] != '\0' ? wanted : "/var/tmp";
}

bool clm__scratch_is_memory(const char *folder)
{
#ifdef __linux__
  const long tmpfs = 0x01021994, ramfs = 0x858458f6; /* statfs(2) */
  struct statfs info;
  return statfs(folder, &info) == 0 && ((long)info.f_type == tmpfs || (long)info.f_type == ramfs);
#else
  (void)folder;
  return false;
#endif
}
