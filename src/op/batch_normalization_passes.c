#include "op/batch_normalization_passes.h"

#include "base/num.h"
#include "op/lanes.h"

#include <limits.h>
#include <stdio.h>

#define FILE_ALL "batch_normalization.cl"
#define FILE_CPU "batch_normalization_cpu.cl"
#define OPTIONS_SIZE 256
#define COEFFICIENTS 3 /* in front of the workspace, [COEFFICIENTS,C] */

/* A node in numbers. */
typedef struct layout {
  const clm__batch_normalization_attributes *attributes;
  clm__batch_normalization_params params;
  bool batch; /* statistics of the batch, else the moving ones */
  bool cpu;
  size_t channels;
  size_t image_rows;
  size_t rows; /* of all images */
} layout;

/* The parts that sums over rows are cut into. */
typedef struct cut {
  size_t splits;
  size_t part_rows;
} cut;

static layout layout_of(const clm__instance *instance, int batch)
{
  const clm__problem *problem = instance->problem;
  const clm__shape *input = &problem->inputs[0];
  const clm__batch_normalization_attributes *attributes = problem->attributes;
  const size_t channels = (size_t)input->dims[input->rank - 1];
  const size_t image_rows = clm__shape_elements(input) / channels;
  return (layout){.attributes = attributes,
                  .params = clm__batch_normalization_params_of(attributes),
                  .batch = problem->training && !problem->frozen,
                  .cpu = instance->variant == &clm__batch_normalization_cpu,
                  .channels = channels,
                  .image_rows = image_rows,
                  .rows = image_rows * (size_t)batch};
}

#define CPU_PART_BYTES ((size_t)64 << 10) /* half of a small second-level cache */
#define CPU_SPLITS_LEAST 8                /* work for the cores where rows allow */
#define CPU_PART_ROWS_LEAST 16
#define PLAIN_PART_ROWS 128
#define SPLITS_MOST 1024

/* Depends on the sizes alone, so that every run adds in the same order. */
static cut cut_of(const layout *sizes)
{
  if (sizes->rows == 0) return (cut){0};
  size_t splits = clm__ceil_div(sizes->rows, PLAIN_PART_ROWS);
  if (sizes->cpu) {
    const size_t bytes = sizes->rows * sizes->channels * sizeof(float);
    splits = clm__max_size(clm__ceil_div(bytes, CPU_PART_BYTES), CPU_SPLITS_LEAST);
    splits = clm__min_size(splits, clm__ceil_div(sizes->rows, CPU_PART_ROWS_LEAST));
  }
  splits = clm__min_size(splits, SPLITS_MOST);
  const size_t part_rows = clm__ceil_div(sizes->rows, splits);
  return (cut){.splits = clm__ceil_div(sizes->rows, part_rows), .part_rows = part_rows};
}

static void write_options(const clm__instance *instance, char options[OPTIONS_SIZE])
{
  const layout sizes = layout_of(instance, 1);
  const int length = snprintf(
      options, OPTIONS_SIZE,
      "-DCHANNELS=%zu -DSCALE=%d -DCENTER=%d -DBATCH=%d -DACTIVATION=%d -DLANES=%d", sizes.channels,
      sizes.attributes->scale, sizes.attributes->center, sizes.batch,
      (int)sizes.attributes->epilogue, clm__lanes(&instance->device->info, sizes.channels));
  CLM_ASSERT(length > 0 && length < OPTIONS_SIZE);
}

/* Kernels of the passes in the order of their launch, but for those of a joint, which come last;
 * those that go over the images have one a variant. */
enum { STATISTICS, FINISH, COEFFICIENTS_FWD, APPLY_FWD, JOIN_FWD };
enum { SUMS, FINISH_W };
enum { SUMS_X, COEFFICIENTS_X, APPLY_X, JOIN_X };

static clm_status add(clm__instance *instance, const char *options, const char *plain,
                      const char *cpu)
{
  const bool own = cpu != NULL && instance->variant == &clm__batch_normalization_cpu;
  CLM_TRY(
      clm__instance_add_kernel(instance, own ? FILE_CPU : FILE_ALL, options, own ? cpu : plain));
  return CLM_OK;
}

static clm_status add_forward(clm__instance *instance, const char *options)
{
  CLM_TRY(add(instance, options, "batch_normalization_fwd_statistics_plain",
              "batch_normalization_fwd_statistics_cpu"));
  CLM_TRY(add(instance, options, "batch_normalization_fwd_finish", NULL));
  CLM_TRY(add(instance, options, "batch_normalization_fwd_coefficients", NULL));
  CLM_TRY(add(instance, options, "batch_normalization_fwd_apply_plain",
              "batch_normalization_fwd_apply_cpu"));
  return CLM_OK;
}

