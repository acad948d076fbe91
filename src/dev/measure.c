#include "dev/measure.h"

#include "base/error.h"
#include "base/num.h"
#include "dev/buffer.h"
#include "dev/launch.h"
#include "sys/clock.h"

#include <stdio.h>

#define CHAINS 12        /* of measure_arithmetic */
#define RUN_SECONDS 0.03 /* long enough that a launch does not count */
#define ROUNDS_MAX (1 << 24)
#define REPEATS 5

/* What is needed for all measurements of a device. */
typedef struct bench {
  clm__device *device;
  clm__program *program;
  int width;
  cl_mem x, y;
  size_t size_bytes; /* of each */
} bench;

/* Runs a launch several times, waiting for each; the fastest is what the device can do. */
static clm_status time_best(clm__launch *launch, size_t items, const size_t *group, double *seconds)
{
  double best = 0;
  for (int i = 0; i < REPEATS; i++) {
    const double start = clm__clock_seconds();
    CLM_TRY(clm__launch_run(launch, 1, &items, group));
    CLM_TRY(clm__device_finish(launch->kernel->device));
    const double taken = clm__clock_seconds() - start;
    if (i == 0 || taken < best) best = taken;
  }
  *seconds = best;
  return CLM_OK;
}

static clm_status time_rounds(const bench *b, clm__kernel *kernel, size_t items, int rounds,
                              double *seconds)
{
  const size_t one = 1;
  clm__launch launch = clm__launch_begin(kernel);
  clm__launch_int(&launch, rounds);
  clm__launch_float(&launch, 0.999F);
  clm__launch_float(&launch, 0.001F);
  clm__launch_buffer(&launch, b->y);
  const bool is_cpu = b->device->info.kind == CLM__DEVICE_CPU;
  return time_best(&launch, items, is_cpu ? &one : NULL, seconds);
}

/* CPUs get a few groups of one item for each core, GPUs enough to fill every unit. Rounds are
 * doubled until a run is long enough. */
static clm_status measure_arithmetic(const bench *b, clm__kernel *kernel, clm__measured *result)
{
  const clm__device_info *info = &b->device->info;
  const size_t wished = (size_t)info->compute_units * (info->kind == CLM__DEVICE_CPU ? 4 : 64 * 64);
  const size_t room = b->size_bytes / sizeof(float) / (size_t)b->width;
  const size_t items = clm__min_size(wished, room / 2); /* sizes are rounded up to a group */
  double seconds = 0;
  int rounds = 512;
  do {
    rounds *= 2;
    CLM_TRY(time_rounds(b, kernel, items, rounds, &seconds));
  } while (seconds < RUN_SECONDS && rounds < ROUNDS_MAX);
  result->gflops = 2.0 * CHAINS * b->width * rounds * (double)items / seconds * 1e-9;
  return CLM_OK;
}

static clm_status measure_stream(const bench *b, clm__kernel *kernel, clm__measured *result)
{
  const size_t items = b->size_bytes / (4 * sizeof(float));
  double seconds = 0;
  clm__launch launch = clm__launch_begin(kernel);
  clm__launch_int(&launch, (int)items);
  clm__launch_float(&launch, 1.5F);
  clm__launch_buffer(&launch, b->x);
  clm__launch_buffer(&launch, b->y);
  CLM_TRY(time_best(&launch, items, NULL, &seconds));
  result->gbytes = 2.0 * (double)b->size_bytes / seconds * 1e-9;
  return CLM_OK;
}

static clm_status measure_nothing(const bench *b, clm__kernel *kernel, clm__measured *result)
{
  clm__launch launch = clm__launch_begin(kernel);
  clm__launch_buffer(&launch, b->y);
  return time_best(&launch, 1, NULL, &result->launch_seconds);
}

typedef clm_status (*measurement)(const bench *b, clm__kernel *kernel, clm__measured *result);

static clm_status run(const bench *b, const char *name, measurement measure, clm__measured *result)
{
  clm__kernel kernel = {0};
  CLM_TRY(clm__kernel_init(b->program, name, &kernel));
  const clm_status status = measure(b, &kernel, result);
  clm__kernel_fini(&kernel);
  return status;
}

/* Buffers larger than caches are; on CPUs smaller ones, since touching their pages takes long. */
static size_t choose_size(const clm__device_info *info)
{
  const uint64_t wished = (uint64_t)(info->kind == CLM__DEVICE_CPU ? 64 : 256) << 20;
  uint64_t size = wished;
  if (size > info->buffer_max_bytes) size = info->buffer_max_bytes;
  if (size > info->memory_bytes / 4) size = info->memory_bytes / 4;
  return (size_t)size / 64 * 64;
}

static clm_status measure_all(bench *b, clm__measured *result)
{
  char options[32];
  const int wished = b->device->info.vector_width;
  b->width = wished >= 16 ? 16 : wished >= 8 ? 8 : wished >= 4 ? 4 : 1;
  b->size_bytes = choose_size(&b->device->info);
  snprintf(options, sizeof options, "-DWIDTH=%d", b->width);
  CLM_TRY(clm__program_get(b->device, "measure.cl", options, &b->program));
  CLM_TRY(clm__buffer_create(b->device, b->size_bytes, &b->x));
  CLM_TRY(clm__buffer_create(b->device, b->size_bytes, &b->y));
  CLM_TRY(run(b, "measure_arithmetic", measure_arithmetic, result));
  CLM_TRY(run(b, "measure_stream", measure_stream, result));
  return run(b, "measure_nothing", measure_nothing, result);
}

clm_status clm__measure(clm__device *device, clm__measured *result)
{
  bench all = {.device = device};
  clm__measured measured = {0};
  const clm_status status = measure_all(&all, &measured);
  clm__buffer_release(&all.x);
  clm__buffer_release(&all.y);
  if (status == CLM_OK) *result = measured;
  return status;
}
