#include "op/initializer.h"

#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define PI 3.14159265358979323846
/* Standard deviation of a normal distribution cut off at two of its own (Keras divides by it). */
#define CUT_DEVIATION 0.87962566103423978

typedef struct entry {
  const char *class_name;
  const char *alias;
  const char *other_alias; /* NULL: none */
  const char *key_a, *key_b;
  double a, b; /* default numbers */
} entry;

static const entry entries[CLM__INITIALIZER_COUNT] = {
    [CLM__INIT_ZEROS] = {"Zeros", "zeros", "zero", NULL, NULL, 0, 0},
    [CLM__INIT_ONES] = {"Ones", "ones", "one", NULL, NULL, 0, 0},
    [CLM__INIT_CONSTANT] = {"Constant", "constant", NULL, "value", NULL, 0, 0},
    [CLM__INIT_GLOROT_UNIFORM] = {"GlorotUniform", "glorot_uniform", NULL, NULL, NULL, 0, 0},
    [CLM__INIT_GLOROT_NORMAL] = {"GlorotNormal", "glorot_normal", NULL, NULL, NULL, 0, 0},
    [CLM__INIT_HE_UNIFORM] = {"HeUniform", "he_uniform", NULL, NULL, NULL, 0, 0},
    [CLM__INIT_HE_NORMAL] = {"HeNormal", "he_normal", NULL, NULL, NULL, 0, 0},
    [CLM__INIT_LECUN_UNIFORM] = {"LecunUniform", "lecun_uniform", NULL, NULL, NULL, 0, 0},
    [CLM__INIT_LECUN_NORMAL] = {"LecunNormal", "lecun_normal", NULL, NULL, NULL, 0, 0},
    [CLM__INIT_RANDOM_NORMAL] = {"RandomNormal", "random_normal", "normal", "mean", "stddev", 0,
                                 0.05},
    [CLM__INIT_TRUNCATED_NORMAL] = {"TruncatedNormal", "truncated_normal", NULL, "mean", "stddev",
                                    0, 0.05},
    [CLM__INIT_RANDOM_UNIFORM] = {"RandomUniform", "random_uniform", "uniform", "minval", "maxval",
                                  -0.05, 0.05},
};

const char *clm__initializer_class(clm__initializer_kind kind)
{
  CLM_ASSERT(kind >= 0 && kind < CLM__INITIALIZER_COUNT);
  return entries[kind].class_name;
}

static bool is_called(const entry *known, const char *name)
{
  return strcmp(name, known->class_name) == 0 || strcmp(name, known->alias) == 0 ||
         (known->other_alias != NULL && strcmp(name, known->other_alias) == 0);
}

clm_status clm__initializer_parse(const char *name, clm__initializer *initializer)
{
  for (int i = 0; i < CLM__INITIALIZER_COUNT; i++) {
    if (!is_called(&entries[i], name)) continue;
    *initializer = (clm__initializer){(clm__initializer_kind)i, entries[i].a, entries[i].b};
    return CLM_OK;
  }
  CLM_FAIL(CLM_UNSUPPORTED, "initializer %s is not supported", name);
}

void clm__initializer_keys(clm__initializer_kind kind, const char **a, const char **b)
{
  CLM_ASSERT(kind >= 0 && kind < CLM__INITIALIZER_COUNT);
  *a = entries[kind].key_a;
  *b = entries[kind].key_b;
}

/* Inputs and outputs of one weight, as Keras' compute_fans counts them. */
static void count_fans(const clm__shape *shape, double *fan_in, double *fan_out)
{
  double receptive = 1.0;
  for (int i = 0; i < shape->rank - 2; i++) receptive *= shape->dims[i];
  const int last = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
  *fan_in = receptive * (shape->rank > 1 ? shape->dims[shape->rank - 2] : last);
  *fan_out = receptive * last;
}

