#include "op/batch_normalization_passes.h"

#include "base/num.h"
#include "op/batch_normalization_cut.h"
#include "op/group.h"
#include "op/lanes.h"

#include <limits.h>
#include <stdio.h>

#define FILE_ALL "batch_normalization.cl"
#define FILE_CPU "batch_normalization_cpu.cl"
#define FILE_GPU "batch_normalization_gpu.cl"
#define OPTIONS_SIZE 256
#define COEFFICIENTS 3 /* in front of the workspace, [COEFFICIENTS,C] */

typedef clm__normalization_layout layout;
typedef clm__normalization_cut cut;

static void write_options(const clm__instance *instance, char options[OPTIONS_SIZE])
{
  const layout sizes = clm__normalization_layout_of(instance, 1);
  char last[64];
  (void)snprintf(last, sizeof last, "-DLANES=%d",
                 clm__lanes(&instance->device->info, sizes.channels));
  if (sizes.group > 0)
    (void)snprintf(last, sizeof last, "-DGROUP=%d -DWIDE=%d -DJOIN=%d", sizes.group,
                   clm__normalization_wide(&sizes, CLM__NORMALIZATION_WIDE),
                   clm__normalization_wide(&sizes, CLM__NORMALIZATION_JOIN));
  const int length = snprintf(options, OPTIONS_SIZE,
                              "-DCHANNELS=%zu -DSCALE=%d -DCENTER=%d -DBATCH=%d -DACTIVATION=%d %s",
                              sizes.channels, sizes.attributes->scale, sizes.attributes->center,
                              sizes.batch, (int)sizes.attributes->epilogue, last);
  CLM_ASSERT(length > 0 && length < OPTIONS_SIZE);
}

/* Kernels of the passes in the order of their launch, but for those of a joint, which come last;
 * those that go over the images have one a variant. */
enum { STATISTICS, FINISH, COEFFICIENTS_FWD, APPLY_FWD, JOIN_FWD };
enum { SUMS, FINISH_W };
enum { SUMS_X, COEFFICIENTS_X, APPLY_X, JOIN_X };

/* The kernels of a step by variant; NULL: that of all. */
typedef struct step {
  const char *all, *cpu, *gpu;
} step;

static clm_status add(clm__instance *instance, const char *options, step kernels)
{
  const char *file = FILE_ALL, *kernel = kernels.all;
  if (instance->variant == &clm__batch_normalization_cpu && kernels.cpu != NULL)
    file = FILE_CPU, kernel = kernels.cpu;
  if (instance->variant == &clm__batch_normalization_gpu && kernels.gpu != NULL)
    file = FILE_GPU, kernel = kernels.gpu;
  CLM_TRY(clm__instance_add_kernel(instance, file, options, kernel));
  return CLM_OK;
}

static clm_status add_forward(clm__instance *instance, const char *options)
{
  CLM_TRY(add(instance, options,
              (step){"batch_normalization_fwd_statistics_plain",
                     "batch_normalization_fwd_statistics_cpu",
                     "batch_normalization_fwd_statistics_gpu"}));
  CLM_TRY(add(instance, options, (step){"batch_normalization_fwd_finish", NULL, NULL}));
  CLM_TRY(add(instance, options, (step){"batch_normalization_fwd_coefficients", NULL, NULL}));
  CLM_TRY(add(instance, options,
              (step){"batch_normalization_fwd_apply_plain", "batch_normalization_fwd_apply_cpu",
                     "batch_normalization_fwd_apply_gpu"}));
  return CLM_OK;
}

static clm_status add_backward(clm__instance *instance, const char *options)
{
  CLM_TRY(add(instance, options,
              (step){"batch_normalization_bwd_sums_plain", "batch_normalization_bwd_sums_cpu",
                     "batch_normalization_bwd_sums_gpu"}));
  if (instance->pass == CLM__BACKWARD_W) {
    CLM_TRY(add(instance, options, (step){"batch_normalization_bwd_w_finish", NULL, NULL}));
    return CLM_OK;
  }
  CLM_TRY(add(instance, options, (step){"batch_normalization_bwd_x_coefficients", NULL, NULL}));
  CLM_TRY(add(instance, options,
              (step){"batch_normalization_bwd_x_apply_plain", "batch_normalization_bwd_x_apply_cpu",
                     "batch_normalization_bwd_x_apply_gpu"}));
  return CLM_OK;
}

/* The gpu variant joins its parts to one, in place of the first, by a kernel that is the last. */
static clm_status add_fold(clm__instance *instance, const char *options)
{
  if (instance->variant != &clm__batch_normalization_gpu) return CLM_OK;
  CLM_TRY(clm__instance_add_kernel(instance, FILE_GPU, options,
                                   instance->pass == CLM__FORWARD
                                       ? "batch_normalization_fwd_join_gpu"
                                       : "batch_normalization_bwd_join_gpu"));
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
              (step){is_forward ? "batch_normalization_fwd_join" : "batch_normalization_bwd_x_join",
                     NULL, NULL}));
  return CLM_OK;
}

