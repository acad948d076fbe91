#include "ref/ref.h"

#include "base/rng.h"

/* What an element is multiplied by. */
static double factor(const clm__ref_call *call, size_t i)
{
  const size_t elements = clm__shape_elements(&call->problem->inputs[0]);
  const size_t n = i / elements, e = i % elements;
  const double rate = clm__ref_float(call->problem, "rate");
  const int own_seed = clm__ref_int(call->problem, "seed");
  const uint64_t b = (uint64_t)call->image_ids[n] << 32 | (e / 32 * 8 + e % 8);
  uint32_t words[4];
  if (!call->problem->training) return 1.0;
  clm__rng_block(own_seed >= 0 ? (uint64_t)own_seed : call->seed, CLM__RNG_DROPOUT,
                 call->problem->node ^ (call->epoch << 16), b, words);
  return clm__rng_unit(words[e % 32 / 8]) < (float)rate ? 0.0 : 1.0 / (1.0 - rate);
}

void clm__ref_dropout_forward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->inputs[0]) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++) call->y[i] = call->x[0][i] * factor(call, i);
}

void clm__ref_dropout_backward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->inputs[0]) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++) call->dx[0][i] = call->dy[i] * factor(call, i);
}

const clm__ref_trial clm__ref_dropout_trials[] = {
    {.classes = {"Dropout"}, .configs = {"{\"rate\": 0.3}"}, .inputs = {{3, {5, 4, 7}}}},
    {.classes = {NULL}},
};
