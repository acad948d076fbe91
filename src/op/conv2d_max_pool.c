/* A Conv2D, its ReLU if any, and the 2x2 max-pool behind it in one pass: the convolution's own
 * output is never written. What is saved for backward is one byte an output: which of the window's
 * four places won, row by row, the first of equal ones. */
#include "op/conv2d_cpu.h"
#include "op/conv2d_gpu.h"
#include "op/conv2d_plain.h"
#include "op/conv2d_winograd.h"
#include "op/pooling2d.h"

static bool is_halving_pool(const clm__pooling2d_attributes *pool)
{
  for (int i = 0; i < 2; i++)
    if (pool->pool_size[i] != 2 || (pool->strides[i] != 2 && pool->strides[i] != 0)) return false;
  return pool->padding == 0;
}

static bool is_fusable(const clm__conv2d_attributes *conv)
{
  return conv->strides[0] == 1 && conv->strides[1] == 1 && conv->groups == 1 &&
         (conv->epilogue == CLM__LINEAR || conv->epilogue == CLM__RELU);
}

static bool merge(const void *producer_attributes, const void *consumer_attributes,
                  const clm__shape *producer_inputs, void *fused_attributes)
{
  (void)producer_inputs;
  clm__conv2d_max_pool_attributes *const fused = fused_attributes;
  if (!is_fusable(producer_attributes) || !is_halving_pool(consumer_attributes)) return false;
  fused->conv = *(const clm__conv2d_attributes *)producer_attributes;
  return true;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const clm__conv2d_max_pool_attributes *const fused = attributes;
  (void)input_count;
  CLM_REQUIRE(is_fusable(&fused->conv), CLM_UNSUPPORTED,
              "a convolution with strides, groups or another epilogue than ReLU cannot be fused "
              "with a pool");
  return clm__conv2d_infer(&fused->conv, true, inputs, spec);
}

static const clm__fusion fusions[] = {{"conv2d", "max_pooling2d", merge}, {0}};

static const clm__variant *const variants[] = {&clm__conv2d_winograd, &clm__conv2d_max_pool_cpu,
                                               &clm__conv2d_gpu, &clm__conv2d_plain, NULL};

const clm__op clm__op_conv2d_max_pool = {.name = "conv2d_max_pool",
                                         .attribute_bytes = sizeof(clm__conv2d_max_pool_attributes),
                                         .inputs_least = 1,
                                         .inputs_most = 1,
                                         .infer = infer,
                                         .fusions = fusions,
                                         .variants = variants};
