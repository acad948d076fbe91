#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/jpeg_outline.h"
#include "data/pictures.h"

/* How clm__decode_verify decodes, so that the lines in its messages are the same. */
static const clm__decode_options small = {.channels = 3, .least_height = 1, .least_width = 1};

/* Both on a copy that ends where the file does, so that a sanitizer sees a byte read too much. */
static void assert_same_verdict(const char *name, const char *bytes, size_t size_bytes)
{
  char *exact = malloc(size_bytes > 0 ? size_bytes : 1);
  memcpy(exact, bytes, size_bytes);
  clm__image image = {0};
  clm_error_clear();
  const clm_status decoded = clm__decode(exact, size_bytes, &small, &image);
  const clm_error expected = *clm_error_last();
  clm_error_clear();
  const clm_status verified = clm__decode_verify(exact, size_bytes, &image);
  const clm_error actual = *clm_error_last();
  if (verified != decoded || strcmp(actual.message, expected.message) != 0)
    fail_msg("%s, %zu bytes: verified as %s \"%s\", decoded as %s \"%s\"", name, size_bytes,
             clm_status_name(verified), actual.message, clm_status_name(decoded), expected.message);
  clm__image_fini(&image);
  free(exact);
}

typedef void (*try_file)(const char *name, file_content *content);

static void for_each_file(const char *folder, try_file try)
{
  char path[1024];
  file_content content;
  clm__file_listing listing = folder[0] == 's' ? list_sources() : list_bad();
  for (size_t i = 0; i < listing.count; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", folder, listing.entries[i].name);
    content = read_golden(path);
    try(path, &content);
    clm__mem_free(content.bytes);
  }
  clm__file_listing_fini(&listing);
}

static void try_whole(const char *name, file_content *content)
{
  assert_same_verdict(name, content->bytes, content->size_bytes);
}

static void whole_files_are_judged_as_by_decoding(void **state)
{
  (void)state;
  for_each_file("src", try_whole);
  for_each_file("bad", try_whole);
}

static void try_shortened(const char *name, file_content *content)
{
  const size_t step = content->size_bytes / 120 + 1;
  for (size_t size = 0; size < content->size_bytes; size += step)
    assert_same_verdict(name, content->bytes, size);
  for (size_t left = 1; left < 12 && left < content->size_bytes; left++)
    assert_same_verdict(name, content->bytes, content->size_bytes - left);
}

static void shortened_files_are_judged_as_by_decoding(void **state)
{
  (void)state;
  for_each_file("src", try_shortened);
}

/* A cut in the middle with the end mark behind it is what a broken download with a repaired end
 * looks like. */
static void try_cut(const char *name, file_content *content)
{
  const size_t step = content->size_bytes / 60 + 1;
  for (size_t size = 2; size + 2 < content->size_bytes; size += step) {
    char before[2];
    memcpy(before, content->bytes + size, 2);
    memcpy(content->bytes + size, "\xFF\xD9", 2);
    assert_same_verdict(name, content->bytes, size + 2);
    assert_same_verdict(name, content->bytes, content->size_bytes);
    memcpy(content->bytes + size, before, 2);
  }
}

static void files_with_an_early_end_mark_are_judged_as_by_decoding(void **state)
{
  (void)state;
  for_each_file("src", try_cut);
}

static uint32_t draw(uint32_t *random)
{
  *random = *random * 1664525U + 1013904223U;
  return *random >> 8;
}

/* Damages mostly become markers, since other bytes within a scan are never an error. */
static void try_damaged(const char *name, file_content *content)
{
  static const unsigned char likely[] = {0xFF, 0xD9, 0xD8, 0xDA, 0xC4, 0xDB, 0xDD, 0xC0, 0xC2,
                                         0xD0, 0xFE, 0xE0, 0xEE, 0x01, 0x00, 0x02, 0xCC, 0xDC};
  uint32_t random = 7;
  char *whole = malloc(content->size_bytes);
  memcpy(whole, content->bytes, content->size_bytes);
  for (int round = 0; round < 400; round++) {
    const int count = 1 + (int)(draw(&random) % 3);
    for (int i = 0; i < count; i++) {
      /* Half of them in the header. */
      const size_t range =
          draw(&random) % 2 == 0 && content->size_bytes > 700 ? 700 : content->size_bytes;
      const size_t place = draw(&random) % range;
      content->bytes[place] = (char)likely[draw(&random) % sizeof likely];
      if (place + 1 < content->size_bytes && draw(&random) % 2 == 0) {
        content->bytes[place] = (char)0xFF;
        content->bytes[place + 1] = (char)likely[draw(&random) % sizeof likely];
      }
    }
    assert_same_verdict(name, content->bytes, content->size_bytes);
    memcpy(content->bytes, whole, content->size_bytes);
  }
  free(whole);
}

static void damaged_files_are_judged_as_by_decoding(void **state)
{
  (void)state;
  for_each_file("src", try_damaged);
}

/* Ordinary files must go the short way. */
static void sound_jpegs_have_a_small_outline(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    int scan_count;
  } cases[] = {{"src/jpeg_420.jpg", 1},
               {"src/jpeg_420_exif6.jpg", 1},
               {"src/jpeg_420_restart2.jpg", 1},
               {"src/jpeg_cmyk_adobe0.jpg", 1},
               {"src/jpeg_progressive_grey.jpg", 6},
               {"src/jpeg_progressive_420.jpg", 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    file_content content = read_golden(cases[i].name);
    clm__jpeg_outline outline;
    assert_true(clm__jpeg_outline_take(content.bytes, content.size_bytes, &outline));
    assert_int_equal(outline.scan_count, cases[i].scan_count);
    assert_true(outline.ends_with_scan);
    assert_true(outline.size_bytes < content.size_bytes);
    clm__mem_free(content.bytes);
  }
}

static void files_without_their_end_have_no_outline(void **state)
{
  (void)state;
  static const char *const names[] = {"bad/no_eoi.jpg", "bad/truncated.jpg", "bad/header_only.jpg",
                                      "bad/text.jpg", "bad/empty.jpg"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    file_content content = read_golden(names[i]);
    clm__jpeg_outline outline;
    assert_false(clm__jpeg_outline_take(content.bytes, content.size_bytes, &outline));
    clm__mem_free(content.bytes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_files_are_judged_as_by_decoding),
      cmocka_unit_test(shortened_files_are_judged_as_by_decoding),
      cmocka_unit_test(files_with_an_early_end_mark_are_judged_as_by_decoding),
      cmocka_unit_test(damaged_files_are_judged_as_by_decoding),
      cmocka_unit_test(sound_jpegs_have_a_small_outline),
      cmocka_unit_test(files_without_their_end_have_no_outline),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
