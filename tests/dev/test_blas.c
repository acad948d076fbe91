#include "device_support.h"

#include "base/rng.h"
#include "dev/blas.h"
#include "dev/blas_check.h"

#include <math.h>

static int setup(void **state)
{
  *state = open_test_device();
  assert_ok(clm__blas_prepare(*state, NULL));
  return 0;
}

static int teardown(void **state)
{
  clm__device_close(*state);
  return 0;
}

/* A matrix on host and device; every place outside of it holds 77. */
typedef struct matrix {
  float *values;
  size_t count;
  cl_mem buffer;
} matrix;

#define OUTSIDE 77.0F

static matrix make_matrix(clm__device *device, size_t offset, size_t rows, size_t columns,
                          size_t leading)
{
  matrix made = {.count = offset + rows * leading + 5};
  assert_ok(clm__mem_alloc(made.count, sizeof(float), &made.values));
  for (size_t i = 0; i < made.count; i++) {
    const size_t column = i < offset ? leading : (i - offset) % leading;
    uint32_t bits[4];
    clm__rng_block(rows, CLM__RNG_TEST, (uint32_t)columns, i, bits);
    made.values[i] =
        column < columns && i < offset + rows * leading ? clm__rng_unit(bits[0]) - 0.5F : OUTSIDE;
  }
  assert_ok(clm__buffer_create(device, made.count * sizeof(float), &made.buffer));
  assert_ok(
      clm__buffer_write(device, made.buffer, 0, made.values, made.count * sizeof(float), true));
  return made;
}

static void free_matrix(matrix *made)
{
  clm__buffer_release(&made->buffer);
  clm__mem_free(made->values);
}

typedef struct product {
  clm__gemm gemm;
  matrix a, b, c;
  cl_mem scratch;
  size_t scratch_bytes;
} product;

static size_t or_dense(size_t leading, size_t width) { return leading != 0 ? leading : width; }

static void make_product(clm__device *device, const clm__gemm *gemm, product *made)
{
  clm__gemm *g = &made->gemm;
  *made = (product){.gemm = *gemm};
  const size_t a_rows = g->transpose_a ? g->k : g->m, a_columns = g->transpose_a ? g->m : g->k;
  const size_t b_rows = g->transpose_b ? g->n : g->k, b_columns = g->transpose_b ? g->k : g->n;
  made->a = make_matrix(device, g->a_offset, a_rows, a_columns, or_dense(g->lda, a_columns));
  made->b = make_matrix(device, g->b_offset, b_rows, b_columns, or_dense(g->ldb, b_columns));
  made->c = make_matrix(device, g->c_offset, g->m, g->n, or_dense(g->ldc, g->n));
  g->a = made->a.buffer, g->b = made->b.buffer, g->c = made->c.buffer;
  assert_ok(clm__blas_scratch_bytes(device, g, &made->scratch_bytes));
  if (made->scratch_bytes > 0)
    assert_ok(clm__buffer_create(device, made->scratch_bytes, &made->scratch));
}

static void free_product(product *made)
{
  free_matrix(&made->a);
  free_matrix(&made->b);
  free_matrix(&made->c);
  clm__buffer_release(&made->scratch);
}

/* What c[row,column] must be, and how large the terms of its sum are. */
static double expect(const product *p, size_t row, size_t column, double *magnitude)
{
  const clm__gemm *g = &p->gemm;
  const size_t lda = or_dense(g->lda, g->transpose_a ? g->m : g->k);
  const size_t ldb = or_dense(g->ldb, g->transpose_b ? g->k : g->n);
  const size_t ldc = or_dense(g->ldc, g->n);
  double sum = 0, terms = 0;
  for (size_t l = 0; l < g->k; l++) {
    const size_t ai = g->transpose_a ? l * lda + row : row * lda + l;
    const size_t bi = g->transpose_b ? column * ldb + l : l * ldb + column;
    const double term = (double)p->a.values[g->a_offset + ai] * p->b.values[g->b_offset + bi];
    sum += term;
    terms += fabs(term);
  }
  const double before =
      g->beta != 0.0F ? (double)g->beta * p->c.values[g->c_offset + row * ldc + column] : 0;
  *magnitude = fabs((double)g->alpha) * terms + fabs(before);
  return (double)g->alpha * sum + before;
}

/* The largest error as a share of the terms' size, over every `step`th row and column. */
static double worst_error(const product *p, const float *c, size_t step)
{
  const size_t ldc = or_dense(p->gemm.ldc, p->gemm.n);
  double worst = 0;
  for (size_t row = 0; row < p->gemm.m; row += step)
    for (size_t column = 0; column < p->gemm.n; column += step) {
      double magnitude = 0;
      const double expected = expect(p, row, column, &magnitude);
      const double error =
          fabs(c[p->gemm.c_offset + row * ldc + column] - expected) / (magnitude + 1e-30);
      if (!(error <= worst)) worst = error;
    }
  return worst;
}

