/* The contract of an op: what it must answer before anything runs. Knows no device; how an op runs
 * is in op/variant.h.
 *
 * To add an op: src/op/<op>.c defines `const clm__op clm__op_<op>`, cl/<op>.cl holds its kernels,
 * src/ref/<op>.c the plain loops that judge them, tests/op/test_<op>.c its cases,
 * docs/ops/<op>.md half a page, and src/op/ops.def one line. */
#ifndef CLM_OP_OP_H
#define CLM_OP_OP_H

#include "base/shape.h"
#include "op/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLM__INPUTS_MAX 8
#define CLM__PARAMS_MAX 4
#define CLM__CHAIN_MAX 2

/* One weight of an op, in Keras' order: trainable ones first. */
typedef struct clm__param_spec {
  const char *name; /* Keras' name, such as "kernel" */
  clm__shape shape;
  bool trainable;
  clm__initializer initializer;
} clm__param_spec;

/* What an op answers for given inputs. */
typedef struct clm__op_spec {
  clm__shape output;
  int param_count;
  clm__param_spec params[CLM__PARAMS_MAX];
  /* Kept from forward to backward in training: fixed part and part per image of the batch. All
   * variants of an op agree on its layout, so that passes can mix variants. */
  size_t saved_bytes;
  size_t saved_bytes_per_image;
  bool backward_reads_x; /* backward needs the inputs */
  bool backward_reads_y; /* backward needs the output */
} clm__op_spec;

typedef struct clm__op clm__op;

/* A chain producer -> consumer (the producer's output has this one consumer) that becomes one node
 * of this op. Applied until nothing changes, so longer chains grow from pairs. */
typedef struct clm__fusion {
  const char *producer; /* op names */
  const char *consumer;
  /* Fills the fused op's attributes (zeroed) from both; false where this pair does not fit. */
  bool (*merge)(const void *producer_attributes, const void *consumer_attributes,
                const clm__shape *producer_inputs, void *fused_attributes);
} clm__fusion;

struct clm__op {
  const char *name;        /* "conv2d": file names, variants, tuning */
  const char *keras_class; /* "Conv2D"; NULL: not a Keras layer (made by lowering or fusion) */
  size_t attribute_bytes;
  const clm__field *fields; /* ends with key NULL; NULL: no fields */
  int inputs_least;
  int inputs_most;
  bool only_training;   /* identity in inference: Dropout; the inference net leaves it out */
  bool is_view;         /* the output is the input's memory with another shape: Flatten */
  bool trains_apart;    /* forward differs between training and inference: BatchNormalization */

  /* Answers output, params and what backward needs. inputs: shapes without the batch. May complete
   * attributes (pool strides). Errors: BAD_DATA (shapes do not fit: the message has both),
   * UNSUPPORTED. */
  clm_status (*infer)(void *attributes, const clm__shape *inputs, int input_count,
                      clm__op_spec *spec);

  /* Whether the op only hands its input on for these inputs, so that no node is needed; NULL:
   * never. */
  bool (*is_identity)(const void *attributes, const clm__shape *inputs);

  /* Whether a layer asks for statistics over all replicas of a job; NULL: it has no statistics. */
  bool (*is_synchronized)(const void *attributes);

  const clm__fusion *fusions; /* ends with producer NULL; NULL: none */

  /* Best first, the last one "plain", right on every device; NULL-terminated. Declared in
   * op/variant.h; NULL for views. */
  const struct clm__variant *const *variants;
};

#endif
