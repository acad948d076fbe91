/* A folder of files that lives as long as one test. */
#ifndef CLM_TESTS_DATA_TREE_H
#define CLM_TESTS_DATA_TREE_H

#include "data/dataset.h"

/* The folder of the running test. */
extern char *tree;

/* A test with a fresh folder. */
#define TREE_TEST(function) cmocka_unit_test_setup_teardown(function, make_tree, remove_tree)
int make_tree(void **state);
int remove_tree(void **state);

/* The path of a name in the folder; valid until the next call. */
char *path_in_tree(const char *name);

/* Files with the folders above them: with this content, empty, copied from golden/pixels. */
void put_file(const char *name, const void *content, size_t size_bytes);
void put_empty(const char *name);
void put_golden(const char *name, const char *golden);

/* The folder as a dataset; config->folder is filled in. */
clm__dataset *open_tree(const clm__dataset_config *changes);

#endif
