/* The cpu variant of conv2d, and of the forward pass of conv2d_max_pool (cl/conv2d_cpu.cl). */
#include "op/conv2d_cpu.h"

#include "base/num.h"
#include "op/conv2d_tiles.h"

#define FILE_CPU "conv2d_cpu.cl"
#define BLOCK_PIXELS 64 /* of z that bwd_w takes at a time, at least */

/* How the pass of an instance is cut. */
typedef struct cut {
  clm__conv2d_geometry geometry;
  clm__conv2d_tile tile; /* bwd_w: lanes, vectors and patch_bytes alone */
  int rows;              /* bwd_w: of z at a time */
  int weights;           /* bwd_w: a tile */
} cut;

static int ceil_div(int value, int divisor)
{
  return (int)clm__ceil_div((size_t)value, (size_t)divisor);
}

static clm__conv2d_pass forward_pass(const clm__conv2d_geometry *g)
{
  return (clm__conv2d_pass){.rows = g->pool ? 2 * g->yh : g->oh,
                            .columns = g->pool ? 2 * g->yw : g->ow,
                            .channels = g->filters,
                            .positions = g->kh * g->kw,
                            .depth = g->c,
                            .step_h = g->sh,
                            .step_w = g->sw,
                            .seen_h = (g->kh - 1) * g->dh + 1,
                            .seen_w = (g->kw - 1) * g->dw + 1,
                            .pool = g->pool};
}

/* Each phase of the rows and columns of dx is a convolution of dz with stride 1. */
static clm__conv2d_pass backward_x_pass(const clm__conv2d_geometry *g)
{
  const int back_h = ceil_div((g->kh - 1) * g->dh - g->pad_top, g->sh);
  const int back_w = ceil_div((g->kw - 1) * g->dw - g->pad_left, g->sw);
  return (clm__conv2d_pass){.rows = ceil_div(g->h, g->sh),
                            .columns = ceil_div(g->w, g->sw),
                            .channels = g->c,
                            .positions = ceil_div(g->kh, g->sh) * ceil_div(g->kw, g->sw),
                            .depth = g->filters,
                            .step_h = 1,
                            .step_w = 1,
                            .seen_h = 1 + back_h + (g->sh - 1 + g->pad_top) / g->sh,
                            .seen_w = 1 + back_w + (g->sw - 1 + g->pad_left) / g->sw};
}

static void cut_backward_w(const clm__device_info *info, const char *defines, cut *made)
{
  const clm__conv2d_geometry *const g = &made->geometry;
  const int registers = clm__conv2d_registers(info);
  const int span = g->dw == 1 ? g->kw * g->c : g->c;
  clm__conv2d_tile *const tile = &made->tile;
  tile->lanes = clm__conv2d_lanes(info, g->filters);
  const int vectors = ceil_div(g->filters, tile->lanes);
  tile->vectors = clm__conv2d_tuned(defines, "VT", vectors % 2 == 0 ? 2 : 1);
  const int most = clm__min_int(registers / tile->vectors, span);
  made->weights = ceil_div(span, ceil_div(span, most));
  made->rows = clm__min_int(ceil_div(BLOCK_PIXELS, g->ow), g->oh);
  const size_t high = (size_t)((made->rows - 1) * g->sh + (g->kh - 1) * g->dh + 1);
  const size_t wide = (size_t)((g->ow - 1) * g->sw + (g->kw - 1) * g->dw + 1);
  const size_t dz = (size_t)made->rows * (size_t)g->ow * (size_t)(tile->vectors * tile->lanes);
  tile->patch_bytes = (high * wide * (size_t)g->c + dz) * sizeof(float);
}

static void make_cut(const clm__problem *problem, clm__pass pass, const clm__device_info *info,
                     const char *defines, cut *made)
{
  *made = (cut){.rows = 1, .weights = 1};
  clm__conv2d_geometry_of(problem, &made->geometry);
  if (pass == CLM__BACKWARD_W) {
    cut_backward_w(info, defines, made);
    return;
  }
  const clm__conv2d_pass shape =
      pass == CLM__FORWARD ? forward_pass(&made->geometry) : backward_x_pass(&made->geometry);
  clm__conv2d_choose_tile(&shape, info, defines, &made->tile);
}

static void cut_instance(const clm__instance *instance, cut *made)
{
  make_cut(instance->problem, instance->pass, &instance->device->info, instance->tuning.defines,
           made);
}

static bool usable(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  cut made;
  make_cut(problem, pass, info, "", &made);
  return info->kind == CLM__DEVICE_CPU && made.geometry.groups == 1 &&
         made.tile.patch_bytes <= CLM__CONV2D_PATCH_MAX;
}

/* Rows of one part's sums of bwd_w: the weights of a filter and its bias. */
static size_t count_rows(const clm__conv2d_geometry *g)
{
  return (size_t)g->kh * (size_t)g->kw * (size_t)g->c + 1;
}

static size_t count_filter_blocks(const cut *made)
{
  return clm__ceil_div((size_t)made->geometry.filters,
                       (size_t)(made->tile.lanes * made->tile.vectors));
}

/* Floats of one part's sums. */
static size_t count_sums(const cut *made)
{
  return count_rows(&made->geometry) * count_filter_blocks(made) *
         (size_t)(made->tile.lanes * made->tile.vectors);
}

