/* What Adam and AdamW share: all but their defaults. */
#ifndef CLM_OP_ADAM_H
#define CLM_OP_ADAM_H

#include "op/optim.h"

typedef struct clm__adam_attributes {
  double learning_rate, weight_decay;
  double beta_1, beta_2, epsilon;
  bool amsgrad;
} clm__adam_attributes;

extern const clm__field clm__adam_fields[];

int clm__adam_slots(const void *attributes, const char *names[CLM__SLOTS_MAX]);
CLM_MUST_CHECK clm_status clm__adam_prepare(clm__optim_instance *instance);
CLM_MUST_CHECK clm_status clm__adam_enqueue(clm__optim_instance *instance,
                                            const clm__optim_args *args);

#endif
