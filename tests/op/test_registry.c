#include "op/asserts.h"
#include "op/registry.h"
#include "op/variant.h"

#include <string.h>

static void test_ops_by_both_names(void **state)
{
  (void)state;
  const clm__op *found = NULL;
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++) {
    assert_ok(clm__registry_find_op((*op)->name, &found));
    assert_ptr_equal(found, *op);
    if ((*op)->keras_class == NULL) continue;
    assert_ok(clm__registry_find_op((*op)->keras_class, &found));
    assert_ptr_equal(found, *op);
  }
  assert_refused(clm__registry_find_op("Dens", &found), CLM_UNSUPPORTED,
                 "layer class Dens is not supported; did you mean Dense?");
}

static void test_losses_and_optimizers(void **state)
{
  (void)state;
  const clm__loss *loss = NULL;
  const clm__optim *optim = NULL;
  assert_ok(clm__registry_find_loss("categorical_crossentropy", &loss));
  assert_ok(clm__registry_find_loss("SparseCategoricalCrossentropy", &loss));
  assert_string_equal(loss->name, "sparse_categorical_crossentropy");
  assert_refused(clm__registry_find_loss("mse", &loss), CLM_UNSUPPORTED, "loss mse");
  assert_ok(clm__registry_find_optim("RMSprop", &optim));
  assert_string_equal(optim->name, "rmsprop");
  assert_refused(clm__registry_find_optim("adan", &optim), CLM_UNSUPPORTED, "did you mean adam?");
}

/* What everyone may rely on: an op that runs has a variant called plain, and that is the last. */
static void test_the_last_variant_is_plain(void **state)
{
  (void)state;
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++) {
    if ((*op)->is_view || (*op)->keras_class == NULL) continue;
    const clm__variant *last = NULL;
    for (const clm__variant *const *at = (*op)->variants; *at != NULL; at++) last = *at;
    assert_non_null(last);
    assert_string_equal(last->name, "plain");
    assert_null(last->usable);
  }
}

/* A row of a table lies inside its struct, and a key stands once. */
static void check_fields(const clm__field *fields, size_t bytes, const char *name)
{
  for (const clm__field *field = fields; field != NULL && field->key != NULL; field++) {
    if (field->kind == CLM__FIELD_FIXED)
      assert_non_null(field->fixed);
    else
      assert_true(field->offset < bytes);
    if (field->kind == CLM__FIELD_CHOICE) assert_non_null(field->choices);
    for (const clm__field *other = fields; other != field; other++)
      if (strcmp(other->key, field->key) == 0) fail_msg("%s has %s twice", name, field->key);
  }
}

static void test_tables_of_fields(void **state)
{
  (void)state;
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++)
    check_fields((*op)->fields, (*op)->attribute_bytes, (*op)->name);
  for (const clm__loss *const *loss = clm__registry_losses(); *loss != NULL; loss++)
    check_fields((*loss)->fields, (*loss)->attribute_bytes, (*loss)->name);
  for (const clm__optim *const *optim = clm__registry_optims(); *optim != NULL; optim++)
    check_fields((*optim)->fields, (*optim)->attribute_bytes, (*optim)->name);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ops_by_both_names),
      cmocka_unit_test(test_losses_and_optimizers),
      cmocka_unit_test(test_the_last_variant_is_plain),
      cmocka_unit_test(test_tables_of_fields),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