static clm_status add_backward(clm__instance *instance, const char *options)
{
  CLM_TRY(add(instance, options, "batch_normalization_bwd_sums_plain",
              "batch_normalization_bwd_sums_cpu"));
  if (instance->pass == CLM__BACKWARD_W) {
    CLM_TRY(add(instance, options, "batch_normalization_bwd_w_finish", NULL));
    return CLM_OK;
  }
  CLM_TRY(add(instance, options, "batch_normalization_bwd_x_coefficients", NULL));
  CLM_TRY(add(instance, options, "batch_normalization_bwd_x_apply_plain",
              "batch_normalization_bwd_x_apply_cpu"));
  return CLM_OK;
}

/* The figures stand in place of the first part. */
static clm_status add_joint(clm__instance *instance, const char *options, size_t channels)
{
  const bool is_forward = instance->pass == CLM__FORWARD;
  if (!instance->problem->joins || instance->pass == CLM__BACKWARD_W) return CLM_OK;
  instance->joint = (clm__joint){.kind = is_forward ? CLM__JOINT_MOMENTS : CLM__JOINT_SUMS,
                                 .channels = channels,
                                 .offset_bytes = COEFFICIENTS * channels * sizeof(float)};
  CLM_TRY(add(instance, options,
              is_forward ? "batch_normalization_fwd_join" : "batch_normalization_bwd_x_join",
              NULL));
  return CLM_OK;
}

static clm_status prepare(clm__instance *instance)
{
  char options[OPTIONS_SIZE];
  const layout sizes = layout_of(instance, instance->problem->batch_max);
  CLM_REQUIRE(sizes.rows <= INT_MAX / 2, CLM_BAD_DATA,
              "batch normalization over %zu pixels is too large; use a smaller batch", sizes.rows);
  const cut parts = cut_of(&sizes);
  write_options(instance, options);
  instance->workspace_bytes = (COEFFICIENTS + 2 * parts.splits) * sizes.channels * sizeof(float);
  if (instance->pass == CLM__FORWARD)
    CLM_TRY(add_forward(instance, options));
  else
    CLM_TRY(add_backward(instance, options));
  CLM_TRY(add_joint(instance, options, sizes.channels));
  return CLM_OK;
}

/* ---- running ---- */

static cl_mem param(const clm__op_args *args, int place)
{
  return place < 0 ? NULL : args->w[place];
}

static cl_mem gradient(const clm__op_args *args, int place)
{
  return place < 0 ? NULL : args->dw[place];
}

static void push_statistics(clm__launch *launch, const layout *sizes, const clm__op_args *args)
{
  clm__launch_buffer(launch, sizes->batch ? args->saved : NULL);
  clm__launch_buffer(launch, param(args, sizes->params.moving_mean));
  clm__launch_buffer(launch, param(args, sizes->params.moving_variance));
}

static void push_cut(clm__launch *launch, size_t rows, const cut *parts)
{
  clm__launch_int(launch, (int)rows);
  clm__launch_int(launch, (int)parts->splits);
  clm__launch_int(launch, (int)parts->part_rows);
}

/* One item a channel. */
static clm_status run_channels(clm__launch *launch, const layout *sizes)
{
  CLM_TRY(clm__launch_run(launch, 1, &sizes->channels, NULL));
  return CLM_OK;
}

/* One item a part, and in the plain variant a channel. */
static clm_status run_parts(clm__launch *launch, const layout *sizes, const cut *parts)
{
  push_cut(launch, sizes->rows, parts);
  if (sizes->cpu)
    CLM_TRY(clm__launch_run(launch, 1, &parts->splits, (size_t[]){1}));
  else
    CLM_TRY(clm__launch_run(launch, 2, (size_t[]){sizes->channels, parts->splits}, NULL));
  return CLM_OK;
}

/* One item a part; in the plain variant a channel and row. */
static clm_status run_apply(clm__launch *launch, const layout *sizes, const cut *parts)
{
  if (sizes->cpu) {
    CLM_TRY(run_parts(launch, sizes, parts));
    return CLM_OK;
  }
  clm__launch_int(launch, (int)sizes->rows);
  CLM_TRY(clm__launch_run(launch, 2, (size_t[]){sizes->channels, sizes->rows}, NULL));
  return CLM_OK;
}

