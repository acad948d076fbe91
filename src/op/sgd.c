#include "op/optim.h"

typedef struct sgd_attributes {
  double learning_rate, weight_decay;
  double momentum;
  bool nesterov;
} sgd_attributes;

static const clm__field fields[] = {
    {.key = "momentum",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(sgd_attributes, momentum),
     .least = 0.0,
     .most = 1.0},
    {.key = "nesterov", .kind = CLM__FIELD_BOOL, .offset = offsetof(sgd_attributes, nesterov)},
    {.key = NULL},
};

static int slots(const void *attributes, const char *names[CLM__SLOTS_MAX])
{
  names[0] = "momentum";
  return ((const sgd_attributes *)attributes)->momentum != 0.0 ? 1 : 0;
}

static clm_status prepare(clm__optim_instance *instance)
{
  const sgd_attributes *own = instance->attributes;
  if (own->momentum == 0.0) return clm__optim_build(instance, "sgd.cl", "", "sgd_plain");
  return clm__optim_build(instance, "sgd.cl", own->nesterov ? "-DNESTEROV=1" : "-DNESTEROV=0",
                          "sgd_momentum_plain");
}

static clm_status enqueue(clm__optim_instance *instance, const clm__optim_args *args)
{
  const sgd_attributes *own = instance->attributes;
  const bool has_momentum = own->momentum != 0.0;
  clm__launch launch = clm__optim_launch(instance, args, has_momentum ? 1 : 0);
  if (has_momentum) clm__launch_float(&launch, (float)own->momentum);
  return clm__optim_run(&launch, instance, args);
}

const clm__optim clm__optim_sgd = {
    .name = "sgd",
    .keras_class = "SGD",
    .keras_name = "sgd",
    .attribute_bytes = sizeof(sgd_attributes),
    .fields = fields,
    .learning_rate = 0.01,
    .slots = slots,
    .prepare = prepare,
    .enqueue = enqueue,
};
