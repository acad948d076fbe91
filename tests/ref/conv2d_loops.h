/* The loops that the references of conv2d and conv2d_max_pool share. */
#ifndef CLM_TESTS_REF_CONV2D_LOOPS_H
#define CLM_TESTS_REF_CONV2D_LOOPS_H

#include "op/conv2d.h"
#include "ref/ref.h"

size_t ref_conv2d_output_elements(const clm__conv2d_geometry *g, int batch);
/* Place of the convolution's own output (n,h,w,f). */
size_t ref_conv2d_output_at(const clm__conv2d_geometry *g, int n, int h, int w, int f);
/* z [N,OH,OW,F] = convolution and bias. */
void ref_conv2d_sums(const ref_call *call, const clm__conv2d_geometry *g, double *z);
/* dx, dw and db of the call from the gradient of z. */
void ref_conv2d_gradients(const ref_call *call, const clm__conv2d_geometry *g, double *dz);

#endif
