#include "base/num.h"
#include "op/variant.h"

typedef struct rescaling {
  clm__float_list scale;
  clm__float_list offset;
} rescaling;

static const clm__field fields[] = {
    {.key = "scale",
     .kind = CLM__FIELD_FLOAT_OR_LIST,
     .offset = offsetof(rescaling, scale),
     .required = true},
    {.key = "offset", .kind = CLM__FIELD_FLOAT_OR_LIST, .offset = offsetof(rescaling, offset)},
    {.key = NULL},
};

static clm_status check_list(const clm__float_list *list, const char *name, int channels)
{
  CLM_REQUIRE(list->count == 0 || list->count == channels, CLM_BAD_DATA,
              "Rescaling: %s has %d values, the input has %d channels", name, list->count,
              channels);
  return CLM_OK;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const rescaling *own = attributes;
  const int channels = inputs[0].rank > 0 ? inputs[0].dims[inputs[0].rank - 1] : 1;
  (void)input_count;
  CLM_TRY(check_list(&own->scale, "scale", channels));
  CLM_TRY(check_list(&own->offset, "offset", channels));
  *spec = (clm__op_spec){.output = inputs[0]};
  return CLM_OK;
}

/* ---- plain ---- */

static clm_status prepare(clm__instance *instance)
{
  return clm__instance_add_kernel(instance, "rescaling.cl", "", "rescaling_plain");
}

/* The values by channel, repeated where there is one for all. */
static void push_list(clm__launch *launch, const clm__float_list *list)
{
  for (int i = 0; i < CLM__FLOAT_LIST_MAX; i++)
    clm__launch_float(launch, (float)list->values[list->count > 0 ? i : 0]);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const rescaling *own = instance->problem->attributes;
  const clm__float_list none = {.count = 0};
  const bool is_forward = instance->pass == CLM__FORWARD;
  const int period = clm__max_int(clm__max_int(own->scale.count, own->offset.count), 1);
  const size_t elements = clm__shape_elements(&instance->problem->inputs[0]);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, is_forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, is_forward ? args->x[0] : args->dy);
  clm__launch_uint(&launch, (uint32_t)elements);
  clm__launch_int(&launch, args->batch);
  clm__launch_int(&launch, period);
  push_list(&launch, &own->scale);
  push_list(&launch, is_forward ? &own->offset : &none);
  return clm__launch_run(&launch, 1, (size_t[]){elements * (size_t)args->batch}, NULL);
}

static const clm__variant plain = {
    .name = "plain",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .prepare = prepare,
    .enqueue = enqueue,
};

static const clm__variant *const variants[] = {&plain, NULL};

const clm__op clm__op_rescaling = {
    .name = "rescaling",
    .keras_class = "Rescaling",
    .attribute_bytes = sizeof(rescaling),
    .fields = fields,
    .inputs_least = 1,
    .inputs_most = 1,
    .infer = infer,
    .variants = variants,
};
