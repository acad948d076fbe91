/* The weights of a model as plain host data. Trainable ones lie in front, so that gradients and
 * optimizer slots are arrays of the same layout; each begins at a multiple of CLM__WEIGHT_ALIGN. */
#ifndef CLM_GRAPH_WEIGHTS_H
#define CLM_GRAPH_WEIGHTS_H

#include "graph/graph.h"
#include "op/optim.h"

/* Floats: 1 KiB, enough for the sub-buffers of every known device. */
#define CLM__WEIGHT_ALIGN 256

typedef struct clm__weight {
  int layer;        /* in graph->layers */
  int param;        /* in the layer's spec */
  const char *name; /* "kernel"; static storage */
  clm__shape shape;
  clm__initializer initializer;
  bool trainable; /* the param and its layer are */
  size_t elements;
  size_t offset; /* first element in values */
} clm__weight;

typedef struct clm__weights {
  clm__weight *items; /* in Keras' order: layer by layer, a layer's own params in theirs */
  int count;
  float *values; /* [elements], zero between weights */
  size_t elements;
  size_t trainable_elements; /* values[0..trainable_elements) are trained */
} clm__weights;

/* Lays out the weights of a graph, all zero. Errors: NO_MEMORY, BAD_DATA (more than fit in memory
 * addresses). */
CLM_MUST_CHECK clm_status clm__weights_create(const clm__graph *graph, clm__weights **weights);
/* The same for a graph that is not trusted: BAD_DATA, before any memory is taken, where the weights
 * need more than limit_bytes. */
CLM_MUST_CHECK clm_status clm__weights_create_bounded(const clm__graph *graph, size_t limit_bytes,
                                                      clm__weights **weights);
void clm__weights_destroy(clm__weights *weights);

/* Writes initial values: a function of seed alone. */
void clm__weights_initialize(clm__weights *weights, uint64_t seed);

/* The index in items of a layer's param, -1 where there is none. */
int clm__weights_find(const clm__weights *weights, int layer, int param);

/* Sums over layers, not counting padding. */
size_t clm__weights_count_params(const clm__weights *weights, bool trainable);

/* A 64-bit digest of all values, not of the padding between them. */
uint64_t clm__weights_digest(const clm__weights *weights);

/* The state of an optimizer on the host. */
typedef struct clm__optim_state {
  const clm__optim *optim;
  void *attributes;    /* optim->attribute_bytes */
  int64_t iterations;  /* Keras' `iteration` */
  float learning_rate; /* Keras' variable of that name */
  int slot_count;
  const char *slot_names[CLM__SLOTS_MAX];
  float *slots[CLM__SLOTS_MAX]; /* [trainable_elements] each */
  size_t elements;
} clm__optim_state;

/* Fresh state: zero slots. attributes are copied. */
CLM_MUST_CHECK clm_status clm__optim_state_create(const clm__optim *optim, const void *attributes,
                                                  const clm__weights *weights,
                                                  clm__optim_state **state);
void clm__optim_state_destroy(clm__optim_state *state);

/* A 64-bit digest of iterations, rate and slots. */
uint64_t clm__optim_state_digest(const clm__optim_state *state, const clm__weights *weights);

#endif
