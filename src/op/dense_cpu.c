#include "op/dense_variants.h"

#include "base/num.h"
#include "op/lanes.h"

#include <stdio.h>

/* Products for CPUs (cl/dense_cpu.cl). Work is cut so that every core has some at any batch; the
 * cut depends on sizes and device alone, so sums keep their order. */

#define FILE_CPU "dense_cpu.cl"
#define UNIT_BLOCK 128      /* as in the kernels */
#define ITEMS_A_CORE 4      /* what a core should find at least */
#define SPLIT_LEAST 256     /* terms of a sum that are worth a part of their own */
#define BLOCK_ROWS_LEAST 16 /* rows that are worth packing a panel for */
#define BLOCK_ROWS_MOST 128
#define BLOCK_IN 64

/* How a pass over `rows` rows is cut. */
typedef struct cut {
  int block_rows; /* rows an item */
  int row_blocks;
  int unit_blocks;
  int in_blocks; /* of in_block inputs, the last one with what is left */
  int in_block;
  int splits; /* of a long sum */
  int split_size;
} cut;

static int ceil_div(int value, int divisor)
{
  return (int)clm__ceil_div((size_t)value, (size_t)divisor);
}

static int clamp(int value, int least, int most)
{
  return clm__max_int(clm__min_int(value, most), least);
}

/* Cuts a sum over `length` into parts, as many as make up for the items that are missing. */
static void split_sum(cut *made, int length, int items, int wanted)
{
  const int splits = clamp(ceil_div(wanted, items), 1, ceil_div(length, SPLIT_LEAST));
  made->split_size = ceil_div(length, splits);
  made->splits = ceil_div(length, made->split_size);
}

static cut cut_forward(const clm__dense_sizes *sizes, int rows, int wanted)
{
  cut made = {.unit_blocks = clm__max_int(sizes->units / UNIT_BLOCK, 1)};
  const int fair = ceil_div(rows, wanted);
  const int least = sizes->in >= 2 * SPLIT_LEAST ? BLOCK_ROWS_MOST : BLOCK_ROWS_LEAST;
  made.block_rows = clamp(fair, least, BLOCK_ROWS_MOST);
  made.row_blocks = ceil_div(rows, made.block_rows);
  split_sum(&made, sizes->in, made.row_blocks * made.unit_blocks, wanted);
  return made;
}

/* Rows of both vectors of a tile of bwd_x, as in the kernels. */
static int side_of(const clm__instance *instance)
{
  return 2 * clm__lanes(&instance->device->info, SIZE_MAX);
}

static cut cut_backward_x(const clm__dense_sizes *sizes, int rows, int wanted, int side)
{
  cut made = {.in_block = BLOCK_IN};
  made.in_blocks = clm__max_int(sizes->in / made.in_block, 1);
  const int fair = ceil_div(rows, ceil_div(wanted, made.in_blocks));
  made.block_rows = ceil_div(clm__min_int(fair, BLOCK_ROWS_MOST), side) * side;
  made.row_blocks = ceil_div(rows, made.block_rows);
  return made;
}

static cut cut_backward_w(const clm__dense_sizes *sizes, int rows, int wanted)
{
  cut made = {.unit_blocks = clm__max_int(sizes->units / UNIT_BLOCK, 1)};
  made.in_block = clamp(sizes->in / wanted / 8 * 8, 8, BLOCK_IN);
  made.in_blocks = clm__max_int(sizes->in / made.in_block, 1);
  split_sum(&made, rows, made.in_blocks * made.unit_blocks, wanted);
  return made;
}

static cut cut_of(const clm__instance *instance, const clm__dense_sizes *sizes, int rows)
{
  const int wanted = ITEMS_A_CORE * clamp(instance->device->info.compute_units, 1, 1024);
  if (instance->pass == CLM__FORWARD) return cut_forward(sizes, rows, wanted);
  if (instance->pass == CLM__BACKWARD_X)
    return cut_backward_x(sizes, rows, wanted, side_of(instance));
  return cut_backward_w(sizes, rows, wanted);
}

/* Elements of dz as bwd_x turns it, which stands in the workspace alone. */
static size_t count_turned(const clm__instance *instance, const clm__dense_sizes *sizes, int rows)
{
  if (instance->pass != CLM__BACKWARD_X) return 0;
  return clm__round_up((size_t)rows, (size_t)side_of(instance)) * (size_t)sizes->units;
}

static size_t count_parts(const clm__instance *instance, const clm__dense_sizes *sizes, int rows)
{
  const cut made = cut_of(instance, sizes, rows);
  const size_t units = (size_t)sizes->units;
  if (made.splits <= 1) return 0;
  if (instance->pass == CLM__FORWARD) return (size_t)made.splits * (size_t)rows * units;
  return (size_t)made.splits * (size_t)(sizes->in + 1) * units;
}

/* The most that any batch wants: a smaller one may be cut into more parts. */
static size_t find_workspace(const clm__instance *instance, const clm__dense_sizes *sizes)
{
  size_t most = 0;
  for (int batch = 1; batch <= instance->problem->batch_max; batch++) {
    const int rows = batch * sizes->rows_per_image;
    most = clm__max_size(most,
                         count_turned(instance, sizes, rows) + count_parts(instance, sizes, rows));
  }
  return most * sizeof(float);
}

/* Kernels of a pass in their places. */
enum { MAIN, JOIN };
enum { MAIN_X, TURN };

