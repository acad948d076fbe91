#include "op/op.h"

#include <limits.h>

static const clm__field fields[] = {
    {.key = "data_format", .kind = CLM__FIELD_FIXED, .fixed = "\"channels_last\""},
    {.key = NULL},
};

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const size_t elements = clm__shape_elements(&inputs[0]);
  char text[CLM__SHAPE_TEXT_SIZE];
  (void)attributes;
  (void)input_count;
  CLM_REQUIRE(elements <= INT_MAX, CLM_UNSUPPORTED, "Flatten: %s has too many elements",
              clm__shape_text(&inputs[0], text));
  *spec = (clm__op_spec){.output = clm__shape1((int)elements)};
  return CLM_OK;
}

const clm__op clm__op_flatten = {
    .name = "flatten",
    .keras_class = "Flatten",
    .attribute_bytes = 0,
    .fields = fields,
    .inputs_least = 1,
    .inputs_most = 1,
    .is_view = true,
    .infer = infer,
};
