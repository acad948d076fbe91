#include "launch/roles.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

clm_role clm__role_decide(const char *(*get)(void *user, const char *name), void *user,
                          const char **reason)
{
  /* In the order of what is nearest: a rank inside a Vertex replica is a rank. */
  static const struct {
    const char *name;
    const char *value; /* NULL: any but the empty one; "{": holds a cluster */
    clm_role role;
  } rules[] = {
      {"OMPI_COMM_WORLD_SIZE", NULL, CLM_ROLE_RANK},
      {"PMIX_RANK", NULL, CLM_ROLE_RANK},
      {"K_MPI_JOB_ROLE", "launcher", CLM_ROLE_MPIJOB_LAUNCHER},
      {"K_MPI_JOB_ROLE", "worker", CLM_ROLE_MPIJOB_WORKER},
      {"CLUSTER_SPEC", NULL, CLM_ROLE_REPLICA},
      {"TF_CONFIG", "{", CLM_ROLE_REPLICA},
      {"SLURM_JOB_ID", NULL, CLM_ROLE_SLURM},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const char *value = get(user, rules[i].name);
    if (value == NULL || value[0] == '\0') continue;
    const bool is_cluster = rules[i].value != NULL && rules[i].value[0] == '{';
    if (is_cluster && strstr(value, "\"cluster\"") == NULL) continue;
    if (!is_cluster && rules[i].value != NULL && strcmp(rules[i].value, value) != 0) continue;
    *reason = rules[i].name;
    return rules[i].role;
  }
  *reason = "";
  return CLM_ROLE_ALONE;
}

static const char *get_variable(void *user, const char *name)
{
  (void)user;
  return getenv(name);
}

clm_role clm_role_find(const char **reason) { return clm__role_decide(get_variable, NULL, reason); }
