#include "launch/spec_rules.h"

#include "launch/checker.h"
#include "launch/machines.h"

#include <stdio.h>
#include <string.h>

#define ARGS_BYTES_MAX 100000
#define PATH_SIZE 160

/* A pool that is being looked at. */
typedef struct pool_view {
  clm__report *report;
  const clm__spec_use *use;
  clm__json_at at;
  size_t index;
  char path[PATH_SIZE]; /* "worker_pool_specs[1]" */
} pool_view;

static const char *get_text(const clm__json_at *object, const char *key)
{
  const clm__json_at at = clm__checker_find(object, key);
  const char *text = NULL;
  if (clm__json_kind_of(&at) != CLM__JSON_TEXT || clm__json_get_text(&at, &text) != CLM_OK)
    return NULL;
  return text;
}

static int64_t get_int(const clm__json_at *object, const char *key, int64_t otherwise)
{
  const clm__json_at at = clm__checker_find(object, key);
  int64_t value = otherwise;
  if (at.value == NULL || !clm__checker_read_int(&at, &value)) return otherwise;
  return value;
}

static bool get_bool(const clm__json_at *object, const char *key)
{
  const clm__json_at at = clm__checker_find(object, key);
  bool value = false;
  if (clm__json_kind_of(&at) != CLM__JSON_BOOL || clm__json_get_bool(&at, &value) != CLM_OK)
    return false;
  return value;
}

/* Adds a finding below the pool. */
static void say(const pool_view *pool, clm_finding_kind kind, const char *below, const char *text)
{
  char path[2 * PATH_SIZE];
  (void)snprintf(path, sizeof path, "%s%s", pool->path, below);
  clm__report_add(pool->report, kind, path, "%s", text);
}

static void check_shape(const pool_view *pool, const char *machine, const char *type, int64_t count)
{
  const char *allowed = "";
  char text[300];
  if (clm__machine_fits(machine, type, (int)count, &allowed)) return;
  (void)snprintf(text, sizeof text, "Vertex AI does not put %lld of %.60s into a %.60s; it takes%s",
                 (long long)count, type, machine, allowed);
  text[strlen(text) - 1] = '\0';
  say(pool, CLM_FINDING_WARNING, ".machine_spec.accelerator_count", text);
}

static void check_accelerators(const pool_view *pool, const clm__json_at *machine)
{
  const char *type = get_text(machine, "accelerator_type");
  const char *name = get_text(machine, "machine_type");
  const int64_t count = get_int(machine, "accelerator_count", 0);
  const bool is_typed = type != NULL && strcmp(type, "ACCELERATOR_TYPE_UNSPECIFIED") != 0;
  if (is_typed && strncmp(type, "TPU", 3) == 0) {
    say(pool, CLM_FINDING_ERROR, ".machine_spec.accelerator_type",
        "a TPU is no OpenCL device: name a GPU, or leave the accelerator out");
    return;
  }
  const clm__json_at count_at = clm__checker_find(machine, "accelerator_count");
  int64_t ignored = 0;
  const bool is_unreadable = count_at.value != NULL && !clm__checker_read_int(&count_at, &ignored);
  if (is_typed && count == 0 && !is_unreadable)
    say(pool, CLM_FINDING_ERROR, ".machine_spec.accelerator_count",
        "accelerator_type is given and the count is not: give both, or the job runs on the CPU");
  if (!is_typed && count > 0 && !pool->use->is_made)
    say(pool, CLM_FINDING_ERROR, ".machine_spec.accelerator_type",
        "accelerator_count is given and the type is not: give both or neither");
  if (get_text(machine, "gpu_partition_size") != NULL && count != 1)
    say(pool, CLM_FINDING_ERROR, ".machine_spec.accelerator_count",
        "must be 1 where gpu_partition_size is given");
  if (is_typed && count > 0 && name != NULL) check_shape(pool, name, type, count);
}

static void check_machine(const pool_view *pool)
{
  const clm__json_at machine = clm__checker_find(&pool->at, "machine_spec");
  const char *type = get_text(&machine, "machine_type");
  if (get_text(&machine, "tpu_topology") != NULL)
    say(pool, CLM_FINDING_ERROR, ".machine_spec.tpu_topology",
        "a TPU is no OpenCL device: leave it out");
  if (type == NULL && pool->use->engine == CLM_ENGINE_VERTEX)
    say(pool, CLM_FINDING_ERROR, ".machine_spec.machine_type",
        "missing; Vertex AI needs one, such as n1-standard-8");
  else if (type == NULL && !pool->use->is_made)
    say(pool, CLM_FINDING_WARNING, ".machine_spec.machine_type",
        "missing; Vertex AI would need one, such as n1-standard-8");
  check_accelerators(pool, &machine);
}

