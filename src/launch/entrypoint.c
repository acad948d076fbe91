/* The program in a container or batch job: what each role does. */
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "launch/exchange.h"
#include "launch/expand.h"
#include "launch/replica.h"
#include "launch/runner.h"
#include "launch/signals.h"
#include "launch/sshd.h"
#include "sys/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_VERTEX_RETRY 134
#define MPIJOB_PORT 2222
#define HOST_FILE_BYTES_MAX ((size_t)1 << 20)

typedef struct entry_state {
  const clm_launch_config *config;
  const clm_log *log;
  clm__plan plan;
} entry_state;

static const char *get_variable(const char *name)
{
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/* The job's output folder: the option, else the folder above AIP_MODEL_DIR. */
static clm_status find_output(const clm_launch_config *config, char **output)
{
  static const char last[] = "/model";
  const char *model = get_variable("AIP_MODEL_DIR");
  clm__str path = {0};
  if (config->base_output_dir != NULL) return clm__mem_copy_text(config->base_output_dir, output);
  if (model == NULL) return CLM_OK;
  size_t length = strlen(model);
  while (length > 1 && model[length - 1] == '/') length--;
  if (length > strlen(last) && memcmp(model + length - strlen(last), last, strlen(last)) == 0)
    length -= strlen(last);
  clm_status status = clm__str_add_bytes(&path, model, length);
  if (status == CLM_OK) status = clm__str_take(&path, output);
  clm__str_fini(&path);
  return status;
}

static int slots_of(const clm_launch_config *config)
{
  if (config->ranks_per_replica > 0) return config->ranks_per_replica;
  return config->local_devices > 0 ? config->local_devices : 1;
}

static clm_status add_one_machine(entry_state *entry, int slots)
{
  const clm__replica replica = {.slots = slots, .machine_type = "", .image = ""};
  return clm__plan_add_replica(&entry->plan, &replica, NULL);
}

static clm_status run_alone(entry_state *entry, int *exit_code)
{
  clm__runner runner = {.plan = &entry->plan, .config = entry->config, .log = entry->log};
  CLM_TRY(add_one_machine(entry, slots_of(entry->config)));
  return clm__runner_run(&runner, exit_code);
}

/* mpirun asks Slurm for hosts and slots; the number of ranks is that of its tasks. */
static clm_status run_slurm(entry_state *entry, int *exit_code)
{
  clm__runner runner = {
      .plan = &entry->plan, .config = entry->config, .log = entry->log, .by_scheduler = true};
  const char *tasks = get_variable("SLURM_NTASKS");
  const int count = tasks != NULL ? (int)strtol(tasks, NULL, 10) : 0;
  CLM_TRY(add_one_machine(entry, count > 0 ? count : slots_of(entry->config)));
  return clm__runner_run(&runner, exit_code);
}

/* A folder of this job alone: by the service's number of the job, else by its hosts. */
static clm_status exchange_folder(const clm__plan *plan, const clm__cluster *cluster, char **folder)
{
  const char *id = get_variable("CLOUD_ML_JOB_ID");
  uint64_t hash = CLM__HASH_START;
  clm__str name = {0};
  CLM_REQUIRE(plan->output != NULL, CLM_USAGE,
              "the replicas exchange ssh keys through a shared folder, and none is named: set the "
              "job's base_output_directory, or --base-output-dir");
  for (size_t i = 0; i < cluster->count; i++) hash = clm__hash_text(hash, cluster->members[i].host);
  const bool is_usable = id != NULL && strspn(id, "0123456789") == strlen(id);
  clm_status status = is_usable ? clm__str_add(&name, ".launch/%s", id)
                                : clm__str_add(&name, ".launch/cluster-%016" PRIx64, hash);
  if (status == CLM_OK) status = clm__file_join(plan->output, clm__str_get(&name), folder);
  clm__str_fini(&name);
  return status;
}

static clm_status run_replica_of(entry_state *entry, const clm__cluster *cluster, int *exit_code)
{
  char *folder = NULL;
  if (cluster->count == 1) return run_alone(entry, exit_code);
  CLM_TRY(exchange_folder(&entry->plan, cluster, &folder));
  const clm__replica_job job = {.config = entry->config,
                                .log = entry->log,
                                .cluster = cluster,
                                .plan = &entry->plan,
                                .folder = folder,
                                .slots = slots_of(entry->config)};
  clm_status status = CLM_OK;
  if (cluster->own == 0) {
    status = clm__replica_chief(&job, exit_code);
  } else {
    status = clm__replica_worker(&job);
    if (status == CLM_OK) *exit_code = 0;
  }
  clm__mem_free(folder);
  return status;
}

/* Vertex AI starts a job again for few statuses only; 134 is one. */
static int vertex_code(const clm_launch_config *config, int code)
{
  const bool is_final = code == 0 || code == 64 || code == 65 || code == 66 || code == 78;
  return config->vertex_retry && !is_final ? EXIT_VERTEX_RETRY : code;
}

static clm_status run_replica(entry_state *entry, int *exit_code)
{
  const char *name = get_variable("CLUSTER_SPEC") != NULL ? "CLUSTER_SPEC" : "TF_CONFIG";
  clm__cluster cluster;
  int code = 0;
  CLM_TRY(clm__cluster_read(get_variable(name), name, &cluster));
  const bool is_chief = cluster.own == 0;
  const clm_status status = run_replica_of(entry, &cluster, &code);
  clm__cluster_fini(&cluster);
  CLM_TRY(status);
  *exit_code = is_chief ? vertex_code(entry->config, code) : code;
  return CLM_OK;
}

/* Where the operator puts the job's key pair: all pods have it, so it serves as host key too, and
 * the launcher can be strict about who answers. */
static clm_status mpijob_keys(const clm_launch_config *config, clm__str *folder)
{
  const char *home = get_variable("HOME");
  if (config->ssh_key_dir != NULL) return clm__str_add(folder, "%s", config->ssh_key_dir);
  return clm__str_add(folder, "%s/.ssh", home != NULL ? home : "/root");
}

static clm_status copy_mpijob_key(const clm_launch_config *config, const char *to,
                                  clm__str *public_key)
{
  clm__str path = {0};
  clm_status status = mpijob_keys(config, &path);
  if (status == CLM_OK) status = clm__str_add(public_key, "%s/id_rsa.pub", clm__str_get(&path));
  if (status == CLM_OK) status = clm__str_add(&path, "/id_rsa");
  if (status == CLM_OK) status = clm__sshd_copy_key(clm__str_get(&path), to);
  clm__str_fini(&path);
  return status;
}

static int mpijob_port(const clm_launch_config *config)
{
  return config->ssh_port > 0 ? config->ssh_port : MPIJOB_PORT;
}

static clm_status run_mpijob_worker(entry_state *entry, int *exit_code)
{
  clm__sshd sshd;
  sigset_t before;
  clm__str public_key = {0};
  CLM_TRY(clm__sshd_init(&sshd, mpijob_port(entry->config)));
  clm__signals_hold(&before);
  clm_status status = copy_mpijob_key(entry->config, sshd.host_key, &public_key);
  if (status == CLM_OK)
    status = clm__sshd_copy_key(clm__str_get(&public_key), sshd.authorized_keys);
  if (status == CLM_OK) status = clm__sshd_serve(&sshd, NULL, NULL);
  clm__signals_release(&before);
  clm__str_fini(&public_key);
  clm__sshd_fini(&sshd);
  if (status == CLM_OK) *exit_code = 0;
  return status;
}

static clm_status read_operator_hosts(const clm_launch_config *config, clm__hosts *hosts)
{
  const char *path = config->host_file != NULL ? config->host_file : "/etc/mpi/hostfile";
  char *text = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__file_read(path, HOST_FILE_BYTES_MAX, &text, &size_bytes));
  const clm_status status = clm__hosts_read(text, path, hosts);
  clm__mem_free(text);
  return status;
}

