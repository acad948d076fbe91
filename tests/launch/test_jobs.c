/* Job descriptions good and bad: tests/launch/jobs/NAME.json gives findings and plan as in
 * NAME.expected. With CLEMATIS_TEST_RECORD=1 the expected files are written anew, to be read and
 * committed. */
#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/testswitch.h"
#include "launch/plan.h"
#include "sys/file.h"

#include <stdio.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 20)

static void note_finding(void *user, const clm_finding *finding)
{
  static const char *const kinds[] = {"error", "warning", "note"};
  assert_int_equal(
      clm__str_add(user, "%s: %s: %s\n", kinds[finding->kind], finding->path, finding->text),
      CLM_OK);
}

static void read_job(const char *text, clm__str *result)
{
  const clm_launch_config config = clm_launch_config_default();
  const clm__spec_use use = {.engine = CLM_ENGINE_LOCAL};
  const clm_findings findings = {.visit = note_finding, .user = result};
  clm__report report = {.findings = &findings};
  clm__spec spec;
  clm__plan plan;
  const clm_status status = clm__spec_read(text, "the job", &use, &report, &spec);
  if (status != CLM_OK) {
    assert_int_equal(clm__str_add(result, "%s\n", clm_error_last()->message), CLM_OK);
    return;
  }
  assert_int_equal(clm__plan_make(&spec, &config, &plan), CLM_OK);
  assert_int_equal(clm__plan_describe(&plan, CLM_LAUNCH_PROGRESS_LINES, result), CLM_OK);
  clm__plan_fini(&plan);
  clm__spec_fini(&spec);
}

static void check_job(const char *path)
{
  char expected_path[1024];
  char *text = NULL;
  char *expected = NULL;
  size_t size_bytes = 0;
  clm__str result = {0};
  (void)snprintf(expected_path, sizeof expected_path, "%.*s.expected", (int)strlen(path) - 5, path);
  assert_int_equal(clm__file_read(path, BYTES_MAX, &text, &size_bytes), CLM_OK);
  read_job(text, &result);
  if (clm__testswitch_is("CLEMATIS_TEST_RECORD", "1"))
    assert_int_equal(clm__file_write(expected_path, result.text, result.length), CLM_OK);
  assert_int_equal(clm__file_read(expected_path, BYTES_MAX, &expected, &size_bytes), CLM_OK);
  if (strcmp(clm__str_get(&result), expected) != 0)
    fail_msg("%s gives\n%s\nnot\n%s", path, clm__str_get(&result), expected);
  clm__str_fini(&result);
  clm__mem_free(text);
  clm__mem_free(expected);
}

static void all_jobs(void **state)
{
  static const char folder[] = CLM_TEST_SOURCE_DIR "/launch/jobs";
  clm__file_listing listing;
  size_t checked = 0;
  (void)state;
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  for (size_t i = 0; i < listing.count; i++) {
    char path[1024];
    const char *name = listing.entries[i].name;
    if (strstr(name, ".json") == NULL) continue;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    check_job(path);
    checked++;
  }
  assert_true(checked >= 14);
  clm__file_listing_fini(&listing);
}

static void memory_is_given_back(void **state)
{
  static const char job[] = "[{\"machine_spec\":{\"machine_type\":\"m-4\"},\"container_spec\":"
                            "{\"image_uri\":\"i\",\"args\":[\"a\",\"$(B)\"],\"env\":[{\"name\":"
                            "\"B\",\"value\":\"c\"}]}}]";
  (void)state;
  const uint64_t before = clm__mem_get_counts().blocks_live;
  clm__str result = {0};
  read_job(job, &result);
  clm__str_fini(&result);
  assert_int_equal(clm__mem_get_counts().blocks_live, before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_jobs),
      cmocka_unit_test(memory_is_given_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
