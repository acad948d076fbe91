/* The winograd variant of conv2d and conv2d_max_pool: tiles of 4x4 results
 * (cl/conv2d_winograd_cpu.cl), or of 2x2, the windows of a pool whose winners are asked for
 * (cl/conv2d_max_pool_winograd_cpu.cl). */
#include "op/conv2d_winograd.h"

#include "base/num.h"
#include "op/conv2d_tiles.h"

#define FILE_TILES "conv2d_winograd_cpu.cl"
#define FILE_WINDOWS "conv2d_max_pool_winograd_cpu.cl"
#define CHANNELS_LEAST 8 /* with fewer, spreading costs more than it saves */
#define TILES_MOST 32    /* at a time */
#define SCRATCH (384U << 10)
#define ITEMS_A_CORE 4
#define PADDING 16 /* floats between two points */

/* How a pass is cut. */
typedef struct cut {
  clm__conv2d_geometry geometry;
  int in, out;   /* channels of what is spread, and of the results */
  int edge;      /* a tile has edge x edge results */
  int tile_rows; /* of an image */
  int tile_columns;
  int lanes, vectors; /* of a register tile */
  int rows;           /* the same */
  int tiles;          /* at a time, a multiple of rows */
} cut;

static size_t block_floats(const cut *made) { return (size_t)(made->lanes * made->vectors); }

static size_t count_blocks(const cut *made)
{
  return clm__ceil_div((size_t)made->out, block_floats(made));
}

/* Numbers that a tile is spread to. */
static size_t count_points(const cut *made)
{
  return (size_t)(made->edge + 2) * (size_t)(made->edge + 2);
}

/* Floats that `tiles` tiles are spread to, of so many channels. */
static size_t spread_floats(const cut *made, size_t channels, int tiles)
{
  return count_points(made) * ((size_t)tiles * channels + PADDING);
}

static size_t in_step(const cut *made)
{
  return made->edge == 2 ? (size_t)made->in : clm__round_up((size_t)made->in, (size_t)made->rows);
}

/* Floats of the tiles at a time on their way. */
static size_t scratch_floats(const cut *made, clm__pass pass, int tiles)
{
  const size_t other = pass == CLM__BACKWARD_W ? count_blocks(made) : 1;
  return spread_floats(made, in_step(made), tiles) +
         spread_floats(made, block_floats(made) * other, tiles);
}

static void make_cut(const clm__problem *problem, clm__pass pass, const clm__device_info *info,
                     const char *defines, cut *made)
{
  *made = (cut){0};
  clm__conv2d_geometry *const g = &made->geometry;
  clm__conv2d_geometry_of(problem, g);
  const bool to_x = pass == CLM__BACKWARD_X;
  const bool to_w = pass == CLM__BACKWARD_W;
  made->in = to_x ? g->filters : g->c;
  made->out = to_x ? g->c : g->filters;
  made->edge = pass == CLM__FORWARD && g->pool && problem->training ? 2 : 4;
  const int height = to_x ? g->h : g->pool ? 2 * g->yh : g->oh;
  const int width = to_x ? g->w : g->pool ? 2 * g->yw : g->ow;
  made->tile_rows = (int)clm__ceil_div((size_t)height, (size_t)made->edge);
  made->tile_columns = (int)clm__ceil_div((size_t)width, (size_t)made->edge);
  made->lanes = clm__conv2d_lanes(info, clm__min_int(g->c, g->filters));
  const size_t vectors = clm__ceil_div((size_t)made->out, (size_t)made->lanes);
  made->vectors = clm__conv2d_tuned(defines, "VT", vectors % 2 == 0 ? 2 : 1);
  const int fit = clm__conv2d_registers(info) / made->vectors;
  made->rows = clm__conv2d_tuned(defines, "R", clm__min_int(fit, 8));
  const int wished = clm__conv2d_tuned(defines, "TILES", TILES_MOST);
  made->tiles = clm__max_int(wished / made->rows, 1) * made->rows;
  while (!to_w && made->tiles > made->rows &&
         scratch_floats(made, pass, made->tiles) * sizeof(float) > SCRATCH)
    made->tiles -= made->rows;
}

static void cut_instance(const clm__instance *instance, cut *made)
{
  make_cut(instance->problem, instance->pass, &instance->device->info, instance->tuning.defines,
           made);
}

/* Behind a pool, the weight gradient is as fast from lists. */
static bool usable(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  cut made;
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(problem, &g);
  const bool fits = g.groups == 1 && g.kh == 3 && g.kw == 3 && g.sh == 1 && g.sw == 1 &&
                    g.dh == 1 && g.dw == 1 && clm__min_int(g.c, g.filters) >= CHANNELS_LEAST;
  if (info->kind != CLM__DEVICE_CPU || !fits) return false;
  if (pass == CLM__BACKWARD_W) return !g.pool;
  make_cut(problem, pass, info, "", &made);
  return scratch_floats(&made, pass, made.tiles) * sizeof(float) <= CLM__CONV2D_PATCH_MAX;
}

static size_t count_tiles(const cut *made, int batch)
{
  return (size_t)batch * (size_t)made->tile_rows * (size_t)made->tile_columns;
}

static size_t sums_floats(const cut *made)
{
  return count_points(made) * in_step(made) * count_blocks(made) * block_floats(made);
}

/* Floats of a part of the workspace of the gradient of w. */
static size_t part_floats(const cut *made)
{
  return sums_floats(made) + count_blocks(made) * block_floats(made) +
         scratch_floats(made, CLM__BACKWARD_W, made->tiles);
}

