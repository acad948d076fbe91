#define _GNU_SOURCE
#include "bench/scale.h"
#include "bench/turns.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* What the launcher says before MPI is asked: threads inherit it only if it comes first. */
static int read_number(const char *name, int otherwise)
{
  const char *text = getenv(name);
  return text != NULL ? (int)strtol(text, NULL, 10) : otherwise;
}

static clm_status pin(void)
{
  const int rank = read_number("OMPI_COMM_WORLD_LOCAL_RANK", 0);
  const int size = read_number("OMPI_COMM_WORLD_LOCAL_SIZE", 1);
  const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), share = cores / size;
  CLM_REQUIRE(share > 0, CLM_UNSUPPORTED, "%d ranks need as many cores; here are %d", size, cores);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < share; i++) CPU_SET((size_t)(rank * share + i), &set);
  CLM_REQUIRE(sched_setaffinity(0, sizeof set, &set) == 0, CLM_UNSUPPORTED,
              "the system does not let a process choose its cores");
  return CLM_OK;
}

static clm_status work(const char *folder, bench_act *act)
{
  const int rank = clm__comm_get_rank(act->config.comm);
  for (;;) {
    turn_order order = {0};
    act_figures figures;
    CLM_TRY(turns_wait(folder, rank, &order));
    if (order.steps == 0) return CLM_OK;
    CLM_TRY(act_turn(act, order.steps, order.sums, &figures));
    if (rank == 0) CLM_TRY(turns_answer(folder, &figures));
  }
}

clm_status scale_be_rank(const char *folder, int batch, bool on_half)
{
  clm__comm *comm = NULL;
  bench_act act = {0};
  if (on_half) CLM_TRY(pin());
  CLM_TRY(clm__comm_open(NULL, &comm));
  const act_config config = {.comm = comm,
                             .part = on_half ? clm__comm_get_rank(comm) : 0,
                             .part_count = on_half ? clm__comm_get_size(comm) : 1,
                             .device_count = 1,
                             .batch = batch};
  clm_status status = act_open(&act, &config);
  if (status == CLM_OK) status = work(folder, &act);
  act_close(&act);
  clm__comm_close(comm);
  return status;
}
