/* The gpu variant of conv2d and conv2d_max_pool (cl/conv2d_gpu.cl). */
#include "op/conv2d_gpu.h"

#include "base/num.h"
#include "op/conv2d_tiles.h"

#include <limits.h>

#define FILE_GPU "conv2d_gpu.cl"
#define GROUP_FILTERS_LEAST 16 /* with fewer, tiles are mostly empty and plain is better */
#define GROUPS_A_UNIT 4        /* work-groups a compute unit should find at least */
#define PART_CHUNKS_LEAST 16   /* tiles of depth that are worth a part of their own */
#define PARTS_BYTES (32U << 20)
#define PAD 4            /* as in the kernels */
#define REDUCE_LANES 32U /* as in the kernels */

/* How the pass of an instance is cut. */
typedef struct cut {
  clm__conv2d_geometry geometry;
  clm__conv2d_gpu_tile tile;
  int vector;
  size_t rows, columns; /* of the product, for the largest batch */
  size_t layers;        /* groups of channels, in bwd_x times phases */
} cut;

int clm__conv2d_gpu_items(const clm__conv2d_gpu_tile *tile)
{
  return tile->m / tile->item_m * (tile->n / tile->item_n);
}

bool clm__conv2d_gpu_tile_fits(const clm__conv2d_gpu_tile *tile, int vector,
                               const clm__device_info *info)
{
  if (tile->item_m % 4 != 0 || tile->item_n % 4 != 0 || tile->k % 4 != 0) return false;
  if (tile->m % tile->item_m != 0 || tile->n % tile->item_n != 0) return false;
  const int items = clm__conv2d_gpu_items(tile);
  const size_t local = (size_t)((tile->m + tile->n + 2 * PAD) * tile->k) * sizeof(float);
  return items % (int)REDUCE_LANES == 0 && tile->m * tile->k / vector % items == 0 &&
         tile->n * tile->k / vector % items == 0 && (size_t)items <= info->group_max &&
         (size_t)items <= info->item_max[0] && local <= info->local_bytes;
}

static size_t count_tiles(size_t rows, size_t columns, const clm__conv2d_gpu_tile *tile)
{
  return clm__ceil_div(rows, (size_t)tile->m) * clm__ceil_div(columns, (size_t)tile->n);
}

/* Time of a product in arbitrary units: products, those of what is empty too, and reads. */
static double cost_of(size_t rows, size_t columns, const clm__device_info *info,
                      const clm__conv2d_gpu_tile *tile)
{
  const size_t tiles = count_tiles(rows, columns, tile);
  const size_t wanted = (size_t)clm__max_int(info->compute_units, 1);
  const double reads = 16.0 / tile->m + 16.0 / tile->n;
  const double idle = tiles < wanted ? (double)wanted / (double)tiles : 1.0;
  return (double)tiles * tile->m * tile->n * (1.0 + reads) * idle;
}

bool clm__conv2d_gpu_choose_tile(size_t rows, size_t columns, const clm__device_info *info,
                                 clm__conv2d_gpu_tile *tile)
{
  static const clm__conv2d_gpu_tile tiles[] = {{64, 64, 16, 4, 4}, {64, 32, 16, 4, 4},
                                               {32, 64, 16, 4, 4}, {32, 32, 16, 4, 4},
                                               {64, 16, 16, 4, 4}, {16, 64, 16, 4, 4}};
  double best = 0.0;
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
    if (!clm__conv2d_gpu_tile_fits(&tiles[i], 1, info)) continue;
    const double cost = cost_of(rows, columns, info, &tiles[i]);
    if (best > 0.0 && cost >= best) continue;
    best = cost;
    *tile = tiles[i];
  }
  return best > 0.0;
}

static size_t places_of(const clm__conv2d_geometry *g)
{
  return g->pool ? 4 * (size_t)g->yh * (size_t)g->yw : (size_t)g->oh * (size_t)g->ow;
}

static size_t values_of(const clm__conv2d_geometry *g)
{
  return (size_t)g->kh * (size_t)g->kw * (size_t)(g->c / g->groups);
}

