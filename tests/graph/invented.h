/* Ops made up for the tests of graph/, and a registry of them that stands in for the real one. */
#ifndef CLM_TESTS_INVENTED_H
#define CLM_TESTS_INVENTED_H

#include "base/num.h"
#include "graph/net.h"
#include "graph/plan.h"
#include "op/registry.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct mix_attributes {
  int units;
  clm__activation activation;
  clm__activation epilogue;
  bool halves;
} mix_attributes;

static const clm__field mix_fields[] = {
    {.key = "units", .kind = CLM__FIELD_INT, .offset = offsetof(mix_attributes, units)},
    {.key = "activation",
     .kind = CLM__FIELD_ACTIVATION,
     .offset = offsetof(mix_attributes, activation)},
    {0}};

/* [..., c] -> [..., units], halved in rows and columns behind a pool. */
static clm_status mix_infer(void *attributes, const clm__shape *inputs, int input_count,
                            clm__op_spec *spec)
{
  const mix_attributes *mix = attributes;
  (void)input_count;
  CLM_REQUIRE(mix->units != 13, CLM_BAD_DATA, "13 units bring bad luck");
  spec->output = inputs[0];
  int *last = &spec->output.dims[inputs[0].rank - 1];
  spec->param_count = 2;
  spec->params[0] = (clm__param_spec){.name = "kernel",
                                      .shape = clm__shape2(*last, mix->units),
                                      .trainable = true,
                                      .initializer = {.kind = CLM__INIT_GLOROT_UNIFORM}};
  spec->params[1] = (clm__param_spec){.name = "bias",
                                      .shape = clm__shape1(mix->units),
                                      .trainable = true,
                                      .initializer = {.kind = CLM__INIT_ZEROS}};
  *last = mix->units;
  for (int i = 0; mix->halves && i + 1 < inputs[0].rank; i++) spec->output.dims[i] /= 2;
  spec->backward_reads_x = true;
  spec->backward_reads_y = mix->epilogue != CLM__LINEAR;
  return CLM_OK;
}

typedef struct point_attributes {
  clm__activation activation;
} point_attributes;

static const clm__field point_fields[] = {{.key = "activation",
                                           .kind = CLM__FIELD_ACTIVATION,
                                           .offset = offsetof(point_attributes, activation)},
                                          {0}};

static clm_status same_infer(void *attributes, const clm__shape *inputs, int input_count,
                             clm__op_spec *spec)
{
  (void)attributes;
  (void)input_count;
  spec->output = inputs[0];
  spec->backward_reads_y = true;
  return CLM_OK;
}

static clm_status drop_infer(void *attributes, const clm__shape *inputs, int input_count,
                             clm__op_spec *spec)
{
  CLM_TRY(same_infer(attributes, inputs, input_count, spec));
  spec->backward_reads_y = false;
  spec->saved_bytes = 12;
  spec->saved_bytes_per_image = 4;
  return CLM_OK;
}

static clm_status sum_infer(void *attributes, const clm__shape *inputs, int input_count,
                            clm__op_spec *spec)
{
  (void)attributes;
  for (int i = 1; i < input_count; i++)
    CLM_REQUIRE(clm__shape_equal(&inputs[0], &inputs[i]), CLM_BAD_DATA, "the inputs differ");
  spec->output = inputs[0];
  return CLM_OK;
}

static clm_status flat_infer(void *attributes, const clm__shape *inputs, int input_count,
                             clm__op_spec *spec)
{
  (void)attributes;
  (void)input_count;
  spec->output = clm__shape1((int)clm__shape_elements(&inputs[0]));
  return CLM_OK;
}

static clm_status pool_infer(void *attributes, const clm__shape *inputs, int input_count,
                             clm__op_spec *spec)
{
  (void)attributes;
  (void)input_count;
  spec->output = inputs[0];
  for (int i = 0; i + 1 < inputs[0].rank; i++) spec->output.dims[i] /= 2;
  return CLM_OK;
}

/* Moving statistics: one trainable param, one that is not. */
static clm_status norm_infer(void *attributes, const clm__shape *inputs, int input_count,
                             clm__op_spec *spec)
{
  CLM_TRY(same_infer(attributes, inputs, input_count, spec));
  const clm__shape shape = clm__shape1(inputs[0].dims[inputs[0].rank - 1]);
  spec->param_count = 2;
  spec->params[0] = (clm__param_spec){
      .name = "gamma", .shape = shape, .trainable = true, .initializer = {.kind = CLM__INIT_ONES}};
  spec->params[1] = (clm__param_spec){
      .name = "moving_mean", .shape = shape, .initializer = {.kind = CLM__INIT_ZEROS}};
  return CLM_OK;
}

