#define _XOPEN_SOURCE 700
#include "support/folder.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

const char *tests_folder(void) { return CLM_TEST_SOURCE_DIR; }

char *make_folder(void)
{
  const char *base = getenv("TMPDIR");
  char pattern[512];
  (void)snprintf(pattern, sizeof pattern, "%s/clematis-test-XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(pattern) == NULL) fail_msg("cannot make a folder %s", pattern);
  return strdup(pattern);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

void remove_folder(char *path)
{
  (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(path);
}

const char *photos_folder(void)
{
  static char beside[1024];
  const char *named = getenv("CLEMATIS_PHOTOS");
  if (named != NULL && *named != '\0') return named;
  (void)snprintf(beside, sizeof beside, "%s/../../shared/data/flower_photos", CLM_TEST_SOURCE_DIR);
  struct stat info;
  if (stat(beside, &info) == 0 && S_ISDIR(info.st_mode)) return beside;
  printf("skipped: the flowers photographs are not here (set CLEMATIS_PHOTOS)\n");
  return NULL;
}
