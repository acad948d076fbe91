/* The loops that the references of conv2d and conv2d_max_pool share. */
#ifndef CLM_REF_CONV2D_LOOPS_H
#define CLM_REF_CONV2D_LOOPS_H

#include "op/conv2d.h"
#include "ref/ref.h"

/* An output of the convolution itself: image, row, column, filter. */
typedef struct clm__ref_place {
  int n, h, w, f;
} clm__ref_place;

/* Output i of images with h x w x f elements. */
clm__ref_place clm__ref_conv2d_place(size_t i, int h, int w, int f);
/* Convolution and bias. */
double clm__ref_conv2d_sum(const clm__ref_call *call, const clm__conv2d_geometry *g,
                           clm__ref_place at);
/* Sets dx and dw to zero ... */
void clm__ref_conv2d_clear(const clm__ref_call *call, const clm__conv2d_geometry *g);
/* ... and adds what an output gives whose sum has the gradient dz. */
void clm__ref_conv2d_spread(const clm__ref_call *call, const clm__conv2d_geometry *g,
                            clm__ref_place at, double dz);

#endif
