/* Finding ops, losses and optimizers by name. The list is ops.def. */
#ifndef CLM_OP_REGISTRY_H
#define CLM_OP_REGISTRY_H

#include "op/loss.h"
#include "op/op.h"
#include "op/optim.h"

/* All of a kind in the order of ops.def; NULL-terminated. */
const clm__op *const *clm__registry_ops(void);
const clm__loss *const *clm__registry_losses(void);
const clm__optim *const *clm__registry_optims(void);

/* By our name ("conv2d") or Keras' class ("Conv2D"). Errors: UNSUPPORTED naming it and the nearest
 * known one. */
CLM_MUST_CHECK clm_status clm__registry_find_op(const char *name, const clm__op **op);
CLM_MUST_CHECK clm_status clm__registry_find_loss(const char *name, const clm__loss **loss);
CLM_MUST_CHECK clm_status clm__registry_find_optim(const char *name, const clm__optim **optim);

#endif
