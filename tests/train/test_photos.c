/* Three epochs on the photographs of the flowers tutorial, where they are.
 * ctest: labels=slow timeout=900 */
#include "op/testdevice.h"

#include "base/mem.h"
#include "clematis/train.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>

#define EPOCHS 3

typedef struct epochs_seen {
  clm_epoch_info infos[EPOCHS];
  size_t train_images;
  size_t validation_images;
} epochs_seen;

static clm_status keep_counts(void *user, const clm_data_report *report)
{
  epochs_seen *seen = user;
  seen->train_images = report->train_count;
  seen->validation_images = report->validation_count;
  return CLM_OK;
}

static clm_status keep_epoch(void *user, const clm_epoch_info *info)
{
  epochs_seen *seen = user;
  seen->infos[info->epoch] = *info;
  return CLM_OK;
}

static void three_epochs_learn(void **state)
{
  const char *photos = *state;
  char *scratch = make_folder();
  char out[1024];
  (void)snprintf(out, sizeof out, "%s/run", scratch);
  epochs_seen seen = {0};
  const clm_callback callback = {.user = &seen, .on_data = keep_counts, .on_epoch_end = keep_epoch};
  clm_train_config config = clm_train_config_default();
  config.data.folder = photos;
  config.run.devices = getenv("CLEMATIS_TEST_DEVICE");
  config.image_height = 96;
  config.image_width = 96;
  config.epochs = EPOCHS;
  config.out_folder = out;
  config.callbacks = &callback;
  config.callback_count = 1;
  clm_train_result result;
  assert_ok(clm_train(&config, &result));
  assert_int_equal(seen.train_images, 2936);
  assert_int_equal(seen.validation_images, 734);
  for (int i = 1; i < EPOCHS; i++)
    assert_true(seen.infos[i].figures.loss < seen.infos[i - 1].figures.loss);
  /* Five classes: guessing gives 0.2. */
  assert_true(seen.infos[EPOCHS - 1].figures.val_accuracy > 0.5);
  assert_true(seen.infos[EPOCHS - 1].figures.accuracy > 0.5);
  remove_folder(scratch);
  assert_int_equal(clm__mem_get_counts().blocks_live, 0);
}

int main(int argc, char **argv)
{
  const test_options options = test_options_read(argc, argv);
  clm__device_close(test_device_open(&options, 0)); /* ends with 77 where there is none */
  const char *photos = photos_folder();
  if (photos == NULL) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(three_epochs_learn, (void *)(uintptr_t)photos)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
