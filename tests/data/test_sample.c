/* The drawn data set: the same bytes for a seed, pictures that decode, faults that are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "clematis/data.h"
#include "data/decode.h"
#include "data/sample_flower.h"
#include "data/sample_random.h"
#include "support/folder.h"
#include "sys/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t picture_hash(uint64_t seed, int kind, int number)
{
  clm__image image = {0};
  assert_int_equal(clm__sample_flower(seed, kind, number, &image), CLM_OK);
  const size_t size_bytes = 3 * (size_t)image.width * (size_t)image.height;
  const uint64_t hash = clm__hash_bytes(CLM__HASH_START, image.pixels, size_bytes);
  clm__image_fini(&image);
  return hash;
}

static void test_picture_depends_on_seed_kind_and_number(void **state)
{
  (void)state;
  for (int kind = 0; kind < CLM__SAMPLE_KIND_COUNT; kind++) {
    const uint64_t hash = picture_hash(1, kind, 0);
    assert_true(hash == picture_hash(1, kind, 0));
    assert_true(hash != picture_hash(2, kind, 0));
    assert_true(hash != picture_hash(1, kind, 1));
    assert_true(hash != picture_hash(1, (kind + 1) % CLM__SAMPLE_KIND_COUNT, 0));
  }
}

/* The pixels are the same on every machine and with every compiler. */
static void test_pixels_are_as_recorded(void **state)
{
  static const uint64_t recorded[CLM__SAMPLE_KIND_COUNT] = {
      UINT64_C(0xaf025bb9ddefb3f1), UINT64_C(0x2aa2728dbbf6dbc4), UINT64_C(0xa287a5bd8f2c8828),
      UINT64_C(0xa82c5ec1eadcd9cc), UINT64_C(0x109ceda7a9978bde),
  };
  (void)state;
  for (int kind = 0; kind < CLM__SAMPLE_KIND_COUNT; kind++) {
    const uint64_t hash = picture_hash(1, kind, 7);
    if (hash != recorded[kind])
      print_message("%s: 0x%016llx\n", clm__sample_kind_name(kind), (unsigned long long)hash);
    assert_true(hash == recorded[kind]);
  }
}

static void test_sizes_lie_in_their_range(void **state)
{
  (void)state;
  for (int number = 0; number < 20; number++) {
    clm__image image = {0};
    assert_int_equal(clm__sample_flower(9, number % CLM__SAMPLE_KIND_COUNT, number, &image),
                     CLM_OK);
    assert_in_range(image.width, 96, 260);
    assert_in_range(image.height, 96, 260);
    assert_int_equal(image.channels, 3);
    clm__image_fini(&image);
  }
}

static void test_sine_equals_the_librarys(void **state)
{
  (void)state;
  for (int i = -300; i <= 300; i++) {
    const float turns = (float)i / 100;
    const double exact = sin(6.283185307179586 * (double)turns);
    assert_true(fabs((double)clm__sample_sin(turns) - exact) < 2e-5);
  }
}

static void test_every_kind_has_its_folder(void **state)
{
  (void)state;
  char *folder = make_folder();
  assert_int_equal(clm_sample_draw(folder, 2, 5), CLM_OK);
  clm__file_listing listing;
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  assert_int_equal(listing.count, CLM__SAMPLE_KIND_COUNT);
  clm__file_listing_fini(&listing);
  for (int kind = 0; kind < CLM__SAMPLE_KIND_COUNT; kind++) {
    char path[512];
    const char *name = clm__sample_kind_name(kind);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(clm__file_list(path, &listing), CLM_OK);
    assert_int_equal(listing.count, 2); /* and no temporary file */
    clm__file_listing_fini(&listing);
  }
  remove_folder(folder);
}

static void test_files_hold_the_drawn_pixels(void **state)
{
  (void)state;
  char *folder = make_folder();
  assert_int_equal(clm_sample_draw(folder, 1, 5), CLM_OK);
  char path[512];
  (void)snprintf(path, sizeof path, "%s/tulip/tulip-001.png", folder);
  char *content = NULL;
  size_t size_bytes = 0;
  assert_int_equal(clm__file_read(path, (size_t)1 << 24, &content, &size_bytes), CLM_OK);
  clm__image read = {0};
  clm__image drawn = {0};
  const clm__decode_options options = {.channels = 3};
  assert_int_equal(clm__decode(content, size_bytes, &options, &read), CLM_OK);
  assert_int_equal(clm__sample_flower(5, 4, 0, &drawn), CLM_OK);
  assert_int_equal(read.width, drawn.width);
  assert_int_equal(read.height, drawn.height);
  assert_memory_equal(read.pixels, drawn.pixels, 3 * (size_t)read.width * (size_t)read.height);
  clm__image_fini(&drawn);
  clm__image_fini(&read);
  clm__mem_free(content);
  remove_folder(folder);
}

static void test_wrong_arguments_are_told(void **state)
{
  (void)state;
  assert_int_equal(clm_sample_draw("", 1, 1), CLM_USAGE);
  assert_int_equal(clm_sample_draw(NULL, 1, 1), CLM_USAGE);
  assert_int_equal(clm_sample_draw("x", 0, 1), CLM_USAGE);
  assert_non_null(strstr(clm_error_last()->message, "at least 1"));
}

static void test_unwritable_folder_is_told(void **state)
{
  (void)state;
  assert_int_equal(clm_sample_draw("/dev/null/flowers", 1, 1), CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "/dev/null"));
  /* A folder where the picture should be. */
  char *folder = make_folder();
  char path[512];
  (void)snprintf(path, sizeof path, "%s/buttercup/buttercup-001.png/in-the-way", folder);
  assert_int_equal(clm__file_make_folder(path), CLM_OK);
  assert_int_equal(clm_sample_draw(folder, 1, 1), CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "buttercup-001.png"));
  remove_folder(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_picture_depends_on_seed_kind_and_number),
      cmocka_unit_test(test_pixels_are_as_recorded),
      cmocka_unit_test(test_sizes_lie_in_their_range),
      cmocka_unit_test(test_sine_equals_the_librarys),
      cmocka_unit_test(test_every_kind_has_its_folder),
      cmocka_unit_test(test_files_hold_the_drawn_pixels),
      cmocka_unit_test(test_wrong_arguments_are_told),
      cmocka_unit_test(test_unwritable_folder_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
