#include "launch/replica.h"

#include "base/log.h"
#include "base/mem.h"
#include "launch/exchange.h"
#include "launch/runner.h"
#include "launch/signals.h"
#include "launch/sshd.h"
#include "sys/clock.h"
#include "sys/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PORT_DEFAULT 2222
#define MEMBER_SIZE 32
#define LOOK_SECONDS_MAX 5.0

static int port_of(const clm__replica_job *job)
{
  if (job->config->ssh_port > 0) return job->config->ssh_port;
  return job->cluster->port > 0 ? job->cluster->port : PORT_DEFAULT;
}

static void member_name(const clm__member *member, char name[MEMBER_SIZE])
{
  (void)snprintf(name, MEMBER_SIZE, "%d-%d", member->pool, member->index);
}

/* Keys of the image's own in place of exchanged ones: FOLDER/id, id.pub, host, host.pub. */
static clm_status get_key(const char *key_dir, const char *name, const char *path)
{
  if (key_dir == NULL) return clm__sshd_make_key(path, "clematis");
  clm__str from = {0};
  clm__str to = {0};
  clm_status status = clm__str_add(&from, "%s/%s", key_dir, name);
  if (status == CLM_OK) status = clm__sshd_copy_key(clm__str_get(&from), path);
  if (status == CLM_OK) status = clm__str_add(&from, ".pub");
  if (status == CLM_OK) status = clm__str_add(&to, "%s.pub", path);
  if (status == CLM_OK) status = clm__sshd_copy_key(clm__str_get(&from), clm__str_get(&to));
  clm__str_fini(&from);
  clm__str_fini(&to);
  return status;
}

/* Makes the server's key and tells the others. */
static clm_status publish_own(const clm__replica_job *job, const clm__sshd *sshd)
{
  char member[MEMBER_SIZE];
  clm__str public_key = {0};
  member_name(&job->cluster->members[job->cluster->own], member);
  clm_status status = get_key(job->config->ssh_key_dir, "host", sshd->host_key);
  if (status == CLM_OK) status = clm__str_add(&public_key, "%s.pub", sshd->host_key);
  if (status == CLM_OK)
    status = clm__exchange_publish(job->folder, member, clm__str_get(&public_key), job->slots);
  clm__str_fini(&public_key);
  return status;
}

/* What a worker looks at while it serves: a chief that started anew has a new key. */
typedef struct worker_watch {
  const clm__replica_job *job;
  const clm__sshd *sshd;
} worker_watch;

static clm_status watch_chief(void *user)
{
  const worker_watch *watch = user;
  bool is_there = false;
  return clm__exchange_take_chief(watch->job->folder, watch->sshd->authorized_keys, &is_there);
}

static clm_status wait_for_chief(const clm__replica_job *job, const clm__sshd *sshd)
{
  const double seconds = job->config->start_timeout_seconds;
  const double end = clm__clock_seconds() + seconds;
  double pause = 0.2;
  for (;;) {
    bool is_there = false;
    CLM_TRY(clm__exchange_take_chief(job->folder, sshd->authorized_keys, &is_there));
    if (is_there) return CLM_OK;
    CLM_REQUIRE(clm__clock_seconds() < end, CLM_PEER_FAILED,
                "the chief published no key in %s within %.0f s: do all replicas see this folder?",
                job->folder, seconds);
    if (clm__signals_wait(pause) != 0) CLM_FAIL(CLM_STOPPED, "stopped while waiting for the chief");
    /* Folders on buckets remember for a while that a file was not there. */
    pause = pause * 1.5 < LOOK_SECONDS_MAX ? pause * 1.5 : LOOK_SECONDS_MAX;
  }
}

clm_status clm__replica_worker(const clm__replica_job *job)
{
  clm__sshd sshd;
  sigset_t before;
  CLM_TRY(clm__sshd_init(&sshd, port_of(job)));
  worker_watch watch = {.job = job, .sshd = &sshd};
  clm__signals_hold(&before);
  clm_status status = publish_own(job, &sshd);
  if (status == CLM_OK) status = wait_for_chief(job, &sshd);
  if (status == CLM_OK) status = clm__sshd_serve(&sshd, watch_chief, &watch);
  clm__signals_release(&before);
  clm__sshd_fini(&sshd);
  return status == CLM_STOPPED ? CLM_OK : status;
}

/* The chief's files and what it found out about the others. */
typedef struct chief_state {
  const clm__replica_job *job;
  clm__sshd sshd; /* the folder for keys; the chief serves nobody */
  char *client_key;
  char *known_hosts;
  clm__hosts hosts;
} chief_state;

static clm_status add_member(chief_state *chief, const clm__member *member, clm__str *known)
{
  char name[MEMBER_SIZE];
  clm__published published = {0};
  member_name(member, name);
  CLM_TRY(clm__exchange_read(chief->job->folder, name, &published));
  const size_t index = (size_t)(member - chief->job->cluster->members);
  chief->hosts.items[index].slots = published.slots;
  const clm_status status =
      clm__exchange_add_known(member->host, port_of(chief->job), published.host_key, known);
  clm__published_fini(&published);
  return status;
}

