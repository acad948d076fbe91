#include "op/registry.h"

#include "base/num.h"

#include <string.h>

#define CLM_OP(name) extern const clm__op clm__op_##name;
#define CLM_LOSS(name) extern const clm__loss clm__loss_##name;
#define CLM_OPTIM(name) extern const clm__optim clm__optim_##name;
#include "op/ops.def"
#undef CLM_OP
#undef CLM_LOSS
#undef CLM_OPTIM

#define CLM_OP(name) &clm__op_##name,
#define CLM_LOSS(name)
#define CLM_OPTIM(name)
static const clm__op *const all_ops[] = {
#include "op/ops.def"
    NULL};
#undef CLM_OP
#undef CLM_LOSS
#undef CLM_OPTIM

#define CLM_OP(name)
#define CLM_LOSS(name) &clm__loss_##name,
#define CLM_OPTIM(name)
static const clm__loss *const all_losses[] = {
#include "op/ops.def"
    NULL};
#undef CLM_OP
#undef CLM_LOSS
#undef CLM_OPTIM

#define CLM_OP(name)
#define CLM_LOSS(name)
#define CLM_OPTIM(name) &clm__optim_##name,
static const clm__optim *const all_optims[] = {
#include "op/ops.def"
    NULL};

const clm__op *const *clm__registry_ops(void) { return all_ops; }
const clm__loss *const *clm__registry_losses(void) { return all_losses; }
const clm__optim *const *clm__registry_optims(void) { return all_optims; }

/* Number of single-character edits between two names, looked at up to 63 characters. */
static int edit_distance(const char *a, const char *b)
{
  const int length_a = (int)clm__min_size(strlen(a), 63);
  const int length_b = (int)clm__min_size(strlen(b), 63);
  int row[64];
  for (int j = 0; j <= length_b; j++) row[j] = j;
  for (int i = 1; i <= length_a; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= length_b; j++) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = clm__min_int(replaced, clm__min_int(row[j], row[j - 1]) + 1);
    }
  }
  return row[length_b];
}

/* Keeps the known name that is nearest to the asked one. */
typedef struct nearest_name {
  const char *asked;
  const char *name;
  int distance;
} nearest_name;

static void offer(nearest_name *nearest, const char *name)
{
  if (name == NULL) return;
  const int distance = edit_distance(nearest->asked, name);
  if (nearest->name != NULL && distance >= nearest->distance) return;
  nearest->name = name;
  nearest->distance = distance;
}

static bool is_named(const char *asked, const char *name, const char *keras_class)
{
  return strcmp(asked, name) == 0 || (keras_class != NULL && strcmp(asked, keras_class) == 0);
}

clm_status clm__registry_find_op(const char *name, const clm__op **op)
{
  nearest_name nearest = {.asked = name};
  for (const clm__op *const *known = all_ops; *known != NULL; known++) {
    if (is_named(name, (*known)->name, (*known)->keras_class)) {
      *op = *known;
      return CLM_OK;
    }
    offer(&nearest, (*known)->keras_class);
  }
  CLM_FAIL(CLM_UNSUPPORTED, "layer class %s is not supported (the nearest known one is %s)", name,
           nearest.name);
}

clm_status clm__registry_find_loss(const char *name, const clm__loss **loss)
{
  nearest_name nearest = {.asked = name};
  for (const clm__loss *const *known = all_losses; *known != NULL; known++) {
    if (is_named(name, (*known)->name, (*known)->keras_class)) {
      *loss = *known;
      return CLM_OK;
    }
    offer(&nearest, (*known)->name);
  }
  CLM_FAIL(CLM_UNSUPPORTED, "loss %s is not supported (the nearest known one is %s)", name,
           nearest.name);
}

clm_status clm__registry_find_optim(const char *name, const clm__optim **optim)
{
  nearest_name nearest = {.asked = name};
  for (const clm__optim *const *known = all_optims; *known != NULL; known++) {
    if (is_named(name, (*known)->name, (*known)->keras_class)) {
      *optim = *known;
      return CLM_OK;
    }
    offer(&nearest, (*known)->name);
  }
  CLM_FAIL(CLM_UNSUPPORTED, "optimizer %s is not supported (the nearest known one is %s)", name,
           nearest.name);
}
