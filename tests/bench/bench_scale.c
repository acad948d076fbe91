/* What two replicas are worth: a CPU whole, in two halves, and by two ranks with a half each, in
 * images/s of training steps of the flowers network; and how much of the sums between ranks hides
 * behind backward. Runs itself under mpirun for the ranks. */
#include "base/mem.h"
#include "bench/trainee.h"
#include "dev/device.h"
#include "sys/clock.h"
#include "train/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 32
#define STEPS 6

/* A team on `count` parts of the CPU. */
typedef struct act {
  clm__comm *comm;
  clm__device *devices[2];
  int device_count;
  bench_trainee trainee; /* model and images */
  clm__team *team;
  int64_t iterations;
} act;

static void must(clm_status status)
{
  if (status == CLM_OK) return;
  (void)fprintf(stderr, "bench_scale: %s\n", clm_error_last()->message);
  exit(1);
}

static void open_cpu(int part, int part_count, clm__device **device)
{
  clm__device_info *infos = NULL;
  clm__device_choice *chosen = NULL;
  size_t count = 0, chosen_count = 0;
  must(clm__device_list(NULL, &infos, &count));
  must(clm__device_select(infos, count, "cpu", &chosen, &chosen_count));
  const clm__device_choice choice = {
      .index = chosen[0].index, .part = part, .part_count = part_count};
  must(clm__device_open(&infos[choice.index], &choice, &(clm__device_options){0}, device));
  clm__mem_free(chosen);
  clm__mem_free(infos);
}

static void open_act(act *made)
{
  const trainee_config config = {
      .device = made->devices[0], .net = "flowers", .batch = BATCH, .use = TRAINEE_TRAINS};
  must(trainee_open(&made->trainee, &config));
  clm__replica_destroy(made->trainee.replica);
  made->trainee.replica = NULL;
  const clm__model_file *model = &made->trainee.model;
  const clm__team_config team = {.devices = made->devices,
                                 .device_count = made->device_count,
                                 .comm = made->comm,
                                 .replica = {.graph = model->graph,
                                             .weights = model->weights,
                                             .loss = model->compile.loss,
                                             .loss_attributes = model->compile.loss_attributes,
                                             .optim_state = model->optim_state,
                                             .threads = 2},
                                 .batch_size = BATCH,
                                 .largest_batch = BATCH};
  must(clm__team_create(&team, &made->team));
  must(clm__team_write_weights(made->team, model->weights->values));
  must(clm__team_write_slots(made->team, model->optim_state));
}

static void close_act(act *done)
{
  clm__team_destroy(done->team);
  trainee_close(&done->trainee);
  for (int i = 0; i < done->device_count; i++) clm__device_close(done->devices[i]);
}

static double run_step(act *on)
{
  size_t first = 0, count = 0;
  clm__team_part(on->team, BATCH, &first, &count);
  const bench_trainee *images = &on->trainee;
  const size_t floats = clm__shape_elements(&images->model.graph->input_shape);
  const clm__batch batch = {.pixels = images->pixels + first * floats,
                            .labels = images->labels + first,
                            .samples = images->image_ids + first,
                            .count = (int)count};
  const clm__team_input input = {
      .batch = &batch, .learning_rate = 0.001F, .iterations = on->iterations++};
  clm__team_result result;
  const double begin = clm__clock_seconds();
  must(clm__team_train(on->team, &input, &result));
  return clm__clock_seconds() - begin;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *seconds)
{
  qsort(seconds, STEPS, sizeof *seconds, compare);
  return seconds[STEPS / 2];
}

/* The sum of all gradients between the ranks with nothing beside it. */
static double time_sum(clm__comm *comm, size_t count)
{
  float *values = NULL;
  double seconds[STEPS];
  clm__bucket *bucket = NULL;
  must(clm__mem_alloc(count, sizeof *values, &values));
  must(clm__bucket_create(comm, &(clm__bucket_config){.values = values, .count = count}, &bucket));
  for (int i = 0; i < STEPS; i++) {
    must(clm__comm_barrier(comm));
    const double begin = clm__clock_seconds();
    must(clm__bucket_start(bucket));
    must(clm__bucket_wait(bucket));
    seconds[i] = clm__clock_seconds() - begin;
  }
  clm__bucket_destroy(bucket);
  clm__mem_free(values);
  return median(seconds);
}

static void run_rank(void)
{
  act own = {.device_count = 1};
  double seconds[STEPS];
  must(clm__comm_open(NULL, &own.comm));
  const int rank = clm__comm_get_rank(own.comm);
  open_cpu(rank, clm__comm_get_size(own.comm), &own.devices[0]);
  open_act(&own);
  (void)run_step(&own);
  for (int i = 0; i < STEPS; i++) seconds[i] = run_step(&own);
  const clm__team_times times = clm__team_get_times(own.team);
  const double alone = time_sum(own.comm, own.trainee.model.weights->trainable_elements);
  const double exposed = times.exposed_seconds / (double)times.steps;
  if (rank == 0) {
    (void)printf("%-28s %8.1f images/s\n", "two ranks, half a CPU each", BATCH / median(seconds));
    (void)printf("sum over the ranks: %.1f ms alone; %.1f ms of a step wait for sums and for the "
                 "other rank: %.0f %% hidden\n",
                 1e3 * alone, 1e3 * exposed,
                 exposed < alone ? 100.0 * (1.0 - exposed / alone) : 0.0);
  }
  close_act(&own);
  clm__comm_close(own.comm);
}

static void run_process(void)
{
  act whole = {.device_count = 1}, halves = {.device_count = 2};
  double whole_seconds[STEPS], halves_seconds[STEPS];
  must(clm__comm_open_alone(NULL, &whole.comm));
  halves.comm = whole.comm;
  open_cpu(0, 1, &whole.devices[0]);
  for (int i = 0; i < 2; i++) open_cpu(i, 2, &halves.devices[i]);
  open_act(&whole);
  open_act(&halves);
  (void)run_step(&whole);
  (void)run_step(&halves);
  for (int i = 0; i < STEPS; i++) {
    whole_seconds[i] = run_step(&whole);
    halves_seconds[i] = run_step(&halves);
  }
  (void)printf("%-28s %8.1f images/s\n", "one device, the whole CPU",
               BATCH / median(whole_seconds));
  (void)printf("%-28s %8.1f images/s\n", "two devices, half a CPU each",
               BATCH / median(halves_seconds));
  (void)fflush(stdout);
  close_act(&whole);
  close_act(&halves);
  clm__comm_close(whole.comm);
}

int main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "--rank") == 0) {
    run_rank();
    return 0;
  }
  if (argc != 1) {
    (void)fprintf(stderr, "usage: %s\n", argv[0]);
    return 64;
  }
  run_process();
  char command[4096];
  (void)snprintf(command, sizeof command,
                 "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 2 "
                 "--oversubscribe --bind-to none --mca btl_vader_single_copy_mechanism none '%s' "
                 "--rank",
                 argv[0]);
  /* NOLINTNEXTLINE(cert-env33-c): the measurement's own command */
  return system(command) == 0 ? 0 : 1;
}
