#include "op/fence.h"
#include "op/gradient_check.h"
#include "op/testdevice.h"

#include <math.h>
#include <stdlib.h>

static clm__device *device;

typedef struct verdict {
  int stop;
  float square_sum;
} verdict;

static verdict run(const float *losses, int batch, const float *g, size_t elements)
{
  verdict found = {.stop = -1};
  clm__gradient_check check;
  fences set = {.device = device};
  cl_mem losses_at, g_at, stop_at, sum_at;
  assert_ok(clm__gradient_check_init(&check, device));
  fences_add_input(&set, "losses", &losses_at, losses, (size_t)batch * sizeof *losses);
  fences_add_input(&set, "g", &g_at, g, elements * sizeof *g);
  fences_add_output(&set, "stop", &stop_at, NULL, &found.stop, sizeof found.stop);
  fences_add_output(&set, "square_sum", &sum_at, NULL, &found.square_sum, sizeof found.square_sum);
  fences_open(&set);
  assert_ok(clm__gradient_check_enqueue(&check, losses_at, batch, g_at, elements, stop_at, sum_at));
  fences_close(&set, "gradient check");
  clm__gradient_check_fini(&check);
  return found;
}

static const float losses[] = {0.5F, 1.0F, 2.0F};

/* Gradients in [-1, 1), a whole number of vectors. */
static float *make_gradients(size_t elements)
{
  float *g = calloc(elements, sizeof *g);
  assert_non_null(g);
  for (size_t i = 0; i < elements; i++) g[i] = test_random(1, i, -1.0, 1.0);
  return g;
}

static void test_sums(void **state)
{
  (void)state;
  const size_t sizes[] = {16, 32, 16 * 63, 16 * 64, 16 * 65, 16 * 1000, 16 * 9001};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    float *g = make_gradients(sizes[k]);
    double expected = 0.0;
    for (size_t i = 0; i < sizes[k]; i++) expected += (double)g[i] * (double)g[i];
    const verdict found = run(losses, 3, g, sizes[k]);
    assert_int_equal(found.stop, 0);
    assert_true(fabs((double)found.square_sum - expected) <= 1e-6 * expected);
    assert_true(found.square_sum == run(losses, 3, g, sizes[k]).square_sum);
    free(g);
  }
}

static void test_gradients_that_are_not_finite(void **state)
{
  (void)state;
  const size_t elements = 16 * 131;
  const float bad[] = {NAN, INFINITY, -INFINITY};
  const size_t places[] = {0, 15, 16, 16 * 64 + 3, 16 * 131 - 1};
  float *g = make_gradients(elements);
  for (int b = 0; b < 3; b++)
    for (int p = 0; p < 5; p++) {
      const float kept = g[places[p]];
      g[places[p]] = bad[b];
      assert_int_equal(run(losses, 3, g, elements).stop, 1);
      g[places[p]] = kept;
    }
  assert_int_equal(run(losses, 3, g, elements).stop, 0);
  free(g);
}

static void test_losses_that_are_not_finite(void **state)
{
  (void)state;
  float *g = make_gradients(16);
  float many[200];
  for (int n = 0; n < 200; n++) many[n] = 1.0F;
  assert_int_equal(run(many, 200, g, 16).stop, 0);
  many[199] = NAN;
  assert_int_equal(run(many, 200, g, 16).stop, 1);
  assert_int_equal(run(many, 199, g, 16).stop, 0);
  many[0] = INFINITY;
  assert_int_equal(run(many, 1, g, 16).stop, 1);
  free(g);
}

static void test_losses_alone(void **state)
{
  (void)state;
  const float bad = NAN;
  const verdict found = run(losses, 3, NULL, 0);
  assert_int_equal(found.stop, 0);
  assert_true(found.square_sum == 0.0F);
  assert_int_equal(run(&bad, 1, NULL, 0).stop, 1);
}

static void test_large_gradients_are_finite(void **state)
{
  (void)state;
  float g[16] = {0};
  g[3] = 1e30F;
  const verdict found = run(losses, 3, g, 16);
  assert_int_equal(found.stop, 0);
  assert_true(isinf(found.square_sum));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_gradients_that_are_not_finite),
      cmocka_unit_test(test_losses_that_are_not_finite),
      cmocka_unit_test(test_losses_alone),
      cmocka_unit_test(test_large_gradients_are_finite),
  };
  const int limits[] = {0, 1, 7};
  const test_options options = test_options_read(argc, argv);
  int failed = 0;
  for (int i = 0; i < (options.tiny ? 1 : 3); i++) {
    device = test_device_open(&options, limits[i]);
    failed += cmocka_run_group_tests_name("gradient check", tests, NULL, NULL);
    clm__device_close(device);
  }
  return failed;
}
