/* Plain loops in double that say what an op computes: the judges of the device's results, in tests
 * and in the self-test.
 *
 * A file an op, src/ref/<op>.c, defines clm__ref_<op>_forward, clm__ref_<op>_backward and
 * clm__ref_<op>_trials. The loops take no memory and cannot fail. Arrays have the shapes that
 * op/variant.h gives them. */
#ifndef CLM_REF_H
#define CLM_REF_H

#include "op/variant.h"

typedef struct clm__ref_call {
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
} clm__ref_call;

typedef void (*clm__ref_function)(const clm__ref_call *call);

#define CLM__REF_LAYERS_MAX 3

/* A problem that the self-test tries an op with: one layer, or a chain that becomes a fused op. */
typedef struct clm__ref_trial {
  const char *classes[CLM__REF_LAYERS_MAX]; /* Keras' class names; NULL ends the chain */
  const char *configs[CLM__REF_LAYERS_MAX]; /* Keras' keys as JSON */
  clm__shape inputs[CLM__INPUTS_MAX];       /* small and odd; up to the first of rank 0 */
  bool inference;
} clm__ref_trial;

/* The attribute of a Keras key, found through the op's table of fields, so that a reference needs
 * no header of the op; there must be one of that name. */
const void *clm__ref_attribute(const clm__problem *problem, const char *key);

static inline int clm__ref_int(const clm__problem *problem, const char *key)
{
  return *(const int *)clm__ref_attribute(problem, key);
}
static inline double clm__ref_float(const clm__problem *problem, const char *key)
{
  return *(const double *)clm__ref_attribute(problem, key);
}
static inline bool clm__ref_bool(const clm__problem *problem, const char *key)
{
  return *(const bool *)clm__ref_attribute(problem, key);
}
/* Two numbers, rows then columns. */
static inline const int *clm__ref_pair(const clm__problem *problem, const char *key)
{
  return clm__ref_attribute(problem, key);
}

/* The pointwise functions of field.h (all but softmax) and their slope dy/dz at z. */
double clm__ref_activate(clm__activation activation, double z);
double clm__ref_activate_slope(clm__activation activation, double z);

/* What the files of all ops define. */
#define CLM_OP(name)                                                                               \
  void clm__ref_##name##_forward(const clm__ref_call *call);                                       \
  void clm__ref_##name##_backward(const clm__ref_call *call);                                      \
  extern const clm__ref_trial clm__ref_##name##_trials[];
#define CLM_LOSS(name)
#define CLM_OPTIM(name)
#include "op/ops.def"
#undef CLM_OP
#undef CLM_LOSS
#undef CLM_OPTIM

/* The reference of an op of the registry. */
void clm__ref_find(const clm__op *op, clm__ref_function *forward, clm__ref_function *backward);

/* Its trials; ends with one without classes. */
const clm__ref_trial *clm__ref_trials(const clm__op *op);

#endif
