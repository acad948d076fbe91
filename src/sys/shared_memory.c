#define _GNU_SOURCE
#include "sys/shared_memory.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/testswitch.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The check stands in a page before the bytes. */
#define HEAD_BYTES ((size_t)4096)

struct clm__shared_memory {
  unsigned char *mapped; /* [HEAD_BYTES + key.size_bytes] */
  clm__shared_memory_key key;
  int descriptor; /* -1: nobody can find it through this process */
};

static clm_status map(clm__shared_memory *memory, int descriptor)
{
  void *const mapped = mmap(NULL, HEAD_BYTES + memory->key.size_bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED, descriptor, 0);
  CLM_REQUIRE(mapped != MAP_FAILED, CLM_NO_MEMORY, "out of memory: %llu shared bytes: %s",
              (unsigned long long)memory->key.size_bytes, strerror(errno));
  memory->mapped = mapped;
  return CLM_OK;
}

#ifdef __linux__
/* A descriptor of new memory, whose pages the system gives as they are touched, however many it
 * has: fallocate(2) would take them at once, and end processes where there are too few. */
static clm_status open_new(size_t size_bytes, int *descriptor)
{
  CLM_REQUIRE(!clm__testswitch_is("CLEMATIS_TEST_NO_SHARED_MEMORY", "1"), CLM_UNSUPPORTED,
              "no memory is shared (by CLEMATIS_TEST_NO_SHARED_MEMORY)");
  const int made = memfd_create("clematis", MFD_CLOEXEC);
  CLM_REQUIRE(made >= 0, CLM_UNSUPPORTED, "the system shares no memory: %s", strerror(errno));
  if (ftruncate(made, (off_t)(HEAD_BYTES + size_bytes)) == 0) {
    *descriptor = made;
    return CLM_OK;
  }
  const int code = errno;
  (void)close(made);
  CLM_FAIL(CLM_NO_MEMORY, "out of memory: %zu shared bytes: %s", size_bytes, strerror(code));
}
#else
static clm_status open_new(size_t size_bytes, int *descriptor)
{
  (void)size_bytes, (void)descriptor;
  CLM_FAIL(CLM_UNSUPPORTED, "memory between processes is shared on Linux only");
}
#endif

static size_t get_machine_bytes(void)
{
  return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t make_check(const clm__shared_memory *memory)
{
  const double now = clm__clock_unix_seconds();
  uint64_t hash = clm__hash_bytes(CLM__HASH_START, &now, sizeof now);
  hash = clm__hash_bytes(hash, &memory->key.process, sizeof memory->key.process);
  return clm__hash_bytes(hash, &memory->mapped, sizeof memory->mapped);
}

clm_status clm__shared_memory_create(size_t size_bytes, clm__shared_memory **memory)
{
  clm_status status = CLM_OK;
  clm__shared_memory *made = NULL;
  CLM_REQUIRE(size_bytes <= get_machine_bytes(), CLM_NO_MEMORY,
              "out of memory: %zu shared bytes are more than the machine has", size_bytes);
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->descriptor = -1;
  CLM_TRY_TO(failed, status, open_new(size_bytes, &made->descriptor));
  made->key = (clm__shared_memory_key){
      .process = getpid(), .descriptor = made->descriptor, .size_bytes = size_bytes};
  CLM_TRY_TO(failed, status, map(made, made->descriptor));
  made->key.check = make_check(made);
  memcpy(made->mapped, &made->key.check, sizeof made->key.check);
  *memory = made;
  return CLM_OK;
failed:
  clm__shared_memory_destroy(made);
  return status;
}

/* Whether a descriptor is of memory at least as large as it should be: what lies behind its end
 * cannot be touched. */
static bool is_large_enough(int descriptor, uint64_t size_bytes)
{
  struct stat info;
  return fstat(descriptor, &info) == 0 && (uint64_t)info.st_size >= HEAD_BYTES + size_bytes;
}

static clm_status attach(clm__shared_memory *memory, int descriptor)
{
  const clm__shared_memory_key *const key = &memory->key;
  uint64_t found = 0;
  CLM_REQUIRE(is_large_enough(descriptor, key->size_bytes), CLM_UNSUPPORTED,
              "process %lld shares less memory than it says", (long long)key->process);
  CLM_TRY(map(memory, descriptor));
  memcpy(&found, memory->mapped, sizeof found);
  CLM_REQUIRE(found == key->check, CLM_UNSUPPORTED,
              "the memory of process %lld is not the one it told of: the processes may be in "
              "containers that do not see each other",
              (long long)key->process);
  return CLM_OK;
}

clm_status clm__shared_memory_attach(const clm__shared_memory_key *key, clm__shared_memory **memory)
{
  char path[64];
  clm__shared_memory *made = NULL;
  CLM_REQUIRE(key->size_bytes <= INT64_MAX - HEAD_BYTES, CLM_UNSUPPORTED,
              "process %lld shares more memory than can be addressed", (long long)key->process);
  (void)snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)key->process,
                 (long long)key->descriptor);
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  CLM_REQUIRE(descriptor >= 0, CLM_UNSUPPORTED, "cannot see the memory of process %lld: %s",
              (long long)key->process, strerror(errno));
  clm_status status = clm__mem_alloc(1, sizeof *made, &made);
  if (status == CLM_OK) {
    *made = (clm__shared_memory){.key = *key, .descriptor = -1};
    status = attach(made, descriptor);
  }
  (void)close(descriptor);
  if (status != CLM_OK) {
    clm__shared_memory_destroy(made);
    return status;
  }
  *memory = made;
  return CLM_OK;
}

void clm__shared_memory_destroy(clm__shared_memory *memory)
{
  if (memory == NULL) return;
  clm__shared_memory_hide(memory);
  if (memory->mapped != NULL) (void)munmap(memory->mapped, HEAD_BYTES + memory->key.size_bytes);
  clm__mem_free(memory);
}

clm__shared_memory_key clm__shared_memory_get_key(const clm__shared_memory *memory)
{
  return memory->key;
}

void clm__shared_memory_hide(clm__shared_memory *memory)
{
  if (memory->descriptor >= 0) (void)close(memory->descriptor);
  memory->descriptor = -1;
}

void *clm__shared_memory_get_bytes(const clm__shared_memory *memory)
{
  return memory->mapped + HEAD_BYTES;
}
