/* Times convolutions: every pass and variant of some shapes. Not a test.
 *
 *   bench_conv [--device NAME] [--batch N] [--variant NAME] [HxWxC-F/KERNEL/STRIDE[/pool] ...]
 *
 * Without shapes: the flowers model's layers and those of a small residual network. Prints the best
 * and the median of some runs, and the processor time of the best one a core, which other programs
 * disturb less. GFLOP/s count all products of a dense convolution, in the best run. */
#include "base/mem.h"
#include "base/rng.h"
#include "op/conv2d.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 15

typedef struct shape {
  int h, w, c, filters, kernel, stride;
  bool pool;
} shape;

typedef struct setting {
  clm__device *device;
  const char *variant; /* NULL: all */
  int batch;
} setting;

static void must(clm_status status)
{
  if (status == CLM_OK) return;
  (void)fprintf(stderr, "%s\n", clm_error_last()->message);
  exit(1);
}

/* Numbers in [-0.5, 0.5). */
static cl_mem random_buffer(clm__device *device, size_t count)
{
  cl_mem buffer = NULL;
  float *values = NULL;
  must(clm__mem_alloc(count, sizeof *values, &values));
  for (size_t i = 0; i < count; i += 4) {
    uint32_t bits[4];
    clm__rng_block(1, CLM__RNG_TEST, 0, i, bits);
    for (size_t k = 0; k < 4 && i + k < count; k++) values[i + k] = clm__rng_unit(bits[k]) - 0.5F;
  }
  must(clm__buffer_create(device, count * sizeof *values, &buffer));
  must(clm__buffer_write(device, buffer, 0, values, count * sizeof *values, true));
  clm__mem_free(values);
  return buffer;
}