/* One key for all hosts: the job's. */
static clm_status write_known_hosts(const char *public_key_file, const char *path)
{
  char *key = NULL;
  size_t size_bytes = 0;
  clm__str line = {0};
  CLM_TRY(clm__file_read(public_key_file, HOST_FILE_BYTES_MAX, &key, &size_bytes));
  clm_status status = clm__str_add(&line, "* %.*s\n", (int)strcspn(key, "\r\n"), key);
  if (status == CLM_OK) status = clm__file_write(path, line.text, line.length);
  clm__mem_free(key);
  clm__str_fini(&line);
  return status;
}

/* The name under which mpirun knows this machine. */
static clm_status rename_host(clm__host *host)
{
  char own[256] = "localhost";
  char *name = NULL;
  (void)gethostname(own, sizeof own - 1);
  CLM_TRY(clm__mem_copy_text(own, &name));
  clm__mem_free(host->name);
  host->name = name;
  return CLM_OK;
}

static clm_status run_with_operator_hosts(entry_state *entry, clm__hosts *hosts,
                                          const clm__sshd *files, int *exit_code)
{
  clm__runner runner = {
      .plan = &entry->plan,
      .config = entry->config,
      .log = entry->log,
      .hosts = hosts,
      .ssh = {.port = mpijob_port(entry->config),
              .key = files->host_key,
              .known_hosts = files->authorized_keys},
  };
  for (size_t i = 0; i < hosts->count; i++) {
    clm__host *host = &hosts->items[i];
    if (host->slots == 0) host->slots = slots_of(entry->config);
    if (clm__hosts_is_here(host->name)) CLM_TRY(rename_host(host));
    CLM_TRY(add_one_machine(entry, host->slots));
  }
  CLM_TRY(clm__file_join(files->folder, "hosts", &runner.host_file));
  const clm_status status = clm__runner_run(&runner, exit_code);
  clm__mem_free(runner.host_file);
  return status;
}

