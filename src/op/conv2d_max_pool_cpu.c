/* The cpu variant of conv2d_max_pool (cl/conv2d_max_pool_cpu.cl). Forward is conv2d's. */
#include "base/num.h"
#include "op/conv2d_cpu.h"
#include "op/conv2d_tiles.h"

#define FILE_CPU "conv2d_max_pool_cpu.cl"
#define LIST_LEAST 16  /* outputs a list of bwd_w should offer */
#define SUMS_LEAST 8   /* that do not wait for each other */
#define STEPS_LEAST 4  /* of an item of bwd_x, which repeats some of the one before */
#define ITEMS_A_CORE 4 /* of bwd_x */
#define PACKED_MAX (64U << 20)
#define FEW_CHANNELS 4 /* runs of so few would leave most lanes of bwd_w empty */

typedef struct cut {
  clm__conv2d_geometry geometry;
  int lanes;
  int runs;         /* of neighbouring weights of one filter */
  int tile_s;       /* runs a tile */
  int tile_v;       /* vectors of a run a tile */
  int span_vectors; /* vectors of a run, a multiple of tile_v */
  int split;
  int rows; /* bwd_w: of y at a time */
  bool few; /* bwd_w: vectors lie along the filters */
} cut;

static int ceil_div(int value, int divisor)
{
  return (int)clm__ceil_div((size_t)value, (size_t)divisor);
}

static void cut_runs(const clm__device_info *info, const char *defines, cut *made)
{
  const clm__conv2d_geometry *const g = &made->geometry;
  const int registers = clm__conv2d_registers(info);
  const int span = g->dw == 1 ? g->kw * g->c : g->c;
  made->runs = g->dw == 1 ? g->kh : g->kh * g->kw;
  made->lanes = clm__conv2d_lanes(info, g->filters);
  const int vectors = ceil_div(span, made->lanes);
  made->tile_v =
      clm__conv2d_tuned(defines, "TILE_V", ceil_div(vectors, ceil_div(vectors, registers)));
  made->span_vectors = ceil_div(vectors, made->tile_v) * made->tile_v;
  made->tile_s = g->dw == 1 ? clm__conv2d_divisor(made->runs, registers / made->tile_v) : 1;
}

/* All sums of a channel stay in registers, beside a column of values. */
static bool has_few_channels(const clm__conv2d_geometry *g, const clm__device_info *info)
{
  return g->c <= FEW_CHANNELS && g->dw == 1 && g->kh * (g->kw + 1) <= clm__conv2d_registers(info);
}

static void cut_items(const clm__instance *instance, cut *made)
{
  const clm__conv2d_geometry *const g = &made->geometry;
  const char *const defines = instance->tuning.defines;
  const int least = ceil_div(SUMS_LEAST, made->tile_s * made->tile_v);
  const bool backward_w = instance->pass == CLM__BACKWARD_W;
  made->split = clm__conv2d_tuned(defines, "SPLIT", least);
  made->few = backward_w && has_few_channels(g, &instance->device->info);
  made->rows = backward_w && !made->few ? clm__min_int(ceil_div(LIST_LEAST, g->yw), g->yh) : 1;
}

static void make_cut(const clm__instance *instance, cut *made)
{
  *made = (cut){0};
  clm__conv2d_geometry_of(instance->problem, &made->geometry);
  cut_runs(&instance->device->info, instance->tuning.defines, made);
  cut_items(instance, made);
}

static size_t filter_floats(const cut *made)
{
  return (size_t)made->runs * (size_t)made->span_vectors * (size_t)made->lanes;
}

static size_t filter_vectors(const cut *made)
{
  return clm__ceil_div((size_t)made->geometry.filters, (size_t)made->lanes);
}

/* Floats of one part's sums, the bias too. */
static size_t part_floats(const cut *made)
{
  if (made->few)
    return (clm__conv2d_kernel_elements(&made->geometry) / (size_t)made->geometry.filters + 1) *
           filter_vectors(made) * (size_t)made->lanes;
  return (filter_floats(made) + 1) * (size_t)made->geometry.filters;
}

static bool usable(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  if (pass == CLM__FORWARD) return clm__conv2d_cpu.usable(problem, pass, info);
  cut made = {0};
  clm__conv2d_geometry_of(problem, &made.geometry);
  const clm__conv2d_geometry *const g = &made.geometry;
  cut_runs(info, "", &made);
  const size_t high = (size_t)(2 * ceil_div(LIST_LEAST, g->yw) + (g->kh - 1) * g->dh);
  const size_t wide = (size_t)(2 * g->yw + (g->kw - 1) * g->dw);
  return info->kind == CLM__DEVICE_CPU && g->filters <= UINT16_MAX &&
         high * wide * (size_t)g->c * sizeof(float) <= CLM__CONV2D_PATCH_MAX &&
         part_floats(&made) * sizeof(float) <= PACKED_MAX;
}

