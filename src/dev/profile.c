#include "dev/profile.h"

#include "base/mem.h"
#include "sys/clock.h"

#include <stdio.h>

/* Between two finishes; what is more is left out of the trace. */
enum { COMMANDS_MAX = 4096 };

typedef struct command {
  cl_event event; /* NULL: it could not be enqueued */
  const char *name;
  const char *layer;
  const char *pass;
  size_t bytes;
  uint64_t step;
  double enqueued_seconds; /* of the host's clock, just before */
} command;

typedef struct clm__profile {
  clm__trace *trace;
  int lane;
  const char *layer;
  const char *pass;
  size_t count;
  command commands[COMMANDS_MAX];
} clm__profile;

clm_status clm__profile_create(clm__device *device, clm__trace *trace)
{
  clm__profile *made = NULL;
  char name[48];
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  (void)snprintf(name, sizeof name, "queue of %s", device->info.id);
  made->trace = trace;
  made->lane = clm__trace_add_lane(trace, name);
  device->profile = made;
  return CLM_OK;
}

static void forget_commands(clm__profile *profile)
{
  for (size_t i = 0; i < profile->count; i++)
    if (profile->commands[i].event != NULL) (void)clReleaseEvent(profile->commands[i].event);
  profile->count = 0;
}

void clm__profile_destroy(clm__device *device)
{
  if (device->profile == NULL) return;
  forget_commands(device->profile);
  clm__mem_free(device->profile);
  device->profile = NULL;
}

void clm__profile_label(clm__device *device, const char *layer, const char *pass)
{
  if (device->profile == NULL) return;
  device->profile->layer = layer;
  device->profile->pass = pass;
}

cl_event *clm__profile_next(clm__device *device, const char *name, size_t bytes)
{
  clm__profile *profile = device->profile;
  if (profile == NULL || !clm__trace_is_on(profile->trace)) return NULL;
  if (profile->count == COMMANDS_MAX) {
    clm__trace_leave_out(profile->trace);
    return NULL;
  }
  command *next = &profile->commands[profile->count++];
  *next = (command){.name = name,
                    .bytes = bytes,
                    .step = clm__trace_step(profile->trace),
                    .enqueued_seconds = clm__clock_seconds()};
  if (bytes == 0) next->layer = profile->layer;
  if (bytes == 0) next->pass = profile->pass;
  return &next->event;
}

void clm__profile_share(cl_event *place, cl_event event)
{
  if (place != NULL && clRetainEvent(event) == CL_SUCCESS) *place = event;
}

static bool ask_seconds(cl_event event, cl_profiling_info what, double *seconds)
{
  cl_ulong nanoseconds = 0;
  if (event == NULL) return false;
  if (clGetEventProfilingInfo(event, what, sizeof nanoseconds, &nanoseconds, NULL) != CL_SUCCESS)
    return false;
  *seconds = 1e-9 * (double)nanoseconds;
  return true;
}

/* What the device's clock is behind the host's. Each command was put into the queue after we looked
 * at the host's clock for it, and before we looked for the next one; the last one has ended by now.
 * The closest pair decides. */
static double find_offset(const clm__profile *profile)
{
  double least = -1e300;
  double most = 1e300;
  double after = clm__clock_seconds();
  double ended = 0.0;
  if (ask_seconds(profile->commands[profile->count - 1].event, CL_PROFILING_COMMAND_END, &ended))
    most = after - ended;
  for (size_t i = profile->count; i-- > 0;) {
    const command *at = &profile->commands[i];
    double queued = 0.0;
    if (!ask_seconds(at->event, CL_PROFILING_COMMAND_QUEUED, &queued)) continue;
    if (at->enqueued_seconds - queued > least) least = at->enqueued_seconds - queued;
    if (after - queued < most) most = after - queued;
    after = at->enqueued_seconds;
  }
  return 0.5 * (least + most);
}

static void add_span(const clm__profile *profile, const command *done, double offset)
{
  double begin = 0.0;
  double end = 0.0;
  if (!ask_seconds(done->event, CL_PROFILING_COMMAND_START, &begin) ||
      !ask_seconds(done->event, CL_PROFILING_COMMAND_END, &end)) {
    clm__trace_leave_out(profile->trace);
    return;
  }
  const bool is_kernel = done->bytes == 0;
  const clm__trace_span span = {.category = is_kernel ? "kernel" : "copy",
                                .name = done->layer != NULL ? done->layer : done->name,
                                .part = done->pass,
                                .detail = is_kernel ? done->name : NULL,
                                .unit = is_kernel ? NULL : "bytes",
                                .amount = done->bytes,
                                .step = done->step,
                                .lane = profile->lane,
                                .begin_seconds = begin + offset,
                                .end_seconds = end + offset};
  clm__trace_add(profile->trace, &span);
}

void clm__profile_collect(clm__device *device)
{
  clm__profile *profile = device->profile;
  if (profile == NULL || profile->count == 0) return;
  const double offset = find_offset(profile);
  for (size_t i = 0; i < profile->count; i++) add_span(profile, &profile->commands[i], offset);
  forget_commands(profile);
}