static bool is_identifier(const char *name)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return name[0] != '\0' && strchr("0123456789", name[0]) == NULL &&
         name[strspn(name, letters)] == '\0';
}

static void check_env(const pool_view *pool, const clm__json_at *env)
{
  const size_t count = clm__json_count(env);
  for (size_t i = 0; i < count && i <= 100; i++) {
    const clm__json_at entry = clm__json_item(env, i);
    const char *name = get_text(&entry, "name");
    char below[80];
    (void)snprintf(below, sizeof below, ".container_spec.env[%zu].name", i);
    if (name == NULL || name[0] == '\0') continue;
    if (!is_identifier(name))
      say(pool, CLM_FINDING_ERROR, below, "letters, digits and _ alone, no digit first");
    for (size_t k = 0; k < i; k++) {
      const clm__json_at earlier = clm__json_item(env, k);
      const char *other = get_text(&earlier, "name");
      if (other == NULL || strcmp(other, name) != 0) continue;
      say(pool, CLM_FINDING_ERROR, below, "this variable is given twice");
      break;
    }
  }
}

static void check_container(const pool_view *pool)
{
  const clm__json_at container = clm__checker_find(&pool->at, "container_spec");
  const clm__json_at python = clm__checker_find(&pool->at, "python_package_spec");
  if (python.value != NULL) {
    say(pool, CLM_FINDING_ERROR, ".python_package_spec",
        "Clematis is no Python package: describe its image in container_spec instead");
    return;
  }
  const char *image = get_text(&container, "image_uri");
  const bool has_image = image != NULL && image[0] != '\0';
  if (container.value == NULL)
    say(pool, CLM_FINDING_ERROR, ".container_spec", "missing");
  else if (!has_image && (pool->use->needs_image || !pool->use->is_made))
    say(pool, CLM_FINDING_ERROR, ".container_spec.image_uri",
        pool->use->is_made ? "missing: name the image with --image" : "missing");
  const clm__json_at args = clm__checker_find(&container, "args");
  size_t bytes = 0;
  for (size_t i = 0; i < clm__json_count(&args); i++) {
    const clm__json_at item = clm__json_item(&args, i);
    const char *text = NULL;
    if (clm__json_kind_of(&item) == CLM__JSON_TEXT && clm__json_get_text(&item, &text) == CLM_OK)
      bytes += strlen(text);
  }
  if (bytes > ARGS_BYTES_MAX)
    say(pool, CLM_FINDING_ERROR, ".container_spec.args",
        "more than 100000 characters in all, which Vertex AI refuses");
  const clm__json_at env = clm__checker_find(&container, "env");
  check_env(pool, &env);
}

/* Pool 0 is the chief, pool 1 the workers; the others have no part in an all-reduce. Whether the
 * pool is of a kind that counts. */
static bool check_role(const pool_view *pool, int64_t replicas)
{
  char text[200];
  if (pool->index == 0 && replicas > 1) {
    (void)snprintf(text, sizeof text,
                   "pool 0 is the chief and has exactly one replica, not %lld: put the other %lld "
                   "into worker_pool_specs[1]",
                   (long long)replicas, (long long)replicas - 1);
    say(pool, CLM_FINDING_ERROR, ".replica_count", text);
  } else if (pool->index == 2 && replicas > 0) {
    say(pool, CLM_FINDING_ERROR, "",
        "parameter and reduction servers have no part here: the replicas sum their gradients "
        "among themselves. Leave this pool out, or write {}");
  } else if (pool->index == 3 && replicas > 0) {
    say(pool, CLM_FINDING_ERROR, "",
        "evaluators are not supported: the chief validates after every epoch. Leave this pool "
        "out, or write {}");
  }
  return pool->index < 2;
}

static bool is_empty(const clm__json_at *pool)
{
  return clm__json_kind_of(pool) == CLM__JSON_OBJECT &&
         (clm__json_count(pool) == 0 || get_int(pool, "replica_count", 1) == 0);
}

