#include "op/cross_entropy.h"

typedef struct sparse_attributes {
  bool from_logits;
} sparse_attributes;

static const clm__field fields[] = {
    {.key = "reduction", .kind = CLM__FIELD_FIXED, .fixed = "\"sum_over_batch_size\""},
    {.key = "from_logits",
     .kind = CLM__FIELD_BOOL,
     .offset = offsetof(sparse_attributes, from_logits)},
    {.key = "ignore_class", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "axis", .kind = CLM__FIELD_FIXED, .fixed = "-1", .omit_default = true},
    {.key = NULL},
};

static bool from_logits(const void *attributes)
{
  return ((const sparse_attributes *)attributes)->from_logits;
}

static clm_status prepare(clm__loss_instance *instance)
{
  return clm__cross_entropy_prepare(instance, false);
}

static clm_status enqueue(clm__loss_instance *instance, const clm__loss_args *args)
{
  return clm__cross_entropy_enqueue(instance, args, 0.0);
}

const clm__loss clm__loss_sparse_categorical_crossentropy = {
    .name = "sparse_categorical_crossentropy",
    .keras_class = "SparseCategoricalCrossentropy",
    .attribute_bytes = sizeof(sparse_attributes),
    .fields = fields,
    .labels_are_one_hot = false,
    .from_logits = from_logits,
    .prepare = prepare,
    .enqueue = enqueue,
};
