#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "train/order.h"

#include <string.h>

static clm__dataset made_up(size_t train, size_t validation)
{
  return (clm__dataset){.train_count = train, .count = train + validation};
}

static clm__order order_of(const clm__dataset *dataset, size_t batch, uint32_t epoch, size_t step)
{
  const clm__order_config config = {
      .dataset = dataset, .batch_size = batch, .seed = 7, .shuffle = true, .validate = true};
  clm__order order;
  assert_int_equal(clm__order_init(&order, &config, epoch, step), CLM_OK);
  return order;
}

static void every_image_once(void **state)
{
  (void)state;
  const clm__dataset dataset = made_up(101, 23);
  clm__order order = order_of(&dataset, 10, 3, 0);
  assert_int_equal(order.train_batches, 11);
  assert_int_equal(order.validation_batches, 3);
  int seen[124] = {0};
  for (size_t i = 0; i < 124; i++) seen[order.samples[i]]++;
  for (size_t i = 0; i < 124; i++) assert_int_equal(seen[i], 1);
  assert_int_equal(order.starts[11], 101);
  assert_int_equal(order.starts[11] - order.starts[10], 1);
  assert_int_equal(order.starts[14], 124);
  for (size_t i = 101; i < 124; i++) assert_int_equal(order.samples[i], i);
  clm__order_fini(&order);
}

static void epochs_differ_and_repeat(void **state)
{
  (void)state;
  const clm__dataset dataset = made_up(64, 0);
  clm__order a = order_of(&dataset, 8, 0, 0);
  clm__order b = order_of(&dataset, 8, 1, 0);
  clm__order again = order_of(&dataset, 8, 0, 0);
  assert_memory_equal(a.samples, again.samples, 64 * sizeof *a.samples);
  assert_true(memcmp(a.samples, b.samples, 64 * sizeof *a.samples) != 0);
  clm__order_fini(&a);
  clm__order_fini(&b);
  clm__order_fini(&again);
}

static void going_on_keeps_the_rest(void **state)
{
  (void)state;
  const clm__dataset dataset = made_up(25, 4);
  clm__order whole = order_of(&dataset, 4, 5, 0);
  clm__order rest = order_of(&dataset, 4, 5, 3);
  assert_int_equal(rest.train_batches, whole.train_batches - 3);
  for (size_t b = 0; b <= rest.train_batches; b++)
    assert_int_equal(rest.starts[b], whole.starts[b + 3]);
  assert_memory_equal(rest.samples, whole.samples, 25 * sizeof *whole.samples);
  clm__order_fini(&whole);
  clm__order_fini(&rest);
  clm__order done = order_of(&dataset, 4, 5, 7);
  assert_int_equal(done.train_batches, 0);
  assert_int_equal(done.validation_batches, 1);
  clm__order_fini(&done);
}

/* Rank `user` of 3, by even shares. */
static void third(const void *user, bool validates, size_t count, size_t *first, size_t *kept)
{
  const size_t rank = *(const size_t *)user;
  (void)validates;
  *first = count * rank / 3;
  *kept = count * (rank + 1) / 3 - *first;
}

/* Over all ranks every image stands once, in its batch, also where a batch is smaller than the
 * number of ranks. */
static void check_parts(size_t train, size_t validation, size_t batch, size_t step)
{
  const clm__dataset dataset = made_up(train, validation);
  clm__order whole = order_of(&dataset, batch, 1, step);
  int seen[200] = {0};
  for (size_t rank = 0; rank < 3; rank++) {
    clm__order part = order_of(&dataset, batch, 1, step);
    clm__order_keep(&part, third, &rank);
    assert_int_equal(part.train_batches, whole.train_batches);
    for (size_t b = 0; b < part.train_batches + part.validation_batches; b++)
      for (size_t i = part.starts[b]; i < part.starts[b + 1]; i++) {
        bool is_in_batch = false;
        for (size_t k = whole.starts[b]; k < whole.starts[b + 1]; k++)
          is_in_batch = is_in_batch || whole.samples[k] == part.samples[i];
        assert_true(is_in_batch);
        seen[part.samples[i]]++;
      }
    clm__order_fini(&part);
  }
  for (size_t k = whole.starts[0]; k < train + validation; k++)
    assert_int_equal(seen[whole.samples[k]], 1);
  for (size_t k = 0; k < whole.starts[0]; k++) assert_int_equal(seen[whole.samples[k]], 0);
  clm__order_fini(&whole);
}

static void parts_make_the_whole(void **state)
{
  (void)state;
  check_parts(101, 23, 10, 0);
  check_parts(101, 23, 10, 7);
  check_parts(65, 0, 64, 0);
  check_parts(2, 1, 64, 0);
  check_parts(1, 1, 32, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_image_once),
                                     cmocka_unit_test(epochs_differ_and_repeat),
                                     cmocka_unit_test(going_on_keeps_the_rest),
                                     cmocka_unit_test(parts_make_the_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