static clm_status prepare(clm__instance *instance)
{
  char options[OPTIONS_SIZE];
  const layout sizes = clm__normalization_layout_of(instance, instance->problem->batch_max);
  CLM_REQUIRE(sizes.rows <= INT_MAX / 2, CLM_BAD_DATA,
              "batch normalization over %zu pixels is too large; use a smaller batch", sizes.rows);
  /* The gpu variant's joined part stands before the others. */
  const size_t parts = clm__normalization_splits(&sizes) + (sizes.group > 0);
  write_options(instance, options);
  instance->workspace_bytes = (COEFFICIENTS + 2 * parts) * sizes.channels * sizeof(float);
  if (instance->pass == CLM__FORWARD)
    CLM_TRY(add_forward(instance, options));
  else
    CLM_TRY(add_backward(instance, options));
  CLM_TRY(add_joint(instance, options, sizes.channels));
  CLM_TRY(add_fold(instance, options));
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

/* Items of the groups that all channels need with `most` of them a group. */
static size_t items_of(const layout *sizes, int most)
{
  return clm__ceil_div(sizes->channels, (size_t)clm__normalization_wide(sizes, most)) *
         (size_t)sizes->group;
}

/* One item a part; in the plain variant a part and channel; in the gpu variant one group a part and
 * some channels, and then the parts are joined. */
static clm_status run_parts(clm__launch *launch, const layout *sizes, const cut *parts)
{
  const size_t across =
      sizes->group > 0 ? items_of(sizes, CLM__NORMALIZATION_WIDE) : sizes->channels;
  push_cut(launch, sizes->rows, parts);
  if (sizes->cpu)
    CLM_TRY(clm__launch_run(launch, 1, &parts->splits, (size_t[]){1}));
  else
    CLM_TRY(clm__launch_run(launch, 2, (size_t[]){across, parts->splits}, NULL));
  return CLM_OK;
}

/* Joins the parts where the variant does so; what follows finds one. */
static clm_status fold_parts(clm__instance *instance, const clm__op_args *args, const layout *sizes,
                             cut *parts)
{
  if (sizes->group == 0) return CLM_OK;
  clm__launch launch = clm__launch_begin(&instance->kernels[instance->kernel_count - 1]);
  clm__launch_buffer(&launch, args->workspace);
  push_cut(&launch, sizes->rows, parts);
  CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){items_of(sizes, CLM__NORMALIZATION_JOIN)}, NULL));
  *parts = (cut){.splits = 1, .part_rows = sizes->rows};
  return CLM_OK;
}

/* One item a part; in the other variants an element. */
static clm_status run_apply(clm__launch *launch, const layout *sizes, const cut *parts)
{
  if (sizes->cpu) {
    CLM_TRY(run_parts(launch, sizes, parts));
    return CLM_OK;
  }
  clm__launch_int(launch, (int)sizes->rows);
  if (sizes->group > 0)
    CLM_TRY(clm__launch_run(launch, 1, (size_t[]){sizes->channels * sizes->rows}, NULL));
  else
    CLM_TRY(clm__launch_run(launch, 2, (size_t[]){sizes->channels, sizes->rows}, NULL));
  return CLM_OK;
}

static clm_status enqueue_statistics(clm__instance *instance, const clm__op_args *args,
                                     const layout *sizes, cut *parts)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[STATISTICS]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->x[0]);
  CLM_TRY(run_parts(&launch, sizes, parts));
  CLM_TRY(fold_parts(instance, args, sizes, parts));
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
  cut parts = clm__normalization_cut_of(sizes);
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
                               const layout *sizes, cut *parts)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[SUMS]);
  clm__launch_buffer(&launch, args->workspace);
  push_backward(&launch, sizes, args);
  CLM_TRY(run_parts(&launch, sizes, parts));
  CLM_TRY(fold_parts(instance, args, sizes, parts));
  return CLM_OK;
}

static clm_status enqueue_backward_w(clm__instance *instance, const clm__op_args *args,
                                     const layout *sizes)
{
  cut parts = clm__normalization_cut_of(sizes);
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
  cut parts = clm__normalization_cut_of(sizes);
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
  const layout sizes = clm__normalization_layout_of(instance, args->batch);
  if (instance->pass == CLM__FORWARD) CLM_TRY(enqueue_forward(instance, args, &sizes));
  if (instance->pass == CLM__BACKWARD_X) CLM_TRY(enqueue_backward_x(instance, args, &sizes));
  if (instance->pass == CLM__BACKWARD_W) CLM_TRY(enqueue_backward_w(instance, args, &sizes));
  return CLM_OK;
}

/* Its kernels count elements in 32 bits, with those of the last group. */
static bool is_countable(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  (void)pass;
  (void)info;
  return clm__shape_elements(&problem->inputs[0]) <= INT_MAX / (size_t)problem->batch_max;
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
const clm__variant clm__batch_normalization_gpu = {
    .name = "gpu",
    .passes = (1U << CLM__PASS_COUNT) - 1,
    .for_gpus = true,
    .usable = is_countable,
    .prepare = prepare,
    .enqueue = enqueue,
    .candidates = {clm__group_candidates, clm__group_candidates, clm__group_candidates}};
const clm__variant clm__batch_normalization_plain = {
    .name = "plain", .passes = (1U << CLM__PASS_COUNT) - 1, .prepare = prepare, .enqueue = enqueue};
