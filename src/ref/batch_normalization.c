#include "op/batch_normalization.h"

#include "ref/ref.h"

#include <math.h>

/* One channel; params that are missing are 1 and 0. */
typedef struct channel {
  const clm__batch_normalization_attributes *attributes;
  size_t rows, channels, c;
  bool batch;              /* statistics of the batch */
  int gamma, beta, moving; /* places of the params, -1: missing; the variance follows the mean */
  double mean, inverse;
} channel;

static channel channel_of(const clm__ref_call *call, size_t c)
{
  const clm__problem *problem = call->problem;
  const clm__shape *input = &problem->inputs[0];
  const clm__batch_normalization_attributes *attributes = problem->attributes;
  const size_t channels = (size_t)input->dims[input->rank - 1];
  channel one = {.attributes = attributes,
                 .rows = clm__shape_elements(input) / channels * (size_t)call->batch,
                 .channels = channels,
                 .c = c,
                 .batch = problem->training && !problem->frozen,
                 .gamma = attributes->scale ? 0 : -1,
                 .beta = attributes->center ? (attributes->scale ? 1 : 0) : -1};
  one.moving = (attributes->scale ? 1 : 0) + (attributes->center ? 1 : 0);
  return one;
}

static double param(const clm__ref_call *call, const channel *one, int place, double otherwise)
{
  return place < 0 ? otherwise : call->w[place][one->c];
}

/* Mean and variance that normalize the channel. */
static double find_statistics(const clm__ref_call *call, channel *one)
{
  double variance = call->w[one->moving + 1][one->c];
  one->mean = call->w[one->moving][one->c];
  if (one->batch) {
    one->mean = variance = 0.0;
    for (size_t i = 0; i < one->rows; i++) one->mean += call->x[0][i * one->channels + one->c];
    one->mean /= (double)one->rows;
    for (size_t i = 0; i < one->rows; i++)
      variance += pow(call->x[0][i * one->channels + one->c] - one->mean, 2.0);
    variance /= (double)one->rows;
  }
  one->inverse = 1.0 / sqrt(variance + one->attributes->epsilon);
  return variance;
}

static double normalized(const clm__ref_call *call, const channel *one, size_t at)
{
  return (call->x[0][at] - one->mean) * one->inverse;
}

static double before_epilogue(const clm__ref_call *call, const channel *one, size_t at)
{
  return normalized(call, one, at) * param(call, one, one->gamma, 1.0) +
         param(call, one, one->beta, 0.0);
}

static void move(double *moving, double momentum, double value)
{
  *moving = *moving * momentum + value * (1.0 - momentum);
}

void clm__ref_batch_normalization_forward(const clm__ref_call *call)
{
  for (size_t c = 0; c < channel_of(call, 0).channels; c++) {
    channel one = channel_of(call, c);
    const double variance = find_statistics(call, &one);
    for (size_t at = c; at < one.rows * one.channels; at += one.channels)
      call->y[at] = clm__ref_activate(one.attributes->epilogue, before_epilogue(call, &one, at));
    if (!one.batch) continue;
    move(&call->w[one.moving][c], one.attributes->momentum, one.mean);
    move(&call->w[one.moving + 1][c], one.attributes->momentum, variance);
  }
}

void clm__ref_batch_normalization_backward(const clm__ref_call *call)
{
  for (size_t c = 0; c < channel_of(call, 0).channels; c++) {
    channel one = channel_of(call, c);
    double sum = 0.0, product = 0.0;
    (void)find_statistics(call, &one);
    const double scale = param(call, &one, one.gamma, 1.0) * one.inverse;
    for (int pass = 0; pass < 2; pass++) {
      for (size_t at = c; at < one.rows * one.channels; at += one.channels) {
        const double dz = call->dy[at] * clm__ref_activate_slope(one.attributes->epilogue,
                                                                 before_epilogue(call, &one, at));
        const double x = normalized(call, &one, at);
        const double count = (double)one.rows;
        if (pass == 0) sum += dz, product += dz * x;
        if (pass == 1)
          call->dx[0][at] =
              one.batch ? scale / count * (count * dz - sum - x * product) : scale * dz;
      }
    }
    if (one.gamma >= 0) call->dw[one.gamma][c] = product;
    if (one.beta >= 0) call->dw[one.beta][c] = sum;
  }
}

const clm__ref_trial clm__ref_batch_normalization_trials[] = {
    {.classes = {"BatchNormalization"}, .configs = {"{}"}, .inputs = {{3, {6, 5, 19}}}},
    {.classes = {"BatchNormalization"},
     .configs = {"{}"},
     .inputs = {{3, {6, 5, 19}}},
     .inference = true},
    {.classes = {NULL}},
};
