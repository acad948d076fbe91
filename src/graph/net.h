/* A graph lowered to what runs: nodes in order, activations fused where an op takes them, and for
 * training the gradient's bookkeeping. Knows no device. */
#ifndef CLM_GRAPH_NET_H
#define CLM_GRAPH_NET_H

#include "graph/weights.h"

/* Value 0 is the net's input; node k computes value k + 1. */
typedef struct clm__node {
  const clm__op *op;
  void *attributes;   /* owned */
  int layer;          /* the layer that owns its params; of a fused chain the first with params */
  bool frozen;        /* that layer is not trainable */
  int inputs[CLM__INPUTS_MAX]; /* values */
  int input_count;
  clm__op_spec spec;
  int weights[CLM__PARAMS_MAX]; /* index in clm__weights items, per param */

  /* Gradient: */
  bool has_backward;  /* some gradient flows through it in training */
  bool need_dw;
  unsigned need_dx;   /* bit i: input i needs a gradient */
  unsigned adds_dx;   /* bit i: another consumer of that value wrote its gradient before, so this
                         one goes to a temporary and is added */
} clm__node;

typedef struct clm__net {
  const clm__graph *graph; /* borrowed */
  clm__node *nodes;
  int node_count;
  bool training;
  bool ends_in_softmax;    /* the softmax at the end was left to the loss: the last value are logits */
  const clm__shape *value_shapes; /* [node_count + 1] */
} clm__net;

typedef struct clm__net_options {
  bool training;      /* keeps dropout, plans gradients, leaves a final softmax to the loss */
  bool logits;        /* inference too leaves the final softmax away (evaluation with a loss) */
  /* Whether a fused op may be used here; NULL: always. The device's view comes in through this. */
  bool (*accepts)(void *user, const clm__op *fused, const void *attributes,
                  const clm__shape *inputs);
  void *accepts_user;
} clm__net_options;

/* Lowers a graph. weights: laid out for the same graph. Errors: BAD_DATA, UNSUPPORTED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__net_create(const clm__graph *graph, const clm__weights *weights,
                                          const clm__net_options *options, clm__net **net);
void clm__net_destroy(clm__net *net);

/* Whether value v's memory is that of an earlier value (views): the root value, v itself if not. */
int clm__net_root_value(const clm__net *net, int value);

/* One line a node: what runs, for --verbose and tests. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__net_describe(const clm__net *net, char **text);

#endif
