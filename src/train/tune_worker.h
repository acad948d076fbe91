/* The process that tunes: it is forked, so that a driver that crashes ends nothing else. */
#ifndef CLM_TRAIN_TUNE_WORKER_H
#define CLM_TRAIN_TUNE_WORKER_H

#include "train/tune_candidates.h"

typedef enum clm__tune_event_kind {
  CLM__TUNE_FILE,      /* text: the file that values are recorded in */
  CLM__TUNE_TRYING,    /* text: the candidate, "" for none */
  CLM__TUNE_CANDIDATE, /* candidate: of the result that follows */
  CLM__TUNE_RESULT,    /* a task is done; is_recorded unless none was good */
  CLM__TUNE_SKIPPED,   /* a task was recorded before */
  CLM__TUNE_LEFT,      /* there was no time for a task */
  CLM__TUNE_LOG,       /* level, text */
  CLM__TUNE_END        /* status, and text of an error */
} clm__tune_event_kind;

/* What a worker tells. Plain data. */
typedef struct clm__tune_event {
  clm__tune_event_kind kind;
  size_t task; /* counted over all devices */
  size_t number, total;
  char device[16];
  clm__variant_key key;
  clm__tune_candidate candidate;
  bool is_recorded;
  clm_log_level level;
  clm_status status;
  char text[CLM_ERROR_MESSAGE_SIZE];
} clm__tune_event;

/* A candidate that ended a worker. */
typedef struct clm__tune_crash {
  size_t task;
  char name[CLM__TUNE_NAME_SIZE];
  char note[CLM__TUNE_NOTE_SIZE];
} clm__tune_crash;

/* What a worker is to do: all that earlier ones have not done. Borrowed. */
typedef struct clm__tune_orders {
  const clm_tune_config *config;
  size_t first_task;
  const clm__tune_crash *crashes;
  size_t crash_count;
  double deadline; /* of clm__clock_seconds */
} clm__tune_orders;

/* Works, telling its events into the pipe, and returns: the forked process ends behind that. */
void clm__tune_work(const clm__tune_orders *orders, int pipe);

#endif
