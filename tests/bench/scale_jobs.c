/* Whole programs: checkpoints of a training, and jobs on hosts. */
#define _POSIX_C_SOURCE 200809L
#include "bench/child.h"
#include "bench/samples.h"
#include "bench/scale.h"
#include "bench/turns.h"

#include "base/mem.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 64, NAME_SIZE = 1200 };

typedef void (*take_line)(void *user, char *line);

static clm_status read_lines(const char *path, take_line take, void *user)
{
  char line[TURNS_LINE_SIZE];
  FILE *file = fopen(path, "r");
  CLM_REQUIRE(file != NULL, CLM_IO, "%s cannot be read", path);
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    take(user, line);
  }
  (void)fclose(file);
  return CLM_OK;
}

typedef struct values {
  double items[VALUES_MAX];
  size_t count;
} values;

static void add_value(values *to, double value)
{
  if (to->count < VALUES_MAX) to->items[to->count++] = value;
}

/* ---- checkpoints ---- */

static void take_wait(void *user, char *line)
{
  static const char words[] = "training waited ";
  const char *place = strstr(line, words);
  if (place != NULL) add_value(user, 1e-3 * strtod(place + strlen(words), NULL));
}

/* Epochs of 25 steps, so that a checkpoint is written when the next one is due. */
static clm_status train_with_checkpoints(const scale_run *run, const char *output)
{
  char data[NAME_SIZE], out[NAME_SIZE];
  child_figures unused;
  (void)snprintf(data, sizeof data, "%s/flowers", run->bench.scratch);
  (void)snprintf(out, sizeof out, "%s/checkpoints", run->bench.scratch);
  const char *const draw[] = {run->bench.program, "sample", data, "--images", "200", NULL};
  const char *const train[] = {
      run->bench.program,           "train",     data, "--out", out, "--epochs",
      run->bench.quick ? "3" : "6", "--verbose", NULL};
  CLM_TRY(child_run(&(child_config){.arguments = draw}, &unused));
  return child_run(&(child_config){.arguments = train, .output = output}, &unused);
}

clm_status scale_checkpoint(scale_run *run)
{
  char output[NAME_SIZE];
  values waits = {0};
  (void)snprintf(output, sizeof output, "%s/checkpoints.log", run->bench.scratch);
  CLM_TRY(train_with_checkpoints(run, output));
  CLM_TRY(read_lines(output, take_wait, &waits));
  CLM_REQUIRE(waits.count > 0, CLM_INTERNAL, "the training told of no checkpoint");
  scale_put_samples(run, "checkpoint_seconds", waits.items, waits.count);
  bench_say(
      &run->bench, "\na checkpoint of 4 million parameters: training waits %.1f ms (%.1f-%.1f)",
      1e3 * waits.items[waits.count / 2], 1e3 * waits.items[0], 1e3 * waits.items[waits.count - 1]);
  return CLM_OK;
}

/* ---- hosts ---- */

typedef struct hosts_report {
  scale_run *run;
  values starts;
  char left_out[256];
  char late_by[16];
  clm_status status;
} hosts_report;

typedef struct net_row {
  int ranks;
  int batch;
  double delay_ms;
  double rate_mbit; /* 0: as it is */
} net_row;

static void put_net(scale_run *run, const net_row *row, act_figures *figures)
{
  clm__json_writer *json = &run->bench.json;
  clm__json_begin_object(json, NULL);
  clm__json_put_int(json, "ranks", row->ranks);
  clm__json_put_int(json, "batch", row->batch);
  clm__json_put_number(json, "delay_ms", row->delay_ms);
  clm__json_put_number(json, "rate_mbit", row->rate_mbit);
  scale_put_samples(run, "step_seconds", figures->step, (size_t)figures->steps);
  scale_put_samples(run, "exposed_seconds", figures->exposed, (size_t)figures->steps);
  scale_put_samples(run, "waited_seconds", figures->waited, (size_t)figures->steps);
  scale_put_samples(run, "sum_seconds", figures->sum, (size_t)figures->sums);
  scale_put_samples(run, "meet_seconds", figures->meet, (size_t)figures->sums);
  clm__json_end_object(json);
  bench_say(&run->bench, "%5d %8.1f %9.0f %12.1f %12.1f %10.1f %10.1f", row->ranks, row->delay_ms,
            row->rate_mbit, 1e3 * figures->step[figures->steps / 2],
            1e3 * figures->exposed[figures->steps / 2], 1e3 * figures->waited[figures->steps / 2],
            1e3 * figures->sum[figures->sums / 2]);
}

