/* A graph lowered to what runs: nodes in order, activations fused where an op takes them, and for
 * training the gradient's bookkeeping. Knows no device. */
#ifndef CLM_GRAPH_NET_H
#define CLM_GRAPH_NET_H

#include "graph/weights.h"

/* Value 0 is the net's input; node k computes value k + 1 from earlier ones. Every node leads to
 * the last value, which is the net's output.
 *
 * A view's value is the memory of its input, and the gradient of both is one too: the view itself
 * never runs. So whoever reads a view is a consumer of its root value (clm__net_root_value). */
typedef struct clm__node {
  const clm__op *op;
  void *attributes; /* owned */
  int layer;        /* the layer that owns its params; of a fused chain the first with params */
  bool frozen;      /* that layer is not trainable */
  int inputs[CLM__INPUTS_MAX]; /* values */
  int input_count;
  clm__op_spec spec;
  int weights[CLM__PARAMS_MAX]; /* index in clm__weights items, per param */

  /* Gradient: */
  bool has_backward; /* some gradient flows through it in training */
  bool need_dw;
  unsigned need_dx; /* bit i: input i needs a gradient */
  unsigned adds_dx; /* bit i: in backward's order another consumer of that input's root value (or an
                       earlier input of this node) has written its gradient, so this one goes to
                       a temporary and is added; 0 for views */
} clm__node;

typedef struct clm__net {
  const clm__graph *graph; /* borrowed */
  clm__node *nodes;
  int node_count;
  bool training;
  bool ends_in_softmax; /* the softmax at the end was left to the loss: the last value are logits */
  clm__shape *value_shapes; /* [node_count + 1] */
} clm__net;

typedef struct clm__net_options {
  bool training; /* keeps dropout, plans gradients, leaves a final softmax to the loss */
  bool logits;   /* inference too leaves the final softmax to the loss (evaluation) */
  bool plain;    /* fuses nothing */
  /* Whether a fused op may be used here; NULL: always. The device's view comes in through this. */
  bool (*accepts)(void *user, const clm__op *fused, const void *attributes,
                  const clm__shape *inputs);
  void *accepts_user;
} clm__net_options;

/* Lowers a graph. weights: laid out for the same graph. options are borrowed for the call. Errors:
 * BAD_DATA (nothing is left to run), UNSUPPORTED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__net_create(const clm__graph *graph, const clm__weights *weights,
                                          const clm__net_options *options, clm__net **net);
void clm__net_destroy(clm__net *net);

/* The value whose memory holds this one: itself, or behind views the value that they look at. */
int clm__net_root_value(const clm__net *net, int value);

/* One line a node: number, op, layer, inputs -> output, gradients: for --verbose and tests. Taken
 * by the caller. */
CLM_MUST_CHECK clm_status clm__net_describe(const clm__net *net, char **text);

#endif
