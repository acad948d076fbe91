#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/decode.h"
#include "data/resize.h"
#include "support/folder.h"
#include "support/npy.h"
#include "sys/file.h"

static void decode_file(const char *path, int channels, clm__image *image)
{
  char *content = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(path, SIZE_MAX, &content, &size), CLM_OK);
  const clm__decode_options options = {.channels = channels};
  if (clm__decode(content, size, &options, image) != CLM_OK)
    fail_msg("%s: %s", path, clm_error_last()->message);
  clm__mem_free(content);
}

static void assert_within(const char *what, const float *actual, const float *expected,
                          size_t count, double tolerance)
{
  double worst = 0.0;
  for (size_t i = 0; i < count; i++) {
    const double difference = fabs((double)actual[i] - (double)expected[i]);
    if (!(difference <= worst)) worst = difference;
  }
  if (!(worst <= tolerance)) fail_msg("%s: differs by %g, allowed %g", what, worst, tolerance);
}

/* ---- Golden files: "<source with _ for .>_<H>x<W>[_<rest>].npy" ---- */

typedef struct golden_case {
  clm__resize_config config;
  int channels;
  double tolerance;
  bool known;
} golden_case;

static golden_case parse_case(const char *size_and_rest)
{
  golden_case parsed = {.channels = 3, .known = true};
  int at = 0;
  if (sscanf(size_and_rest, "%dx%d%n", &parsed.config.height, &parsed.config.width, &at) != 2)
    return (golden_case){0};
  const char *rest = size_and_rest + at;
  if (strncmp(rest, "_crop_", 6) == 0) parsed.config.aspect = CLM__ASPECT_CROP;
  if (strncmp(rest, "_pad__", 6) == 0) parsed.config.aspect = CLM__ASPECT_PAD;
  if (parsed.config.aspect != CLM__ASPECT_STRETCH) rest += 5;
  if (strcmp(rest, "_grayscale.npy") == 0) parsed.channels = 1;
  if (strcmp(rest, "_rgba.npy") == 0) parsed.channels = 4;
  if (strcmp(rest, ".npy") == 0 || parsed.channels != 3) return parsed;
  char name[32] = "";
  (void)sscanf(rest, "_%31[^.]", name);
  parsed.known = clm__interpolation_parse(name, &parsed.config.interpolation) == CLM_OK;
  if (parsed.config.interpolation == CLM__BICUBIC) parsed.tolerance = 3e-4;
  if (parsed.config.interpolation == CLM__AREA) parsed.tolerance = 2e-3;
  return parsed;
}

static bool has_prefix(const char *text, const char *prefix, const char **rest)
{
  const size_t length = strlen(prefix);
  for (size_t i = 0; i < length; i++)
    if (text[i] != (prefix[i] == '.' ? '_' : prefix[i])) return false;
  *rest = text + length + 1;
  return text[length] == '_' && text[length + 1] >= '0' && text[length + 1] <= '9' &&
         strchr(text + length, 'x') != NULL;
}

/* Compares one source with one golden file; false where the method is not ours. */
static bool compare_one(const char *source, const char *golden, const char *size_and_rest)
{
  const golden_case wanted = parse_case(size_and_rest);
  if (!wanted.known) return false;
  clm__image image = {0};
  decode_file(source, wanted.channels, &image);
  char path[512];
  (void)snprintf(path, sizeof path, "pixels/resized/%s", golden);
  npy expected = npy_read_golden(path);
  assert_int_equal(expected.dims[expected.rank - 1], wanted.channels);
  float *actual = malloc(expected.count * sizeof *actual);
  assert_int_equal(clm__resize(&image, &wanted.config, actual), CLM_OK);
  /* Keras leaves nearest pixels as bytes. */
  if (strcmp(expected.type, "|u1") == 0)
    for (size_t i = 0; i < expected.count; i++) assert_true(actual[i] == (float)expected.u8[i]);
  else
    assert_within(golden, actual, expected.f32, expected.count, wanted.tolerance);
  free(actual);
  npy_free(&expected);
  clm__image_fini(&image);
  return true;
}

static void golden_sources_resize_to_the_same_values(void **state)
{
  (void)state;
  char folder[1024];
  clm__file_listing sources;
  clm__file_listing goldens;
  (void)snprintf(folder, sizeof folder, "%s/golden/pixels/resized", tests_folder());
  assert_int_equal(clm__file_list(folder, &goldens), CLM_OK);
  (void)snprintf(folder, sizeof folder, "%s/golden/pixels/src", tests_folder());
  assert_int_equal(clm__file_list(folder, &sources), CLM_OK);
  int compared = 0;
  int left_out = 0;
  for (size_t s = 0; s < sources.count; s++) {
    const char *name = sources.entries[s].name;
    if (strstr(name, ".bmp") != NULL || strstr(name, ".gif") != NULL) continue;
    for (size_t g = 0; g < goldens.count; g++) {
      const char *rest = NULL;
      if (!has_prefix(goldens.entries[g].name, name, &rest)) continue;
      char path[1536];
      (void)snprintf(path, sizeof path, "%s/%s", folder, name);
      if (compare_one(path, goldens.entries[g].name, rest))
        compared++;
      else
        left_out++;
    }
  }
  /* 47 sources, 4 methods at up to 3 sizes, crop and pad, grey and alpha; the four methods that we
   * do not have, at three sizes. */
  assert_int_equal(compared, 89);
  assert_int_equal(left_out, 12);
  clm__file_listing_fini(&sources);
  clm__file_listing_fini(&goldens);
}