/* Everything but the tile. */
static void set_sizes(const clm__problem *problem, clm__pass pass, cut *made)
{
  *made = (cut){0};
  clm__conv2d_geometry_of(problem, &made->geometry);
  const clm__conv2d_geometry *const g = &made->geometry;
  const size_t batch = (size_t)problem->batch_max;
  const int channels = g->c / g->groups, filters = g->filters / g->groups;
  /* In groups, vectors spill on NVIDIA. */
  made->vector = g->groups == 1 && channels % 4 == 0 && filters % 4 == 0 ? 4 : 1;
  made->columns = (size_t)(pass == CLM__BACKWARD_X ? channels : filters);
  made->layers = (size_t)g->groups;
  switch (pass) {
  case CLM__BACKWARD_X:
    made->rows = batch * clm__ceil_div((size_t)g->h, (size_t)g->sh) *
                 clm__ceil_div((size_t)g->w, (size_t)g->sw);
    made->layers *= (size_t)g->sh * (size_t)g->sw;
    break;
  case CLM__BACKWARD_W:
    made->rows = values_of(g) + (g->use_bias ? 1 : 0);
    break;
  default:
    made->rows = batch * places_of(g);
  }
}

static bool usable(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  cut made;
  set_sizes(problem, pass, &made);
  const clm__conv2d_geometry *const g = &made.geometry;
  const size_t batch = (size_t)problem->batch_max, most = INT_MAX / 2;
  /* Kernels count rows and depth in int, and the last tile goes beyond the end. */
  if (made.rows > most || batch * places_of(g) > most) return false;
  if (values_of(g) > most / 4 || (size_t)g->kh * (size_t)g->kw * (size_t)g->filters > most / 4)
    return false;
  return (g->groups == 1 || g->filters / g->groups >= GROUP_FILTERS_LEAST) &&
         clm__conv2d_gpu_choose_tile(made.rows, made.columns, info, &made.tile);
}

/* Tuning values count where they make a tile that the device can run. */
static void cut_instance(const clm__instance *instance, cut *made)
{
  const clm__device_info *const info = &instance->device->info;
  const char *const defines = instance->tuning.defines;
  set_sizes(instance->problem, instance->pass, made);
  const bool fits = clm__conv2d_gpu_choose_tile(made->rows, made->columns, info, &made->tile);
  CLM_ASSERT(fits);
  /* Single values on their way to a tile take four times the registers of vectors. */
  if (made->vector == 1) made->tile.k = 8;
  const clm__conv2d_gpu_tile tuned = {
      .m = clm__conv2d_tuned(defines, "TILE_M", made->tile.m),
      .n = clm__conv2d_tuned(defines, "TILE_N", made->tile.n),
      .k = clm__conv2d_tuned(defines, "TILE_K", made->tile.k),
      .item_m = clm__conv2d_tuned(defines, "ITEM_M", made->tile.item_m),
      .item_n = clm__conv2d_tuned(defines, "ITEM_N", made->tile.item_n)};
  if (clm__conv2d_gpu_tile_fits(&tuned, made->vector, info)) made->tile = tuned;
}

/* Tiles of the depth of bwd_w. */
static size_t count_chunks(const cut *made, int batch)
{
  return clm__ceil_div((size_t)batch * places_of(&made->geometry), (size_t)made->tile.k);
}

/* Into how many parts the depth of bwd_w is cut at most: enough for the whole device, as far as
 * they are worth it. More images never make fewer. */
static size_t count_parts(const clm__instance *instance, const cut *made, int batch)
{
  const size_t part_bytes = made->rows * (size_t)made->geometry.filters * sizeof(float);
  const size_t units = (size_t)clm__max_int(instance->device->info.compute_units, 1);
  const size_t tiles = count_tiles(made->rows, made->columns, &made->tile) * made->layers;
  const size_t wanted = clm__ceil_div(units * GROUPS_A_UNIT, tiles);
  const size_t fit = clm__max_size(PARTS_BYTES / part_bytes, 1);
  const size_t worth = clm__ceil_div(count_chunks(made, batch), PART_CHUNKS_LEAST);
  return clm__min_size(clm__min_size(wanted, fit), worth);
}

static clm_status add_options(const clm__instance *instance, const cut *made, clm__str *options)
{
  const clm__conv2d_gpu_tile *const tile = &made->tile;
  CLM_TRY(clm__conv2d_add_options(&made->geometry, options));
  CLM_TRY(clm__str_add(options, " -DPASS=%d -DWINNERS=%d -DVEC=%d", (int)instance->pass,
                       made->geometry.pool && instance->problem->training, made->vector));
  return clm__str_add(options, " -DTILE_M=%d -DTILE_N=%d -DTILE_K=%d -DITEM_M=%d -DITEM_N=%d",
                      tile->m, tile->n, tile->k, tile->item_m, tile->item_n);
}

