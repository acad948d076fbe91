#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/run_state.h"

#include <math.h>
#include <string.h>

static clm__run_state make_state(void)
{
  clm__run_state state = {.seed = UINT64_C(0xfedcba9876543210),
                          .batch_size = 32,
                          .data_digest = UINT64_C(0x8000000000000001),
                          .best_epoch = -1};
  const char *const names[] = {"daisy", "wild \"rose\"", "t\xc3\xbclip"};
  assert_int_equal(clm__run_state_set_classes(&state, names, 3), CLM_OK);
  const clm__epoch_record first = {1.0 / 3.0, 0.1, NAN, NAN, 0.001};
  const clm__epoch_record second = {0.3, 0.7, 0.25, 2.0 / 3.0, 0.0005};
  assert_int_equal(clm__run_state_end_epoch(&state, &first), CLM_OK);
  assert_int_equal(clm__run_state_end_epoch(&state, &second), CLM_OK);
  state.step = 17;
  state.images_seen = UINT64_C(1) << 40;
  state.loss_sum = 1e-3 / 7.0;
  state.hit_count = 5;
  state.image_count = 544;
  state.best_epoch = 1;
  state.best_value = 0.25;
  state.epochs_without_better = 3;
  return state;
}

static void every_bit_comes_back(void **unused)
{
  (void)unused;
  clm__run_state state = make_state();
  char *text = NULL;
  assert_int_equal(clm__run_state_to_json(&state, &text), CLM_OK);
  clm__run_state read = {0};
  assert_int_equal(clm__run_state_from_json(text, &read), CLM_OK);
  assert_true(read.seed == state.seed);
  assert_true(read.data_digest == state.data_digest);
  assert_int_equal(read.class_count, 3);
  for (int i = 0; i < 3; i++) assert_string_equal(read.class_names[i], state.class_names[i]);
  assert_int_equal(read.epoch, 2);
  assert_int_equal(read.step, 17);
  assert_true(read.images_seen == state.images_seen);
  assert_true(read.loss_sum == state.loss_sum);
  assert_int_equal(read.hit_count, 5);
  assert_int_equal(read.image_count, 544);
  assert_int_equal(read.best_epoch, 1);
  assert_int_equal(read.epochs_without_better, 3);
  assert_true(isnan(read.epochs[0].val_loss));
  assert_true(read.epochs[0].loss == 1.0 / 3.0);
  assert_memory_equal(&read.epochs[1], &state.epochs[1], sizeof state.epochs[1]);
  clm__mem_free(text);
  clm__run_state_fini(&read);
  clm__run_state_fini(&state);
}

static void broken_states_are_refused(void **unused)
{
  (void)unused;
  const char *const broken[] = {
      "",
      "[]",
      "{}",
      "{\"format\": 2}",
      "{\"format\": 1, \"seed\": \"zz\"}",
      "{\"format\": 1, \"seed\": \"0x1\", \"batch_size\": 0}",
      "{\"format\": 1, \"seed\": \"0x1\", \"batch_size\": 1, \"data_digest\": \"0x1\","
      " \"class_names\": [1]}",
      "{\"format\": 1, \"seed\": \"0x1\", \"batch_size\": 1, \"data_digest\": \"0x1\","
      " \"class_names\": [], \"epoch\": 3, \"step\": 0, \"images_seen\": 0, \"loss_sum\": 0,"
      " \"hit_count\": 0, \"image_count\": 0, \"best_epoch\": -1, \"best_value\": 0,"
      " \"epochs_without_better\": 0, \"epochs\": []}"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    clm__run_state read = {0};
    assert_int_equal(clm__run_state_from_json(broken[i], &read), CLM_BAD_DATA);
    assert_null(read.class_names);
  }
  assert_int_equal(clm__mem_get_counts().blocks_live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_bit_comes_back),
                                     cmocka_unit_test(broken_states_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
