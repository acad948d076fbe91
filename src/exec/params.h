/* The weights of a model on one device: flat arrays of the layout of clm__weights, and a view for
 * each weight. */
#ifndef CLM_EXEC_PARAMS_H
#define CLM_EXEC_PARAMS_H

#include "dev/buffer.h"
#include "graph/weights.h"

typedef struct clm__params {
  clm__device *device;
  const clm__weights *layout; /* borrowed */
  cl_mem values;              /* [elements] trainable ones first */
  cl_mem trained;             /* view: values[0..trainable_elements); NULL where none is */
  cl_mem gradients;           /* [trainable_elements]; NULL unless training */
  cl_mem slots[CLM__SLOTS_MAX];
  int slot_count;
  cl_mem *w;  /* [layout->count] views of values */
  cl_mem *dw; /* [layout->count] views of gradients, NULL for untrained ones */
} clm__params;

/* Makes the arrays, zeroed. slot_count < 0: for inference, without gradients. gradients: host
 * memory for those (clm__buffer_create_in), NULL: the device's own. Errors:
 * DEVICE_MEMORY, DEVICE_FAILED, NO_MEMORY. The struct is valid for clm__params_fini also then. */
CLM_MUST_CHECK clm_status clm__params_init(clm__params *params, clm__device *device,
                                           const clm__weights *layout, int slot_count,
                                           float *gradients);
void clm__params_fini(clm__params *params);

/* The bytes clm__params_init would take. */
size_t clm__params_size_bytes(const clm__weights *layout, int slot_count);

/* Copy all values to and from the device; blocking. values: [layout->elements]. */
CLM_MUST_CHECK clm_status clm__params_write(clm__params *params, const float *values);
CLM_MUST_CHECK clm_status clm__params_read(clm__params *params, float *values);

#endif
