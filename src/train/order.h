/* Which images make which batch: the plan of an epoch, a function of (seed, epoch) alone. */
#ifndef CLM_TRAIN_ORDER_H
#define CLM_TRAIN_ORDER_H

#include "data/dataset.h"

/* Batches of training images from first_step on, then batches of validation images. Batch b is
 * samples[starts[b]..starts[b+1]). The last batch of either part may be smaller. */
typedef struct clm__order {
  uint32_t *samples;
  size_t *starts; /* [train_batches + validation_batches + 1] */
  size_t train_batches;
  size_t validation_batches;
} clm__order;

typedef struct clm__order_config {
  const clm__dataset *dataset;
  size_t batch_size;
  uint64_t seed;
  bool shuffle; /* false: the order of the list */
  bool validate;
} clm__order_config;

/* Steps of one epoch. */
size_t clm__order_steps(const clm__order_config *config);

/* Makes the plan of an epoch from step first_step on. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__order_init(clm__order *order, const clm__order_config *config,
                                          uint32_t epoch, size_t first_step);
/* The plan of one pass over a part of the samples in list order. */
CLM_MUST_CHECK clm_status clm__order_init_range(clm__order *order, size_t first, size_t count,
                                                size_t batch_size);
/* Answers which images [*first, *first + *kept) of a batch of `count` a rank takes. */
typedef void (*clm__order_part)(const void *user, bool validates, size_t count, size_t *first,
                                size_t *kept);
/* Keeps of every batch the part that is this rank's; it may be empty. */
void clm__order_keep(clm__order *order, clm__order_part part, const void *user);
void clm__order_fini(clm__order *order);

#endif
