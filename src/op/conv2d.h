/* What the files of conv2d and of conv2d_max_pool share. */
#ifndef CLM_OP_CONV2D_H
#define CLM_OP_CONV2D_H

#include "base/str.h"
#include "op/variant.h"

/* Keras' attributes of Conv2D. */
typedef struct clm__conv2d_attributes {
  int filters;
  int kernel_size[2];
  int strides[2];
  int padding; /* CLM__CONV2D_... */
  int dilation_rate[2];
  int groups;
  clm__activation activation; /* a node of its own, see CLM__FIELD_ACTIVATION */
  bool use_bias;
  clm__initializer kernel_initializer;
  clm__initializer bias_initializer;
  clm__activation epilogue; /* ours: applied to the sums before they are written */
} clm__conv2d_attributes;

enum { CLM__CONV2D_VALID, CLM__CONV2D_SAME };

/* A 2x2 max-pool of stride 2 behind the convolution, in the same pass. The pool drops an odd last
 * row or column. */
typedef struct clm__conv2d_max_pool_attributes {
  clm__conv2d_attributes conv; /* the first member, so that both ops share their functions */
} clm__conv2d_max_pool_attributes;

extern const clm__op clm__op_conv2d;
extern const clm__op clm__op_conv2d_max_pool;

/* All sizes of a convolution, told from attributes and input. */
typedef struct clm__conv2d_geometry {
  int h, w, c;         /* input */
  int oh, ow, filters; /* output of the convolution itself */
  int yh, yw;          /* output of the op: half of it with a pool */
  int kh, kw, sh, sw, dh, dw;
  int pad_top, pad_left;
  int groups;
  bool use_bias;
  bool pool;
  clm__activation epilogue;
} clm__conv2d_geometry;

/* Errors: BAD_DATA where the shapes do not fit. */
CLM_MUST_CHECK clm_status clm__conv2d_resolve(const clm__conv2d_attributes *attributes, bool pool,
                                              const clm__shape *input,
                                              clm__conv2d_geometry *geometry);

/* The geometry of a problem whose op has been inferred. */
void clm__conv2d_geometry_of(const clm__problem *problem, clm__conv2d_geometry *geometry);

/* The answers that both ops give. */
CLM_MUST_CHECK clm_status clm__conv2d_infer(const clm__conv2d_attributes *attributes, bool pool,
                                            const clm__shape *inputs, clm__op_spec *spec);

/* Number of weights of the kernel, without the bias. */
size_t clm__conv2d_kernel_elements(const clm__conv2d_geometry *geometry);

/* Adds "-DH=180 -DW=180 ..." for the kernels. */
CLM_MUST_CHECK clm_status clm__conv2d_add_options(const clm__conv2d_geometry *geometry,
                                                  clm__str *options);

/* Enqueues the second stage of a weight gradient: a kernel with the arguments dw, db, workspace and
 * parts adds the parts in the workspace, in a fixed order, over a grid of items[dims]. */
CLM_MUST_CHECK clm_status clm__conv2d_reduce(clm__kernel *kernel, const clm__op_args *args,
                                             size_t parts, int dims, const size_t *items);

#endif
