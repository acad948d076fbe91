#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/exif.h"
#include "data/pictures.h"
#include "support/folder.h"
#include "support/npy.h"

/* "png_1x1.png" -> "pixels/decoded/png_1x1_png.npy" */
static npy read_expected(const char *source)
{
  char path[256];
  (void)snprintf(path, sizeof path, "pixels/decoded/%s.npy", source);
  char *dot = strrchr(path, '.');
  for (char *at = strrchr(path, '/'); at < dot; at++)
    if (*at == '.') *at = '_';
  return npy_read_golden(path);
}

static void golden_sources_decode_to_the_same_pixels(void **state)
{
  (void)state;
  clm__file_listing listing = list_sources();
  clm__image image = {0};
  int compared = 0;
  for (size_t i = 0; i < listing.count; i++) {
    const char *name = listing.entries[i].name;
    if (ends_with(name, ".bmp") || ends_with(name, ".gif")) continue;
    char path[256];
    (void)snprintf(path, sizeof path, "src/%s", name);
    if (decode_golden(path, &keras, &image) != CLM_OK)
      fail_msg("%s: %s", name, clm_error_last()->message);
    npy expected = read_expected(name);
    assert_int_equal(image.height, expected.dims[0]);
    assert_int_equal(image.width, expected.dims[1]);
    assert_int_equal(image.channels, 3);
    if (memcmp(image.pixels, expected.u8, expected.count) != 0) fail_msg("%s differs", name);
    npy_free(&expected);
    compared++;
  }
  assert_int_equal(compared, 47);
  clm__image_fini(&image);
  clm__file_listing_fini(&listing);
}

/* Under a sanitizer every photograph would take minutes. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define PHOTOGRAPH_STEP 10
#else
#define PHOTOGRAPH_STEP 1
#endif

static void every_photograph_decodes_to_the_same_pixels(void **state)
{
  (void)state;
  const char *photos = photos_folder();
  if (photos == NULL) skip();
  file_content list = read_golden("photos_crc32.txt");
  clm__image image = {0};
  clm__file_buffer buffer = {0};
  int compared = 0;
  int place = 0;
  for (char *line = strtok(list.bytes, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (place++ % PHOTOGRAPH_STEP != 0) continue;
    unsigned int crc = 0;
    int height = 0;
    int width = 0;
    int name_at = 0;
    assert_int_equal(sscanf(line, "%x %d %d %n", &crc, &height, &width, &name_at), 3);
    char path[2048];
    (void)snprintf(path, sizeof path, "%s/%s", photos, line + name_at);
    assert_int_equal(clm__file_read_into(path, SIZE_MAX, &buffer), CLM_OK);
    assert_int_equal(clm__decode(buffer.bytes, buffer.size_bytes, &keras, &image), CLM_OK);
    assert_int_equal(image.height, height);
    assert_int_equal(image.width, width);
    const size_t size = (size_t)height * (size_t)width * 3;
    if (crc32(image.pixels, size) != crc) fail_msg("%s differs", line + name_at);
    compared++;
  }
  assert_int_equal(compared, 3670 / PHOTOGRAPH_STEP);
  clm__image_fini(&image);
  clm__file_buffer_fini(&buffer);
  clm__mem_free(list.bytes);
}

/* ---- Options ---- */

static void other_channel_counts_are_a_usage_error(void **state)
{
  (void)state;
  clm__image image = {0};
  assert_int_equal(decode_golden("src/png_rgb8.png", &(clm__decode_options){.channels = 2}, &image),
                   CLM_USAGE);
  clm__image_fini(&image);
}

static void a_limit_of_bytes_is_kept(void **state)
{
  (void)state;
  static const char *const names[] = {"src/jpeg_444.jpg", "src/png_rgb8.png"};
  for (size_t n = 0; n < 2; n++) {
    clm__image image = {0};
    clm__decode_options options = {.channels = 3, .limit_bytes = 37 * 53 * 3};
    assert_int_equal(decode_golden(names[n], &options, &image), CLM_BAD_DATA);
    assert_non_null(strstr(clm_error_last()->message, "too large: 53 x 37 pixels"));
    options.limit_bytes++;
    assert_int_equal(decode_golden(names[n], &options, &image), CLM_OK);
    clm__image_fini(&image);
  }
}

