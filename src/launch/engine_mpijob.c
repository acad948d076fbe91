#include "launch/engine_mpijob.h"

#include "base/mem.h"
#include "io/json.h"
#include "launch/json_text.h"

#include <ctype.h>
#include <string.h>

#define NAME_LENGTH_MAX 40
/* Where the operator puts the keys: the home of the image's user, which is not root. */
#define KEY_FOLDER "/home/clematis/.ssh"

/* A label of DNS: lower-case letters, digits and '-', a letter first; the operator adds to it. */
static void choose_name(const char *wanted, char name[NAME_LENGTH_MAX + 1])
{
  size_t length = 0;
  for (; *wanted != '\0' && length < NAME_LENGTH_MAX; wanted++) {
    const int c = tolower((unsigned char)*wanted);
    const bool is_letter = c < 0x80 && islower(c);
    if (length == 0 && !is_letter) continue;
    name[length++] = is_letter || (c < 0x80 && isdigit(c)) ? (char)c : '-';
  }
  while (length > 0 && name[length - 1] == '-') length--;
  name[length] = '\0';
  if (length == 0) memcpy(name, "clematis", 9);
}

static void put_words(clm__json_writer *json, const char *key, const clm__words *words)
{
  clm__json_begin_list(json, key);
  for (size_t i = 0; i < words->count; i++) clm__json_put_text(json, NULL, words->items[i]);
  clm__json_end_list(json);
}

static clm_status put_env(clm__json_writer *json, const clm__words *env)
{
  clm__json_begin_list(json, "env");
  for (size_t i = 0; i < env->count; i++) {
    const size_t length = strcspn(env->items[i], "=");
    clm__str name = {0};
    CLM_TRY(clm__str_add_bytes(&name, env->items[i], length));
    clm__json_begin_object(json, NULL);
    clm__json_put_text(json, "name", clm__str_get(&name));
    clm__json_put_text(json, "value", env->items[i] + length + 1);
    clm__json_end_object(json);
    clm__str_fini(&name);
  }
  clm__json_end_list(json);
  return CLM_OK;
}

static void put_resources(clm__json_writer *json, const clm__plan *plan,
                          const clm_launch_config *config)
{
  const clm__replica *replica = &plan->replicas[0];
  if (replica->accelerators == 0 && replica->processors == 0) return;
  clm__json_begin_object(json, "resources");
  clm__json_begin_object(json, "limits");
  /* One is left to the machine's own services, or the pod would fit on none of its kind. */
  const int processors = replica->processors > 1 ? replica->processors - 1 : replica->processors;
  if (processors > 0) clm__json_put_int(json, "cpu", processors);
  if (replica->accelerators > 0)
    clm__json_put_int(json, config->gpu_resource, replica->accelerators);
  clm__json_end_object(json);
  clm__json_end_object(json);
}

/* What the container runs: the entry point of the image, which finds its role, or the job's own
 * command under the launcher's care. */
static clm_status put_command(clm__json_writer *json, const clm__plan *plan,
                              const clm_launch_config *config)
{
  clm__words command = {0};
  clm__words args = {0};
  clm_status status = clm__words_add(&command, config->program);
  if (status == CLM_OK) status = clm__words_add(&command, "entrypoint");
  if (status == CLM_OK && !plan->is_own) status = clm__words_add(&command, "--own-command");
  if (status == CLM_OK) status = clm__words_addf(&command, "--max-restarts=%d", plan->max_restarts);
  if (status == CLM_OK)
    status = clm__words_addf(&command, "--base-output-dir=%s", plan->output_uri);
  if (status == CLM_OK) status = clm__words_add(&command, "--ssh-key-dir=" KEY_FOLDER);
  if (status == CLM_OK) status = clm__words_add(&command, "--");
  if (status == CLM_OK && !plan->is_own)
    status =
        clm__words_add_list(&args, (const char *const *)plan->command.items, plan->command.count);
  if (status == CLM_OK)
    status = clm__words_add_list(&args, (const char *const *)plan->rest.items, plan->rest.count);
  if (status == CLM_OK) {
    put_words(json, "command", &command);
    put_words(json, "args", &args);
  }
  clm__words_fini(&command);
  clm__words_fini(&args);
  return status;
}

