/* The gemm variant of conv2d: the values under each output are unfolded into a row of a matrix, and
 * CLBlast multiplies. Images go through in chunks, as many as the memory for the rows holds. */
#include "op/conv2d_gemm.h"

#include "base/num.h"
#include "dev/blas.h"
#include "op/conv2d_plain.h"

#define CHUNK_BYTES (64U << 20) /* of unfolded values, but at least one image */
#define BUFFER_SHARE 4          /* of the largest buffer; the rest is for CLBlast */
#define PLACE_FLOATS 64         /* as in the kernels */

/* Kernels of a pass in their places. */
enum { UNFOLD = 0, FINISH = 1, FOLD = 0, SUM = 1, SLOPE_X = 1, SLOPE_W = 3 };

/* Sizes and places of one pass, told from problem and device. Places are floats, multiples of
 * PLACE_FLOATS. */
typedef struct layout {
  clm__conv2d_geometry geometry;
  size_t values;  /* a row of the matrix */
  size_t outputs; /* an image: rows of the matrix */
  bool unfolds;   /* else x and dx are such matrices as they are */
  bool has_slope; /* dz is not dy itself */
  int images;     /* a chunk */
  size_t scratch; /* floats of CLBlast, at the start */
  size_t columns; /* where they begin */
  size_t dz;      /* where it begins */
  size_t sums;    /* where those of the bias begin */
  size_t end;
} layout;

static void set_sizes(const clm__problem *problem, clm__pass pass, layout *made)
{
  *made = (layout){0};
  clm__conv2d_geometry_of(problem, &made->geometry);
  const clm__conv2d_geometry *const g = &made->geometry;
  made->values = (size_t)g->kh * (size_t)g->kw * (size_t)g->c;
  made->outputs = (size_t)g->oh * (size_t)g->ow;
  made->unfolds = g->kh > 1 || g->kw > 1 || g->sh > 1 || g->sw > 1;
  made->has_slope = pass != CLM__FORWARD && g->epilogue != CLM__LINEAR;
}

static size_t image_bytes(const layout *made)
{
  return made->outputs * (made->values + (size_t)made->geometry.filters) * sizeof(float);
}

static bool usable(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  layout made;
  set_sizes(problem, pass, &made);
  return made.geometry.groups == 1 && image_bytes(&made) <= info->buffer_max_bytes / BUFFER_SHARE;
}

/* The product for a number of images; buffers are not filled in. */
static clm__gemm product_of(clm__pass pass, const layout *made, int images)
{
  const size_t rows = (size_t)images * made->outputs;
  const size_t filters = (size_t)made->geometry.filters;
  switch (pass) {
  case CLM__FORWARD: /* y = columns w */
    return (clm__gemm){.m = rows, .n = filters, .k = made->values, .alpha = 1.0F};
  case CLM__BACKWARD_X: /* columns = dz w' */
    return (clm__gemm){
        .m = rows, .n = made->values, .k = filters, .transpose_b = true, .alpha = 1.0F};
  default: /* dw += columns' dz */
    return (clm__gemm){
        .m = made->values, .n = filters, .k = rows, .transpose_a = true, .alpha = 1.0F};
  }
}

/* With offsets CLBlast wants the most, so that this does for smaller chunks too. */
static clm_status find_scratch(const clm__instance *instance, layout *made)
{
  clm__gemm gemm = product_of(instance->pass, made, made->images);
  size_t bytes = 0;
  gemm.a_offset = gemm.b_offset = gemm.c_offset = 1;
  CLM_TRY(clm__blas_scratch_bytes(instance->device, &gemm, &bytes));
  made->scratch = clm__round_up(clm__ceil_div(bytes, sizeof(float)), PLACE_FLOATS);
  return CLM_OK;
}

static size_t count_sum_parts(const layout *made, int batch)
{
  return clm__conv2d_plain_parts(&made->geometry, (size_t)made->geometry.filters, batch);
}

