/* Event files, decoded again with protobuf-c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event_reader.h"
#include "support/folder.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_version(const decoded *read)
{
  assert_true(read->count > 0);
  assert_int_equal(read->events[0]->what_case, CLM__TB__EVENT__WHAT_FILE_VERSION);
  assert_string_equal(read->events[0]->file_version, "brain.Event:2");
}

static void assert_scalar(const Clm__Tb__Event *event, int64_t step, const char *tag, float value)
{
  assert_int_equal(event->what_case, CLM__TB__EVENT__WHAT_SUMMARY);
  assert_true(event->step == step);
  assert_int_equal(event->summary->n_value, 1);
  const Clm__Tb__Value *point = event->summary->value[0];
  assert_string_equal(point->tag, tag);
  assert_int_equal(point->content_case, CLM__TB__VALUE__CONTENT_SIMPLE_VALUE);
  assert_true(point->simple_value == value);
}

/* RFC 3720, appendix B.4. */
static void checksums_are_those_of_the_standard(void **state)
{
  (void)state;
  unsigned char bytes[32];
  memset(bytes, 0, sizeof bytes);
  assert_int_equal(clm__event_crc(bytes, 32), 0x8a9136aaU);
  memset(bytes, 0xff, sizeof bytes);
  assert_int_equal(clm__event_crc(bytes, 32), 0x62a8ab43U);
  for (int i = 0; i < 32; i++) bytes[i] = (unsigned char)i;
  assert_int_equal(clm__event_crc(bytes, 32), 0x46dd794eU);
  for (int i = 0; i < 32; i++) bytes[i] = (unsigned char)(31 - i);
  assert_int_equal(clm__event_crc(bytes, 32), 0x113fdb5cU);
  static const unsigned char read_command[48] = {
      0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
  assert_int_equal(clm__event_crc(read_command, 48), 0xd9963a56U);
}

static void what_was_added_comes_back(void **state)
{
  (void)state;
  char *folder = make_folder();
  char below[1024];
  (void)snprintf(below, sizeof below, "%s/tensorboard/train", folder);
  clm__event_file *file = NULL;
  const double before = clm__clock_unix_seconds();
  assert_int_equal(clm__event_file_create(below, &file), CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_OK);
  assert_false(clm__file_exists(below)); /* nothing to tell, nothing made */
  assert_int_equal(clm__event_file_add_start(file, 3), CLM_OK);
  assert_int_equal(clm__event_file_add_scalar(file, 3, "epoch_loss", 0.1), CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_OK);
  assert_int_equal(clm__event_file_add_scalar(file, INT64_C(1) << 40, "t\xc3\xbclip", -2.5),
                   CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_OK);
  assert_int_equal(clm__event_file_add_scalar(file, 5, "dropped", 0.0), CLM_OK);
  clm__event_file_destroy(file);
  assert_int_equal(count_files(below), 1);
  decoded read = read_events(below, 0);
  assert_int_equal(read.count, 4);
  assert_version(&read);
  assert_int_equal(read.events[1]->what_case, CLM__TB__EVENT__WHAT_SESSION_LOG);
  assert_int_equal(read.events[1]->session_log->status, CLM__TB__SESSION_LOG__STATUS__START);
  assert_true(read.events[1]->step == 3);
  assert_scalar(read.events[2], 3, "epoch_loss", 0.1F);
  assert_scalar(read.events[3], INT64_C(1) << 40, "t\xc3\xbclip", -2.5F);
  for (size_t i = 0; i < read.count; i++)
    assert_true(read.events[i]->wall_time >= before &&
                read.events[i]->wall_time <= clm__clock_unix_seconds());
  forget(&read);
  remove_folder(folder);
}

static void a_histogram_is_a_tensor_of_buckets(void **state)
{
  (void)state;
  const clm__event_bucket buckets[] = {{-1.0, 0.5, 7.0}, {0.5, 2.0, 1.0}};
  char *folder = make_folder();
  clm__event_file *file = NULL;
  assert_int_equal(clm__event_file_create(folder, &file), CLM_OK);
  assert_int_equal(clm__event_file_add_histogram(file, 4, "a/kernel/histogram", buckets, 2),
                   CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_OK);
  clm__event_file_destroy(file);
  decoded read = read_events(folder, 0);
  assert_int_equal(read.count, 2);
  assert_true(read.events[1]->step == 4);
  const Clm__Tb__Value *value = read.events[1]->summary->value[0];
  assert_string_equal(value->tag, "a/kernel/histogram");
  assert_string_equal(value->metadata->plugin_data->plugin_name, "histograms");
  assert_int_equal(value->tensor->dtype, CLM__TB__TENSOR__TYPE__DOUBLE);
  assert_int_equal(value->tensor->tensor_shape->n_dim, 2);
  assert_true(value->tensor->tensor_shape->dim[0]->size == 2);
  assert_true(value->tensor->tensor_shape->dim[1]->size == 3);
  assert_int_equal(value->tensor->tensor_content.len, sizeof buckets);
  /* Little endian: -1.0 is bf f0 00 ... from its last byte on. */
  assert_int_equal(value->tensor->tensor_content.data[7], 0xbf);
  assert_int_equal(value->tensor->tensor_content.data[6], 0xf0);
  forget(&read);
  remove_folder(folder);
}

/* Also where the clock was set back since. */
static void another_file_sorts_behind(void **state)
{
  (void)state;
  char *folder = make_folder();
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/events.out.tfevents.9000000000.other", folder);
  assert_int_equal(clm__file_write(path, "", 0), CLM_OK);
  for (int i = 1; i <= 2; i++) {
    clm__event_file *file = NULL;
    assert_int_equal(clm__event_file_create(folder, &file), CLM_OK);
    assert_int_equal(clm__event_file_add_scalar(file, i, "x", i), CLM_OK);
    assert_int_equal(clm__event_file_flush(file), CLM_OK);
    clm__event_file_destroy(file);
  }
  assert_int_equal(count_files(folder), 3);
  for (int i = 1; i <= 2; i++) {
    decoded read = read_events(folder, (size_t)i);
    assert_int_equal(read.count, 2);
    assert_scalar(read.events[1], i, "x", (float)i);
    forget(&read);
  }
  remove_folder(folder);
}

/* Adds point after point until a write fails; returns the step that was not written. */
static int fill_disk(clm__event_file *file)
{
  int step = 0;
  clm_status status = CLM_OK;
  (void)setenv("CLEMATIS_TEST_FAIL_WRITE", "12", 1);
  for (int i = 0; i < 12 && status == CLM_OK; i++) {
    assert_int_equal(clm__event_file_add_scalar(file, ++step, "x", 1.0), CLM_OK);
    status = clm__event_file_flush(file);
  }
  (void)unsetenv("CLEMATIS_TEST_FAIL_WRITE");
  assert_int_equal(status, CLM_IO);
  return step;
}

static void a_failed_write_begins_another_file(void **state)
{
  (void)state;
  char *folder = make_folder();
  clm__event_file *file = NULL;
  assert_int_equal(clm__event_file_create(folder, &file), CLM_OK);
  assert_int_equal(clm__event_file_add_scalar(file, 0, "x", 0.5), CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_OK);
  const int lost = fill_disk(file);
  assert_int_equal(clm__event_file_add_scalar(file, 99, "x", 2.0), CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_OK);
  clm__event_file_destroy(file);
  assert_int_equal(count_files(folder), 2);
  decoded read = read_events(folder, 1);
  assert_int_equal(read.count, 3);
  assert_version(&read);
  assert_scalar(read.events[1], lost, "x", 1.0F);
  assert_scalar(read.events[2], 99, "x", 2.0F);
  forget(&read);
  remove_folder(folder);
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
  (void)state;
  char *folder = make_folder();
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/file", folder);
  assert_int_equal(clm__file_write(path, "x", 1), CLM_OK);
  clm__event_file *file = NULL;
  assert_int_equal(clm__event_file_create(path, &file), CLM_OK);
  assert_int_equal(clm__event_file_add_scalar(file, 1, "x", 1.0), CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_IO);
  assert_int_equal(clm__file_remove(path), CLM_OK);
  assert_int_equal(clm__event_file_flush(file), CLM_OK);
  decoded read = read_events(path, 0);
  assert_int_equal(read.count, 2);
  forget(&read);
  clm__event_file_destroy(file);
  clm__event_file_destroy(NULL);
  remove_folder(folder);
}

static int leaves_nothing(void **state)
{
  (void)state;
  assert_int_equal(clm__mem_get_counts().blocks_live, 0);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(checksums_are_those_of_the_standard, leaves_nothing),
      cmocka_unit_test_teardown(what_was_added_comes_back, leaves_nothing),
      cmocka_unit_test_teardown(a_histogram_is_a_tensor_of_buckets, leaves_nothing),
      cmocka_unit_test_teardown(another_file_sorts_behind, leaves_nothing),
      cmocka_unit_test_teardown(a_failed_write_begins_another_file, leaves_nothing),
      cmocka_unit_test_teardown(a_folder_that_cannot_be_made_is_an_error, leaves_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