static clm_status put_replica(clm__json_writer *json, const char *key, size_t count,
                              const clm__plan *plan, const clm_launch_config *config)
{
  clm__json_begin_object(json, key);
  clm__json_put_int(json, "replicas", (int64_t)count);
  clm__json_put_text(json, "restartPolicy", "OnFailure");
  clm__json_begin_object(json, "template");
  clm__json_begin_object(json, "spec");
  clm__json_put_int(json, "terminationGracePeriodSeconds",
                    (int64_t)config->stop_grace_seconds + 30);
  clm__json_begin_list(json, "containers");
  clm__json_begin_object(json, NULL);
  clm__json_put_text(json, "name", "clematis");
  clm__json_put_text(json, "image", plan->replicas[0].image);
  CLM_TRY(put_command(json, plan, config));
  CLM_TRY(put_env(json, &plan->env));
  put_resources(json, plan, config);
  clm__json_end_object(json);
  clm__json_end_list(json);
  clm__json_end_object(json);
  clm__json_end_object(json);
  clm__json_end_object(json);
  return CLM_OK;
}

static void put_policy(clm__json_writer *json, const clm__plan *plan)
{
  clm__json_begin_object(json, "runPolicy");
  clm__json_put_text(json, "cleanPodPolicy", "Running");
  clm__json_put_int(json, "backoffLimit", plan->max_restarts);
  if (plan->timeout_seconds > 0.0)
    clm__json_put_int(json, "activeDeadlineSeconds", (int64_t)(plan->timeout_seconds + 0.999));
  clm__json_end_object(json);
}

static clm_status put_job(clm__json_writer *json, const clm__plan *plan,
                          const clm_launch_config *config)
{
  char name[NAME_LENGTH_MAX + 1];
  choose_name(plan->name, name);
  clm__json_begin_object(json, NULL);
  clm__json_put_text(json, "apiVersion", "kubeflow.org/v2beta1");
  clm__json_put_text(json, "kind", "MPIJob");
  clm__json_begin_object(json, "metadata");
  clm__json_put_text(json, "name", name);
  if (config->kube_namespace != NULL) clm__json_put_text(json, "namespace", config->kube_namespace);
  clm__json_end_object(json);
  clm__json_begin_object(json, "spec");
  clm__json_put_int(json, "slotsPerWorker", plan->replicas[0].slots);
  if (plan->replica_count > 1) clm__json_put_bool(json, "runLauncherAsWorker", true);
  clm__json_put_text(json, "launcherCreationPolicy", "WaitForWorkersReady");
  clm__json_put_text(json, "mpiImplementation", "OpenMPI");
  clm__json_put_text(json, "sshAuthMountPath", KEY_FOLDER);
  put_policy(json, plan);
  clm__json_begin_object(json, "mpiReplicaSpecs");
  CLM_TRY(put_replica(json, "Launcher", 1, plan, config));
  if (plan->replica_count > 1)
    CLM_TRY(put_replica(json, "Worker", plan->replica_count - 1, plan, config));
  clm__json_end_object(json);
  clm__json_end_object(json);
  clm__json_end_object(json);
  return CLM_OK;
}

clm_status clm__engine_mpijob(const clm__plan *plan, const clm_launch_config *config,
                              clm__str *manifest)
{
  CLM_REQUIRE(clm__plan_is_even(plan), CLM_UNSUPPORTED,
              "an MPIJob gives every pod the same number of ranks, and here they differ: give both "
              "pools the same accelerator_count, or set --ranks-per-replica");
  clm__json_writer json = {0};
  clm_status status = put_job(&json, plan, config);
  if (status != CLM_OK) {
    clm__json_writer_fini(&json);
    return status;
  }
  char *text = NULL;
  CLM_TRY(clm__json_take(&json, &text));
  status = clm__json_text_add(text, config->yaml != 0, manifest);
  clm__mem_free(text);
  return status;
}
