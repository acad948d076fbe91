/* The winograd variant of conv2d and conv2d_max_pool. */
#ifndef CLM_OP_CONV2D_WINOGRAD_H
#define CLM_OP_CONV2D_WINOGRAD_H

#include "op/conv2d.h"

/* All passes of both ops: 3x3 convolutions of stride 1 on CPUs. */
extern const clm__variant clm__conv2d_winograd;

#endif
