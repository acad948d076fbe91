/* A run from its configuration to its last file: what set-up makes and the loop uses. */
#ifndef CLM_TRAIN_SESSION_H
#define CLM_TRAIN_SESSION_H

#include "clematis/train.h"
#include "dev/tune.h"
#include "train/callbacks.h"
#include "train/checkpoint.h"
#include "train/data_source.h"
#include "train/events.h"
#include "train/helper.h"
#include "train/job.h"
#include "train/monitor.h"
#include "train/order.h"
#include "train/saver.h"
#include "train/share_plan.h"
#include "train/team.h"
#include "train/tracing.h"

typedef struct clm__session {
  const clm_train_config *config; /* borrowed */
  const clm_log *log;
  double begin_seconds;
  clm__callbacks callbacks; /* the user's */
  clm__callbacks own;       /* the library's, which follow them */
  clm__run_folder folder;
  clm__dataset *dataset;
  size_t all_count;      /* samples with the bad ones behind */
  clm__model_file model; /* graph, host weights, optimizer and loss */
  clm__run_state state;
  clm__saver *saver;    /* of rank 0; reads model's arrays: clm__session_fetch waits for it */
  double saved_seconds; /* of the clock, when the last checkpoint began */
  bool owes_checkpoint; /* one was due after a step, and the saver was busy */
  bool saves_step;      /* all ranks have agreed on a checkpoint after the step at hand */
  clm__events *events;  /* of rank 0; NULL: not wanted */
  clm__monitor monitor;
  clm__helper *helper;   /* NULL: none */
  clm__device **devices; /* [device_count] of this rank */
  int device_count;
  int replica_count;          /* devices of all ranks */
  clm__share_plan share_plan; /* given shares of these; none: count 0 */
  size_t share_set;           /* that of them which counts */
  int batch_size;             /* global */
  clm__tune *tune;
  clm__tracing tracing;
  clm__comm *comm; /* of the user's job, else of own_job */
  clm_job *own_job;
  clm__team *team;
  clm__loader *loader;
  clm__order_config order;
  uint64_t spoiled_step;    /* of all steps, from 1: its loss is made NaN for a test; 0: none */
  uint64_t unloaded_step;   /* of this run, from 1: its batch cannot be loaded, for a test */
  uint64_t steps_run;       /* since the session began */
  clm_train_result *result; /* borrowed */
  clm_error failure;        /* of this rank alone, until the ranks meet; CLM_OK: none */
  bool stop_early;
} clm__session;

/* Ranks: every function below is collective. Rank 0 alone reads and writes files of the run. */
static inline bool clm__session_is_first(const clm__session *session)
{
  return clm__comm_get_rank(session->comm) == 0;
}

/* Everything before step 1, in the order in which mistakes should be found: numbers, folder,
 * device, data, model. */
CLM_MUST_CHECK clm_status clm__session_open(clm__session *session, const clm_train_config *config,
                                            clm_train_result *result);
/* Takes a half-opened one. */
void clm__session_close(clm__session *session);

/* Opens this rank's devices; settles the global batch and the shares given for them. */
CLM_MUST_CHECK clm_status clm__session_open_devices(clm__session *session);
void clm__session_close_devices(clm__session *session);

/* Puts the model on the devices and opens the loader. */
CLM_MUST_CHECK clm_status clm__session_open_team(clm__session *session);

/* The devices of this rank, a line each, into text[size]. Not collective. */
void clm__session_name_devices(const clm__session *session, char *text, size_t size);

/* Keeps the shares of several devices in the state, with the step from which they count, and tells
 * them. Not collective. */
CLM_MUST_CHECK clm_status clm__session_note_shares(clm__session *session);

/* Lets the shares count that were given for the next step; true where they are others than for the
 * last one. Not collective: all ranks do the same. */
bool clm__session_follow_shares(clm__session *session);

/* Tells what each device of several was worth. */
CLM_MUST_CHECK clm_status clm__session_tell_devices(clm__session *session);

/* Fills model and state: read or made by rank 0 and sent to the others. */
CLM_MUST_CHECK clm_status clm__session_open_model(clm__session *session);

/* Fetches weights and optimizer state from the device into session->model. */
CLM_MUST_CHECK clm_status clm__session_fetch(clm__session *session);

/* Trains from where the state stands to the end. Errors: STOPPED, DIVERGED, ... */
CLM_MUST_CHECK clm_status clm__session_run(clm__session *session);

/* The library's own callbacks: early stopping, history, event files, best.keras and periodic
 * checkpoints, in this order. `user` of each is the session. */
void clm__session_add_callbacks(clm__session *session);

/* Files beside training: begins, when the model is there; ends, waiting for what is being written.
 * Not collective. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__session_begin_saving(clm__session *session);
void clm__session_end_saving(clm__session *session);

/* Writes the trace, where one is wanted. What cannot be written is a warning. */
void clm__session_write_trace(clm__session *session);

/* Whether this rank wants a checkpoint after the step that is about to begin. Rank 0 does where one
 * is due by steps or by the clock, once the one before is written. Not collective. */
bool clm__session_wants_checkpoint(clm__session *session);

/* Writes a checkpoint of where the run stands. Errors: IO, on all ranks. */
CLM_MUST_CHECK clm_status clm__session_save(clm__session *session);

/* Writes model.keras; tries the checkpoint folder where that fails. Errors: IO, on all ranks. */
CLM_MUST_CHECK clm_status clm__session_save_model(clm__session *session);

#endif
