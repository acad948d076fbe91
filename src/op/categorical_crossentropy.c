#include "op/cross_entropy.h"

typedef struct categorical_attributes {
  bool from_logits;
  double label_smoothing;
} categorical_attributes;

static const clm__field fields[] = {
    {.key = "reduction", .kind = CLM__FIELD_FIXED, .fixed = "\"sum_over_batch_size\""},
    {.key = "from_logits",
     .kind = CLM__FIELD_BOOL,
     .offset = offsetof(categorical_attributes, from_logits)},
    {.key = "label_smoothing",
     .kind = CLM__FIELD_FLOAT,
     .offset = offsetof(categorical_attributes, label_smoothing),
     .least = 0.0,
     .most = 1.0},
    {.key = "axis", .kind = CLM__FIELD_FIXED, .fixed = "-1"},
    {.key = NULL},
};

static bool from_logits(const void *attributes)
{
  return ((const categorical_attributes *)attributes)->from_logits;
}

static clm_status prepare(clm__loss_instance *instance)
{
  return clm__cross_entropy_prepare(instance, true);
}

static clm_status enqueue(clm__loss_instance *instance, const clm__loss_args *args)
{
  const categorical_attributes *own = instance->attributes;
  return clm__cross_entropy_enqueue(instance, args, own->label_smoothing);
}

const clm__loss clm__loss_categorical_crossentropy = {
    .name = "categorical_crossentropy",
    .keras_class = "CategoricalCrossentropy",
    .attribute_bytes = sizeof(categorical_attributes),
    .fields = fields,
    .labels_are_one_hot = true,
    .from_logits = from_logits,
    .prepare = prepare,
    .enqueue = enqueue,
};
