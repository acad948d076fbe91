#include "op/optim.h"

#include <math.h>
#include <stdio.h>

typedef struct rmsprop_attributes {
  double learning_rate, weight_decay;
  double rho, momentum, epsilon;
  bool centered;
} rmsprop_attributes;

static const clm__field fields[] = {
    {.key = "rho",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(rmsprop_attributes, rho),
     .least = 0.0,
     .most = 1.0,
     .otherwise = 0.9},
    {.key = "momentum",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(rmsprop_attributes, momentum),
     .least = 0.0,
     .most = 1.0},
    {.key = "epsilon",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(rmsprop_attributes, epsilon),
     .least = 0.0,
     .most = HUGE_VAL,
     .otherwise = 1e-7},
    {.key = "centered", .kind = CLM__FIELD_BOOL, .offset = offsetof(rmsprop_attributes, centered)},
    {.key = NULL},
};

static int slots(const void *attributes, const char *names[CLM__SLOTS_MAX])
{
  const rmsprop_attributes *own = attributes;
  int count = 0;
  names[count++] = "velocity";
  if (own->momentum > 0.0) names[count++] = "momentum";
  if (own->centered) names[count++] = "average_gradient";
  return count;
}

static clm_status prepare(clm__optim_instance *instance)
{
  const rmsprop_attributes *own = instance->attributes;
  char options[64];
  snprintf(options, sizeof options, "-DMOMENTUM=%d -DCENTERED=%d", own->momentum > 0.0,
           own->centered);
  return clm__optim_build(instance, "rmsprop.cl", options, "rmsprop_plain");
}

static clm_status enqueue(clm__optim_instance *instance, const clm__optim_args *args)
{
  const rmsprop_attributes *own = instance->attributes;
  const char *names[CLM__SLOTS_MAX];
  clm__launch launch = clm__optim_launch(instance, args, slots(own, names));
  clm__launch_float(&launch, (float)own->rho);
  clm__launch_float(&launch, (float)(1.0 - own->rho));
  clm__launch_float(&launch, (float)own->epsilon);
  clm__launch_float(&launch, (float)own->momentum);
  return clm__optim_run(&launch, instance, args);
}

const clm__optim clm__optim_rmsprop = {
    .name = "rmsprop",
    .keras_class = "RMSprop",
    .keras_name = "rm_sprop",
    .attribute_bytes = sizeof(rmsprop_attributes),
    .fields = fields,
    .learning_rate = 0.001,
    .slots = slots,
    .prepare = prepare,
    .enqueue = enqueue,
};
