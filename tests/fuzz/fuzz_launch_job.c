/* Any bytes as a job description, as CLUSTER_SPEC and as a host file. */
#include "base/mem.h"
#include "launch/cluster.h"
#include "launch/engine_mpijob.h"
#include "launch/engine_slurm.h"
#include "launch/engine_vertex.h"
#include "launch/ssh.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static void print_all(const clm__spec *spec, const clm_launch_config *config)
{
  clm__plan plan;
  clm__str text = {0};
  if (clm__plan_make(spec, config, &plan) != CLM_OK) return;
  /* More replicas than a search needs take long to list. */
  if (plan.replica_count < 100) {
    (void)(clm__engine_slurm(&plan, config, &text) == CLM_OK);
    (void)(clm__engine_mpijob(&plan, config, &text) == CLM_OK);
    (void)(clm__engine_vertex(spec, config, &text) == CLM_OK);
    (void)(clm__plan_describe(&plan, CLM_LAUNCH_PROGRESS_LINES, &text) == CLM_OK);
  }
  clm__str_fini(&text);
  clm__plan_fini(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
  const clm_launch_config config = clm_launch_config_default();
  const clm__spec_use use = {.engine = CLM_ENGINE_VERTEX};
  clm__report report = {0};
  clm__spec spec;
  clm__cluster cluster;
  clm__hosts hosts;
  char *text = NULL;
  if (clm__mem_alloc(size_bytes + 1, 1, &text) != CLM_OK) return 0;
  if (size_bytes > 0) memcpy(text, bytes, size_bytes);
  if (clm__spec_read(text, "job", &use, &report, &spec) == CLM_OK) {
    print_all(&spec, &config);
    clm__spec_fini(&spec);
  }
  if (clm__cluster_read(text, "CLUSTER_SPEC", &cluster) == CLM_OK) clm__cluster_fini(&cluster);
  if (clm__hosts_read(text, "hosts", &hosts) == CLM_OK) clm__hosts_fini(&hosts);
  clm__mem_free(text);
  return 0;
}