/* Runs a product and compares it with double loops; nothing outside of c may change. */
static void check_every(clm__device *device, const clm__gemm *gemm, size_t step)
{
  product p;
  float *c = NULL;
  make_product(device, gemm, &p);
  const size_t size = p.c.count * sizeof(float);
  const uint64_t buffers = atomic_load(&device->counts.buffers_created);
  const uint64_t finishes = atomic_load(&device->counts.finishes);
  assert_ok(clm__blas_gemm(device, &p.gemm, p.scratch, p.scratch_bytes));
  assert_int_equal(atomic_load(&device->counts.buffers_created), buffers);
  assert_int_equal(atomic_load(&device->counts.finishes), finishes);
  assert_ok(clm__mem_alloc(size, 1, &c));
  assert_ok(clm__buffer_read(device, p.c.buffer, 0, c, size, true));
  const double worst = worst_error(&p, c, step);
  if (!(worst < 1e-6))
    fail_msg("%zux%zux%zu%s%s: error %g", gemm->m, gemm->n, gemm->k,
             gemm->transpose_a ? " a transposed" : "", gemm->transpose_b ? " b transposed" : "",
             worst);
  for (size_t i = 0; i < p.c.count; i++)
    if (p.c.values[i] == OUTSIDE) assert_true(c[i] == OUTSIDE);
  clm__mem_free(c);
  free_product(&p);
}

static void check_transposes(clm__device *device, clm__gemm gemm, size_t step)
{
  for (int i = 0; i < 4; i++) {
    gemm.transpose_a = (i & 1) != 0;
    gemm.transpose_b = (i & 2) != 0;
    check_every(device, &gemm, step);
  }
}

static void test_odd_sizes(void **state)
{
  const clm__gemm gemm = {.m = 257, .n = 129, .k = 65, .alpha = 1.0F};
  check_transposes(*state, gemm, 1);
}

static void test_small_sizes(void **state)
{
  static const size_t sizes[][3] = {{1, 1, 1}, {1, 5, 3},    {5, 1, 3},
                                    {3, 5, 1}, {16, 16, 16}, {33, 12, 17}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const clm__gemm gemm = {.m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2], .alpha = 1.0F};
    check_transposes(*state, gemm, 1);
  }
}

static void test_large_sizes(void **state)
{
  const clm__gemm first = {.m = 1152, .n = 1250, .k = 333, .alpha = 1.0F};
  const clm__gemm second = {.m = 32, .n = 128, .k = 8191, .alpha = 1.0F};
  const clm__gemm third = {.m = 20001, .n = 16, .k = 27, .alpha = 1.0F};
  check_transposes(*state, first, 37);
  check_transposes(*state, second, 5);
  check_transposes(*state, third, 7);
}

static void test_alpha_and_beta(void **state)
{
  const clm__gemm gemm = {.m = 70, .n = 50, .k = 30, .alpha = -0.75F, .beta = 0.5F};
  check_transposes(*state, gemm, 1);
}

static void test_offsets_and_leading_dimensions(void **state)
{
  const clm__gemm gemm = {.m = 61,
                          .n = 43,
                          .k = 29,
                          .alpha = 1.0F,
                          .beta = 1.0F,
                          .a_offset = 7,
                          .b_offset = 131,
                          .c_offset = 64,
                          .lda = 80,
                          .ldb = 72,
                          .ldc = 65};
  check_transposes(*state, gemm, 1);
}

static void test_beta_zero_does_not_read_c(void **state)
{
  clm__device *device = *state;
  const clm__gemm gemm = {.m = 40, .n = 24, .k = 8, .alpha = 1.0F};
  product p;
  float c[40 * 24 + 5];
  make_product(device, &gemm, &p);
  assert_ok(clm__buffer_fill(device, p.c.buffer, 0, sizeof c, NAN));
  assert_ok(clm__blas_gemm(device, &p.gemm, p.scratch, p.scratch_bytes));
  assert_ok(clm__buffer_read(device, p.c.buffer, 0, c, sizeof c, true));
  assert_true(worst_error(&p, c, 1) < 1e-6);
  free_product(&p);
}

static void test_warm_leaves_c_alone(void **state)
{
  clm__device *device = *state;
  const clm__gemm gemm = {.m = 40, .n = 24, .k = 8, .alpha = 1.0F};
  product p;
  float c[40 * 24 + 5];
  make_product(device, &gemm, &p);
  assert_ok(clm__blas_warm(device, &p.gemm, 1, p.scratch, p.scratch_bytes));
  assert_ok(clm__buffer_read(device, p.c.buffer, 0, c, sizeof c, true));
  assert_memory_equal(c, p.c.values, sizeof c);
  free_product(&p);
}

