#include "op/adam.h"

/* Adam whose weight decay has a default. */
const clm__optim clm__optim_adamw = {
    .name = "adamw",
    .keras_class = "AdamW",
    .keras_name = "adam_w",
    .attribute_bytes = sizeof(clm__adam_attributes),
    .fields = clm__adam_fields,
    .learning_rate = 0.001,
    .weight_decay = 0.004,
    .slots = clm__adam_slots,
    .slots_interleaved = true,
    .prepare = clm__adam_prepare,
    .enqueue = clm__adam_enqueue,
};
