/* Stands in for libFuzzer: runs a fuzz target once on every file of the given folders, and on each
 * of them cut short and with single bytes changed. */
#include "base/mem.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

/* A file of any size gets about this many changed copies. */
#define VARIANTS 64

static void run(const uint8_t *bytes, size_t size_bytes)
{
  /* A copy of exactly this size, so that a sanitizer sees a read behind its end. */
  uint8_t *copy = malloc(size_bytes > 0 ? size_bytes : 1);
  if (copy == NULL) abort();
  if (size_bytes > 0) memcpy(copy, bytes, size_bytes);
  (void)LLVMFuzzerTestOneInput(copy, size_bytes);
  free(copy);
}

static void run_variants(uint8_t *bytes, size_t size_bytes)
{
  run(bytes, size_bytes);
  const size_t step = size_bytes / VARIANTS + 1;
  for (size_t at = 0; at < size_bytes; at += step) {
    run(bytes, at);
    const uint8_t kept = bytes[at];
    bytes[at] = (uint8_t)(kept ^ (at % 2 == 0 ? 0xff : 0x01));
    run(bytes, size_bytes);
    bytes[at] = kept;
  }
}

static size_t run_folder(const char *folder)
{
  clm__file_listing listing = {0};
  if (clm__file_list(folder, &listing) != CLM_OK) return 0;
  for (size_t i = 0; i < listing.count; i++) {
    char *path = NULL;
    char *content = NULL;
    size_t size_bytes = 0;
    if (clm__file_join(folder, listing.entries[i].name, &path) != CLM_OK ||
        clm__file_read(path, SIZE_MAX, &content, &size_bytes) != CLM_OK) {
      (void)fprintf(stderr, "%s\n", clm_error_last()->message);
      exit(1);
    }
    run_variants((uint8_t *)content, size_bytes);
    clm__mem_free(content);
    clm__mem_free(path);
  }
  const size_t count = listing.count;
  clm__file_listing_fini(&listing);
  return count;
}

int main(int count, char **arguments)
{
  size_t files = 0;
  for (int i = 1; i < count; i++) files += run_folder(arguments[i]);
  printf("%zu files, each with up to %d changed copies\n", files, 2 * VARIANTS);
  if (files > 0) return 0;
  printf("skipped: the corpus is empty\n");
  return 77;
}