static clm_status take_net(scale_run *run, const char *line)
{
  net_row row = {0};
  act_figures figures;
  int at = 0;
  CLM_REQUIRE(sscanf(line, "net %d %d %lf %lf %n", &row.ranks, &row.batch, &row.delay_ms,
                     &row.rate_mbit, &at) == 4,
              CLM_BAD_DATA, "not a row: %s", line);
  CLM_TRY(turns_parse(line + at, &figures));
  put_net(run, &row, &figures);
  return CLM_OK;
}

static void take_report(void *user, char *line)
{
  hosts_report *report = user;
  if (strncmp(line, "start ", 6) == 0) add_value(&report->starts, strtod(line + 6, NULL));
  if (strncmp(line, "net ", 4) == 0 && report->status == CLM_OK)
    report->status = take_net(report->run, line);
  if (strncmp(line, "late by ", 8) == 0)
    (void)snprintf(report->late_by, sizeof report->late_by, "%s", line + 8);
  if (strncmp(line, "skipped: ", 9) == 0)
    (void)snprintf(report->left_out, sizeof report->left_out, "%s", line + 9);
}

static void tell_starts(hosts_report *report)
{
  scale_run *run = report->run;
  values *starts = &report->starts;
  if (report->left_out[0] != '\0') {
    bench_note("rows of hosts are left out: %s", report->left_out);
    clm__json_put_text(&run->bench.json, "left_out", report->left_out);
  }
  if (starts->count == 0) return;
  scale_put_samples(run, "start_seconds", starts->items, starts->count);
  bench_say(&run->bench, "\nlaunch to first step on three hosts: %.2f s (%.2f-%.2f)",
            starts->items[starts->count / 2], starts->items[0], starts->items[starts->count - 1]);
}

/* The script ends with 77 where hosts cannot be made. */
static clm_status run_script(const scale_run *run, const char *output)
{
  char *script = NULL;
  child_figures unused;
  CLM_TRY(clm__file_join(run->bench.scripts, "../cli/scale_hosts.sh", &script));
  const char *const arguments[] = {"sh", "-c", "sh \"$0\" || [ $? -eq 77 ]", script, NULL};
  (void)setenv("CLM_PROGRAM", run->bench.program, 1);
  (void)setenv("CLM_SCALE_PROGRAM", run->self, 1);
  (void)setenv("CLM_SCALE_QUICK", run->bench.quick ? "yes" : "no", 1);
  const clm_status status =
      child_run(&(child_config){.arguments = arguments, .output = output}, &unused);
  clm__mem_free(script);
  return status;
}

clm_status scale_hosts(scale_run *run)
{
  char output[NAME_SIZE];
  hosts_report report = {.run = run};
  (void)snprintf(output, sizeof output, "%s/hosts.log", run->bench.scratch);
  CLM_TRY(run_script(run, output));
  bench_say(&run->bench, "\n%5s %8s %9s %12s %12s %10s %10s", "ranks", "delay ms", "Mbit/s",
            "step ms", "behind ms", "waited ms", "alone ms");
  clm__json_begin_list(&run->bench.json, "net");
  const clm_status status = read_lines(output, take_report, &report);
  clm__json_end_list(&run->bench.json);
  CLM_TRY(status);
  CLM_TRY(report.status);
  clm__json_put_text(&run->bench.json, "late_by", report.late_by);
  tell_starts(&report);
  return CLM_OK;
}