static clm_status add_kernels(clm__instance *instance, const char *options)
{
  switch (instance->pass) {
  case CLM__FORWARD:
    CLM_TRY(clm__instance_add_kernel(instance, FILE_CPU, options, "dense_fwd_cpu"));
    CLM_TRY(clm__instance_add_kernel(instance, FILE_CPU, options, "dense_fwd_join_cpu"));
    return CLM_OK;
  case CLM__BACKWARD_X:
    CLM_TRY(clm__instance_add_kernel(instance, FILE_CPU, options, "dense_bwd_x_cpu"));
    CLM_TRY(clm__instance_add_kernel(instance, FILE_CPU, options, "dense_bwd_x_turn_cpu"));
    return CLM_OK;
  default:
    CLM_TRY(clm__instance_add_kernel(instance, FILE_CPU, options, "dense_bwd_w_cpu"));
    CLM_TRY(clm__instance_add_kernel(instance, FILE_CPU, options, "dense_bwd_w_join_cpu"));
    return CLM_OK;
  }
}

static clm_status prepare(clm__instance *instance)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  const size_t columns = instance->pass == CLM__BACKWARD_X ? SIZE_MAX : (size_t)sizes.units;
  char common[CLM__DENSE_OPTIONS_SIZE], options[CLM__DENSE_OPTIONS_SIZE + 16];
  int rows = 0;
  CLM_TRY(clm__dense_rows(instance->problem, &rows));
  clm__dense_options(&sizes, common);
  (void)snprintf(options, sizeof options, "%s -DLANES=%d", common,
                 clm__lanes(&instance->device->info, columns));
  instance->workspace_bytes = find_workspace(instance, &sizes);
  CLM_TRY(add_kernels(instance, options));
  return CLM_OK;
}

/* ---- running ---- */

static const size_t one_item[3] = {1, 1, 1};

static clm_status enqueue_forward(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  const cut made = cut_of(instance, &sizes, rows);
  cl_mem bias = sizes.use_bias ? args->w[1] : NULL;
  clm__launch launch = clm__launch_begin(&instance->kernels[MAIN]);
  clm__launch_buffer(&launch, made.splits > 1 ? args->workspace : args->y);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_buffer(&launch, bias);
  clm__launch_int(&launch, rows);
  clm__launch_int(&launch, made.block_rows);
  clm__launch_int(&launch, made.splits);
  clm__launch_int(&launch, made.split_size);
  const size_t items[] = {(size_t)made.splits, (size_t)made.row_blocks, (size_t)made.unit_blocks};
  CLM_TRY(clm__launch_run(&launch, 3, items, one_item));
  if (made.splits == 1) return CLM_OK;
  launch = clm__launch_begin(&instance->kernels[JOIN]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, bias);
  clm__launch_int(&launch, rows);
  clm__launch_int(&launch, made.splits);
  CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){(size_t)rows}, one_item));
  return CLM_OK;
}

static clm_status enqueue_backward_x(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  const cut made = cut_of(instance, &sizes, rows);
  const size_t padded = clm__round_up((size_t)rows, (size_t)side_of(instance));
  clm__launch launch = clm__launch_begin(&instance->kernels[TURN]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_int(&launch, rows);
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){(size_t)sizes.units, padded}, NULL));
  launch = clm__launch_begin(&instance->kernels[MAIN_X]);
  clm__launch_buffer(&launch, args->dx[0]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_int(&launch, rows);
  clm__launch_int(&launch, made.block_rows);
  clm__launch_int(&launch, made.in_blocks);
  clm__launch_int(&launch, made.in_block);
  const size_t items[] = {(size_t)made.in_blocks, (size_t)made.row_blocks};
  CLM_TRY(clm__launch_run(&launch, 2, items, one_item));
  return CLM_OK;
}

static clm_status enqueue_join(clm__instance *instance, const clm__op_args *args, int splits)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  clm__launch launch = clm__launch_begin(&instance->kernels[JOIN]);
  clm__launch_buffer(&launch, args->dw[0]);
  clm__launch_buffer(&launch, sizes.use_bias ? args->dw[1] : NULL);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_int(&launch, splits);
  CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){(size_t)sizes.in + sizes.use_bias}, one_item));
  return CLM_OK;
}

static clm_status enqueue_backward_w(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  const cut made = cut_of(instance, &sizes, rows);
  clm__launch launch = clm__launch_begin(&instance->kernels[MAIN]);
  clm__launch_buffer(&launch, args->dw[0]);
  clm__launch_buffer(&launch, sizes.use_bias ? args->dw[1] : NULL);
  clm__launch_buffer(&launch, made.splits > 1 ? args->workspace : NULL);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_int(&launch, rows);
  clm__launch_int(&launch, made.in_blocks);
  clm__launch_int(&launch, made.in_block);
  clm__launch_int(&launch, made.splits);
  clm__launch_int(&launch, made.split_size);
  const size_t items[] = {(size_t)made.in_blocks, (size_t)made.unit_blocks, (size_t)made.splits};
  CLM_TRY(clm__launch_run(&launch, 3, items, one_item));
  if (made.splits > 1) CLM_TRY(enqueue_join(instance, args, made.splits));
  return CLM_OK;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const int rows = args->batch * clm__dense_sizes_of(instance->problem).rows_per_image;
  if (instance->pass == CLM__FORWARD) CLM_TRY(enqueue_forward(instance, args, rows));
  if (instance->pass == CLM__BACKWARD_X) CLM_TRY(enqueue_backward_x(instance, args, rows));
  if (instance->pass == CLM__BACKWARD_W) CLM_TRY(enqueue_backward_w(instance, args, rows));
  return CLM_OK;
}

static bool is_usable(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  (void)problem;
  (void)pass;
  return info->kind == CLM__DEVICE_CPU;
}

const clm__variant clm__dense_cpu = {.name = "cpu",
                                     .passes = (1U << CLM__PASS_COUNT) - 1,
                                     .usable = is_usable,
                                     .worth_it = clm__dense_is_large,
                                     .prepare = prepare,
                                     .enqueue = enqueue};
