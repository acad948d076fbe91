#include "op/registry.h"

#include "base/nearest.h"

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

static bool is_named(const char *asked, const char *name, const char *keras_class)
{
  return strcmp(asked, name) == 0 || (keras_class != NULL && strcmp(asked, keras_class) == 0);
}

static clm_status refuse(const char *kind, const clm__near *near)
{
  const char *found = clm__near_found(near);
  CLM_REQUIRE(found != NULL, CLM_UNSUPPORTED, "%s %s is not supported", kind, near->wanted);
  CLM_FAIL(CLM_UNSUPPORTED, "%s %s is not supported; did you mean %s?", kind, near->wanted, found);
}

clm_status clm__registry_find_op(const char *name, const clm__op **op)
{
  clm__near near = {.wanted = name};
  for (const clm__op *const *known = all_ops; *known != NULL; known++) {
    if (is_named(name, (*known)->name, (*known)->keras_class)) {
      *op = *known;
      return CLM_OK;
    }
    if ((*known)->keras_class != NULL) clm__near_try(&near, (*known)->keras_class);
  }
  return refuse("layer class", &near);
}

clm_status clm__registry_find_loss(const char *name, const clm__loss **loss)
{
  clm__near near = {.wanted = name};
  for (const clm__loss *const *known = all_losses; *known != NULL; known++) {
    if (is_named(name, (*known)->name, (*known)->keras_class)) {
      *loss = *known;
      return CLM_OK;
    }
    clm__near_try(&near, (*known)->name);
  }
  return refuse("loss", &near);
}

clm_status clm__registry_find_optim(const char *name, const clm__optim **optim)
{
  clm__near near = {.wanted = name};
  for (const clm__optim *const *known = all_optims; *known != NULL; known++) {
    if (is_named(name, (*known)->name, (*known)->keras_class)) {
      *optim = *known;
      return CLM_OK;
    }
    clm__near_try(&near, (*known)->name);
  }
  return refuse("optimizer", &near);
}