static void golden_photographs_resize_to_the_same_values(void **state)
{
  (void)state;
  static const char *const names[] = {
      "tulips/2431737309_1468526f8b.jpg",    "dandelion/7270523166_b62fc9e5f1_m.jpg",
      "tulips/14671196461_b725727229_m.jpg", "tulips/6905876618_12732b74de_b.jpg",
      "daisy/100080576_f52e8ee070_n.jpg",    "daisy/154332674_453cea64f4.jpg",
      "roses/10090824183_d02c613f10_m.jpg",  "sunflowers/1008566138_6927679c8a.jpg"};
  const char *photos = photos_folder();
  if (photos == NULL) skip();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char source[2048];
    char golden[256];
    (void)snprintf(source, sizeof source, "%s/%s", photos, names[i]);
    const char *base = strchr(names[i], '/') + 1;
    (void)snprintf(golden, sizeof golden, "%.*s_jpg_32x24.npy", (int)(strlen(base) - 4), base);
    assert_true(compare_one(source, golden, "32x24.npy"));
    (void)snprintf(golden, sizeof golden, "%.*s_jpg_180x180.npy", (int)(strlen(base) - 4), base);
    if (i < 2) assert_true(compare_one(source, golden, "180x180.npy"));
  }
}

/* ---- Bilinear against the formula, at odd sizes ---- */

static float reference_bilinear(const clm__image *image, const clm__resize_config *config, int y,
                                int x, int c)
{
  const float sy = ((float)y + 0.5F) * ((float)image->height / (float)config->height) - 0.5F;
  const float sx = ((float)x + 0.5F) * ((float)image->width / (float)config->width) - 0.5F;
  const int y0 = (int)fmaxf(floorf(sy), 0.0F);
  const int x0 = (int)fmaxf(floorf(sx), 0.0F);
  const int y1 = (int)fminf(ceilf(sy), (float)(image->height - 1));
  const int x1 = (int)fminf(ceilf(sx), (float)(image->width - 1));
  const float ty = sy - floorf(sy);
  const float tx = sx - floorf(sx);
#define PIXEL(row, column)                                                                         \
  (float)image->pixels[((row)*image->width + (column)) * image->channels + c]
  const float top = PIXEL(y0, x0) + (PIXEL(y0, x1) - PIXEL(y0, x0)) * tx;
  const float bottom = PIXEL(y1, x0) + (PIXEL(y1, x1) - PIXEL(y1, x0)) * tx;
#undef PIXEL
  return top + (bottom - top) * ty;
}

static void fill_random(clm__image *image, int height, int width, int channels)
{
  assert_int_equal(clm__image_prepare(image, height, width, channels), CLM_OK);
  uint32_t random = (uint32_t)(height * 1000 + width);
  for (int i = 0; i < height * width * channels; i++) {
    random = random * 1664525U + 1013904223U;
    image->pixels[i] = (uint8_t)(random >> 24);
  }
}

static void bilinear_equals_its_formula_at_odd_sizes(void **state)
{
  (void)state;
  static const int sizes[][2] = {{1, 1}, {1, 7},   {7, 1},  {2, 3},
                                 {5, 4}, {13, 11}, {40, 3}, {3, 50}};
  const size_t count = sizeof sizes / sizeof *sizes;
  clm__image image = {0};
  clm__resize_scratch scratch = {0};
  float actual[50 * 50 * 4];
  for (size_t i = 0; i < count * count * 3; i++) {
    const int channels = (int[]){1, 3, 4}[i % 3];
    const int *from = sizes[i / 3 % count];
    const int *to = sizes[i / 3 / count];
    fill_random(&image, from[0], from[1], channels);
    const clm__resize_config config = {.height = to[0], .width = to[1]};
    assert_int_equal(clm__resize_with(&scratch, &image, &config, actual), CLM_OK);
    const float *at = actual;
    for (int y = 0; y < to[0]; y++)
      for (int x = 0; x < to[1]; x++)
        for (int c = 0; c < channels; c++)
          assert_true(*at++ == reference_bilinear(&image, &config, y, x, c));
  }
  clm__resize_scratch_fini(&scratch);
  clm__image_fini(&image);
}