static void a_picture_without_alpha_is_opaque(void **state)
{
  (void)state;
  static const char *const names[] = {"src/jpeg_444.jpg", "src/jpeg_cmyk_adobe0.jpg",
                                      "src/png_grey1.png", "src/png_rgb16.png"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    clm__image colours = {0};
    clm__image alpha = {0};
    assert_int_equal(decode_golden(names[n], &keras, &colours), CLM_OK);
    assert_int_equal(decode_golden(names[n], &(clm__decode_options){.channels = 4}, &alpha),
                     CLM_OK);
    assert_int_equal(alpha.channels, 4);
    for (size_t i = 0; i < 37 * 53; i++) {
      assert_memory_equal(alpha.pixels + 4 * i, colours.pixels + 3 * i, 3);
      assert_int_equal(alpha.pixels[4 * i + 3], 255);
    }
    clm__image_fini(&colours);
    clm__image_fini(&alpha);
  }
}

static void blending_puts_alpha_on_white(void **state)
{
  (void)state;
  static const char *const names[] = {"src/png_rgba8.png", "src/png_greyalpha8.png",
                                      "src/png_palette8_trns.png", "src/png_rgba16.png",
                                      "src/png_rgb8_trns.png"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    clm__image whole = {0};
    clm__image blended = {0};
    const clm__decode_options blend = {.channels = 3, .blend_alpha = true};
    assert_int_equal(decode_golden(names[n], &(clm__decode_options){.channels = 4}, &whole),
                     CLM_OK);
    assert_int_equal(decode_golden(names[n], &blend, &blended), CLM_OK);
    assert_int_equal(blended.channels, 3);
    for (size_t i = 0; i < 37 * 53 * 3; i++) {
      const double share = whole.pixels[i / 3 * 4 + 3] / 255.0;
      const double expected = whole.pixels[i / 3 * 4 + i % 3] * share + 255.0 * (1.0 - share);
      assert_true(blended.pixels[i] >= expected - 0.51 && blended.pixels[i] <= expected + 0.51);
    }
    clm__image_fini(&whole);
    clm__image_fini(&blended);
  }
}

static void a_cmyk_jpeg_cannot_be_read_as_grey(void **state)
{
  (void)state;
  clm__image image = {0};
  const clm__decode_options grey = {.channels = 1};
  assert_int_equal(decode_golden("src/jpeg_cmyk_plain.jpg", &grey, &image), CLM_UNSUPPORTED);
  clm__image_fini(&image);
}

static void deep_pngs_equal_their_8_bit_copies(void **state)
{
  (void)state;
  clm__image grey = {0};
  clm__image deep = {0};
  assert_int_equal(
      decode_golden("src/png_grey16.png", &(clm__decode_options){.channels = 1}, &grey), CLM_OK);
  assert_int_equal(decode_golden("src/png_grey16.png", &keras, &deep), CLM_OK);
  for (size_t i = 0; i < 37 * 53; i++) assert_int_equal(grey.pixels[i], deep.pixels[3 * i]);
  clm__image_fini(&grey);
  clm__image_fini(&deep);
}

static void exif_orientation_is_applied_only_on_request(void **state)
{
  (void)state;
  clm__image stored = {0};
  clm__image upright = {0};
  const clm__decode_options apply = {.channels = 3, .apply_exif = true};
  assert_int_equal(decode_golden("src/jpeg_420_exif6.jpg", &keras, &stored), CLM_OK);
  assert_int_equal(decode_golden("src/jpeg_420_exif6.jpg", &apply, &upright), CLM_OK);
  assert_int_equal(upright.height, stored.width);
  assert_int_equal(upright.width, stored.height);
  for (int y = 0; y < upright.height; y++)
    for (int x = 0; x < upright.width; x++) {
      const int from = (stored.height - 1 - x) * stored.width + y;
      assert_memory_equal(upright.pixels + 3 * (y * upright.width + x), stored.pixels + 3 * from,
                          3);
    }
  clm__image_fini(&stored);
  clm__image_fini(&upright);
}