static clm_status enqueue_statistics(clm__instance *instance, const clm__op_args *args,
                                     const layout *sizes, const cut *parts)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[STATISTICS]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->x[0]);
  CLM_TRY(run_parts(&launch, sizes, parts));
  return CLM_OK;
}

/* The figures of this replica for the others. */
static clm_status enqueue_join(clm__instance *instance, const clm__op_args *args,
                               const layout *sizes, const cut *parts)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[JOIN_FWD]);
  clm__launch_buffer(&launch, args->workspace);
  push_cut(&launch, sizes->rows, parts);
  CLM_TRY(run_channels(&launch, sizes));
  return CLM_OK;
}

static clm_status enqueue_finish(clm__instance *instance, const clm__op_args *args,
                                 const layout *sizes, const cut *parts)
{
  const double momentum = sizes->attributes->momentum;
  const bool is_joint = args->half == CLM__SECOND_HALF;
  clm__launch launch = clm__launch_begin(&instance->kernels[FINISH]);
  push_statistics(&launch, sizes, args);
  clm__launch_buffer(&launch, args->workspace);
  if (is_joint)
    push_cut(&launch, 1, &(cut){.splits = 1, .part_rows = 1});
  else
    push_cut(&launch, sizes->rows, parts);
  clm__launch_float(&launch, (float)sizes->attributes->epsilon);
  clm__launch_float(&launch, (float)momentum);
  clm__launch_float(&launch, (float)(1.0 - momentum));
  CLM_TRY(run_channels(&launch, sizes));
  return CLM_OK;
}

static clm_status enqueue_normalize(clm__instance *instance, const clm__op_args *args,
                                    const layout *sizes, const cut *parts)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[COEFFICIENTS_FWD]);
  clm__launch_buffer(&launch, args->workspace);
  push_statistics(&launch, sizes, args);
  clm__launch_buffer(&launch, param(args, sizes->params.gamma));
  clm__launch_buffer(&launch, param(args, sizes->params.beta));
  clm__launch_float(&launch, (float)sizes->attributes->epsilon);
  CLM_TRY(run_channels(&launch, sizes));
  launch = clm__launch_begin(&instance->kernels[APPLY_FWD]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->workspace);
  CLM_TRY(run_apply(&launch, sizes, parts));
  return CLM_OK;
}

static clm_status enqueue_forward(clm__instance *instance, const clm__op_args *args,
                                  const layout *sizes)
{
  const cut parts = cut_of(sizes);
  if (sizes->batch && args->half != CLM__SECOND_HALF)
    CLM_TRY(enqueue_statistics(instance, args, sizes, &parts));
  if (args->half == CLM__FIRST_HALF) {
    CLM_TRY(enqueue_join(instance, args, sizes, &parts));
    return CLM_OK;
  }
  if (sizes->batch) CLM_TRY(enqueue_finish(instance, args, sizes, &parts));
  CLM_TRY(enqueue_normalize(instance, args, sizes, &parts));
  return CLM_OK;
}

/* The buffers that both backward passes read: x, dy, y and the means. */
static void push_backward(clm__launch *launch, const layout *sizes, const clm__op_args *args)
{
  clm__launch_buffer(launch, args->x[0]);
  clm__launch_buffer(launch, args->dy);
  clm__launch_buffer(launch, sizes->attributes->epilogue != CLM__LINEAR ? args->y : NULL);
  clm__launch_buffer(launch, sizes->batch ? args->saved : param(args, sizes->params.moving_mean));
}

static clm_status enqueue_sums(clm__instance *instance, const clm__op_args *args,
                               const layout *sizes, const cut *parts)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[SUMS]);
  clm__launch_buffer(&launch, args->workspace);
  push_backward(&launch, sizes, args);
  CLM_TRY(run_parts(&launch, sizes, parts));
  return CLM_OK;
}

static clm_status enqueue_backward_w(clm__instance *instance, const clm__op_args *args,
                                     const layout *sizes)
{
  const cut parts = cut_of(sizes);
  CLM_TRY(enqueue_sums(instance, args, sizes, &parts));
  clm__launch launch = clm__launch_begin(&instance->kernels[FINISH_W]);
  clm__launch_buffer(&launch, gradient(args, sizes->params.gamma));
  clm__launch_buffer(&launch, gradient(args, sizes->params.beta));
  clm__launch_buffer(&launch, args->workspace);
  push_statistics(&launch, sizes, args);
  clm__launch_int(&launch, (int)parts.splits);
  clm__launch_float(&launch, (float)sizes->attributes->epsilon);
  CLM_TRY(run_channels(&launch, sizes));
  return CLM_OK;
}

