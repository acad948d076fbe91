/* Plain loops in double that say what an op computes: the judges of the device's results. Not part
 * of the library.
 *
 * A file a op, tests/ref/<op>.c, defines ref_<op>_forward and, where finite differences do not do
 * (ties, many elements), ref_<op>_backward. Arrays have the shapes that op/variant.h gives them. */
#ifndef CLM_TESTS_REF_H
#define CLM_TESTS_REF_H

#include "op/variant.h"

typedef struct ref_call {
  const clm__problem *problem; /* attributes, shapes, training, frozen, node */
  int batch;
  const double *x[CLM__INPUTS_MAX];
  double *y; /* written by forward, read by backward */
  const double *dy;
  double *dx[CLM__INPUTS_MAX]; /* written by backward, all of them */
  double *w[CLM__PARAMS_MAX];  /* forward of training may change those that are not trainable */
  double *dw[CLM__PARAMS_MAX]; /* written by backward: sums over the images */
  const uint32_t *image_ids;
  uint64_t seed;
  uint32_t epoch;
} ref_call;

typedef void (*ref_function)(const ref_call *call);

/* The attribute of a Keras key, found through the op's table of fields, so that a reference needs
 * no header of the op; the test fails where there is none of that name. */
const void *ref_attribute(const clm__problem *problem, const char *key);

static inline int ref_int(const clm__problem *problem, const char *key)
{
  return *(const int *)ref_attribute(problem, key);
}
static inline double ref_float(const clm__problem *problem, const char *key)
{
  return *(const double *)ref_attribute(problem, key);
}
static inline bool ref_bool(const clm__problem *problem, const char *key)
{
  return *(const bool *)ref_attribute(problem, key);
}
/* Two numbers, rows then columns. */
static inline const int *ref_pair(const clm__problem *problem, const char *key)
{
  return ref_attribute(problem, key);
}

/* The pointwise functions of field.h (all but softmax) and their slope dy/dz at z. */
double ref_activate(clm__activation activation, double z);
double ref_activate_slope(clm__activation activation, double z);

/* ref_<op>_forward and ref_<op>_backward of every op. */
#define CLM_OP(name)                                                                               \
  void ref_##name##_forward(const ref_call *call);                                                 \
  void ref_##name##_backward(const ref_call *call);
#define CLM_LOSS(name)
#define CLM_OPTIM(name)
#include "op/ops.def"
#undef CLM_OP
#undef CLM_LOSS
#undef CLM_OPTIM

#endif
