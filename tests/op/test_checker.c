/* Does the checker see faults? Each case runs it in a process of its own on an op that copies its
 * input, whose one variant has the fault, and looks for the words that name it. */
#define _XOPEN_SOURCE 700
#include "base/mem.h"
#include "op/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ELEMENTS 21
#define BATCH 4

typedef enum fault {
  NONE,
  WRONG_VALUE,
  WRONG_GRADIENT,
  MISSING_ELEMENT,
  OUTSIDE,
  CHANGED_INPUT,
  OTHER_BITS,
  WHOLE_BATCH_ALONE,
  WAITS,
  ALLOCATES
} fault;

static fault tried;
static int calls;

static clm_status infer(void *attributes, const clm__shape *inputs, int count, clm__op_spec *spec)
{
  (void)attributes;
  (void)count;
  *spec = (clm__op_spec){.output = inputs[0]};
  return CLM_OK;
}

static clm_status prepare(clm__instance *instance)
{
  return clm__instance_add_kernel(instance, "rescaling.cl", "", "rescaling_plain");
}

/* The factor, which should be 1. */
static float factor_of(const clm__instance *instance, const clm__op_args *args)
{
  if (tried == WRONG_VALUE && instance->pass == CLM__FORWARD) return 1.001F;
  if (tried == WRONG_GRADIENT && instance->pass == CLM__BACKWARD_X) return 1.001F;
  if (tried == OTHER_BITS) return 1.0F + (float)(calls++ / 4 % 2) * 1.2e-7F;
  if (tried == WHOLE_BATCH_ALONE && args->batch < BATCH) return 1.001F;
  return 1.0F;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const bool is_forward = instance->pass == CLM__FORWARD;
  const cl_mem from = is_forward ? args->x[0] : args->dy;
  const cl_mem to = is_forward ? args->y : args->dx[0];
  uint32_t elements = ELEMENTS * (uint32_t)args->batch;
  if (tried == MISSING_ELEMENT) elements--;
  if (tried == OUTSIDE) elements++;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, to);
  clm__launch_buffer(&launch, from);
  clm__launch_uint(&launch, elements);
  clm__launch_int(&launch, 1);
  clm__launch_int(&launch, 1);
  for (int i = 0; i < 4; i++) clm__launch_float(&launch, factor_of(instance, args));
  for (int i = 0; i < 4; i++) clm__launch_float(&launch, 0.0F);
  CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){elements}, NULL));
  if (tried == CHANGED_INPUT)
    CLM_TRY(clm__buffer_fill(instance->device, from, 0, sizeof(float), 3.0F));
  if (tried == WAITS) CLM_TRY(clm__device_finish(instance->device));
  void *block = NULL;
  if (tried == ALLOCATES) CLM_TRY(clm__mem_alloc(1, 1, &block));
  clm__mem_free(block);
  return CLM_OK;
}

static const clm__variant plain = {
    .name = "plain",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .prepare = prepare,
    .enqueue = enqueue,
};
static const clm__variant *const variants[] = {&plain, NULL};
static const clm__op copy = {
    .name = "copy", .inputs_least = 1, .inputs_most = 1, .infer = infer, .variants = variants};

static void forward(const clm__ref_call *call)
{
  memcpy(call->y, call->x[0], ELEMENTS * (size_t)call->batch * sizeof *call->y);
}

static void backward(const clm__ref_call *call)
{
  memcpy(call->dx[0], call->dy, ELEMENTS * (size_t)call->batch * sizeof *call->y);
}

static void backward_wrong(const clm__ref_call *call)
{
  backward(call);
  call->dx[0][0] *= 2.0;
}

/* One fault and what the checker must say of it; NULL: nothing is wrong. */
typedef struct faulty {
  fault fault;
  clm__ref_function backward;
  const char *words;
} faulty;

static int run_checker(const faulty *one)
{
  char name[] = "checker";
  char *arguments[] = {name, NULL};
  const op_case cases[] = {{.name = "copied", .inputs = {{1, {ELEMENTS}}}, .batch = BATCH}};
  const op_suite suite = {
      .op = &copy, .forward = forward, .backward = one->backward, .cases = cases, .case_count = 1};
  tried = one->fault;
  return check_op(&suite, 1, arguments);
}

/* Runs the checker in a child; returns its exit status and what it printed. */
static int run_child(const faulty *one, char *text, size_t size)
{
  int ends[2];
  int status = 0;
  size_t length = 0;
  assert_int_equal(pipe(ends), 0);
  (void)fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)dup2(ends[1], STDOUT_FILENO);
    (void)dup2(ends[1], STDERR_FILENO);
    (void)close(ends[0]);
    exit(run_checker(one));
  }
  (void)close(ends[1]);
  for (ssize_t got = 1; got > 0 && length + 1 < size; length += got > 0 ? (size_t)got : 0)
    got = read(ends[0], text + length, size - length - 1);
  text[length] = '\0';
  (void)close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_fault(void **state)
{
  const faulty *one = *state;
  static char text[1 << 16];
  const int status = run_child(one, text, sizeof text);
  if (status == 77) skip();
  if (one->words == NULL) assert_int_equal(status, 0);
  if (one->words == NULL) return;
  assert_int_equal(status, 1);
  if (strstr(text, one->words) == NULL) fail_msg("\"%s\" is not in: %s", one->words, text);
}

static faulty faults[] = {
    {NONE, backward, NULL},
    {NONE, NULL, NULL},
    {NONE, backward_wrong, "finite differences give"},
    {WRONG_VALUE, backward, "case copied, fwd plain on"},
    {WRONG_GRADIENT, backward, "case copied, bwd_x plain on"},
    {WRONG_GRADIENT, NULL, "case copied, bwd_x plain on"},
    {MISSING_ELEMENT, backward, "element 83 of 84 is nan"},
    {OUTSIDE, backward, "buffer y of 336 bytes was written at byte 336"},
    {CHANGED_INPUT, backward, "input x was changed at byte"},
    {OTHER_BITS, backward, "a second run gives other bits in y"},
    {WHOLE_BATCH_ALONE, backward, "in two halves"},
    {WAITS, backward, "waited"},
    {ALLOCATES, backward, "took memory"},
};
#define FAULT_COUNT (sizeof faults / sizeof faults[0])

int main(void)
{
  struct CMUnitTest tests[FAULT_COUNT];
  for (size_t i = 0; i < FAULT_COUNT; i++)
    tests[i] = (struct CMUnitTest){.name = faults[i].words != NULL ? faults[i].words : "no fault",
                                   .test_func = check_fault,
                                   .initial_state = &faults[i]};
  return _cmocka_run_group_tests("checker", tests, FAULT_COUNT, NULL, NULL);
}
