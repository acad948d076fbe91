/* What the two cross-entropies share: their kernel (cl/cross_entropy.cl). */
#ifndef CLM_OP_CROSS_ENTROPY_H
#define CLM_OP_CROSS_ENTROPY_H

#include "op/loss.h"

/* Builds the kernel. Of bare probabilities, `normalized` divides by their sum before they are
 * clipped (Keras' categorical cross-entropy); else they are clipped and then divided (sparse). */
CLM_MUST_CHECK clm_status clm__cross_entropy_prepare(clm__loss_instance *instance, bool normalized);
CLM_MUST_CHECK clm_status clm__cross_entropy_enqueue(clm__loss_instance *instance,
                                                     const clm__loss_args *args, double smoothing);

#endif
