#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <png.h>

#include "base/mem.h"
#include "data/pictures.h"

/* ---- Files that cannot be used ---- */

static void assert_fault(const char *name, clm_status status, const char *reason)
{
  clm__image image = {0};
  const clm_status actual = decode_golden(name, &keras, &image);
  const char *message = clm_error_last()->message;
  if (actual != status || strstr(message, reason) == NULL)
    fail_msg("%s: %s \"%s\", expected \"%s\"", name, clm_status_name(actual), message, reason);
  clm__image_fini(&image);
}

static void bad_files_are_refused_with_their_reason(void **state)
{
  (void)state;
  assert_fault("bad/empty.jpg", CLM_BAD_DATA, "empty file");
  assert_fault("bad/text.jpg", CLM_BAD_DATA, "not a picture: it begins with");
  assert_fault("bad/header_only.jpg", CLM_BAD_DATA, "truncated JPEG");
  assert_fault("bad/truncated.jpg", CLM_BAD_DATA, "truncated JPEG");
  assert_fault("bad/no_eoi.jpg", CLM_BAD_DATA, "truncated JPEG");
  assert_fault("bad/bad_crc.png", CLM_BAD_DATA, "damaged PNG (IHDR: CRC error)");
  assert_fault("bad/truncated.png", CLM_BAD_DATA, "truncated PNG");
  assert_fault("bad/bmp_32.bmp", CLM_UNSUPPORTED, "BMP is not supported");
  assert_fault("src/gif_37x53.gif", CLM_UNSUPPORTED, "GIF is not supported");
}

static void trailing_bytes_are_no_fault(void **state)
{
  (void)state;
  clm__image image = {0};
  assert_int_equal(decode_golden("bad/trailing_bytes.jpg", &keras, &image), CLM_OK);
  assert_int_equal(crc32(image.pixels, 37 * 53 * 3), 0xfd1cfda0U);
  clm__image_fini(&image);
}