/* The sums that dx needs, of this call's images. The gradients of gamma and beta are these very
 * sums, so with both at hand nothing is summed again. */
typedef struct backward_sums {
  cl_mem dgamma, dbeta;
  bool are_known;
} backward_sums;

static backward_sums sums_of(const clm__instance *instance, const clm__op_args *args,
                             const layout *sizes)
{
  backward_sums sums = {0};
  if (instance->problem->frozen) return sums;
  sums.dgamma = gradient(args, sizes->params.gamma);
  sums.dbeta = gradient(args, sizes->params.beta);
  sums.are_known = sums.dgamma != NULL && sums.dbeta != NULL;
  return sums;
}

static clm_status enqueue_join_x(clm__instance *instance, const clm__op_args *args,
                                 const layout *sizes, const cut *parts)
{
  const backward_sums sums = sums_of(instance, args, sizes);
  clm__launch launch = clm__launch_begin(&instance->kernels[JOIN_X]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, sums.dgamma);
  clm__launch_buffer(&launch, sums.dbeta);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_int(&launch, (int)parts->splits);
  CLM_TRY(run_channels(&launch, sizes));
  return CLM_OK;
}

static clm_status enqueue_coefficients_x(clm__instance *instance, const clm__op_args *args,
                                         const layout *sizes, const cut *parts)
{
  const bool is_joint = args->half == CLM__SECOND_HALF;
  backward_sums sums = {0};
  if (!is_joint) sums = sums_of(instance, args, sizes);
  const size_t rows = is_joint ? sizes->image_rows * (size_t)args->joint_images : sizes->rows;
  clm__launch launch = clm__launch_begin(&instance->kernels[COEFFICIENTS_X]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, sums.dgamma);
  clm__launch_buffer(&launch, sums.dbeta);
  push_statistics(&launch, sizes, args);
  clm__launch_buffer(&launch, param(args, sizes->params.gamma));
  clm__launch_float(&launch, (float)rows);
  clm__launch_int(&launch, is_joint ? 1 : (int)parts->splits);
  clm__launch_int(&launch, is_joint);
  clm__launch_float(&launch, (float)sizes->attributes->epsilon);
  CLM_TRY(run_channels(&launch, sizes));
  return CLM_OK;
}

static clm_status enqueue_apply_x(clm__instance *instance, const clm__op_args *args,
                                  const layout *sizes, const cut *parts)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[APPLY_X]);
  clm__launch_buffer(&launch, args->dx[0]);
  push_backward(&launch, sizes, args);
  clm__launch_buffer(&launch, args->workspace);
  CLM_TRY(run_apply(&launch, sizes, parts));
  return CLM_OK;
}

static clm_status enqueue_backward_x(clm__instance *instance, const clm__op_args *args,
                                     const layout *sizes)
{
  const cut parts = cut_of(sizes);
  const bool sums_here = sizes->batch && args->half != CLM__SECOND_HALF;
  if (sums_here && !sums_of(instance, args, sizes).are_known)
    CLM_TRY(enqueue_sums(instance, args, sizes, &parts));
  if (args->half == CLM__FIRST_HALF) {
    CLM_TRY(enqueue_join_x(instance, args, sizes, &parts));
    return CLM_OK;
  }
  CLM_TRY(enqueue_coefficients_x(instance, args, sizes, &parts));
  CLM_TRY(enqueue_apply_x(instance, args, sizes, &parts));
  return CLM_OK;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const layout sizes = layout_of(instance, args->batch);
  if (instance->pass == CLM__FORWARD) CLM_TRY(enqueue_forward(instance, args, &sizes));
  if (instance->pass == CLM__BACKWARD_X) CLM_TRY(enqueue_backward_x(instance, args, &sizes));
  if (instance->pass == CLM__BACKWARD_W) CLM_TRY(enqueue_backward_w(instance, args, &sizes));
  return CLM_OK;
}

static bool is_cpu(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  (void)problem;
  (void)pass;
  return info->kind == CLM__DEVICE_CPU;
}

const clm__variant clm__batch_normalization_cpu = {.name = "cpu",
                                                   .passes = (1U << CLM__PASS_COUNT) - 1,
                                                   .usable = is_cpu,
                                                   .prepare = prepare,
                                                   .enqueue = enqueue};
const clm__variant clm__batch_normalization_plain = {
    .name = "plain", .passes = (1U << CLM__PASS_COUNT) - 1, .prepare = prepare, .enqueue = enqueue};