/* One of the three shapes of distribution, with the two numbers that place it. */
typedef enum spread { CONSTANT, UNIFORM, NORMAL, CUT_NORMAL } spread;
typedef struct distribution {
  spread spread;
  double a, b; /* constant; least and most; mean and deviation */
} distribution;

static distribution scaled_uniform(double scale)
{
  const double limit = sqrt(3.0 * scale);
  return (distribution){UNIFORM, -limit, limit};
}

static distribution scaled_normal(double scale)
{
  return (distribution){CUT_NORMAL, 0.0, sqrt(scale) / CUT_DEVIATION};
}

static distribution distribution_of(const clm__initializer *initializer, const clm__shape *shape)
{
  double in = 1.0, out = 1.0;
  count_fans(shape, &in, &out);
  in = fmax(in, 1.0);
  const double average = fmax((in + out) / 2.0, 1.0);
  switch (initializer->kind) {
  case CLM__INIT_GLOROT_UNIFORM:
    return scaled_uniform(1.0 / average);
  case CLM__INIT_GLOROT_NORMAL:
    return scaled_normal(1.0 / average);
  case CLM__INIT_HE_UNIFORM:
    return scaled_uniform(2.0 / in);
  case CLM__INIT_HE_NORMAL:
    return scaled_normal(2.0 / in);
  case CLM__INIT_LECUN_UNIFORM:
    return scaled_uniform(1.0 / in);
  case CLM__INIT_LECUN_NORMAL:
    return scaled_normal(1.0 / in);
  case CLM__INIT_RANDOM_NORMAL:
    return (distribution){NORMAL, initializer->a, initializer->b};
  case CLM__INIT_TRUNCATED_NORMAL:
    return (distribution){CUT_NORMAL, initializer->a, initializer->b};
  case CLM__INIT_RANDOM_UNIFORM:
    return (distribution){UNIFORM, initializer->a, initializer->b};
  case CLM__INIT_CONSTANT:
    return (distribution){CONSTANT, initializer->a, 0.0};
  case CLM__INIT_ONES:
    return (distribution){CONSTANT, 1.0, 0.0};
  default:
    return (distribution){CONSTANT, 0.0, 0.0};
  }
}

typedef struct source {
  uint64_t seed;
  uint32_t parameter;
} source;

/* Word i % 4 of block i / 4. */
static double draw_uniform(const source *from, size_t i)
{
  uint32_t words[4];
  clm__rng_block(from->seed, CLM__RNG_INIT, from->parameter, i / 4, words);
  return clm__rng_unit(words[i % 4]);
}

/* By Box and Muller from two words of block i / 2; the block's high half counts the tries. */
static double draw_normal(const source *from, size_t i, uint32_t tries)
{
  uint32_t words[4];
  clm__rng_block(from->seed, CLM__RNG_INIT, from->parameter, (uint64_t)tries << 32 | i / 2, words);
  const double first = (words[i % 2 * 2] + 0.5) * 0x1p-32;
  const double second = words[i % 2 * 2 + 1] * 0x1p-32;
  return sqrt(-2.0 * log(first)) * cos(2.0 * PI * second);
}

static double draw_cut_normal(const source *from, size_t i)
{
  double value = 0.0;
  uint32_t tries = 0;
  do value = draw_normal(from, i, tries++);
  while (fabs(value) > 2.0);
  return value;
}

void clm__initializer_fill(const clm__initializer *initializer, const clm__shape *shape,
                           uint64_t seed, uint32_t parameter, float *values)
{
  const distribution target = distribution_of(initializer, shape);
  const source from = {seed, parameter};
  const size_t count = clm__shape_elements(shape);
  for (size_t i = 0; i < count; i++) {
    double value = target.a;
    if (target.spread == UNIFORM) value += (target.b - target.a) * draw_uniform(&from, i);
    if (target.spread == NORMAL) value += target.b * draw_normal(&from, i, 0);
    if (target.spread == CUT_NORMAL) value += target.b * draw_cut_normal(&from, i);
    values[i] = (float)value;
  }
}