static clm_status make_layout(const clm__instance *instance, layout *made)
{
  const int batch_max = instance->problem->batch_max;
  set_sizes(instance->problem, instance->pass, made);
  const size_t filters = (size_t)made->geometry.filters;
  const size_t limit =
      clm__min_size(CHUNK_BYTES, instance->device->info.buffer_max_bytes / BUFFER_SHARE);
  const size_t fit = clm__max_size(limit / image_bytes(made), 1);
  made->images = (int)clm__min_size(fit, (size_t)batch_max);
  CLM_TRY(find_scratch(instance, made));
  const size_t rows = (size_t)made->images * made->outputs;
  const bool sums_bias = instance->pass == CLM__BACKWARD_W && made->geometry.use_bias;
  made->columns = made->scratch;
  made->dz = made->columns + clm__round_up(made->unfolds ? rows * made->values : 0, PLACE_FLOATS);
  made->sums = made->dz + clm__round_up(made->has_slope ? rows * filters : 0, PLACE_FLOATS);
  made->end = made->sums + (sums_bias ? count_sum_parts(made, batch_max) * filters : 0);
  return CLM_OK;
}

static clm_status add_kernels(clm__instance *instance, const char *options, const layout *made)
{
  const char *names[4] = {NULL};
  int count = 0;
  if (instance->pass == CLM__BACKWARD_X) {
    names[count++] = "conv2d_fold";
  } else {
    names[count++] = "conv2d_unfold";
  }
  if (instance->pass == CLM__FORWARD) names[count++] = "conv2d_fwd_finish";
  if (instance->pass == CLM__BACKWARD_W) {
    names[count++] = "conv2d_bwd_w_plain";
    names[count++] = "conv2d_reduce_plain";
  }
  if (made->has_slope) names[count++] = "conv2d_bwd_slope";
  for (int i = 0; i < count; i++)
    CLM_TRY(clm__instance_add_kernel(instance, "conv2d.cl", options, names[i]));
  return CLM_OK;
}

static clm_status prepare(clm__instance *instance)
{
  layout made;
  CLM_TRY(make_layout(instance, &made));
  clm__str options = {0};
  clm_status status = clm__conv2d_add_options(&made.geometry, &options);
  if (status == CLM_OK) status = add_kernels(instance, clm__str_get(&options), &made);
  clm__str_fini(&options);
  instance->workspace_bytes = made.end * sizeof(float);
  return status;
}

/* One chunk of a call. */
typedef struct chunk {
  clm__instance *instance;
  const clm__op_args *args;
  const layout *layout;
  int first, images;
} chunk;

static clm_status run_unfold(const chunk *at)
{
  const layout *const made = at->layout;
  if (!made->unfolds) return CLM_OK;
  clm__launch launch = clm__launch_begin(&at->instance->kernels[UNFOLD]);
  clm__launch_buffer(&launch, at->args->workspace);
  clm__launch_uint(&launch, (uint32_t)(made->columns / PLACE_FLOATS));
  clm__launch_buffer(&launch, at->args->x[0]);
  clm__launch_int(&launch, at->first);
  clm__launch_int(&launch, at->images);
  const size_t items[] = {made->values, (size_t)made->geometry.ow,
                          (size_t)made->geometry.oh * (size_t)at->images};
  return clm__launch_run(&launch, 3, items, NULL);
}

static clm_status run_fold(const chunk *at)
{
  const layout *const made = at->layout;
  if (!made->unfolds) return CLM_OK;
  clm__launch launch = clm__launch_begin(&at->instance->kernels[FOLD]);
  clm__launch_buffer(&launch, at->args->dx[0]);
  clm__launch_buffer(&launch, at->args->workspace);
  clm__launch_uint(&launch, (uint32_t)(made->columns / PLACE_FLOATS));
  clm__launch_int(&launch, at->first);
  clm__launch_int(&launch, at->images);
  const size_t items[] = {(size_t)made->geometry.c, (size_t)made->geometry.w,
                          (size_t)made->geometry.h * (size_t)at->images};
  return clm__launch_run(&launch, 3, items, NULL);
}

static clm_status run_slope(const chunk *at)
{
  const layout *const made = at->layout;
  if (!made->has_slope) return CLM_OK;
  const int place = at->instance->pass == CLM__BACKWARD_X ? SLOPE_X : SLOPE_W;
  clm__launch launch = clm__launch_begin(&at->instance->kernels[place]);
  clm__launch_buffer(&launch, at->args->workspace);
  clm__launch_uint(&launch, (uint32_t)(made->dz / PLACE_FLOATS));
  clm__launch_buffer(&launch, at->args->dy);
  clm__launch_buffer(&launch, at->args->y);
  clm__launch_int(&launch, at->first);
  clm__launch_int(&launch, at->images);
  const size_t items[] = {(size_t)made->geometry.filters, (size_t)made->geometry.ow,
                          (size_t)made->geometry.oh * (size_t)at->images};
  return clm__launch_run(&launch, 3, items, NULL);
}

