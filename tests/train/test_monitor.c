#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "train/monitor.h"

#include <math.h>

static clm__epoch_record record(double val_loss, double val_accuracy)
{
  return (clm__epoch_record){.val_loss = val_loss, .val_accuracy = val_accuracy};
}

static void loss_falls_accuracy_rises(void **state)
{
  (void)state;
  clm__run_state run = {.best_epoch = -1};
  clm__monitor monitor = {.figure = CLM__MONITOR_VAL_LOSS};
  const clm__epoch_record records[] = {record(1.0, 0.5), record(0.9, 0.4), record(0.9, 0.6)};
  assert_true(clm__monitor_update(&monitor, &records[0], 0, &run));
  assert_true(clm__monitor_update(&monitor, &records[1], 1, &run));
  assert_false(clm__monitor_update(&monitor, &records[2], 2, &run));
  assert_int_equal(run.best_epoch, 1);

  run = (clm__run_state){.best_epoch = -1};
  monitor.figure = CLM__MONITOR_VAL_ACCURACY;
  assert_true(clm__monitor_update(&monitor, &records[0], 0, &run));
  assert_false(clm__monitor_update(&monitor, &records[1], 1, &run));
  assert_true(clm__monitor_update(&monitor, &records[2], 2, &run));
}

static void not_a_number_is_never_best(void **state)
{
  (void)state;
  clm__run_state run = {.best_epoch = -1};
  const clm__monitor monitor = {.figure = CLM__MONITOR_VAL_LOSS};
  const clm__epoch_record bad = record(NAN, NAN);
  const clm__epoch_record good = record(5.0, 0.1);
  assert_false(clm__monitor_update(&monitor, &bad, 0, &run));
  assert_int_equal(run.best_epoch, -1);
  assert_true(clm__monitor_update(&monitor, &good, 1, &run));
  assert_false(clm__monitor_update(&monitor, &bad, 2, &run));
  assert_int_equal(run.epochs_without_better, 0);
}

static void patience_runs_out(void **state)
{
  (void)state;
  clm__run_state run = {.best_epoch = -1};
  const clm__monitor monitor = {.figure = CLM__MONITOR_VAL_LOSS, .patience = 2, .delta = 0.1};
  const double losses[] = {1.0, 0.95, 0.85, 0.84, 0.80};
  const bool over[] = {false, false, false, false, true};
  for (int epoch = 0; epoch < 5; epoch++) {
    const clm__epoch_record now = record(losses[epoch], 0.0);
    (void)clm__monitor_update(&monitor, &now, epoch, &run);
    assert_int_equal(clm__monitor_is_over(&monitor, &run), over[epoch]);
  }
  assert_int_equal(run.best_epoch, 2);
}

static void names(void **state)
{
  (void)state;
  clm__monitored figure;
  assert_int_equal(clm__monitor_parse(NULL, true, &figure), CLM_OK);
  assert_int_equal(figure, CLM__MONITOR_VAL_LOSS);
  assert_int_equal(clm__monitor_parse(NULL, false, &figure), CLM_OK);
  assert_int_equal(figure, CLM__MONITOR_LOSS);
  assert_int_equal(clm__monitor_parse("val_accuracy", false, &figure), CLM_USAGE);
  assert_int_equal(clm__monitor_parse("f1", true, &figure), CLM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(loss_falls_accuracy_rises),
                                     cmocka_unit_test(not_a_number_is_never_best),
                                     cmocka_unit_test(patience_runs_out), cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