static void the_same_size_changes_nothing(void **state)
{
  (void)state;
  clm__image image = {0};
  fill_random(&image, 9, 14, 3);
  float actual[9 * 14 * 3];
  for (int i = 0; i <= CLM__AREA; i++) {
    const clm__resize_config config = {
        .height = 9, .width = 14, .interpolation = (clm__interpolation)i};
    assert_int_equal(clm__resize(&image, &config, actual), CLM_OK);
    for (int k = 0; k < 9 * 14 * 3; k++)
      assert_true(fabs((double)actual[k] - image.pixels[k]) <= (i == CLM__BICUBIC ? 1e-4 : 0.0));
  }
  clm__image_fini(&image);
}

/* ---- Extremes ---- */

static void one_pixel_fills_everything(void **state)
{
  (void)state;
  clm__image image = {0};
  assert_int_equal(clm__image_prepare(&image, 1, 1, 3), CLM_OK);
  memcpy(image.pixels, "\x0A\x80\xFF", 3);
  float actual[180 * 180 * 3];
  for (int i = 0; i <= CLM__AREA; i++)
    for (int aspect = 0; aspect <= CLM__ASPECT_PAD; aspect++) {
      const clm__resize_config config = {.height = 180,
                                         .width = 180,
                                         .interpolation = (clm__interpolation)i,
                                         .aspect = (clm__aspect)aspect};
      assert_int_equal(clm__resize(&image, &config, actual), CLM_OK);
      for (int k = 0; k < 180 * 180 * 3; k++)
        assert_true(fabs((double)actual[k] - image.pixels[k % 3]) <= 5e-3);
    }
  clm__image_fini(&image);
}

static void a_very_long_picture_can_be_resized(void **state)
{
  (void)state;
  clm__image image = {0};
  fill_random(&image, 20000, 20, 3);
  float *actual = malloc(180 * 180 * 3 * sizeof *actual);
  for (int i = 0; i <= CLM__AREA; i++)
    for (int aspect = 0; aspect <= CLM__ASPECT_PAD; aspect++) {
      const clm__resize_config config = {.height = 180,
                                         .width = 180,
                                         .interpolation = (clm__interpolation)i,
                                         .aspect = (clm__aspect)aspect};
      assert_int_equal(clm__resize(&image, &config, actual), CLM_OK);
      for (int k = 0; k < 180 * 180 * 3; k++) assert_true(actual[k] > -80.0F && actual[k] < 330.0F);
    }
  free(actual);
  clm__image_fini(&image);
}

/* Keras ends with an error here; one column of the picture is more use. */
static void a_padded_picture_keeps_at_least_one_column(void **state)
{
  (void)state;
  clm__image image = {0};
  assert_int_equal(clm__image_prepare(&image, 400, 5, 1), CLM_OK);
  memset(image.pixels, 100, 2000);
  const clm__resize_config config = {.height = 32, .width = 24, .aspect = CLM__ASPECT_PAD};
  float actual[32 * 24];
  assert_int_equal(clm__resize(&image, &config, actual), CLM_OK);
  for (int i = 0; i < 32 * 24; i++) assert_true(actual[i] == (i % 24 == 11 ? 100.0F : 0.0F));
  clm__image_fini(&image);
}

static void an_unknown_interpolation_is_named(void **state)
{
  (void)state;
  clm__interpolation result = CLM__NEAREST;
  assert_int_equal(clm__interpolation_parse("area", &result), CLM_OK);
  assert_int_equal(result, CLM__AREA);
  assert_int_equal(clm__interpolation_parse("lanczos3", &result), CLM_USAGE);
  assert_int_equal(result, CLM__AREA);
  assert_non_null(strstr(clm_error_last()->message, "\"lanczos3\""));
  assert_non_null(strstr(clm_error_last()->message, "bilinear"));
}

static void a_refused_allocation_is_an_error(void **state)
{
  (void)state;
  clm__image image = {0};
  fill_random(&image, 4, 4, 3);
  float actual[12];
  for (int i = 0; i <= CLM__AREA; i++) {
    if (i == CLM__NEAREST) continue;
    const clm__resize_config config = {
        .height = 2, .width = 2, .interpolation = (clm__interpolation)i};
    char next[32];
    (void)snprintf(next, sizeof next, "%llu",
                   (unsigned long long)clm__mem_get_counts().allocations + 1);
    assert_int_equal(setenv("CLEMATIS_TEST_FAIL_ALLOC", next, 1), 0);
    assert_int_equal(clm__resize(&image, &config, actual), CLM_NO_MEMORY);
    assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_ALLOC"), 0);
    assert_int_equal(clm__resize(&image, &config, actual), CLM_OK);
  }
  clm__image_fini(&image);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_sources_resize_to_the_same_values),
      cmocka_unit_test(golden_photographs_resize_to_the_same_values),
      cmocka_unit_test(bilinear_equals_its_formula_at_odd_sizes),
      cmocka_unit_test(the_same_size_changes_nothing),
      cmocka_unit_test(one_pixel_fills_everything),
      cmocka_unit_test(a_very_long_picture_can_be_resized),
      cmocka_unit_test(a_padded_picture_keeps_at_least_one_column),
      cmocka_unit_test(an_unknown_interpolation_is_named),
      cmocka_unit_test(a_refused_allocation_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
