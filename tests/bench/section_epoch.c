/* The whole program, from start to saved model: time and memory. */
#include "bench/bench.h"
#include "bench/child.h"

#include "base/mem.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The best validation accuracy, told in the last line of Keras' program and in our history. */
static double accuracy_in_log(const char *path)
{
  static const char mark[] = "best validation accuracy ";
  char line[1024];
  double accuracy = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, mark, sizeof mark - 1) == 0) accuracy = strtod(line + sizeof mark - 1, NULL);
  (void)fclose(file);
  return accuracy;
}

static clm_status read_history(const char *text, size_t size_bytes, double *best)
{
  clm__json *json = NULL;
  CLM_TRY(clm__json_parse(text, size_bytes, "history.json", &json));
  const clm__json_at root = clm__json_root(json);
  const clm__json_at list = clm__json_find(&root, "val_accuracy");
  clm_status status = CLM_OK;
  for (size_t i = 0; i < clm__json_count(&list) && status == CLM_OK; i++) {
    const clm__json_at item = clm__json_item(&list, i);
    double accuracy = 0;
    status = clm__json_get_number(&item, &accuracy);
    if (accuracy > *best) *best = accuracy;
  }
  clm__json_free(json);
  return status;
}

static clm_status accuracy_in_run(const char *folder, double *best)
{
  char *path = NULL, *text = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__file_join(folder, "history.json", &path));
  clm_status status = clm__file_read(path, 1 << 20, &text, &size_bytes);
  if (status == CLM_OK) status = read_history(text, size_bytes, best);
  clm__mem_free(text);
  clm__mem_free(path);
  return status;
}

static void tell(bench_run *bench, const char *name, const child_figures *figures, double accuracy)
{
  bench_say(bench, "%-34s %9.1f %9.1f %9.0f %9.3f", name, figures->seconds, figures->busy,
            1e-6 * (double)figures->peak_bytes, accuracy);
  clm__json_begin_object(&bench->json, NULL);
  clm__json_put_text(&bench->json, "name", name);
  clm__json_put_number(&bench->json, "seconds", figures->seconds);
  clm__json_put_number(&bench->json, "busy_seconds", figures->busy);
  clm__json_put_number(&bench->json, "peak_megabytes", 1e-6 * (double)figures->peak_bytes);
  clm__json_put_number(&bench->json, "best_val_accuracy", accuracy);
  clm__json_end_object(&bench->json);
}

static clm_status measure_ours(bench_run *bench, const char *epochs, child_figures *figures)
{
  char *folder = NULL;
  double accuracy = 0;
  CLM_TRY(clm__file_join(bench->scratch, "run", &folder));
  const char *const arguments[] = {bench->program, "train", bench->photos, "--epochs", epochs,
                                   "--out",        folder,  "--progress",  "none",     NULL};
  const child_config child = {.arguments = arguments, .watch_memory = true};
  clm_status status = child_run(&child, figures);
  if (status == CLM_OK) status = accuracy_in_run(folder, &accuracy);
  if (status == CLM_OK) tell(bench, "Clematis", figures, accuracy);
  clm__mem_free(folder);
  return status;
}

static clm_status measure_keras(bench_run *bench, const char *python, const char *epochs,
                                const child_figures *ours)
{
  char *script = NULL, *log = NULL;
  child_figures figures;
  CLM_TRY(clm__file_join(bench->scripts, "keras_flowers.py", &script));
  clm_status status = clm__file_join(bench->scratch, "keras.log", &log);
  const char *const arguments[] = {python, script, bench->photos, epochs, bench->scratch, NULL};
  const child_config child = {.arguments = arguments, .output = log, .watch_memory = true};
  if (status == CLM_OK) status = child_run(&child, &figures);
  if (status == CLM_OK) {
    tell(bench, "the Keras program", &figures, accuracy_in_log(log));
    bench_say(bench, "of Keras' time %.2f, of its memory %.2f", ours->seconds / figures.seconds,
              (double)ours->peak_bytes / (double)figures.peak_bytes);
  }
  clm__mem_free(log);
  clm__mem_free(script);
  return status;
}

clm_status section_epoch(bench_run *bench)
{
  child_figures ours;
  const char *epochs = bench->quick ? "2" : "10";
  bench_say(bench, "\n%-34s %9s %9s %9s %9s", bench->quick ? "2 epochs" : "10 epochs", "s",
            "busy s", "peak MB", "accuracy");
  clm__json_begin_list(&bench->json, "epoch");
  clm_status status = measure_ours(bench, epochs, &ours);
  for (size_t i = 0; i < bench->against_count && status == CLM_OK; i++)
    if (measure_keras(bench, bench->against[i], epochs, &ours) != CLM_OK)
      bench_note("%s does not take part: %s", bench->against[i], clm_error_last()->message);
  clm__json_end_list(&bench->json);
  return status;
}
