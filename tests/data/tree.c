#include "data/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/folder.h"
#include "sys/file.h"

char *tree;

int make_tree(void **state)
{
  (void)state;
  tree = make_folder();
  return 0;
}

int remove_tree(void **state)
{
  (void)state;
  remove_folder(tree);
  return 0;
}

char *path_in_tree(const char *name)
{
  static char path[2048];
  (void)snprintf(path, sizeof path, "%s/%s", tree, name);
  return path;
}

void put_file(const char *name, const void *content, size_t size_bytes)
{
  char *path = path_in_tree(name);
  char *slash = strrchr(path, '/');
  *slash = '\0';
  assert_int_equal(clm__file_make_folder(path), CLM_OK);
  *slash = '/';
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(content, 1, size_bytes, file), size_bytes);
  assert_int_equal(fclose(file), 0);
}

void put_empty(const char *name) { put_file(name, "", 0); }

void put_golden(const char *name, const char *golden)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/pixels/%s", tests_folder(), golden);
  char *content = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(path, SIZE_MAX, &content, &size), CLM_OK);
  put_file(name, content, size);
  clm__mem_free(content);
}

clm__dataset *open_tree(const clm__dataset_config *changes)
{
  clm__dataset_config config = *changes;
  config.folder = tree;
  clm__dataset *dataset = NULL;
  if (clm__dataset_open(&config, &dataset) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return dataset;
}
