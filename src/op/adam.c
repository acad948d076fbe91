#include "op/adam.h"

#include <math.h>

const clm__field clm__adam_fields[] = {
    {.key = "beta_1",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(clm__adam_attributes, beta_1),
     .least = 0.0,
     .most = 1.0,
     .otherwise = 0.9},
    {.key = "beta_2",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(clm__adam_attributes, beta_2),
     .least = 0.0,
     .most = 1.0,
     .otherwise = 0.999},
    {.key = "epsilon",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(clm__adam_attributes, epsilon),
     .least = 0.0,
     .most = HUGE_VAL,
     .otherwise = 1e-7},
    {.key = "amsgrad", .kind = CLM__FIELD_BOOL, .offset = offsetof(clm__adam_attributes, amsgrad)},
    {.key = NULL},
};

int clm__adam_slots(const void *attributes, const char *names[CLM__SLOTS_MAX])
{
  names[0] = "momentum";
  names[1] = "velocity";
  names[2] = "velocity_hat";
  return ((const clm__adam_attributes *)attributes)->amsgrad ? 3 : 2;
}

clm_status clm__adam_prepare(clm__optim_instance *instance)
{
  const clm__adam_attributes *own = instance->attributes;
  return clm__optim_build(instance, "adam.cl", "",
                          own->amsgrad ? "adam_amsgrad_plain" : "adam_plain");
}

/* The learning rate with both corrections of the bias, in float32 step by step as Keras. */
static float corrected_rate(const clm__adam_attributes *own, const clm__optim_args *args)
{
  const float step = (float)(args->iterations + 1);
  const float power_1 = powf((float)own->beta_1, step);
  const float power_2 = powf((float)own->beta_2, step);
  return args->learning_rate * sqrtf(1.0F - power_2) / (1.0F - power_1);
}

clm_status clm__adam_enqueue(clm__optim_instance *instance, const clm__optim_args *args)
{
  const clm__adam_attributes *own = instance->attributes;
  clm__launch launch = clm__optim_launch(instance, args, own->amsgrad ? 3 : 2);
  clm__launch_float(&launch, corrected_rate(own, args));
  clm__launch_float(&launch, (float)(1.0 - own->beta_1));
  clm__launch_float(&launch, (float)(1.0 - own->beta_2));
  clm__launch_float(&launch, (float)own->epsilon);
  return clm__optim_run(&launch, instance, args);
}

const clm__optim clm__optim_adam = {
    .name = "adam",
    .keras_class = "Adam",
    .keras_name = "adam",
    .attribute_bytes = sizeof(clm__adam_attributes),
    .fields = clm__adam_fields,
    .learning_rate = 0.001,
    .slots = clm__adam_slots,
    .slots_interleaved = true,
    .prepare = clm__adam_prepare,
    .enqueue = clm__adam_enqueue,
};
