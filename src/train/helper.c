#define _GNU_SOURCE
#include "train/helper.h"

#include "base/mem.h"
#include "dev/program.h"
#include "exec/replica.h"
#include "sys/file.h"
#include "sys/thread.h"
#include "train/device_choice.h"
#include "train/session_model.h"

#include <errno.h>
#include <float.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What it has to know beside the configuration. */
typedef struct orders {
  int class_count;
  int batch_max;
} orders;

struct clm__helper {
  pid_t process;
  int line; /* its end tells the helper to end */
  orders orders;
};

/* ---- the helper ---- */

static bool read_orders(int line, orders *given)
{
  ssize_t got = 0;
  do got = read(line, given, sizeof *given);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)sizeof *given;
}

/* Ends the process with the one that wants its help, however that ends. */
static void *watch(void *argument)
{
  char byte = 0;
  const int *line = argument;
  while (read(*line, &byte, 1) < 0 && errno == EINTR) continue;
  _exit(0);
}

/* What the driver has yet to do for that would keep a short run from ending. Whoever trains goes
 * first. */
static void keep_programs(clm__device *device)
{
  (void)!nice(19);
  clm__program_store(device, DBL_MAX);
}

static clm_status rehearse(const clm_train_config *config, const orders *given)
{
  clm_run_config run = config->run;
  run.log = NULL;
  clm__model_file model = {0};
  clm__device *device = NULL;
  clm__tune *tune = NULL;
  clm__replica *replica = NULL;
  CLM_TRY(clm__session_make_model(config, given->class_count, &model));
  CLM_TRY(clm__device_choice_open(&run, &device, &tune));
  const clm__replica_config made = {.device = device,
                                    .graph = model.graph,
                                    .weights = model.weights,
                                    .batch_max = given->batch_max,
                                    .loss = model.compile.loss,
                                    .loss_attributes = model.compile.loss_attributes,
                                    .optim_state = model.optim_state,
                                    .seed = config->seed,
                                    .tune = tune,
                                    .variant = run.variant};
  CLM_TRY(clm__replica_create(&made, &replica));
  CLM_TRY(clm__replica_rehearse(replica, given->batch_max));
  clm__replica_destroy(replica);
  keep_programs(device);
  return CLM_OK;
}

/* Nothing is put in order at the end: closing the device would keep its programs once more. */
static _Noreturn void help(const clm_train_config *config, int line)
{
  orders given;
  clm__thread watcher = {0};
  if (read_orders(line, &given) && clm__thread_start(&watcher, "clm-watch", watch, &line) == CLM_OK)
    (void)(rehearse(config, &given) == CLM_OK);
  _exit(0);
}

/* ---- whom it helps ---- */

static void start(const clm_train_config *config, clm__helper *helper, const int ends[2])
{
  helper->line = ends[1];
  helper->process = fork();
  if (helper->process == 0) {
    (void)close(ends[1]);
    help(config, ends[0]);
  }
  (void)close(ends[0]);
}

/* A process forked from one with several threads may find locks that nobody gives back. */
static bool is_alone(void)
{
  clm__file_listing tasks = {0};
  if (clm__file_list("/proc/self/task", &tasks) != CLM_OK) {
    clm_error_clear();
    return false;
  }
  const bool alone = tasks.count == 1;
  clm__file_listing_fini(&tasks);
  return alone;
}

void clm__helper_start(const clm_train_config *config, clm__helper **helper)
{
  int ends[2];
  clm__helper *made = NULL;
  if (!is_alone()) return;
  if (clm__mem_alloc(1, sizeof *made, &made) != CLM_OK) {
    clm_error_clear();
    return;
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    clm__mem_free(made);
    return;
  }
  start(config, made, ends);
  if (made->process < 0) {
    (void)close(made->line);
    clm__mem_free(made);
    return;
  }
  *helper = made;
}

void clm__helper_end(clm__helper *helper)
{
  if (helper == NULL) return;
  (void)close(helper->line);
  while (waitpid(helper->process, NULL, 0) < 0 && errno == EINTR) continue;
  clm__mem_free(helper);
}

static void call(void *user)
{
  const clm__helper *helper = user;
  ssize_t put = 0;
  do put = send(helper->line, &helper->orders, sizeof helper->orders, MSG_NOSIGNAL);
  while (put < 0 && errno == EINTR);
}

void clm__helper_serve(clm__helper *helper, clm__device *device, int class_count, int batch_max)
{
  const bool is_pocl = strcmp(device->info.platform, "Portable Computing Language") == 0;
  if (helper == NULL || !is_pocl || clm__thread_processors() < 2) return;
  helper->orders = (orders){.class_count = class_count, .batch_max = batch_max};
  device->on_compile_user = helper;
  device->on_compile = call;
}