static double processor_seconds(void)
{
  struct timespec time;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void time_pass(const setting *bench, clm__instance *instance, clm__op_args *args,
                      const char *name, double gflop)
{
  double seconds[RUNS], core = 1e9;
  if (instance->workspace_bytes > 0)
    must(clm__buffer_create(bench->device, instance->workspace_bytes, &args->workspace));
  for (int i = -1; i < RUNS; i++) {
    const double start = clm__clock_seconds(), busy = processor_seconds();
    must(clm__instance_enqueue(instance, args));
    must(clm__device_finish(bench->device));
    if (i < 0) continue;
    seconds[i] = clm__clock_seconds() - start;
    const double used = (processor_seconds() - busy) / bench->device->info.compute_units;
    if (used < core) core = used;
  }
  qsort(seconds, RUNS, sizeof *seconds, compare);
  (void)printf("%-24s %-6s %-6s %9.2f %9.2f %9.2f %9.0f %8.1f\n", name,
               clm__pass_name(instance->pass), instance->variant->name, seconds[0] * 1e3,
               seconds[RUNS / 2] * 1e3, core * 1e3, gflop / seconds[0],
               (double)instance->workspace_bytes / 1e6);
  (void)fflush(stdout);
  clm__buffer_release(&args->workspace);
}

/* Backward needs the output and the winners of a real forward pass. */
static void run_forward(const setting *bench, const clm__problem *problem, clm__op_args *args)
{
  clm__instance instance;
  must(clm__instance_init(&instance, problem, CLM__FORWARD, bench->device, NULL, "plain"));
  must(clm__instance_enqueue(&instance, args));
  must(clm__device_finish(bench->device));
  clm__instance_fini(&instance);
}

static void time_variants(const setting *bench, const clm__problem *problem, clm__op_args *args,
                          const char *name, double gflop)
{
  const clm__variant *const *variant = problem->op->variants;
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
    for (int i = 0; variant[i] != NULL; i++) {
      clm__instance instance;
      if (bench->variant != NULL && strcmp(bench->variant, variant[i]->name) != 0) continue;
      if (clm__instance_init(&instance, problem, (clm__pass)pass, bench->device, NULL,
                             variant[i]->name) != CLM_OK)
        continue;
      time_pass(bench, &instance, args, name, gflop);
      clm__instance_fini(&instance);
    }
}

static void time_shape(const setting *bench, const shape *s, const char *name)
{
  clm__conv2d_max_pool_attributes attributes = {.conv = {.filters = s->filters,
                                                         .kernel_size = {s->kernel, s->kernel},
                                                         .strides = {s->stride, s->stride},
                                                         .padding = CLM__CONV2D_SAME,
                                                         .dilation_rate = {1, 1},
                                                         .groups = 1,
                                                         .use_bias = true,
                                                         .epilogue = CLM__RELU}};
  const size_t n = (size_t)bench->batch;
  clm__problem problem = {.op = s->pool ? &clm__op_conv2d_max_pool : &clm__op_conv2d,
                          .attributes = &attributes,
                          .input_count = 1,
                          .inputs = {clm__shape3(s->h, s->w, s->c)},
                          .batch_max = bench->batch,
                          .training = true,
                          .need_dx = 1};
  must(problem.op->infer(&attributes, problem.inputs, 1, &problem.spec));
  const size_t outputs = clm__shape_elements(&problem.spec.output);
  const size_t inputs = clm__shape_elements(&problem.inputs[0]);
  const size_t weights = clm__shape_elements(&problem.spec.params[0].shape);
  clm__op_args args = {.batch = bench->batch,
                       .x = {random_buffer(bench->device, n * inputs)},
                       .y = random_buffer(bench->device, n * outputs),
                       .dx = {random_buffer(bench->device, n * inputs)},
                       .dy = random_buffer(bench->device, n * outputs),
                       .w = {random_buffer(bench->device, weights),
                             random_buffer(bench->device, (size_t)s->filters)},
                       .dw = {random_buffer(bench->device, weights),
                              random_buffer(bench->device, (size_t)s->filters)},
                       .saved = s->pool ? random_buffer(bench->device, n * outputs) : NULL};
  const double pixels = (double)((s->h - 1) / s->stride + 1) * ((s->w - 1) / s->stride + 1);
  run_forward(bench, &problem, &args);
  time_variants(bench, &problem, &args, name, 2e-9 * (double)(n * weights) * pixels);
  clm__buffer_release(&args.x[0]);
  clm__buffer_release(&args.y);
  clm__buffer_release(&args.dx[0]);
  clm__buffer_release(&args.dy);
  for (int i = 0; i < 2; i++) {
    clm__buffer_release(&args.w[i]);
    clm__buffer_release(&args.dw[i]);
  }
  clm__buffer_release(&args.saved);
}

static void time_text(const setting *bench, const char *text)
{
  shape s = {.stride = 1};
  char rest[16] = "";
  const int count = sscanf(text, "%dx%dx%d-%d/%d/%d/%15s", &s.h, &s.w, &s.c, &s.filters, &s.kernel,
                           &s.stride, rest);
  if (count < 6) {
    (void)fprintf(stderr, "%s is no shape such as 90x90x16-32/3/1/pool\n", text);
    exit(64);
  }
  s.pool = strcmp(rest, "pool") == 0;
  time_shape(bench, &s, text);
}

int main(int argc, char **argv)
{
  static const char *const shapes[] = {
      "180x180x3-16/3/1/pool", "90x90x16-32/3/1/pool", "45x45x32-64/3/1/pool", "64x64x3-32/3/1",
      "64x64x32-32/3/1",       "64x64x32-64/3/2",      "32x32x64-64/3/1",      "32x32x64-128/3/2",
      "16x16x128-128/3/1",     "64x64x32-64/1/2",      "32x32x64-128/1/2"};
  setting bench = {.batch = 32};
  const char *device = NULL;
  int shown = 0;
  for (int i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2, shown = i) {
    if (strcmp(argv[i], "--device") == 0) device = argv[i + 1];
    if (strcmp(argv[i], "--batch") == 0) bench.batch = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--variant") == 0) bench.variant = argv[i + 1];
  }
  if (shown == 0) shown = 1;
  clm__device_info *infos = NULL;
  clm__device_choice *chosen = NULL;
  size_t count = 0, chosen_count = 0;
  const clm__device_options options = {0};
  must(clm__device_list(NULL, &infos, &count));
  must(clm__device_select(infos, count, device, &chosen, &chosen_count));
  must(clm__device_open(&infos[chosen[0].index], &chosen[0], &options, &bench.device));
  (void)printf("%-24s %-6s %-6s %9s %9s %9s %9s %8s\n", "shape", "pass", "by", "best ms",
               "median ms", "core ms", "GFLOP/s", "work MB");
  for (int i = shown; i < argc; i++) time_text(&bench, argv[i]);
  for (size_t i = 0; shown == argc && i < sizeof shapes / sizeof *shapes; i++)
    time_text(&bench, shapes[i]);
  clm__device_close(bench.device);
  clm__mem_free(chosen);
  clm__mem_free(infos);
  return 0;
}
