#include "dev/program.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "base/testswitch.h"
#include "dev/program_cache.h"
#include "dev/program_table.h"
#include "dev/source.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SHOWN 600   /* characters of a build log in a message */
#define STORE_SHARE 0.1 /* of the time that the device is open, spent on keeping its programs */

typedef enum program_state { BUILDING, READY, FAILED } program_state;

struct clm__program {
  clm__program *next;
  clm__device *device;
  char *file;
  char *options; /* all of them */
  program_state state;
  bool is_on_disk;
  char *key; /* of its binary on disk */
  cl_program handle;
};

struct clm__program_table {
  clm__program *first;
  double created_seconds; /* of the clock */
  pthread_cond_t changed; /* the state of a program */
  bool has_told;          /* that programs are being built */
};

clm_status clm__program_table_create(clm__program_table **table)
{
  clm__program_table *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  if (pthread_cond_init(&made->changed, NULL) != 0) {
    clm__mem_free(made);
    CLM_FAIL(CLM_NO_MEMORY, "the system makes no condition variable");
  }
  made->created_seconds = clm__clock_seconds();
  *table = made;
  return CLM_OK;
}

static void destroy_program(clm__program *program)
{
  if (program == NULL) return;
  if (program->handle != NULL) (void)clReleaseProgram(program->handle);
  clm__mem_free(program->file);
  clm__mem_free(program->options);
  clm__mem_free(program->key);
  clm__mem_free(program);
}

void clm__program_table_destroy(clm__program_table *table)
{
  if (table == NULL) return;
  while (table->first != NULL) {
    clm__program *program = table->first;
    table->first = program->next;
    destroy_program(program);
  }
  (void)pthread_cond_destroy(&table->changed);
  clm__mem_free(table);
}

/* The options every program gets, and those of this one. Nothing here trades accuracy for speed. */
static clm_status join_options(const clm__device *device, const char *options, char **joined)
{
  clm__str text = {0};
  clm_status status =
      clm__str_add(&text, "-cl-std=CL1.2%s%s%s",
                   device->info.has_exact_divide ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
                   options[0] != '\0' ? " " : "", options);
  if (status == CLM_OK) status = clm__str_take(&text, joined);
  clm__str_fini(&text);
  return status;
}

static clm_status create_program(clm__device *device, const char *file, const char *options,
                                 clm__program **program)
{
  clm__program *made = NULL;
  clm_status status = CLM_OK;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->device = device;
  CLM_TRY_TO(failed, status, clm__mem_copy_text(file, &made->file));
  CLM_TRY_TO(failed, status, join_options(device, options, &made->options));
  *program = made;
  return CLM_OK;
failed:
  destroy_program(made);
  return status;
}

/* Whether CLEMATIS_TEST_FAIL_BUILD names the op of this file. */
static bool must_fail(const char *file)
{
  char name[128];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
  return clm__testswitch_is("CLEMATIS_TEST_FAIL_BUILD", name);
}

/* The whole source, with lines numbered as in the files. */
static clm_status join_source(const char *file, const char *body, char **source)
{
  clm__str text = {0};
  clm_status status = CLM_OK;
  const char *prelude = clm__source_find("prelude.cl");
  CLM_REQUIRE(prelude != NULL && body != NULL, CLM_INTERNAL, "there is no kernel file %s", file);
  CLM_TRY_TO(
      done, status,
      clm__str_add(&text, "#line 1 \"prelude.cl\"\n%s\n#line 1 \"%s\"\n%s", prelude, file, body));
  if (must_fail(file))
    CLM_TRY_TO(done, status, clm__str_add(&text, "\n#error CLEMATIS_TEST_FAIL_BUILD\n"));
  CLM_TRY_TO(done, status, clm__str_take(&text, source));
done:
  clm__str_fini(&text);
  return status;
}

