/* What the sections of the measurement share. A section measures, prints a table for people and
 * writes one member of the JSON document. */
#ifndef CLM_TESTS_BENCH_BENCH_H
#define CLM_TESTS_BENCH_BENCH_H

#include "dev/measure.h"
#include "dev/tune.h"
#include "io/json.h"

#define BENCH_PYTHONS_MAX 4

typedef struct bench_run {
  bool as_json;
  bool quick;                             /* fewer rounds, for a first look */
  const char *against[BENCH_PYTHONS_MAX]; /* Pythons to compare with */
  size_t against_count;
  const char *devices;    /* NULL: chosen */
  const char *variant;    /* NULL: chosen */
  const char *self;       /* path of this program, which runs itself for a cold start */
  const char *program;    /* clematis */
  const char *scripts;    /* folder of the Python files */
  const char *photos;     /* folder of photographs, NULL where there is none */
  const char *scratch;    /* an empty folder */
  char pixels_file[1100]; /* in it: images for the other frameworks */
  clm__device *device;
  clm__tune *tune;
  clm__measured measured;
  clm__json_writer json;
} bench_run;

/* A line for people. */
void bench_say(const bench_run *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Progress, on the error stream. */
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Measures the device again and keeps the best figures, which are nearest to what it can do where
 * other programs run too. */
CLM_MUST_CHECK clm_status bench_measure_device(bench_run *bench);

CLM_MUST_CHECK clm_status section_step(bench_run *bench);
CLM_MUST_CHECK clm_status section_ops(bench_run *bench);
CLM_MUST_CHECK clm_status section_infer(bench_run *bench);
CLM_MUST_CHECK clm_status section_data(bench_run *bench);
CLM_MUST_CHECK clm_status section_start(bench_run *bench);
CLM_MUST_CHECK clm_status section_epoch(bench_run *bench);

#endif
