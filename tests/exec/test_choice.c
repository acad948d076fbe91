#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/choice.h"

#include <string.h>

static bool never(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  (void)problem;
  (void)pass;
  (void)info;
  return false;
}

#define ALL_PASSES 7U
static const clm__variant plain = {.name = "plain", .passes = ALL_PASSES};
static const clm__variant cpu = {.name = "cpu", .passes = 1U << CLM__FORWARD};
static const clm__variant gpu = {.name = "gpu", .passes = ALL_PASSES, .usable = never};
static const clm__variant *const variants[] = {&gpu, &cpu, &plain, NULL};
static const clm__op conv2d = {.name = "conv2d", .variants = variants};
static const clm__problem problem = {.op = &conv2d};
static const clm__device_info info = {.id = "cpu0"};

static const char *found(const char *wish, clm__pass pass)
{
  static char name[CLM__CHOICE_NAME_SIZE];
  const char *result = clm__choice_find(wish, &problem, pass, &info, name);
  return result != NULL ? result : "";
}

static void words_find_their_pass(void **state)
{
  (void)state;
  assert_string_equal(found(NULL, CLM__FORWARD), "");
  assert_string_equal(found("plain", CLM__FORWARD), "plain");
  assert_string_equal(found("cpu", CLM__BACKWARD_W), "");
  assert_string_equal(found("dense=gemm", CLM__FORWARD), "");
  assert_string_equal(found("conv2d=gemm", CLM__BACKWARD_X), "gemm");
  assert_string_equal(found("plain,conv2d.bwd_x=gemm", CLM__BACKWARD_X), "gemm");
  assert_string_equal(found("plain,conv2d.bwd_x=gemm", CLM__FORWARD), "plain");
}

static void bare_words_need_a_usable_variant(void **state)
{
  (void)state;
  assert_string_equal(found("gpu", CLM__FORWARD), "");
  assert_string_equal(found("conv2d=gpu", CLM__FORWARD), "gpu");
}

static void fusion_needs_more_than_plain(void **state)
{
  (void)state;
  static const clm__variant *const only_plain[] = {&gpu, &plain, NULL};
  static const clm__op fused = {.name = "conv2d_max_pool", .variants = only_plain};
  const clm__problem plain_problem = {.op = &fused};
  assert_true(clm__choice_accepts_fusion(NULL, &problem, &info));
  assert_false(clm__choice_accepts_fusion("plain", &problem, &info));
  assert_false(clm__choice_accepts_fusion(NULL, &plain_problem, &info));
  assert_true(clm__choice_accepts_fusion("conv2d_max_pool=plain", &plain_problem, &info));
}

static void wrong_words_are_named(void **state)
{
  (void)state;
  const char *const wrong[][2] = {{"fast", "fast"},
                                  {"plain,conv9=cpu", "conv9"},
                                  {"conv2d.sideways=plain", "sideways"},
                                  {"dense=sparse", "sparse"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(clm__choice_check(wrong[i][0]), CLM_USAGE);
    assert_non_null(strstr(clm_error_last()->message, wrong[i][1]));
  }
  assert_int_equal(clm__choice_check(NULL), CLM_OK);
  assert_int_equal(clm__choice_check("plain,conv2d=gemm,dense.fwd=plain"), CLM_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_find_their_pass), cmocka_unit_test(bare_words_need_a_usable_variant),
      cmocka_unit_test(fusion_needs_more_than_plain), cmocka_unit_test(wrong_words_are_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