static clm_status run_mpijob_launcher(entry_state *entry, int *exit_code)
{
  clm__sshd files; /* a folder for keys: the launcher serves nobody */
  clm__hosts hosts = {0};
  clm__str public_key = {0};
  clm_status status = read_operator_hosts(entry->config, &hosts);
  /* A job without workers has no host file, or only this pod in it. */
  if (status == CLM_NO_INPUT || (status == CLM_OK && hosts.count <= 1)) {
    clm__hosts_fini(&hosts);
    return run_alone(entry, exit_code);
  }
  CLM_TRY(status);
  status = clm__sshd_init(&files, mpijob_port(entry->config));
  if (status == CLM_OK) {
    status = copy_mpijob_key(entry->config, files.host_key, &public_key);
    if (status == CLM_OK)
      status = write_known_hosts(clm__str_get(&public_key), files.authorized_keys);
    if (status == CLM_OK) status = run_with_operator_hosts(entry, &hosts, &files, exit_code);
    clm__sshd_fini(&files);
  }
  clm__str_fini(&public_key);
  clm__hosts_fini(&hosts);
  return status;
}

static clm_status run_role(clm_role role, entry_state *entry, int *exit_code)
{
  switch (role) {
  case CLM_ROLE_MPIJOB_LAUNCHER:
    return run_mpijob_launcher(entry, exit_code);
  case CLM_ROLE_MPIJOB_WORKER:
    return run_mpijob_worker(entry, exit_code);
  case CLM_ROLE_REPLICA:
    return run_replica(entry, exit_code);
  case CLM_ROLE_SLURM:
    return run_slurm(entry, exit_code);
  case CLM_ROLE_ALONE:
    return run_alone(entry, exit_code);
  case CLM_ROLE_RANK:
    break;
  }
  CLM_FAIL(CLM_USAGE, "a rank trains in its own process");
}

clm_status clm_entrypoint_run(clm_role role, const clm_launch_config *config, const clm_log *log,
                              int *exit_code)
{
  entry_state entry = {.config = config, .log = log};
  char *output = NULL;
  int code = 0;
  clm_status status = find_output(config, &output);
  if (status == CLM_OK) status = clm__plan_make_plain(config, output, &entry.plan);
  if (status == CLM_OK) status = run_role(role, &entry, &code);
  clm__plan_fini(&entry.plan);
  clm__mem_free(output);
  CLM_TRY(status);
  *exit_code = code;
  return CLM_OK;
}