static size_t count_parts(const clm__instance *instance, const cut *made, int batch)
{
  const size_t cores = (size_t)clm__max_int(instance->device->info.compute_units, 1);
  const size_t most = clm__ceil_div(count_tiles(made, batch), (size_t)made->tiles);
  const size_t wished = cores * (sums_floats(made) > (1U << 18) ? 1 : 4);
  return clm__max_size(clm__min_size(wished, most), 1);
}

static clm_status add_options(const clm__instance *instance, const cut *made, clm__str *options)
{
  CLM_TRY(clm__conv2d_add_options(&made->geometry, options));
  CLM_TRY(clm__str_add(options, " -DLANES=%d -DVT=%d -DR=%d -DTILES=%d", made->lanes, made->vectors,
                       made->rows, made->tiles));
  if (made->edge == 2) return CLM_OK;
  return clm__str_add(options, " -DTO_X=%d -DTO_W=%d", instance->pass == CLM__BACKWARD_X,
                      instance->pass == CLM__BACKWARD_W);
}

/* The kernels of a pass: the first multiplies, the second runs before or behind it. */
typedef struct program {
  const char *file, *kernels[2];
} program;

static const program of_images = {FILE_TILES, {"conv2d_winograd_cpu", "conv2d_winograd_pack_cpu"}};
static const program of_windows = {
    FILE_WINDOWS, {"conv2d_max_pool_winograd_cpu", "conv2d_max_pool_winograd_pack_cpu"}};
static const program of_weights = {FILE_TILES,
                                   {"conv2d_winograd_bwd_w_cpu", "conv2d_winograd_reduce_cpu"}};

static clm_status prepare(clm__instance *instance)
{
  const bool to_w = instance->pass == CLM__BACKWARD_W;
  cut made;
  cut_instance(instance, &made);
  const program *const wanted = to_w ? &of_weights : made.edge == 2 ? &of_windows : &of_images;
  clm__str options = {0};
  clm_status status = add_options(instance, &made, &options);
  for (int i = 0; i < 2 && status == CLM_OK; i++)
    status = clm__instance_add_kernel(instance, wanted->file, clm__str_get(&options),
                                      wanted->kernels[i]);
  clm__str_fini(&options);
  const size_t packed =
      count_points(&made) * (size_t)made.in * count_blocks(&made) * block_floats(&made);
  const size_t parts = count_parts(instance, &made, instance->problem->batch_max);
  instance->workspace_bytes = (to_w ? parts * part_floats(&made) : packed) * sizeof(float);
  return status;
}

/* Spreads the weights into the workspace. */
static clm_status run_pack(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[1]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->w[0]);
  const size_t packs[] = {(size_t)made->in, count_blocks(made)};
  return clm__launch_run(&launch, 2, packs, NULL);
}

static void add_images(clm__launch *launch, const clm__instance *instance, const clm__op_args *args)
{
  const bool to_x = instance->pass == CLM__BACKWARD_X;
  clm__launch_buffer(launch, to_x ? args->dx[0] : args->y);
  clm__launch_buffer(launch, to_x ? args->dy : args->x[0]);
  clm__launch_buffer(launch, to_x ? args->y : NULL);
  clm__launch_buffer(launch, to_x ? args->saved : NULL);
  clm__launch_buffer(launch, args->workspace);
  clm__launch_buffer(launch, to_x ? NULL : args->w[1]);
}

static void add_windows(clm__launch *launch, const clm__op_args *args)
{
  clm__launch_buffer(launch, args->y);
  clm__launch_buffer(launch, args->saved);
  clm__launch_buffer(launch, args->x[0]);
  clm__launch_buffer(launch, args->workspace);
  clm__launch_buffer(launch, args->w[1]);
}

/* y = x with w, or dx = dz with w turned. */
static clm_status run_images(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  CLM_TRY(run_pack(instance, args, made));
  const size_t tiles = count_tiles(made, args->batch), rows = (size_t)made->rows;
  const size_t cores = (size_t)clm__max_int(instance->device->info.compute_units, 1);
  const size_t fair = clm__ceil_div(tiles, cores * ITEMS_A_CORE);
  const size_t an_item = clm__min_size(clm__round_up(fair, rows), (size_t)made->tiles);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  if (made->edge == 2)
    add_windows(&launch, args);
  else
    add_images(&launch, instance, args);
  clm__launch_int(&launch, (int)tiles);
  clm__launch_int(&launch, (int)an_item);
  const size_t items = clm__ceil_div(tiles, an_item);
  return clm__launch_run(&launch, 1, &items, NULL);
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
  clm__launch_int(&launch, (int)count_tiles(made, args->batch));
  CLM_TRY(clm__launch_run(&launch, 1, &parts, NULL));

  const size_t items = (size_t)made->geometry.c + (made->geometry.use_bias ? 1 : 0);
  return clm__conv2d_reduce(&instance->kernels[1], args, parts, 1, &items);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  cut made;
  cut_instance(instance, &made);
  return instance->pass == CLM__BACKWARD_W ? run_backward_w(instance, args, &made)
                                           : run_images(instance, args, &made);
}

static const char *const tiles[] = {"TILES=16", "TILES=24", "R=4", "VT=1", "VT=2", NULL};

const clm__variant clm__conv2d_winograd = {.name = "winograd",
                                           .rounds_in_tiles = true,
                                           .passes = 7,
                                           .usable = usable,
                                           .prepare = prepare,
                                           .enqueue = enqueue,
                                           .candidates = {tiles, tiles, tiles}};