static void the_type_is_told_by_the_first_bytes(void **state)
{
  (void)state;
  static const struct {
    const char *bytes;
    size_t size_bytes;
    const char *name;
  } cases[] = {
      {"\xFF\xD8\xFF\xE0", 4, "JPEG"},
      {"\x89PNG\r\n\x1A\n", 8, "PNG"},
      {"GIF89a", 6, "GIF"},
      {"BM1234", 6, "BMP"},
      {"RIFF1234WEBPVP8 ", 16, "WebP"},
      {"II*\0", 4, "TIFF"},
      {"MM\0*", 4, "TIFF"},
      {"\0\0\0\x18"
       "ftypheic",
       12, "HEIF"},
      {"\0\0\0\x18"
       "ftypavif",
       12, "AVIF"},
      {"\xFF\x0A", 2, "JPEG XL"},
      {"8BPS", 4, "PSD"},
      {"RIFF1234WAVEfmt ", 16, "unknown"},
      {"\xFF\xD8", 2, "unknown"},
      {"", 0, "unknown"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(
        clm__image_type_name(clm__image_type_of(cases[i].bytes, cases[i].size_bytes)),
        cases[i].name);
}

static void every_shortened_file_is_refused_or_complete(void **state)
{
  (void)state;
  clm__file_listing listing = list_sources();
  clm__image image = {0};
  for (size_t i = 0; i < listing.count; i++) {
    char path[256];
    (void)snprintf(path, sizeof path, "src/%s", listing.entries[i].name);
    file_content content = read_golden(path);
    const size_t step = content.size_bytes / 60 + 1;
    for (size_t size = 0; size + 16 < content.size_bytes; size += step) {
      /* A copy of its own lets a sanitizer see the first byte read too much. */
      char *part = malloc(size + 1);
      memcpy(part, content.bytes, size);
      char *exact = realloc(part, size > 0 ? size : 1);
      assert_int_not_equal(clm__decode(exact, size, &keras, &image), CLM_OK);
      assert_int_not_equal(clm_error_last()->status, CLM_INTERNAL);
      free(exact);
    }
    clm__mem_free(content.bytes);
  }
  clm__image_fini(&image);
  clm__file_listing_fini(&listing);
}

static void damaged_bytes_never_break_the_reader(void **state)
{
  (void)state;
  clm__file_listing listing = list_sources();
  clm__image image = {0};
  uint32_t random = 1;
  for (size_t i = 0; i < listing.count; i++) {
    char path[256];
    (void)snprintf(path, sizeof path, "src/%s", listing.entries[i].name);
    file_content content = read_golden(path);
    for (int round = 0; round < 40; round++) {
      random = random * 1664525U + 1013904223U;
      const size_t place = (random >> 8) % content.size_bytes;
      const char before = content.bytes[place];
      content.bytes[place] = (char)(random >> 24);
      const clm_status status = clm__decode(content.bytes, content.size_bytes, &keras, &image);
      assert_true(status == CLM_OK || status == CLM_BAD_DATA || status == CLM_UNSUPPORTED);
      content.bytes[place] = before;
    }
    clm__mem_free(content.bytes);
  }
  clm__image_fini(&image);
  clm__file_listing_fini(&listing);
}

/* ---- Giant sizes in small files ---- */

static size_t find_bytes(const file_content *content, const char *bytes, size_t count)
{
  for (size_t i = 0; i + count <= content->size_bytes; i++)
    if (memcmp(content->bytes + i, bytes, count) == 0) return i;
  fail_msg("marker not found");
  return 0;
}

static void put_big_endian(char *target, uint32_t value, int bytes)
{
  for (int i = 0; i < bytes; i++) target[i] = (char)(value >> 8 * (bytes - 1 - i));
}

static void decode_resized_jpeg(const char *name, uint32_t height, uint32_t width,
                                const char *marker, const char *reason)
{
  file_content content = read_golden(name);
  const size_t frame = find_bytes(&content, marker, 2);
  put_big_endian(content.bytes + frame + 5, height, 2);
  put_big_endian(content.bytes + frame + 7, width, 2);
  clm__image image = {0};
  assert_int_equal(clm__decode(content.bytes, content.size_bytes, &keras, &image), CLM_BAD_DATA);
  if (strstr(clm_error_last()->message, reason) == NULL)
    fail_msg("\"%s\", expected \"%s\"", clm_error_last()->message, reason);
  clm__image_fini(&image);
  clm__mem_free(content.bytes);
}

static void a_jpeg_that_claims_a_giant_size_is_refused(void **state)
{
  (void)state;
  decode_resized_jpeg("src/jpeg_444.jpg", 65500, 65500, "\xFF\xC0", "too large");
  decode_resized_jpeg("src/jpeg_progressive_444.jpg", 65500, 65500, "\xFF\xC2", "too large");
  decode_resized_jpeg("src/jpeg_progressive_444.jpg", 13300, 13300, "\xFF\xC2", "too large");
  decode_resized_jpeg("src/jpeg_444.jpg", 0, 53, "\xFF\xC0", "damaged JPEG");
}

/* libjpeg makes up the lines that a file does not hold when its end mark comes too early. */
static void a_very_long_jpeg_is_read(void **state)
{
  (void)state;
  static const char *const names[] = {"src/jpeg_444.jpg", "src/jpeg_progressive_444.jpg"};
  clm__image image = {0};
  for (size_t n = 0; n < 2; n++) {
    file_content content = read_golden(names[n]);
    const size_t frame = find_bytes(&content, n == 0 ? "\xFF\xC0" : "\xFF\xC2", 2);
    put_big_endian(content.bytes + frame + 5, 20000, 2);
    put_big_endian(content.bytes + frame + 7, 20, 2);
    assert_int_equal(clm__decode(content.bytes, content.size_bytes, &keras, &image), CLM_OK);
    assert_int_equal(image.height, 20000);
    assert_int_equal(image.width, 20);
    clm__mem_free(content.bytes);
  }
  clm__image_fini(&image);
}

static void a_very_long_png_is_read(void **state)
{
  (void)state;
  enum { HEIGHT = 20000, WIDTH = 20, SIZE = HEIGHT * WIDTH * 3 };
  uint8_t *pixels = malloc(SIZE);
  for (size_t i = 0; i < SIZE; i++) pixels[i] = (uint8_t)(i * 7 + i / 911);
  png_image writer = {
      .version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT, .format = PNG_FORMAT_RGB};
  png_alloc_size_t size = SIZE * 2;
  uint8_t *file = malloc(size);
  assert_int_not_equal(png_image_write_to_memory(&writer, file, &size, 0, pixels, 0, NULL), 0);
  clm__image image = {0};
  assert_int_equal(clm__decode(file, size, &keras, &image), CLM_OK);
  assert_int_equal(image.height, HEIGHT);
  assert_int_equal(image.width, WIDTH);
  assert_memory_equal(image.pixels, pixels, SIZE);
  clm__image_fini(&image);
  free(file);
  free(pixels);
}

static uint32_t png_crc(const char *bytes, size_t count)
{
  return crc32((const uint8_t *)bytes, count);
}

static void a_png_that_claims_a_giant_size_is_refused(void **state)
{
  (void)state;
  static const uint32_t sizes[][2] = {{0x7FFFFFFF, 0x7FFFFFFF}, {1000000, 1000000}, {20000, 20000}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    file_content content = read_golden("src/png_rgb8.png");
    put_big_endian(content.bytes + 16, sizes[i][0], 4);
    put_big_endian(content.bytes + 20, sizes[i][1], 4);
    put_big_endian(content.bytes + 29, png_crc(content.bytes + 12, 17), 4);
    clm__image image = {0};
    assert_int_equal(clm__decode(content.bytes, content.size_bytes, &keras, &image), CLM_BAD_DATA);
    clm__image_fini(&image);
    clm__mem_free(content.bytes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_files_are_refused_with_their_reason),
      cmocka_unit_test(trailing_bytes_are_no_fault),
      cmocka_unit_test(the_type_is_told_by_the_first_bytes),
      cmocka_unit_test(every_shortened_file_is_refused_or_complete),
      cmocka_unit_test(damaged_bytes_never_break_the_reader),
      cmocka_unit_test(a_jpeg_that_claims_a_giant_size_is_refused),
      cmocka_unit_test(a_very_long_jpeg_is_read),
      cmocka_unit_test(a_very_long_png_is_read),
      cmocka_unit_test(a_png_that_claims_a_giant_size_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