static bool merge_epilogue(const void *producer, const void *consumer, const clm__shape *inputs,
                           void *fused)
{
  const mix_attributes *mix = producer;
  const point_attributes *point = consumer;
  (void)inputs;
  if (mix->epilogue != CLM__LINEAR || !clm__activation_is_epilogue(point->activation)) return false;
  *(mix_attributes *)fused = *mix;
  ((mix_attributes *)fused)->epilogue = point->activation;
  return true;
}

static bool merge_pool(const void *producer, const void *consumer, const clm__shape *inputs,
                       void *fused)
{
  (void)consumer;
  (void)inputs;
  *(mix_attributes *)fused = *(const mix_attributes *)producer;
  ((mix_attributes *)fused)->halves = true;
  return true;
}

static const clm__fusion mix_fusions[] = {
    {.producer = "mix", .consumer = "activation", .merge = merge_epilogue}, {0}};
static const clm__fusion mix_pool_fusions[] = {
    {.producer = "mix", .consumer = "pool", .merge = merge_pool}, {0}};

static const clm__op op_mix = {.name = "mix",
                               .keras_class = "MixUp2D",
                               .attribute_bytes = sizeof(mix_attributes),
                               .fields = mix_fields,
                               .inputs_least = 1,
                               .inputs_most = 1,
                               .infer = mix_infer,
                               .fusions = mix_fusions};
static const clm__op op_mix_pool = {.name = "mix_pool",
                                    .attribute_bytes = sizeof(mix_attributes),
                                    .inputs_least = 1,
                                    .inputs_most = 1,
                                    .infer = mix_infer,
                                    .fusions = mix_pool_fusions};
static const clm__op op_point = {.name = "activation",
                                 .keras_class = "Activation",
                                 .attribute_bytes = sizeof(point_attributes),
                                 .fields = point_fields,
                                 .inputs_least = 1,
                                 .inputs_most = 1,
                                 .infer = same_infer};
static const clm__op op_drop = {.name = "drop",
                                .keras_class = "Drop",
                                .inputs_least = 1,
                                .inputs_most = 1,
                                .only_training = true,
                                .infer = drop_infer};
static const clm__op op_sum = {
    .name = "sum", .keras_class = "Sum", .inputs_least = 2, .inputs_most = 8, .infer = sum_infer};
static const clm__op op_flat = {.name = "flat",
                                .keras_class = "Flat",
                                .inputs_least = 1,
                                .inputs_most = 1,
                                .is_view = true,
                                .infer = flat_infer};
static const clm__op op_pool = {.name = "pool",
                                .keras_class = "Pool",
                                .inputs_least = 1,
                                .inputs_most = 1,
                                .infer = pool_infer};
static const clm__op op_norm = {.name = "norm",
                                .keras_class = "Norm",
                                .inputs_least = 1,
                                .inputs_most = 1,
                                .trains_apart = true,
                                .infer = norm_infer};

const clm__op *const *clm__registry_ops(void)
{
  static const clm__op *const all[] = {&op_mix,  &op_mix_pool, &op_point, &op_drop, &op_sum,
                                       &op_flat, &op_pool,     &op_norm,  NULL};
  return all;
}

/* A small model under construction; each helper returns the index of the layer it adds. */
static clm__graph *new_graph(bool is_sequential, clm__shape shape)
{
  clm__graph *graph = NULL;
  assert_int_equal(clm__graph_create("model", is_sequential, "image", shape, &graph), CLM_OK);
  return graph;
}

static int add_layer(clm__graph *graph, const clm__op *op, const char *name, const void *attributes,
                     const int *inputs, int input_count)
{
  const clm_status status = clm__graph_add(graph, op, name, attributes, inputs, input_count);
  if (status != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return graph->layer_count - 1;
}

static inline int add_mix(clm__graph *graph, const char *name, int input, int units,
                          clm__activation activation)
{
  const mix_attributes mix = {.units = units, .activation = activation};
  return add_layer(graph, &op_mix, name, &mix, &input, 1);
}

static inline int add_point(clm__graph *graph, const char *name, int input,
                            clm__activation activation)
{
  const point_attributes point = {.activation = activation};
  return add_layer(graph, &op_point, name, &point, &input, 1);
}

/* A layer of an op without attributes. */
static inline int add_one(clm__graph *graph, const clm__op *op, const char *name, int input)
{
  return add_layer(graph, op, name, NULL, &input, 1);
}

static inline int add_sum(clm__graph *graph, const char *name, int a, int b)
{
  return add_layer(graph, &op_sum, name, NULL, (const int[]){a, b}, 2);
}

#endif