static void all_eight_orientations_come_out_upright(void **state)
{
  (void)state;
  /* How "ab / cd / ef" is stored under each orientation. */
  static const char *const stored[9] = {NULL,     "abcdef", "badcfe", "fedcba", "efcdab",
                                        "acebdf", "bdface", "fdbeca", "ecafdb"};
  for (int orientation = 1; orientation <= 8; orientation++) {
    clm__image image = {0};
    const bool on_side = orientation >= 5;
    assert_int_equal(clm__image_prepare(&image, on_side ? 2 : 3, on_side ? 3 : 2, 1), CLM_OK);
    memcpy(image.pixels, stored[orientation], 6);
    assert_int_equal(clm__image_set_upright(&image, orientation), CLM_OK);
    assert_int_equal(image.height, 3);
    assert_int_equal(image.width, 2);
    assert_memory_equal(image.pixels, "abcdef", 6);
    clm__image_fini(&image);
  }
}

static void damaged_exif_means_upright(void **state)
{
  (void)state;
  static const uint8_t good[] = {'M',  'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01,
                                 0x12, 0,   3, 0,  0, 0, 1, 0, 6, 0, 0};
  uint8_t data[sizeof good];
  assert_int_equal(clm__exif_orientation(good, sizeof good), 6);
  for (size_t size = 0; size + 3 < sizeof good; size++)
    assert_int_equal(clm__exif_orientation(good, size), 1);
  for (size_t i = 0; i < sizeof good - 4; i++) {
    memcpy(data, good, sizeof good);
    data[i] = 0xFF;
    const int orientation = clm__exif_orientation(data, sizeof data);
    assert_true(orientation == 1 || orientation == 6);
  }
  memcpy(data, good, sizeof good);
  data[19] = 9;
  assert_int_equal(clm__exif_orientation(data, sizeof data), 1);
}

static void a_jpeg_can_be_decoded_smaller(void **state)
{
  (void)state;
  clm__image image = {0};
  clm__decode_options options = {.channels = 3, .least_height = 10, .least_width = 10};
  assert_int_equal(decode_golden("src/jpeg_444.jpg", &options, &image), CLM_OK);
  assert_int_equal(image.height, 19);
  assert_int_equal(image.width, 27);
  options.least_height = 37;
  assert_int_equal(decode_golden("src/jpeg_444.jpg", &options, &image), CLM_OK);
  assert_int_equal(image.height, 37);
  clm__image_fini(&image);
}

static void memory_of_an_image_is_used_again(void **state)
{
  (void)state;
  clm__image image = {0};
  assert_int_equal(decode_golden("src/jpeg_444.jpg", &keras, &image), CLM_OK);
  const uint8_t *pixels = image.pixels;
  assert_int_equal(decode_golden("src/png_1x1.png", &keras, &image), CLM_OK);
  assert_ptr_equal(image.pixels, pixels);
  assert_int_equal(image.height, 1);
  clm__image_fini(&image);
}

static void a_refused_allocation_is_an_error(void **state)
{
  (void)state;
  static const char *const names[] = {"src/jpeg_444.jpg", "src/png_rgb8.png"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    file_content content = read_golden(names[n]);
    char next[32];
    (void)snprintf(next, sizeof next, "%llu",
                   (unsigned long long)clm__mem_get_counts().allocations + 1);
    assert_int_equal(setenv("CLEMATIS_TEST_FAIL_ALLOC", next, 1), 0);
    clm__image image = {0};
    assert_int_equal(clm__decode(content.bytes, content.size_bytes, &keras, &image), CLM_NO_MEMORY);
    assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_ALLOC"), 0);
    clm__image_fini(&image);
    clm__mem_free(content.bytes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_sources_decode_to_the_same_pixels),
      cmocka_unit_test(every_photograph_decodes_to_the_same_pixels),
      cmocka_unit_test(other_channel_counts_are_a_usage_error),
      cmocka_unit_test(a_limit_of_bytes_is_kept),
      cmocka_unit_test(a_picture_without_alpha_is_opaque),
      cmocka_unit_test(blending_puts_alpha_on_white),
      cmocka_unit_test(a_cmyk_jpeg_cannot_be_read_as_grey),
      cmocka_unit_test(deep_pngs_equal_their_8_bit_copies),
      cmocka_unit_test(exif_orientation_is_applied_only_on_request),
      cmocka_unit_test(all_eight_orientations_come_out_upright),
      cmocka_unit_test(damaged_exif_means_upright),
      cmocka_unit_test(a_jpeg_can_be_decoded_smaller),
      cmocka_unit_test(memory_of_an_image_is_used_again),
      cmocka_unit_test(a_refused_allocation_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