static void test_wrong_calls_are_refused(void **state)
{
  clm__device *device = *state;
  size_t size = 0;
  clm__gemm gemm = {.m = 40, .n = 24, .k = 0, .alpha = 1.0F};
  assert_fails(clm__blas_scratch_bytes(device, &gemm, &size), CLM_INTERNAL, "40x24x0");
  gemm.k = 8;
  gemm.lda = 7;
  assert_fails(clm__blas_scratch_bytes(device, &gemm, &size), CLM_INTERNAL,
               "leading dimensions 7, 24 and 24");
  gemm.lda = 0;
  product p;
  make_product(device, &gemm, &p);
  if (p.scratch_bytes > 0) {
    assert_fails(clm__blas_gemm(device, &p.gemm, NULL, 0), CLM_INTERNAL, "bytes of scratch");
    assert_fails(clm__blas_gemm(device, &p.gemm, p.scratch, p.scratch_bytes - 1), CLM_INTERNAL,
                 "bytes of scratch");
  }
  p.gemm.c_offset = 100000;
  assert_ok(clm__blas_scratch_bytes(device, &p.gemm, &size));
  if (size <= p.scratch_bytes)
    assert_fails(clm__blas_gemm(device, &p.gemm, p.scratch, p.scratch_bytes), CLM_DEVICE_FAILED,
                 "CLBlast's code -1009");
  free_product(&p);
}

static void test_bad_gemm_switch(void **state)
{
  clm__device *device = *state;
  const clm__gemm gemm = {.m = 40, .n = 24, .k = 8, .alpha = 1.0F};
  product p;
  float c[40 * 24 + 5];
  make_product(device, &gemm, &p);
  setenv("CLEMATIS_TEST_BAD_GEMM", "1", 1);
  assert_ok(clm__blas_gemm(device, &p.gemm, p.scratch, p.scratch_bytes));
  unsetenv("CLEMATIS_TEST_BAD_GEMM");
  assert_ok(clm__buffer_read(device, p.c.buffer, 0, c, sizeof c, true));
  assert_true(worst_error(&p, c, 1) > 1e-3);
  free_product(&p);
}

static void test_check_finds_faults(void **state)
{
  clm__device *device = *state;
  clm__blas_verdict quick = {0}, full = {0}, bad = {0};
  const uint64_t live = clm__mem_get_counts().blocks_live;
  assert_ok(clm__blas_check(device, false, &quick));
  assert_true(quick.is_right);
  assert_int_equal(quick.products, 4);
  assert_ok(clm__blas_check(device, true, &full));
  assert_true(full.is_right);
  assert_true(full.products > quick.products);
  setenv("CLEMATIS_TEST_BAD_GEMM", "1", 1);
  const clm_status status = clm__blas_check(device, false, &bad);
  unsetenv("CLEMATIS_TEST_BAD_GEMM");
  assert_ok(status);
  assert_false(bad.is_right);
  assert_true(bad.worst_error > CLM__BLAS_TOLERANCE);
  assert_int_equal(bad.worst.m, 257);
  assert_int_equal(clm__mem_get_counts().blocks_live, live);
}

static void prepare_for_width(clm__device *device, int width)
{
  device->info.vector_width = width;
  device->is_blas_prepared = false;
  assert_ok(clm__blas_prepare(device, NULL));
}

/* The parameters for CPUs with shorter vectors are as right. */
static void test_other_vector_widths(void **state)
{
  clm__device *device = *state;
  const clm__gemm gemm = {.m = 61, .n = 43, .k = 29, .alpha = 1.0F};
  const int width = device->info.vector_width;
  if (device->info.kind != CLM__DEVICE_CPU) {
    print_message("skipped: CLBlast's own parameters are used on this device\n");
    skip();
  }
  for (int other = 4; other <= 8; other *= 2) {
    prepare_for_width(device, other);
    check_transposes(device, gemm, 1);
  }
  prepare_for_width(device, width);
}

/* CLBlast keeps programs by the address of their context, and a new context often gets the address
 * of the last one: its programs must not outlive the device. */
static void test_devices_one_after_the_other(void **state)
{
  const clm__gemm gemm = {.m = 33, .n = 21, .k = 19, .alpha = 1.0F};
  (void)state;
  for (int i = 0; i < 6; i++) {
    clm__device *device = open_test_device();
    assert_ok(clm__blas_prepare(device, NULL));
    check_every(device, &gemm, 1);
    assert_non_null(device->forget);
    clm__device_close(device);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_odd_sizes),
      cmocka_unit_test(test_small_sizes),
      cmocka_unit_test(test_large_sizes),
      cmocka_unit_test(test_alpha_and_beta),
      cmocka_unit_test(test_offsets_and_leading_dimensions),
      cmocka_unit_test(test_beta_zero_does_not_read_c),
      cmocka_unit_test(test_warm_leaves_c_alone),
      cmocka_unit_test(test_wrong_calls_are_refused),
      cmocka_unit_test(test_bad_gemm_switch),
      cmocka_unit_test(test_check_finds_faults),
      cmocka_unit_test(test_other_vector_widths),
      cmocka_unit_test(test_devices_one_after_the_other),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
