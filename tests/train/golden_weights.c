#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "train/golden_weights.h"

#include "support/npy.h"

#include <math.h>
#include <stdio.h>

void golden_weights_compare(const clm__model_file *model, const float *values, const char *folder,
                            double tolerance)
{
  for (int i = 0; i < model->weights->count; i++) {
    const clm__weight *weight = &model->weights->items[i];
    char path[256];
    (void)snprintf(path, sizeof path, "train/%s/%s_%s.npy", folder,
                   model->graph->layers[weight->layer].name, weight->name);
    npy expected = npy_read_golden(path);
    assert_int_equal(expected.count, weight->elements);
    for (size_t e = 0; e < expected.count; e++) {
      const double difference = fabs((double)values[weight->offset + e] - (double)expected.f32[e]);
      if (!(difference <= tolerance))
        fail_msg("%s: element %zu is %.9g, expected %.9g", path, e,
                 (double)values[weight->offset + e], (double)expected.f32[e]);
    }
    npy_free(&expected);
  }
}
