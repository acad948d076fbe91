#include "op/pooling2d.h"

#include "op/window.h"

#include <limits.h>
#include <stdio.h>

const char *const clm__pooling2d_paddings[] = {"valid", "same", NULL};

static clm_status require_image(const clm__shape *input)
{
  char text[CLM__SHAPE_TEXT_SIZE];
  CLM_REQUIRE(input->rank == 3, CLM_BAD_DATA,
              "pooling takes images of height, width and channels, the input is %s",
              clm__shape_text(input, text));
  CLM_REQUIRE(clm__shape_elements(input) <= INT_MAX / 2, CLM_BAD_DATA,
              "images of %s are too large for pooling", clm__shape_text(input, text));
  return CLM_OK;
}

/* Output sizes and padding before, for rows and columns. */
static clm_status resolve(const clm__pooling2d_attributes *attributes, const clm__shape *input,
                          int output[2], int pad_before[2])
{
  for (int i = 0; i < 2; i++)
    CLM_TRY(clm__window_resolve(input->dims[i], attributes->pool_size[i], attributes->strides[i], 1,
                                attributes->padding == 1, &output[i], &pad_before[i]));
  return CLM_OK;
}

clm_status clm__pooling2d_infer(clm__pooling2d_attributes *attributes, const clm__shape *input,
                                clm__op_spec *spec)
{
  int output[2], pad_before[2];
  CLM_TRY(require_image(input));
  for (int i = 0; i < 2; i++)
    if (attributes->strides[i] == 0) attributes->strides[i] = attributes->pool_size[i];
  CLM_TRY(resolve(attributes, input, output, pad_before));
  *spec = (clm__op_spec){.output = clm__shape3(output[0], output[1], input->dims[2])};
  return CLM_OK;
}

clm_status clm__global_pooling2d_infer(const clm__global_pooling2d_attributes *attributes,
                                       const clm__shape *input, clm__op_spec *spec)
{
  CLM_TRY(require_image(input));
  const int channels = input->dims[2];
  *spec = (clm__op_spec){.output = attributes->keepdims ? clm__shape3(1, 1, channels)
                                                        : clm__shape1(channels)};
  return CLM_OK;
}

clm_status clm__pooling2d_options(const clm__problem *problem,
                                  char options[CLM__POOLING2D_OPTIONS_SIZE])
{
  const clm__pooling2d_attributes *attributes = problem->attributes;
  const clm__shape *input = &problem->inputs[0];
  int output[2], pad_before[2];
  CLM_TRY(resolve(attributes, input, output, pad_before));
  const int length =
      snprintf(options, CLM__POOLING2D_OPTIONS_SIZE,
               "-DIN_H=%d -DIN_W=%d -DCHANNELS=%d -DOUT_H=%d -DOUT_W=%d -DPOOL_H=%d -DPOOL_W=%d "
               "-DSTRIDE_H=%d -DSTRIDE_W=%d -DPAD_TOP=%d -DPAD_LEFT=%d -DSAVE=%d",
               input->dims[0], input->dims[1], input->dims[2], output[0], output[1],
               attributes->pool_size[0], attributes->pool_size[1], attributes->strides[0],
               attributes->strides[1], pad_before[0], pad_before[1], problem->training);
  CLM_ASSERT(length > 0 && length < CLM__POOLING2D_OPTIONS_SIZE);
  return CLM_OK;
}