/* The build log, "" where there is none; taken by the caller. */
static clm_status read_log(const clm__program *program, char **text)
{
  size_t size = 0;
  const cl_device_id handle = program->device->handle;
  (void)clGetProgramBuildInfo(program->handle, handle, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  CLM_TRY(clm__mem_alloc(size + 1, 1, text));
  if (clGetProgramBuildInfo(program->handle, handle, CL_PROGRAM_BUILD_LOG, size, *text, NULL) !=
      CL_SUCCESS)
    (*text)[0] = '\0';
  return CLM_OK;
}

/* Makes one line of a log: ends of lines become bars, blanks at the end go. */
static void flatten(char *log)
{
  size_t length = strlen(log);
  while (length > 0 && (log[length - 1] == '\n' || log[length - 1] == ' ')) length--;
  log[length] = '\0';
  for (char *c = log; *c != '\0'; c++)
    if (*c == '\n') *c = '|';
}

/* Says which device, which file, and the log from its first error on. */
static clm_status fail_build(const clm__program *program, cl_int code)
{
  const clm__device_info *info = &program->device->info;
  char *log = NULL;
  CLM_TRY(read_log(program, &log));
  const char *first = strstr(log, "error");
  while (first != NULL && first > log && first[-1] != '\n') first--;
  if (first == NULL) first = log;
  flatten(log);
  const clm_status status = clm__error_fail(
      CLM_DEVICE_FAILED, __FILE__, __LINE__, __func__,
      "device %s (%s, driver %s) cannot build %s: clBuildProgram gave %s: %.*s", info->id,
      info->name, info->driver_version, program->file, clm__cl_code_name(code), LOG_SHOWN, first);
  clm__mem_free(log);
  return status;
}

/* A message from whichever thread builds, one at a time. */
static void tell(clm__device *device, clm_log_level level, const char *message)
{
  (void)pthread_mutex_lock(&device->lock);
  clm__log(device->log, level, "%s", message);
  (void)pthread_mutex_unlock(&device->lock);
}

/* Says once a device why nothing seems to happen. */
static void tell_first(clm__device *device)
{
  (void)pthread_mutex_lock(&device->lock);
  if (!device->programs->has_told && device->on_compile != NULL)
    device->on_compile(device->on_compile_user);
  if (!device->programs->has_told)
    clm__log(device->log, CLM_LOG_INFO, "Building the kernels for %s (%s)%s ...", device->info.id,
             device->info.name, device->cache_folder != NULL ? ", in the first run only" : "");
  device->programs->has_told = true;
  (void)pthread_mutex_unlock(&device->lock);
}

static void tell_built(const clm__program *program, double seconds)
{
  char message[512], *log = NULL;
  snprintf(message, sizeof message, "built %s (%s) in %.2f s", program->file, program->options,
           seconds);
  tell(program->device, CLM_LOG_DETAIL, message);
  if (read_log(program, &log) != CLM_OK) return;
  if (strstr(log, "warning") != NULL) tell(program->device, CLM_LOG_DETAIL, log);
  clm__mem_free(log);
}

static clm_status build_source(clm__program *program, const char *source)
{
  clm__device *device = program->device;
  const double start = clm__clock_seconds();
  cl_int code = CL_SUCCESS;
  tell_first(device);
  program->handle = clCreateProgramWithSource(device->context, 1, &source, NULL, &code);
  CLM_TRY(clm__cl_check(device, code, "clCreateProgramWithSource"));
  code = clBuildProgram(program->handle, 1, &device->handle, program->options, NULL, NULL);
  if (code != CL_SUCCESS) return fail_build(program, code);
  atomic_fetch_add(&device->counts.programs_built, 1);
  tell_built(program, clm__clock_seconds() - start);
  return CLM_OK;
}

static clm_status load_or_build(clm__program *program, const char *source)
{
  clm__device *device = program->device;
  CLM_TRY(clm__program_cache_key(device, source, program->options, &program->key));
  CLM_TRY(clm__program_cache_load(device, program->file, program->key, program->options,
                                  &program->handle));
  if (program->handle == NULL) return build_source(program, source);
  program->is_on_disk = true;
  atomic_fetch_add(&device->counts.programs_loaded, 1);
  return CLM_OK;
}

static clm_status build(clm__program *program, const char *text)
{
  char *source = NULL;
  CLM_TRY(join_source(program->file, text, &source));
  const clm_status status = load_or_build(program, source);
  clm__mem_free(source);
  return status;
}

/* The thread's error stays as it was: devices are closed on the way out of a failure. */
static void store(clm__program *program)
{
  clm__device *device = program->device;
  const clm_error before = *clm_error_last();
  program->is_on_disk = true; /* tried once: a folder that cannot be written stays so */
  if (clm__program_cache_store(device, program->file, program->key, program->handle) == CLM_OK)
    return;
  clm__log(device->log, CLM_LOG_DETAIL, "the kernels of %s are not kept: %s", program->file,
           clm_error_last()->message);
  clm_error_clear();
  if (before.status != CLM_OK) (void)clm__error_raise(&before);
}

void clm__program_store(clm__device *device, double seconds_max)
{
  const double start = clm__clock_seconds();
  if (device->cache_folder == NULL || device->programs == NULL) return;
  (void)pthread_mutex_lock(&device->lock);
  for (clm__program *at = device->programs->first; at != NULL; at = at->next) {
    if (at->state != READY || at->is_on_disk) continue;
    at->is_on_disk = clm__program_cache_has(device, at->file, at->key);
    if (at->is_on_disk) continue;
    if (clm__clock_seconds() - start >= seconds_max) break;
    store(at);
  }
  (void)pthread_mutex_unlock(&device->lock);
}

void clm__program_store_last(clm__device *device)
{
  if (device->programs == NULL) return;
  const double open_seconds = clm__clock_seconds() - device->programs->created_seconds;
  clm__program_store(device, CLM__STORE_SECONDS + STORE_SHARE * open_seconds);
}

/* Under the lock: the program with these options, NULL where there is none. */
static clm__program *find(clm__program_table *table, const clm__program *wanted)
{
  for (clm__program *at = table->first; at != NULL; at = at->next)
    if (strcmp(at->file, wanted->file) == 0 && strcmp(at->options, wanted->options) == 0) return at;
  return NULL;
}

/* Under the lock: takes a program that failed out of the table, so that another call tries anew. */
static void take_out(clm__program_table *table, clm__program *program)
{
  clm__program **link = &table->first;
  while (*link != program) link = &(*link)->next;
  *link = program->next;
}

/* Waits while another thread builds `wanted`. Returns its program, or NULL after putting `wanted`
 * into the table for the caller to build. */
static clm__program *claim(clm__device *device, clm__program *wanted)
{
  clm__program_table *table = device->programs;
  (void)pthread_mutex_lock(&device->lock);
  clm__program *found = find(table, wanted);
  while (found != NULL && found->state == BUILDING) {
    (void)pthread_cond_wait(&table->changed, &device->lock);
    found = find(table, wanted);
  }
  if (found == NULL) {
    wanted->next = table->first;
    table->first = wanted;
  }
  (void)pthread_mutex_unlock(&device->lock);
  return found;
}

clm_status clm__program_get_text(clm__device *device, const char *file, const char *text,
                                 const char *options, clm__program **program)
{
  clm__program *wanted = NULL;
  CLM_TRY(create_program(device, file, options != NULL ? options : "", &wanted));
  clm__program *found = claim(device, wanted);
  if (found != NULL) {
    destroy_program(wanted);
    *program = found;
    return CLM_OK;
  }
  const clm_status status = build(wanted, text);
  (void)pthread_mutex_lock(&device->lock);
  wanted->state = status == CLM_OK ? READY : FAILED;
  if (status != CLM_OK) take_out(device->programs, wanted);
  (void)pthread_cond_broadcast(&device->programs->changed);
  (void)pthread_mutex_unlock(&device->lock);
  if (status != CLM_OK) {
    destroy_program(wanted);
    return status;
  }
  *program = wanted;
  return CLM_OK;
}

clm_status clm__program_get(clm__device *device, const char *file, const char *options,
                            clm__program **program)
{
  return clm__program_get_text(device, file, clm__source_find(file), options, program);
}

static clm_status query_kernel(clm__kernel *kernel)
{
  const clm__device *device = kernel->device;
  size_t group = 0;
  CLM_TRY(
      clm__cl_check(device,
                    clGetKernelInfo(kernel->handle, CL_KERNEL_NUM_ARGS,
                                    sizeof kernel->argument_count, &kernel->argument_count, NULL),
                    "clGetKernelInfo"));
  CLM_TRY(
      clm__cl_check(device,
                    clGetKernelWorkGroupInfo(kernel->handle, device->handle,
                                             CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL),
                    "clGetKernelWorkGroupInfo"));
  kernel->group_max = clm__max_size(clm__min_size(group, device->info.group_max), 1);
  return clm__cl_check(
      device,
      clGetKernelWorkGroupInfo(kernel->handle, device->handle, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                               sizeof kernel->group_required, kernel->group_required, NULL),
      "clGetKernelWorkGroupInfo");
}

clm_status clm__kernel_init(clm__program *program, const char *name, clm__kernel *kernel)
{
  clm__kernel made = {.device = program->device, .name = name};
  cl_int code = CL_SUCCESS;
  char call[128];
  snprintf(call, sizeof call, "clCreateKernel of %s in %s", name, program->file);
  made.handle = clCreateKernel(program->handle, name, &code);
  CLM_TRY(clm__cl_check(program->device, code, call));
  const clm_status status = query_kernel(&made);
  if (status != CLM_OK) {
    clm__kernel_fini(&made);
    return status;
  }
  *kernel = made;
  return CLM_OK;
}

void clm__kernel_fini(clm__kernel *kernel)
{
  if (kernel->handle != NULL) (void)clReleaseKernel(kernel->handle);
  kernel->handle = NULL;
}
