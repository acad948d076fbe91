#include "op/asserts.h"
#include "op/attributes.h"
#include "op/field.h"

#include <string.h>

typedef struct everything {
  int count, seed, choice;
  double rate;
  bool flag;
  int pair[2], pair_or_null[2], sides[4];
  clm__activation activation;
  clm__initializer initializer;
  clm__float_list list;
} everything;

static const char *const choices[] = {"valid", "same", NULL};

#define FIELD(key_, kind_, member, ...)                                                            \
  {                                                                                                \
    .key = key_, .kind = kind_, .offset = offsetof(everything, member), __VA_ARGS__                \
  }

static const clm__field fields[] = {
    FIELD("count", CLM__FIELD_INT, count, .otherwise = 7),
    FIELD("seed", CLM__FIELD_INT_OR_NULL, seed, .otherwise = -1),
    FIELD("choice", CLM__FIELD_CHOICE, choice, .otherwise = 1, .choices = choices),
    FIELD("rate", CLM__FIELD_FLOAT, rate, .otherwise = 0.25),
    FIELD("flag", CLM__FIELD_BOOL, flag, .otherwise = 1),
    FIELD("pair", CLM__FIELD_PAIR, pair, .otherwise = 2),
    FIELD("pair_or_null", CLM__FIELD_PAIR_OR_NULL, pair_or_null, .otherwise = 0),
    FIELD("sides", CLM__FIELD_SIDES, sides, .otherwise = 3),
    FIELD("activation", CLM__FIELD_ACTIVATION, activation, .otherwise = CLM__TANH),
    FIELD("initializer", CLM__FIELD_INITIALIZER, initializer,
          .initializer = {CLM__INIT_CONSTANT, 2.0, 0.0}),
    FIELD("list", CLM__FIELD_FLOAT_OR_LIST, list, .otherwise = 0.5),
    {.key = "fixed", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = NULL},
};

static void test_defaults(void **state)
{
  (void)state;
  everything all = {0};
  clm__field_set_defaults(fields, &all);
  assert_int_equal(all.count, 7);
  assert_int_equal(all.seed, -1);
  assert_int_equal(all.choice, 1);
  assert_true(all.rate == 0.25);
  assert_true(all.flag);
  assert_int_equal(all.pair[0], 2);
  assert_int_equal(all.pair[1], 2);
  assert_int_equal(all.pair_or_null[0], 0);
  for (int i = 0; i < 4; i++) assert_int_equal(all.sides[i], 3);
  assert_int_equal(all.activation, CLM__TANH);
  assert_int_equal(all.initializer.kind, CLM__INIT_CONSTANT);
  assert_true(all.initializer.a == 2.0);
  assert_int_equal(all.list.count, 0);
  assert_true(all.list.values[0] == 0.5);
}

static void test_no_fields(void **state)
{
  (void)state;
  int nothing = 5;
  clm__field_set_defaults(NULL, &nothing);
  assert_int_equal(nothing, 5);
}

static void test_attributes_as_text(void **state)
{
  (void)state;
  everything all = {0};
  attributes_read(fields, "count=3 pair=4,5 sides=1,2,3,4 choice=valid list=1,2,3 flag=false",
                  &all);
  assert_int_equal(all.count, 3);
  assert_int_equal(all.pair[0], 4);
  assert_int_equal(all.pair[1], 5);
  assert_int_equal(all.sides[3], 4);
  assert_int_equal(all.choice, 0);
  assert_int_equal(all.list.count, 3);
  assert_false(all.flag);
  assert_true(all.rate == 0.25);
}

static void test_activation_names(void **state)
{
  (void)state;
  clm__activation parsed = CLM__LINEAR;
  for (int i = 0; i < CLM__ACTIVATION_COUNT; i++) {
    assert_ok(clm__activation_parse(clm__activation_name((clm__activation)i), &parsed));
    assert_int_equal(parsed, i);
  }
  assert_ok(clm__activation_parse("swish", &parsed));
  assert_int_equal(parsed, CLM__SILU);
  assert_refused(clm__activation_parse("mish", &parsed), CLM_UNSUPPORTED, "activation mish");
  assert_int_equal(parsed, CLM__SILU);
}

static void test_epilogues(void **state)
{
  (void)state;
  assert_true(clm__activation_is_epilogue(CLM__LINEAR));
  assert_true(clm__activation_is_epilogue(CLM__TANH));
  assert_false(clm__activation_is_epilogue(CLM__SILU));
  assert_false(clm__activation_is_epilogue(CLM__GELU));
  assert_false(clm__activation_is_epilogue(CLM__SOFTMAX));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),           cmocka_unit_test(test_no_fields),
      cmocka_unit_test(test_attributes_as_text), cmocka_unit_test(test_activation_names),
      cmocka_unit_test(test_epilogues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
