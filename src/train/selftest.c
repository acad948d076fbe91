#include "base/error.h"
#include "clematis/device.h"
#include "dev/blas_check.h"
#include "train/device_choice.h"

#include <stdio.h>

typedef struct selftest_job {
  const clm_selftest_config *config;
  clm__device *device;
  clm_error first; /* the first failed check; status CLM_OK while there is none */
} selftest_job;

static void tell(selftest_job *job, const clm_selftest_result *result)
{
  if (job->config->on_result != NULL) job->config->on_result(job->config->user, result);
  if (result->passed || job->first.status != CLM_OK) return;
  (void)clm__error_fail(CLM_DEVICE_FAILED, __FILE__, __LINE__, __func__,
                        "the self-test failed on %s: %s differs from its reference by %g, %g is "
                        "allowed: another driver, or --variant plain, may help",
                        result->device, result->what, result->error, result->allowed);
  job->first = *clm_error_last();
}

static clm_status check_products(selftest_job *job)
{
  clm__blas_verdict verdict;
  CLM_TRY(clm__blas_prepare(job->device));
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

clm_status clm_selftest(const clm_selftest_config *config)
{
  clm_run_config run = clm_run_config_default();
  run.devices = config->devices;
  run.log = config->log;
  selftest_job job = {.config = config};
  clm__tune *tune = NULL;
  CLM_TRY(clm__device_choice_open(&run, &job.device, &tune));
  const clm_status status = check_products(&job);
  clm__tune_close(tune);
  clm__device_close(job.device);
  CLM_TRY(status);
  return job.first.status == CLM_OK ? CLM_OK : clm__error_raise(&job.first);
}
