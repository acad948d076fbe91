/* Reading the .npy files of tests/golden: version 1.0, C order, little endian. */
#ifndef CLM_TESTS_NPY_H
#define CLM_TESTS_NPY_H

#include <stddef.h>
#include <stdint.h>

typedef struct npy {
  char type[8]; /* "<f4", "|u1", "<i4", "<i8" */
  int rank;
  int dims[8];
  size_t count;
  union {
    void *data;
    float *f32;
    uint8_t *u8;
    int32_t *i32;
    int64_t *i64;
  };
  void *block;
} npy;

/* Reads tests/golden/<path>; the test fails with the path where that is impossible. */
npy npy_read_golden(const char *path);
npy npy_read_file(const char *path);
void npy_free(npy *array);

/* Fails the test unless |actual - expected| <= tolerance * max(1, |expected|) everywhere; names
 * `what`, the first place and the largest difference. NaN equals NaN only. */
void assert_floats_near(const char *what, const float *actual, const float *expected, size_t count,
                        double tolerance);

#endif
