/* conv2d as a product of matrices. */
#ifndef CLM_OP_CONV2D_GEMM_H
#define CLM_OP_CONV2D_GEMM_H

#include "op/conv2d.h"

extern const clm__variant clm__conv2d_gemm;

#endif
