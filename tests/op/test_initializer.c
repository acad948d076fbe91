#include "op/asserts.h"
#include "op/initializer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 40000
static const clm__shape shape = {2, {200, 200}}; /* 200 in, 200 out */

typedef struct moments {
  double mean, deviation, least, most;
} moments;

static float *fill(clm__initializer_kind kind, double a, double b)
{
  const clm__initializer initializer = {kind, a, b};
  float *values = calloc(COUNT, sizeof *values);
  assert_non_null(values);
  clm__initializer_fill(&initializer, &shape, 42, 3, values);
  return values;
}

static moments measure(clm__initializer_kind kind, double a, double b)
{
  float *values = fill(kind, a, b);
  moments found = {.least = values[0], .most = values[0]};
  double squares = 0.0;
  for (int i = 0; i < COUNT; i++) {
    found.mean += (double)values[i] / COUNT;
    squares += (double)values[i] * (double)values[i] / COUNT;
    found.least = fmin(found.least, (double)values[i]);
    found.most = fmax(found.most, (double)values[i]);
  }
  found.deviation = sqrt(squares - found.mean * found.mean);
  free(values);
  return found;
}

static void assert_close(double actual, double expected, double tolerance)
{
  if (!(fabs(actual - expected) <= tolerance))
    fail_msg("%.6g is not %.6g within %.2g", actual, expected, tolerance);
}

static void test_constants(void **state)
{
  (void)state;
  assert_true(measure(CLM__INIT_ZEROS, 0, 0).most == 0.0);
  assert_true(measure(CLM__INIT_ONES, 0, 0).least == 1.0);
  assert_true(measure(CLM__INIT_CONSTANT, 2.5, 0).least == 2.5);
}

/* U(-limit, limit) has the deviation limit / sqrt(3), and values come close to both ends. */
static void check_uniform(clm__initializer_kind kind, double limit)
{
  const moments found = measure(kind, 0, 0);
  assert_close(found.mean, 0.0, 0.02 * limit);
  assert_close(found.deviation, limit / sqrt(3.0), 0.01 * limit);
  assert_true(found.least >= -limit && found.least < -0.99 * limit);
  assert_true(found.most <= limit && found.most > 0.99 * limit);
}

static void test_uniform(void **state)
{
  (void)state;
  check_uniform(CLM__INIT_GLOROT_UNIFORM, sqrt(6.0 / 400.0));
  check_uniform(CLM__INIT_HE_UNIFORM, sqrt(6.0 / 200.0));
  check_uniform(CLM__INIT_LECUN_UNIFORM, sqrt(3.0 / 200.0));
  const moments found = measure(CLM__INIT_RANDOM_UNIFORM, 1.0, 3.0);
  assert_close(found.mean, 2.0, 0.02);
  assert_true(found.least >= 1.0 && found.most <= 3.0);
}

/* Cut off at two of its own deviations, of which 0.8796 is left. */
static void check_cut(clm__initializer_kind kind, double a, double b, double deviation)
{
  const moments found = measure(kind, a, b);
  const double cut = 2.0 * deviation / 0.87962566103423978;
  assert_close(found.mean, a, 0.02 * deviation);
  assert_close(found.deviation, deviation, 0.015 * deviation);
  assert_true(found.most <= a + 1.0001 * cut && found.most > a + 0.98 * cut);
}

static void test_normal(void **state)
{
  (void)state;
  check_cut(CLM__INIT_GLOROT_NORMAL, 0, 0, sqrt(1.0 / 200.0));
  check_cut(CLM__INIT_HE_NORMAL, 0, 0, sqrt(2.0 / 200.0));
  check_cut(CLM__INIT_LECUN_NORMAL, 0, 0, sqrt(1.0 / 200.0));
  check_cut(CLM__INIT_TRUNCATED_NORMAL, 1.0, 0.05, 0.05 * 0.87962566103423978);
  const moments found = measure(CLM__INIT_RANDOM_NORMAL, -1.0, 0.5);
  assert_close(found.mean, -1.0, 0.01);
  assert_close(found.deviation, 0.5, 0.01);
  assert_true(found.most > 0.25);
}

static void test_fans_of_a_convolution(void **state)
{
  (void)state;
  const clm__initializer glorot = {CLM__INIT_GLOROT_UNIFORM, 0, 0};
  const clm__shape kernel = {4, {3, 3, 3, 16}}; /* Keras: 27 in, 144 out */
  float values[432];
  float most = 0.0F;
  clm__initializer_fill(&glorot, &kernel, 1, 0, values);
  for (int i = 0; i < 432; i++) most = fmaxf(most, fabsf(values[i]));
  assert_close((double)most, sqrt(6.0 / 171.0), 0.01 * sqrt(6.0 / 171.0));
}

static void test_function_of_seed_and_parameter(void **state)
{
  (void)state;
  const clm__initializer normal = {CLM__INIT_RANDOM_NORMAL, 0, 1};
  const clm__shape five = {1, {5}}, three = {1, {3}};
  float a[5], b[5], other_seed[5], other_parameter[5];
  clm__initializer_fill(&normal, &five, 1, 2, a);
  clm__initializer_fill(&normal, &three, 1, 2, b);
  clm__initializer_fill(&normal, &five, 9, 2, other_seed);
  clm__initializer_fill(&normal, &five, 1, 3, other_parameter);
  assert_memory_equal(a, b, 3 * sizeof *a);
  assert_memory_not_equal(a, other_seed, sizeof a);
  assert_memory_not_equal(a, other_parameter, sizeof a);
}

static void test_names(void **state)
{
  (void)state;
  clm__initializer parsed = {0};
  const char *a = NULL, *b = NULL;
  for (int i = 0; i < CLM__INITIALIZER_COUNT; i++) {
    assert_ok(clm__initializer_parse(clm__initializer_class((clm__initializer_kind)i), &parsed));
    assert_int_equal(parsed.kind, i);
  }
  assert_ok(clm__initializer_parse("glorot_uniform", &parsed));
  assert_int_equal(parsed.kind, CLM__INIT_GLOROT_UNIFORM);
  assert_ok(clm__initializer_parse("normal", &parsed));
  assert_true(parsed.b == 0.05);
  clm__initializer_keys(CLM__INIT_RANDOM_UNIFORM, &a, &b);
  assert_string_equal(a, "minval");
  assert_string_equal(b, "maxval");
  clm__initializer_keys(CLM__INIT_ZEROS, &a, &b);
  assert_null(a);
  assert_refused(clm__initializer_parse("Orthogonal", &parsed), CLM_UNSUPPORTED, "Orthogonal");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_uniform),
      cmocka_unit_test(test_normal),
      cmocka_unit_test(test_fans_of_a_convolution),
      cmocka_unit_test(test_function_of_seed_and_parameter),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