static clm_status add_options(const cut *made, clm__str *options)
{
  CLM_TRY(clm__conv2d_add_options(&made->geometry, options));
  return clm__str_add(options, " -DLANES=%d -DTILE_S=%d -DTILE_V=%d -DSPLIT=%d -DROWS=%d -DFEW=%d",
                      made->lanes, made->tile_s, made->tile_v, made->split, made->rows, made->few);
}

/* bwd_w: items a part. */
static size_t count_items(const cut *made) { return made->few ? filter_vectors(made) : 1; }

static size_t count_parts(const clm__instance *instance, const cut *made, int batch)
{
  const size_t blocks =
      (size_t)batch * clm__ceil_div((size_t)made->geometry.yh, (size_t)made->rows);
  return clm__conv2d_parts(&instance->device->info, blocks, count_items(made),
                           part_floats(made) * sizeof(float));
}

static clm_status prepare(clm__instance *instance)
{
  if (instance->pass == CLM__FORWARD) return clm__conv2d_cpu.prepare(instance);
  static const char *const names[3][2] = {
      {"conv2d_max_pool_bwd_x_cpu", "conv2d_max_pool_pack_cpu"},
      {"conv2d_max_pool_bwd_w_cpu", "conv2d_max_pool_reduce_cpu"},
      {"conv2d_max_pool_bwd_w_few_cpu", "conv2d_max_pool_reduce_few_cpu"}};
  const bool to_x = instance->pass == CLM__BACKWARD_X;
  cut made;
  make_cut(instance, &made);
  const char *const *const named = names[to_x ? 0 : made.few ? 2 : 1];
  clm__str options = {0};
  clm_status status = add_options(&made, &options);
  const char *const text = clm__str_get(&options);
  if (status == CLM_OK) status = clm__instance_add_kernel(instance, FILE_CPU, text, named[0]);
  if (status == CLM_OK) status = clm__instance_add_kernel(instance, FILE_CPU, text, named[1]);
  const size_t parts = to_x ? 1 : count_parts(instance, &made, instance->problem->batch_max);
  instance->workspace_bytes = parts * part_floats(&made) * sizeof(float);
  clm__str_fini(&options);
  return status;
}

/* Items of an image: more where there are fewer images than the cores want. */
static size_t count_steps(const clm__instance *instance, const cut *made, int batch)
{
  const size_t cores = (size_t)clm__max_int(instance->device->info.compute_units, 1);
  const size_t steps = (size_t)(made->geometry.h + made->geometry.pad_top + 1) / 2;
  const size_t wanted = clm__ceil_div(cores * ITEMS_A_CORE, (size_t)batch);
  return clm__max_size(clm__min_size(wanted, steps / STEPS_LEAST), 1);
}

static clm_status run_backward_x(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[1]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->w[0]);
  const size_t runs[] = {(size_t)made->geometry.filters, (size_t)made->runs};
  CLM_TRY(clm__launch_run(&launch, 2, runs, NULL));

  launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->dx[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_buffer(&launch, args->workspace);
  const size_t items[] = {count_steps(instance, made, args->batch), (size_t)args->batch};
  return clm__launch_run(&launch, 2, items, NULL);
}

static clm_status run_backward_w(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  const size_t parts = count_parts(instance, made, args->batch);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_int(&launch, args->batch);
  const size_t items[] = {parts, count_items(made)};
  CLM_TRY(clm__launch_run(&launch, 2, items, NULL));

  const clm__conv2d_geometry *const g = &made->geometry;
  const size_t runs[] = {(size_t)g->filters, (size_t)made->runs};
  const size_t rows[] = {(size_t)(g->kh * g->kw * g->c + (g->use_bias ? 1 : 0)), 1};
  return clm__conv2d_reduce(&instance->kernels[1], args, parts, 2, made->few ? rows : runs);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  if (instance->pass == CLM__FORWARD) return clm__conv2d_cpu.enqueue(instance, args);
  cut made;
  make_cut(instance, &made);
  return instance->pass == CLM__BACKWARD_X ? run_backward_x(instance, args, &made)
                                           : run_backward_w(instance, args, &made);
}

static const char *const tiles[] = {"VT=1", "VT=2", "VT=4", NULL};
static const char *const runs[] = {"TILE_V=1", "TILE_V=2", "SPLIT=1", "SPLIT=2", "SPLIT=4", NULL};

const clm__variant clm__conv2d_max_pool_cpu = {.name = "cpu",
                                               .passes = 7,
                                               .usable = usable,
                                               .prepare = prepare,
                                               .enqueue = enqueue,
                                               .candidates = {tiles, runs, runs}};