/* Reads what all members published; *missing gets the first that did not. */
static clm_status collect(chief_state *chief, const clm__member **missing)
{
  const clm__cluster *cluster = chief->job->cluster;
  clm__str known = {0};
  clm_status status = CLM_OK;
  *missing = NULL;
  for (size_t i = 0; i < cluster->count && *missing == NULL && status == CLM_OK; i++) {
    status = add_member(chief, &cluster->members[i], &known);
    if (status == CLM_NO_INPUT) *missing = &cluster->members[i];
    if (status == CLM_NO_INPUT) status = CLM_OK;
  }
  if (status == CLM_OK && *missing == NULL)
    status = clm__file_write(chief->known_hosts, known.text, known.length);
  clm__str_fini(&known);
  return status;
}

/* The ranks are known once every replica told its slots. */
static clm_status set_replicas(chief_state *chief)
{
  clm__plan *plan = chief->job->plan;
  const clm__cluster *cluster = chief->job->cluster;
  for (size_t i = 0; i < plan->replica_count; i++) clm__mem_free(plan->replicas[i].host);
  plan->replica_count = 0;
  plan->ranks = 0;
  for (size_t i = 0; i < cluster->count; i++) {
    const clm__replica replica = {.pool = cluster->members[i].pool,
                                  .index = cluster->members[i].index,
                                  .slots = chief->hosts.items[i].slots,
                                  .machine_type = "",
                                  .image = ""};
    CLM_TRY(clm__plan_add_replica(plan, &replica, cluster->members[i].host));
  }
  return CLM_OK;
}

/* Before every start, since a replica that came back has a new key. */
static clm_status refresh(void *user)
{
  chief_state *chief = user;
  const double seconds = chief->job->config->start_timeout_seconds;
  const double end = clm__clock_seconds() + seconds;
  double pause = 0.2;
  for (;;) {
    const clm__member *missing = NULL;
    CLM_TRY(collect(chief, &missing));
    if (missing == NULL) return set_replicas(chief);
    CLM_REQUIRE(clm__clock_seconds() < end, CLM_PEER_FAILED,
                "workerpool%d-%d published no key in %s within %.0f s: is it running?",
                missing->pool, missing->index, chief->job->folder, seconds);
    if (clm__signals_wait(pause) != 0) CLM_FAIL(CLM_STOPPED, "stopped while waiting for replicas");
    pause = pause * 1.5 < LOOK_SECONDS_MAX ? pause * 1.5 : LOOK_SECONDS_MAX;
  }
}

/* The chief's own line is its real host name, which may differ from that in the cluster and is what
 * mpirun takes for this machine. */
static clm_status name_hosts(chief_state *chief)
{
  const clm__cluster *cluster = chief->job->cluster;
  char own[256] = "localhost";
  (void)gethostname(own, sizeof own - 1);
  CLM_TRY(clm__mem_alloc(cluster->count, sizeof *chief->hosts.items, &chief->hosts.items));
  for (size_t i = 0; i < cluster->count; i++) {
    const char *name = i == cluster->own ? own : cluster->members[i].host;
    CLM_TRY(clm__mem_copy_text(name, &chief->hosts.items[i].name));
    chief->hosts.count++;
  }
  return CLM_OK;
}

static clm_status open_chief(const clm__replica_job *job, chief_state *chief)
{
  clm__str public_key = {0};
  *chief = (chief_state){.job = job};
  CLM_TRY(clm__sshd_init(&chief->sshd, port_of(job)));
  CLM_TRY(clm__file_join(chief->sshd.folder, "id", &chief->client_key));
  CLM_TRY(clm__file_join(chief->sshd.folder, "known_hosts", &chief->known_hosts));
  CLM_TRY(name_hosts(chief));
  CLM_TRY(publish_own(job, &chief->sshd));
  CLM_TRY(get_key(job->config->ssh_key_dir, "id", chief->client_key));
  clm_status status = clm__str_add(&public_key, "%s.pub", chief->client_key);
  if (status == CLM_OK)
    status = clm__exchange_publish_chief(job->folder, clm__str_get(&public_key));
  clm__str_fini(&public_key);
  return status;
}

static void close_chief(chief_state *chief)
{
  clm__hosts_fini(&chief->hosts);
  clm__mem_free(chief->client_key);
  clm__mem_free(chief->known_hosts);
  clm__sshd_fini(&chief->sshd);
}

clm_status clm__replica_chief(const clm__replica_job *job, int *exit_code)
{
  chief_state chief;
  clm__runner runner = {.plan = job->plan, .config = job->config, .log = job->log};
  clm_status status = open_chief(job, &chief);
  if (status == CLM_OK) status = clm__file_join(chief.sshd.folder, "hosts", &runner.host_file);
  if (status == CLM_OK) {
    runner.hosts = &chief.hosts;
    runner.ssh =
        (clm__ssh){.port = port_of(job), .key = chief.client_key, .known_hosts = chief.known_hosts};
    runner.refresh = refresh;
    runner.user = &chief;
    clm__log(job->log, CLM_LOG_INFO, "chief of %zu replicas, keys in %s", job->cluster->count,
             job->folder);
    status = clm__runner_run(&runner, exit_code);
  }
  clm__mem_free(runner.host_file);
  close_chief(&chief);
  return status;
}
