#include "base/error.h"
#include "base/mem.h"
#include "clematis/device.h"
#include "dev/blas_check.h"
#include "op/registry.h"
#include "train/device_choice.h"
#include "train/selftest_run.h"

#include <stdio.h>

#define BATCH 3

typedef struct selftest_job {
  const clm_selftest_config *config;
  clm__device *device;
  clm_error first; /* the first failed check; status CLM_OK while there is none */
} selftest_job;

static void tell(selftest_job *job, const clm_selftest_result *result)
{
  if (job->config->on_result != NULL) job->config->on_result(job->config->user, result);
  if (result->passed || job->first.status != CLM_OK) return;
  (void)clm__error_fail(
      CLM_DEVICE_FAILED, __FILE__, __LINE__, __func__,
      "the self-test failed on %s: %s differs from its reference by %.3g, %.3g is "
      "allowed: another driver, or --variant plain, may help",
      result->device, result->what, result->error, result->allowed);
  job->first = *clm_error_last();
}

static clm_status check_products(selftest_job *job)
{
  clm__blas_verdict verdict;
  CLM_TRY(clm__blas_prepare(job->device, NULL));
  CLM_TRY(clm__blas_check(job->device, true, &verdict));
  char what[128];
  (void)snprintf(what, sizeof what, "%d matrix products, worst %zux%zux%zu", verdict.products,
                 verdict.worst.m, verdict.worst.n, verdict.worst.k);
  const clm_selftest_result result = {.device = job->device->info.id,
                                      .what = what,
                                      .passed = verdict.is_right,
                                      .error = verdict.worst_error,
                                      .allowed = CLM__BLAS_TOLERANCE};
  tell(job, &result);
  return CLM_OK;
}

static void tell_outcome(void *user, const clm__selftest_outcome *outcome)
{
  selftest_job *job = user;
  char input[CLM__SHAPE_TEXT_SIZE];
  char output[CLM__SHAPE_TEXT_SIZE];
  char what[256];
  (void)snprintf(what, sizeof what, "%s.%s %s %s -> %s%s", outcome->problem->op->name,
                 clm__pass_name(outcome->pass), outcome->variant,
                 clm__shape_text(&outcome->problem->inputs[0], input),
                 clm__shape_text(&outcome->problem->spec.output, output),
                 outcome->problem->training ? "" : " in inference");
  const clm_selftest_result result = {.device = job->device->info.id,
                                      .what = what,
                                      .passed = outcome->error <= CLM__SELFTEST_TOLERANCE,
                                      .error = outcome->error,
                                      .allowed = CLM__SELFTEST_TOLERANCE};
  tell(job, &result);
}

static clm_status check_op(selftest_job *job, const clm__op *op)
{
  for (const clm__ref_trial *trial = clm__ref_trials(op); trial->classes[0] != NULL; trial++) {
    clm__problem problem;
    void *attributes = NULL;
    CLM_TRY(clm__selftest_make_problem(trial, BATCH, &problem, &attributes));
    const clm_status status = clm__selftest_run(job->device, &problem, tell_outcome, job);
    clm__mem_free(attributes);
    CLM_TRY(status);
  }
  return CLM_OK;
}

static clm_status check_ops(selftest_job *job)
{
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++)
    CLM_TRY(check_op(job, *op));
  return CLM_OK;
}

static clm_status check_device(void *user, clm__device *device)
{
  selftest_job *job = user;
  job->device = device;
  CLM_TRY(check_products(job));
  return check_ops(job);
}

clm_status clm_selftest(const clm_selftest_config *config)
{
  selftest_job job = {.config = config};
  clm_run_config run = clm_run_config_default();
  run.devices = config->devices;
  run.log = config->log;
  CLM_TRY(clm__device_choice_each(&run, check_device, &job));
  return job.first.status == CLM_OK ? CLM_OK : clm__error_raise(&job.first);
}