static clm_status run_finish(clm__instance *instance, const clm__op_args *args,
                             const clm__conv2d_geometry *g)
{
  if (!g->use_bias && g->epilogue == CLM__LINEAR) return CLM_OK;
  clm__launch launch = clm__launch_begin(&instance->kernels[FINISH]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->w[1]);
  clm__launch_int(&launch, args->batch);
  const size_t items[] = {(size_t)g->filters, (size_t)g->ow, (size_t)g->oh * (size_t)args->batch};
  return clm__launch_run(&launch, 3, items, NULL);
}

/* The matrix of x or dx in a product. */
static void use_columns(const chunk *at, cl_mem images, cl_mem *matrix, size_t *offset)
{
  const layout *const made = at->layout;
  *matrix = made->unfolds ? at->args->workspace : images;
  *offset = made->unfolds ? made->columns : (size_t)at->first * made->outputs * made->values;
}

static void use_outputs(const chunk *at, cl_mem images, cl_mem *matrix, size_t *offset)
{
  const layout *const made = at->layout;
  *matrix = made->has_slope ? at->args->workspace : images;
  *offset = made->has_slope ? made->dz
                            : (size_t)at->first * made->outputs * (size_t)made->geometry.filters;
}

static clm_status run_chunk(const chunk *at)
{
  const clm__op_args *const args = at->args;
  clm__gemm gemm = product_of(at->instance->pass, at->layout, at->images);
  CLM_TRY(run_slope(at));
  switch (at->instance->pass) {
  case CLM__FORWARD:
    CLM_TRY(run_unfold(at));
    use_columns(at, args->x[0], &gemm.a, &gemm.a_offset);
    use_outputs(at, args->y, &gemm.c, &gemm.c_offset);
    gemm.b = args->w[0];
    break;
  case CLM__BACKWARD_X:
    use_columns(at, args->dx[0], &gemm.c, &gemm.c_offset);
    use_outputs(at, args->dy, &gemm.a, &gemm.a_offset);
    gemm.b = args->w[0];
    break;
  default:
    CLM_TRY(run_unfold(at));
    use_columns(at, args->x[0], &gemm.a, &gemm.a_offset);
    use_outputs(at, args->dy, &gemm.b, &gemm.b_offset);
    gemm.c = args->dw[0];
    gemm.beta = at->first > 0 ? 1.0F : 0.0F;
  }
  const size_t scratch = at->layout->scratch * sizeof(float);
  CLM_TRY(
      clm__blas_gemm(at->instance->device, &gemm, scratch > 0 ? args->workspace : NULL, scratch));
  return at->instance->pass == CLM__BACKWARD_X ? run_fold(at) : CLM_OK;
}

static clm_status run_bias(clm__instance *instance, const clm__op_args *args, const layout *made)
{
  if (!made->geometry.use_bias) return CLM_OK;
  const clm__conv2d_sum_range range = {.first = clm__conv2d_kernel_elements(&made->geometry),
                                       .elements = (size_t)made->geometry.filters,
                                       .parts = count_sum_parts(made, args->batch),
                                       .blocks = (uint32_t)(made->sums / PLACE_FLOATS)};
  return clm__conv2d_sum_plain(&instance->kernels[SUM], args, range);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  layout made;
  CLM_TRY(make_layout(instance, &made));
  for (int first = 0; first < args->batch; first += made.images) {
    const int images = clm__min_int(made.images, args->batch - first);
    const chunk at = {instance, args, &made, first, images};
    CLM_TRY(run_chunk(&at));
  }
  if (instance->pass == CLM__FORWARD) return run_finish(instance, args, &made.geometry);
  if (instance->pass == CLM__BACKWARD_W) return run_bias(instance, args, &made);
  return CLM_OK;
}

const clm__variant clm__conv2d_gemm = {.name = "gemm",
                                       .passes = 7,
                                       .uses_blas = true,
                                       .usable = usable,
                                       .prepare = prepare,
                                       .enqueue = enqueue};
