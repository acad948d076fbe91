#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "train/golden_weights.h"

#include "support/npy.h"

#include <math.h>
#include <stdio.h>

/* The recorded one, and train/way1, way2, ... */
enum { WAYS = 6 };

static npy read_weight(const clm__model_file *model, const clm__weight *weight, const char *folder)
{
  char path[256];
  (void)snprintf(path, sizeof path, "train/%s/%s_%s.npy", folder,
                 model->graph->layers[weight->layer].name, weight->name);
  npy expected = npy_read_golden(path);
  assert_int_equal(expected.count, weight->elements);
  return expected;
}

void golden_weights_compare(const clm__model_file *model, const float *values, const char *folder,
                            double tolerance)
{
  for (int i = 0; i < model->weights->count; i++) {
    const clm__weight *weight = &model->weights->items[i];
    npy expected = read_weight(model, weight, folder);
    for (size_t e = 0; e < expected.count; e++) {
      const double difference = fabs((double)values[weight->offset + e] - (double)expected.f32[e]);
      if (!(difference <= tolerance))
        fail_msg("%s %s: element %zu is %.9g, expected %.9g", folder, weight->name, e,
                 (double)values[weight->offset + e], (double)expected.f32[e]);
    }
    npy_free(&expected);
  }
}

/* The largest difference; a NaN counts as infinitely far. */
static double measure_distance(const float *values, const float *expected, size_t count)
{
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) {
    const double difference = fabs((double)values[i] - (double)expected[i]);
    if (!(difference <= largest)) largest = isnan(difference) ? INFINITY : difference;
  }
  return largest;
}

static double measure_weights(const clm__model_file *model, const float *values, const char *folder)
{
  double largest = 0.0;
  for (int i = 0; i < model->weights->count; i++) {
    const clm__weight *weight = &model->weights->items[i];
    npy expected = read_weight(model, weight, folder);
    largest =
        fmax(largest, measure_distance(values + weight->offset, expected.f32, weight->elements));
    npy_free(&expected);
  }
  return largest;
}

void golden_weights_expect_way(const clm__model_file *model, const float *values,
                               const float losses[GOLDEN_STEPS], double tolerance)
{
  char told[1024] = "";
  size_t at = 0;
  for (int way = 0; way < WAYS; way++) {
    char path[64], folder[32];
    (void)snprintf(folder, sizeof folder, way == 0 ? "weights_after12" : "way%d", way);
    (void)snprintf(path, sizeof path, way == 0 ? "train/loss.npy" : "train/way%d/loss.npy", way);
    npy expected = npy_read_golden(path);
    const double loss = measure_distance(losses, expected.f32, GOLDEN_STEPS);
    const double weight = measure_weights(model, values, folder);
    npy_free(&expected);
    if (loss <= tolerance && weight <= tolerance) {
      printf("way %d of Keras: losses within %.2g, weights within %.2g\n", way, loss, weight);
      return;
    }
    at += (size_t)snprintf(told + at, sizeof told - at, " way %d: %.2g, %.2g;", way, loss, weight);
  }
  fail_msg("no way of Keras is within %g; largest differences of losses and weights:%s", tolerance,
           told);
}
