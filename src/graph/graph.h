/* A model as Keras has it: layers, their attributes and how they are joined. Knows no device. */
#ifndef CLM_GRAPH_GRAPH_H
#define CLM_GRAPH_GRAPH_H

#include "op/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clm__layer {
  char *name;        /* unique in the model */
  const clm__op *op; /* NULL for the InputLayer */
  void *attributes;  /* op->attribute_bytes */
  bool trainable;
  int inputs[CLM__INPUTS_MAX]; /* layers whose outputs it takes */
  int input_count;
  clm__op_spec spec; /* answered by the op when the layer was added */
} clm__layer;

/* Layer 0 is the InputLayer; a layer only uses layers before it. The order is Keras'
 * model.layers: as listed for Sequential, recomputed for Functional (clm__graph_sort). */
typedef struct clm__graph {
  char *name;
  bool is_sequential;
  clm__layer *layers;
  int layer_count;
  int output_layer;
  clm__shape input_shape; /* [H,W,C] */
} clm__graph;

/* A graph with its InputLayer. Errors: NO_MEMORY, BAD_DATA (shape). */
CLM_MUST_CHECK clm_status clm__graph_create(const char *name, bool is_sequential,
                                            const char *input_name, clm__shape input_shape,
                                            clm__graph **graph);
void clm__graph_destroy(clm__graph *graph);

/* Appends a layer; attributes (op->attribute_bytes) are copied, inputs are layer indexes. name
 * NULL: Keras' automatic one ("conv2d", "conv2d_1"). It becomes the output layer. Errors: BAD_DATA
 * where the name is taken or shapes do not fit (the message names the layer). */
CLM_MUST_CHECK clm_status clm__graph_add(clm__graph *graph, const clm__op *op, const char *name,
                                         const void *attributes, const int *inputs,
                                         int input_count);

/* Puts the layers of a Functional model into the order Keras recomputes on loading
 * (keras/src/ops/function.py map_graph), which numbers groups of weights and optimizer slots.
 * Layers that do not lead to the output come last. Does nothing to a Sequential. Errors: NO_MEMORY.
 */
CLM_MUST_CHECK clm_status clm__graph_sort(clm__graph *graph);

/* The shape of the model's output. */
const clm__shape *clm__graph_output_shape(const clm__graph *graph);

/* The convolutional network of TensorFlow's flowers tutorial for this many classes: Resizing and
 * Rescaling in front, three convolutions with pools, two dense layers. */
CLM_MUST_CHECK clm_status clm__graph_create_default(int height, int width, int channels,
                                                    int class_count, clm__graph **graph);

/* The index of the layer with this name, -1 where there is none. */
int clm__graph_find(const clm__graph *graph, const char *name);

/* Keras' class of a layer, "InputLayer" for NULL, our own name where Keras has none. */
const char *clm__graph_class(const clm__op *op);

/* Keras' snake-case name of a class: "Conv2D" -> "conv2d" (keras/src/utils/naming.py). */
CLM_MUST_CHECK clm_status clm__graph_snake_case(const char *class_name, char **result);

#endif
