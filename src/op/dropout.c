#include "base/num.h"
#include "op/variant.h"

typedef struct dropout {
  double rate;
  int seed; /* -1: the seed of the run */
} dropout;

static const clm__field fields[] = {
    {.key = "rate",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(dropout, rate),
     .required = true,
     .least = 0.0,
     .most = 1.0},
    {.key = "seed",
     .kind = CLM__FIELD_INT_OR_NULL,
     .offset = offsetof(dropout, seed),
     .otherwise = -1.0},
    {.key = "noise_shape", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = NULL},
};

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const dropout *own = attributes;
  (void)input_count;
  CLM_REQUIRE(own->rate >= 0.0 && own->rate <= 1.0, CLM_BAD_DATA,
              "Dropout: the rate is %g, it must lie between 0 and 1", own->rate);
  *spec = (clm__op_spec){.output = inputs[0]};
  return CLM_OK;
}

/* ---- both variants: an item has 32 elements, or on GPUs four that are eight apart ---- */

#define RUN 32

static bool is_gpu(const clm__instance *instance) { return instance->variant->for_gpus; }

static clm_status prepare(clm__instance *instance)
{
  return is_gpu(instance) ? clm__instance_add_kernel(instance, "dropout_gpu.cl", "", "dropout_gpu")
                          : clm__instance_add_kernel(instance, "dropout.cl", "", "dropout_plain");
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const clm__problem *problem = instance->problem;
  const dropout *own = problem->attributes;
  const bool is_forward = instance->pass == CLM__FORWARD;
  const size_t elements = clm__shape_elements(&problem->inputs[0]);
  const uint64_t seed = own->seed >= 0 ? (uint64_t)own->seed : args->seed;
  const double rate = problem->training ? own->rate : 0.0;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, is_forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, is_forward ? args->x[0] : args->dy);
  clm__launch_buffer(&launch, args->image_ids);
  clm__launch_uint(&launch, (uint32_t)elements);
  clm__launch_int(&launch, args->batch);
  clm__launch_float(&launch, (float)rate);
  clm__launch_float(&launch, rate < 1.0 ? (float)(1.0 / (1.0 - rate)) : 0.0F);
  clm__launch_uint(&launch, (uint32_t)seed);
  clm__launch_uint(&launch, (uint32_t)(seed >> 32));
  clm__launch_uint(&launch, problem->node ^ (args->epoch << 16));
  const size_t items[2] = {clm__ceil_div(elements, RUN) * (is_gpu(instance) ? 8 : 1),
                           (size_t)args->batch};
  return clm__launch_run(&launch, 2, items, NULL);
}

static const clm__variant plain = {
    .name = "plain",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .prepare = prepare,
    .enqueue = enqueue,
};

static const clm__variant gpu = {
    .name = "gpu",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .for_gpus = true,
    .prepare = prepare,
    .enqueue = enqueue,
};

static const clm__variant *const variants[] = {&gpu, &plain, NULL};

const clm__op clm__op_dropout = {
    .name = "dropout",
    .keras_class = "Dropout",
    .attribute_bytes = sizeof(dropout),
    .fields = fields,
    .inputs_least = 1,
    .inputs_most = 1,
    .only_training = true,
    .infer = infer,
    .variants = variants,
};
