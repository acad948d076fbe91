#include "support/golden_batches.h"

#include "support/npy.h"

#include <stdio.h>
#include <string.h>

void golden_batches_read(golden_batch *batches)
{
  for (int b = 0; b < GOLDEN_BATCHES; b++) {
    char path[64];
    (void)snprintf(path, sizeof path, "train/batch%d_images.npy", b);
    npy images = npy_read_golden(path);
    for (size_t i = 0; i < images.count; i++) batches[b].pixels[i] = (float)images.u8[i];
    npy_free(&images);
    (void)snprintf(path, sizeof path, "train/batch%d_labels.npy", b);
    npy labels = npy_read_golden(path);
    memcpy(batches[b].labels, labels.i32, sizeof batches[b].labels);
    npy_free(&labels);
  }
}
