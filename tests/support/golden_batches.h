/* The batches of tests/golden/train. */
#ifndef CLM_TESTS_GOLDEN_BATCHES_H
#define CLM_TESTS_GOLDEN_BATCHES_H

#include <stdint.h>

#define GOLDEN_BATCHES 4
#define GOLDEN_BATCH_SIZE 8
#define GOLDEN_IMAGE_FLOATS (36 * 36 * 3)
#define GOLDEN_CLASSES 5

typedef struct golden_batch {
  float pixels[GOLDEN_BATCH_SIZE * GOLDEN_IMAGE_FLOATS];
  int32_t labels[GOLDEN_BATCH_SIZE];
} golden_batch;

/* Reads all batches into batches[GOLDEN_BATCHES]. */
void golden_batches_read(golden_batch *batches);

#endif
