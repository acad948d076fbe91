/* The CPU variants of convolutions. */
#ifndef CLM_OP_CONV2D_CPU_H
#define CLM_OP_CONV2D_CPU_H

#include "op/conv2d.h"

/* conv2d, all passes. */
extern const clm__variant clm__conv2d_cpu;

/* conv2d_max_pool, all passes: forward is that of clm__conv2d_cpu. */
extern const clm__variant clm__conv2d_max_pool_cpu;

#endif