static size_t count_parts(const clm__instance *instance, const cut *made, int batch)
{
  const clm__conv2d_geometry *const g = &made->geometry;
  const size_t blocks = (size_t)batch * clm__ceil_div((size_t)g->oh, (size_t)made->rows);
  return clm__conv2d_parts(&instance->device->info, blocks, count_filter_blocks(made),
                           count_sums(made) * sizeof(float));
}

static clm_status add_options(const clm__instance *instance, const cut *made, clm__str *options)
{
  const clm__conv2d_tile *const tile = &made->tile;
  const bool backward_w = instance->pass == CLM__BACKWARD_W;
  CLM_TRY(clm__conv2d_add_options(&made->geometry, options));
  CLM_TRY(clm__str_add(options, " -DLANES=%d -DVT=%d", tile->lanes, tile->vectors));
  return clm__str_add(options,
                      " -DTILE_H=%d -DTILE_W=%d -DSTRIP_W=%d -DWINNERS=%d -DTILE_M=%d "
                      "-DROWS=%d",
                      backward_w ? 1 : tile->height, backward_w ? 1 : tile->width,
                      backward_w ? 1 : tile->strip_width, instance->problem->training,
                      made->weights, made->rows);
}

static clm_status prepare(clm__instance *instance)
{
  static const char *const names[CLM__PASS_COUNT] = {"conv2d_fwd_cpu", "conv2d_bwd_x_cpu",
                                                     "conv2d_bwd_w_cpu"};
  static const char *const helpers[CLM__PASS_COUNT] = {NULL, "conv2d_pack_cpu",
                                                       "conv2d_reduce_cpu"};
  cut made;
  cut_instance(instance, &made);
  const size_t kernel = clm__conv2d_kernel_elements(&made.geometry);
  clm__str options = {0};
  clm_status status = add_options(instance, &made, &options);
  const char *const text = clm__str_get(&options);
  if (status == CLM_OK)
    status = clm__instance_add_kernel(instance, FILE_CPU, text, names[instance->pass]);
  if (status == CLM_OK && helpers[instance->pass] != NULL)
    status = clm__instance_add_kernel(instance, FILE_CPU, text, helpers[instance->pass]);
  if (instance->pass == CLM__BACKWARD_X) instance->workspace_bytes = kernel * sizeof(float);
  if (instance->pass == CLM__BACKWARD_W)
    instance->workspace_bytes = count_parts(instance, &made, instance->problem->batch_max) *
                                count_sums(&made) * sizeof(float);
  clm__str_fini(&options);
  return status;
}

static clm_status run_forward(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  const clm__conv2d_pass pass = forward_pass(&made->geometry);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_buffer(&launch, args->w[1]);
  const size_t strips = clm__ceil_div((size_t)pass.columns, (size_t)made->tile.strip_width);
  const size_t items[] = {strips * count_filter_blocks(made),
                          clm__ceil_div((size_t)pass.rows, (size_t)made->tile.height),
                          (size_t)args->batch};
  return clm__launch_run(&launch, 3, items, NULL);
}

static clm_status run_backward_x(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  const clm__conv2d_geometry *const g = &made->geometry;
  const clm__conv2d_pass pass = backward_x_pass(g);
  clm__launch launch = clm__launch_begin(&instance->kernels[1]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->w[0]);
  const size_t rows[] = {(size_t)g->filters, (size_t)(g->kh * g->kw)};
  CLM_TRY(clm__launch_run(&launch, 2, rows, NULL));

  launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->dx[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->workspace);
  const size_t blocks =
      clm__ceil_div((size_t)g->c, (size_t)(made->tile.lanes * made->tile.vectors));
  const size_t strips = clm__ceil_div((size_t)pass.columns, (size_t)made->tile.strip_width);
  const size_t tiles = clm__ceil_div((size_t)pass.rows, (size_t)made->tile.height);
  const size_t items[] = {blocks * strips * (size_t)g->sw, tiles * (size_t)g->sh,
                          (size_t)args->batch};
  return clm__launch_run(&launch, 3, items, NULL);
}

static clm_status run_backward_w(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  const size_t parts = count_parts(instance, made, args->batch);
  const size_t rows = count_rows(&made->geometry) - (made->geometry.use_bias ? 0 : 1);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_int(&launch, args->batch);
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){count_filter_blocks(made), parts}, NULL));

  return clm__conv2d_reduce(&instance->kernels[1], args, parts, 1, &rows);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  cut made;
  cut_instance(instance, &made);
  switch (instance->pass) {
  case CLM__BACKWARD_X:
    return run_backward_x(instance, args, &made);
  case CLM__BACKWARD_W:
    return run_backward_w(instance, args, &made);
  default:
    return run_forward(instance, args, &made);
  }
}

/* A wish that a tile cannot have leaves it at the least tile, which costs time alone. */
static const char *const tiles[] = {"VT=1",     "VT=2",          "VT=4",          "TILE_H=1",
                                    "TILE_H=2", "VT=1 TILE_H=2", "VT=2 TILE_H=1", NULL};
static const char *const widths[] = {"VT=1", "VT=2", NULL};

const clm__variant clm__conv2d_cpu = {.name = "cpu",
                                      .passes = 7,
                                      .usable = usable,
                                      .prepare = prepare,
                                      .enqueue = enqueue,
                                      .candidates = {tiles, tiles, widths}};