static void check_pool(pool_view *pool, const char *prefix)
{
  (void)snprintf(pool->path, sizeof pool->path, "%sworker_pool_specs[%zu]", prefix, pool->index);
  if (clm__json_kind_of(&pool->at) != CLM__JSON_OBJECT) return;
  if (is_empty(&pool->at)) {
    if (pool->index == 0)
      say(pool, CLM_FINDING_ERROR, "", "pool 0 is the chief and has exactly one replica, not none");
    return;
  }
  if (!check_role(pool, get_int(&pool->at, "replica_count", 1))) return;
  check_container(pool);
  check_machine(pool);
}

/* All replicas run one program with one environment: MPI starts them as one. */
static void check_agreement(const clm__json_at *pools, const char *prefix, clm__report *report)
{
  static const char *const keys[] = {"command", "args", "env"};
  const clm__json_at chief = clm__json_item(pools, 0);
  const clm__json_at workers = clm__json_item(pools, 1);
  if (workers.value == NULL || is_empty(&chief) || is_empty(&workers)) return;
  const clm__json_at a = clm__checker_find(&chief, "container_spec");
  const clm__json_at b = clm__checker_find(&workers, "container_spec");
  if (a.value == NULL || b.value == NULL) return;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const clm__json_at left = clm__checker_find(&a, keys[i]);
    const clm__json_at right = clm__checker_find(&b, keys[i]);
    char path[PATH_SIZE];
    const bool both_empty = clm__json_count(&left) == 0 && clm__json_count(&right) == 0;
    if (both_empty || clm__json_equal(&left, &right)) continue;
    (void)snprintf(path, sizeof path, "%sworker_pool_specs[1].container_spec.%s", prefix, keys[i]);
    clm__report_add(report, CLM_FINDING_ERROR, path,
                    "must equal that of worker_pool_specs[0]: all ranks run the same command");
  }
}

static void check_scheduling(const clm__json_at *job, const char *prefix, const clm__spec_use *use,
                             clm__report *report)
{
  const clm__json_at scheduling = clm__checker_find(job, "scheduling");
  const clm__json_at wait = clm__checker_find(&scheduling, "max_wait_duration");
  const char *strategy = get_text(&scheduling, "strategy");
  char path[PATH_SIZE];
  if (wait.value != NULL && (strategy == NULL || strcmp(strategy, "FLEX_START") != 0)) {
    (void)snprintf(path, sizeof path, "%sscheduling.max_wait_duration", prefix);
    clm__report_add(report, CLM_FINDING_WARNING, path, "only counts with strategy FLEX_START");
  }
  const clm__json_at restart = clm__checker_find(&scheduling, "restart_job_on_worker_restart");
  (void)snprintf(path, sizeof path, "%sscheduling.restart_job_on_worker_restart", prefix);
  if (restart.value != NULL && use->engine != CLM_ENGINE_VERTEX)
    clm__report_add(report, CLM_FINDING_NOTE, path,
                    "a job is restarted as a whole in any case: MPI replaces no single rank");
  if (get_bool(&scheduling, "disable_retries") &&
      get_bool(&scheduling, "restart_job_on_worker_restart"))
    clm__report_add(report, CLM_FINDING_WARNING, path, "disable_retries makes this false");
}

static void check_tensorboard(const clm__json_at *job, const char *prefix, clm__report *report)
{
  char path[PATH_SIZE];
  (void)snprintf(path, sizeof path, "%stensorboard", prefix);
  if (get_text(job, "tensorboard") == NULL) return;
  if (get_text(job, "service_account") == NULL)
    clm__report_add(report, CLM_FINDING_ERROR, path, "needs service_account");
  if (get_text(job, "experiment") != NULL)
    clm__report_add(report, CLM_FINDING_ERROR, path,
                    "tensorboard and experiment exclude each "
                    "other: give one of them");
}

void clm__spec_rules(const clm__json_at *job, const char *prefix, const clm__spec_use *use,
                     clm__report *report)
{
  const bool is_list = clm__json_kind_of(job) == CLM__JSON_LIST;
  const clm__json_at pools = is_list ? *job : clm__checker_find(job, "worker_pool_specs");
  for (size_t i = 0; i < clm__json_count(&pools) && i < CLM__POOLS_MAX; i++) {
    pool_view pool = {.report = report, .use = use, .at = clm__json_item(&pools, i), .index = i};
    check_pool(&pool, prefix);
  }
  check_agreement(&pools, prefix, report);
  if (is_list) return;
  check_scheduling(job, prefix, use, report);
  check_tensorboard(job, prefix, report);
}