static clm_status prepare(clm__instance *instance)
{
  static const char *const names[CLM__PASS_COUNT] = {"conv2d_fwd_gpu", "conv2d_bwd_x_gpu",
                                                     "conv2d_bwd_w_gpu"};
  cut made;
  cut_instance(instance, &made);
  const bool backward_w = instance->pass == CLM__BACKWARD_W;
  clm__str options = {0};
  clm_status status = add_options(instance, &made, &options);
  const char *const text = clm__str_get(&options);
  if (status == CLM_OK)
    status = clm__instance_add_kernel(instance, FILE_GPU, text, names[instance->pass]);
  if (status == CLM_OK && backward_w)
    status = clm__instance_add_kernel(instance, FILE_GPU, text, "conv2d_reduce_gpu");
  if (backward_w)
    instance->workspace_bytes = count_parts(instance, &made, instance->problem->batch_max) *
                                made.rows * (size_t)made.geometry.filters * sizeof(float);
  clm__str_fini(&options);
  return status;
}

/* Enqueues a product for `rows` rows, `layers` of them. */
static clm_status run_product(clm__launch *launch, const cut *made, size_t rows, size_t layers)
{
  const clm__conv2d_gpu_tile *const tile = &made->tile;
  const size_t items[] = {clm__ceil_div(rows, (size_t)tile->m) *
                              (size_t)clm__conv2d_gpu_items(tile),
                          clm__ceil_div(made->columns, (size_t)tile->n), layers};
  return clm__launch_run(launch, 3, items, NULL);
}

static clm_status run_forward(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_buffer(&launch, args->w[1]);
  clm__launch_int(&launch, args->batch);
  return run_product(&launch, made, (size_t)args->batch * places_of(&made->geometry), made->layers);
}

static clm_status run_backward_x(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->dx[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_int(&launch, args->batch);
  const size_t image = made->rows / (size_t)instance->problem->batch_max;
  return run_product(&launch, made, (size_t)args->batch * image, made->layers);
}

static clm_status run_backward_w(clm__instance *instance, const clm__op_args *args, const cut *made)
{
  const size_t chunks = count_chunks(made, args->batch);
  const size_t part_chunks = clm__ceil_div(chunks, count_parts(instance, made, args->batch));
  const size_t parts = clm__ceil_div(chunks, part_chunks);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_int(&launch, args->batch);
  clm__launch_int(&launch, (int)part_chunks * made->tile.k);
  CLM_TRY(run_product(&launch, made, made->rows, made->layers * parts));

  launch = clm__launch_begin(&instance->kernels[1]);
  clm__launch_buffer(&launch, args->dw[0]);
  clm__launch_buffer(&launch, args->dw[1]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_int(&launch, (int)parts);
  const size_t shares = (size_t)clm__conv2d_gpu_items(&made->tile) / REDUCE_LANES;
  const size_t items[] = {made->rows * (size_t)made->geometry.filters, shares};
  return clm__launch_run(&launch, 2, items, NULL);
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

/* More results an item where registers are plenty, larger tiles where many channels share them. */
static const char *const candidates[] = {"TILE_M=64 TILE_N=64 TILE_K=16 ITEM_M=4 ITEM_N=4",
                                         "TILE_M=64 TILE_N=32 TILE_K=16 ITEM_M=4 ITEM_N=4",
                                         "TILE_M=32 TILE_N=32 TILE_K=16 ITEM_M=4 ITEM_N=4",
                                         "TILE_M=64 TILE_N=16 TILE_K=16 ITEM_M=4 ITEM_N=4",
                                         "TILE_M=128 TILE_N=32 TILE_K=16 ITEM_M=8 ITEM_N=4",
                                         "TILE_M=128 TILE_N=64 TILE_K=16 ITEM_M=8 ITEM_N=4",
                                         "TILE_M=64 TILE_N=64 TILE_K=16 ITEM_M=8 ITEM_N=4",
                                         "TILE_M=128 TILE_N=64 TILE_K=16 ITEM_M=8 ITEM_N=8",
                                         "TILE_M=128 TILE_N=128 TILE_K=8 ITEM_M=8 ITEM_N=8",
                                         "TILE_M=64 TILE_N=64 TILE_K=32 ITEM_M=4 ITEM_N=4",
                                         NULL};

const clm__variant clm__conv2d_gpu = {.name = "gpu",
                                      .passes = 7,
                                      .for_gpus = true,
                                      .usable = usable,
                                      .prepare = prepare,
                                      .enqueue = enqueue,
                                      .candidates = {candidates, candidates, candidates}};
