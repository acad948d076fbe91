/* What the tests of Keras' files share. */
#ifndef CLM_TESTS_MODEL_SUPPORT_H
#define CLM_TESTS_MODEL_SUPPORT_H

#include "base/mem.h"
#include "base/str.h"
#include "io/model_file.h"
#include "support/folder.h"
#include "support/npy.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* A receiver that keeps the last message. */
typedef struct heard {
  int count;
  char last[512];
} heard;

static inline void hear(void *user, clm_log_level level, const char *message)
{
  heard *heard_here = user;
  (void)level;
  heard_here->count++;
  (void)snprintf(heard_here->last, sizeof heard_here->last, "%s", message);
}

static inline char *golden_path(const char *name)
{
  static char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/%s", tests_folder(), name);
  return path;
}

/* Reads tests/golden/<name>; the test fails where that is impossible. */
static inline clm__model_file read_golden(const char *name)
{
  clm__model_file file = {0};
  if (clm__model_file_read(golden_path(name), NULL, &file) != CLM_OK)
    fail_msg("%s: %s", name, clm_error_last()->message);
  return file;
}

/* The content of a file; free with clm__mem_free. */
static inline char *read_whole(const char *path, size_t *size_bytes)
{
  char *content = NULL;
  if (clm__file_read(path, SIZE_MAX, &content, size_bytes) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  return content;
}

static inline void expect(clm_status status, clm_status wanted, const char *words)
{
  if (status != wanted)
    fail_msg("status %d, not %d: %s", status, wanted, clm_error_last()->message);
  if (strstr(clm_error_last()->message, words) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", words, clm_error_last()->message);
}

#endif
