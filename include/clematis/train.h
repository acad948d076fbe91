/* Training: Keras' compile and fit. */
#ifndef CLEMATIS_TRAIN_H
#define CLEMATIS_TRAIN_H

#include "clematis/job.h"
#include "clematis/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Figures of an epoch or of an epoch so far. */
typedef struct clm_figures {
  double loss;
  double accuracy;
  double val_loss;     /* NaN where there was no validation */
  double val_accuracy;
} clm_figures;

/* What a run is about to do. */
typedef struct clm_run_info {
  const char *out_folder;
  const char *device_text;   /* one line a device */
  size_t train_images;
  size_t validation_images;
  size_t steps_per_epoch;
  int epochs;
  int first_epoch;           /* from 0; above 0 where a run is resumed */
  size_t first_step;         /* of that epoch */
  uint64_t images_seen;      /* before this run */
  size_t parameters;
  double learning_rate;
  uint64_t device_bytes;     /* planned */
  uint64_t cache_bound_bytes; /* most that the cache of images will hold */
  uint64_t cache_file_bytes;  /* of that, in a temporary file */
} clm_run_info;

typedef struct clm_step_info {
  int epoch;                 /* from 0 */
  int epochs;
  size_t step;               /* steps done in this epoch, from 1 */
  size_t steps_per_epoch;
  double images_per_second;  /* lately */
  double seconds;            /* since the epoch began */
  clm_figures figures;       /* running means of the epoch */
} clm_step_info;

typedef struct clm_epoch_info {
  int epoch;                 /* from 0 */
  int epochs;
  size_t steps;
  double seconds;            /* training and validation */
  double train_seconds;
  double wait_seconds;       /* the device waited for data */
  double images_per_second;
  double learning_rate;
  clm_figures figures;
  int is_best;               /* of the monitored figure so far */
} clm_epoch_info;

/* A copy of the weights that is on its way to the disk. */
typedef struct clm_checkpoint_info {
  int epoch;                 /* from 0 */
  size_t step;               /* steps done in this epoch */
  uint64_t images_seen;      /* of all runs: checkpoints/images-N.keras */
  double wait_seconds;       /* training waited for the copy */
  int to_best;               /* best.keras */
  int to_checkpoints;        /* checkpoints/ */
} clm_checkpoint_info;

typedef enum clm_stop_reason {
  CLM_STOP_FINISHED,         /* all epochs */
  CLM_STOP_EARLY,            /* early stopping */
  CLM_STOP_REQUESTED,        /* should_stop: a checkpoint was written */
  CLM_STOP_NOTHING_LEFT      /* the resumed run had reached its goal already */
} clm_stop_reason;

typedef struct clm_train_result {
  clm_stop_reason reason;
  int epochs_done;           /* in all, earlier runs counted */
  int best_epoch;            /* from 0, -1: none */
  clm_figures best;
  clm_figures last;
  double seconds;
  double first_step_seconds; /* from the call of clm_train to the end of the first step */
  double wait_seconds;
  size_t skipped_files;
  double save_seconds;       /* training waited for copies of checkpoints */
  int failed_saves;          /* files beside the model that could not be written */
  char out_folder[1024];
  uint64_t weights_digest;
} clm_train_result;

/* Told what happens, in order, from the thread that called clm_train. Any member may be NULL. The
 * library's own history, event files, checkpoints and early stopping use the same interface. A
 * callback that returns a failure ends the run with it. In a job of several ranks each rank has its
 * own callbacks, which get the same figures; a failure or a wish to stop of one reaches all. */
typedef struct clm_callback {
  void *user;
  clm_status (*on_data)(void *user, const clm_data_report *report);
  clm_status (*on_begin)(void *user, const clm_run_info *info);
  clm_status (*on_epoch_begin)(void *user, int epoch, int epochs);
  clm_status (*on_step)(void *user, const clm_step_info *info);
  clm_status (*on_validation)(void *user, size_t done, size_t count);
  clm_status (*on_epoch_end)(void *user, const clm_epoch_info *info);
  clm_status (*on_end)(void *user, const clm_train_result *result);
  /* A checkpoint was taken; what cannot be written is a warning of the log. */
  void (*on_checkpoint)(void *user, const clm_checkpoint_info *info);
  /* Not 0: finish the step, write a checkpoint, end. Asked every step. */
  int (*should_stop)(void *user);
} clm_callback;

/* Gradients between ranks. */
typedef enum clm_wire {
  CLM_WIRE_F32,
  CLM_WIRE_BF16              /* half the bytes; what rounding loses is sent with the next step */
} clm_wire;

/* Begin with clm_train_config_default(). Texts are borrowed for the call. */
typedef struct clm_train_config {
  clm_data_config data;
  clm_run_config run;          /* batch_size is the global batch */
  const char *model;           /* .keras or to_json text; NULL: the flowers network */
  int image_height;            /* 180; of the flowers network only */
  int image_width;             /* 180 */
  const char *out_folder;      /* NULL: a fresh one under runs/ */
  int resume;                  /* 1: go on from the last good checkpoint in out_folder */
  int epochs;                  /* 10; in all, resumed ones counted */
  uint64_t seed;               /* 123: initial weights, order of images, dropout */
  const char *optimizer;       /* "adam", ...; NULL: the model's, else adam */
  const char *loss;            /* NULL: the model's, else sparse_categorical_crossentropy */
  double learning_rate;        /* NaN: the optimizer's */
  double momentum;             /* NaN: the optimizer's */
  double weight_decay;         /* NaN: the optimizer's */
  int nesterov;                /* -1: the optimizer's */
  int early_stopping_patience; /* epochs without a better figure; 0: off */
  double early_stopping_delta; /* 0: least change that counts */
  const char *monitor;         /* "val_loss", "val_accuracy", "loss", "accuracy" */
  int restore_best;            /* 1: end with the weights of the best epoch */
  int checkpoint_epochs;       /* 1: a checkpoint every so many epochs; 0: none */
  int checkpoint_steps;        /* 0: also every so many steps, counted from the first of all */
  double checkpoint_minutes;   /* 0: also where the last one is so old */
  int keep_checkpoints;        /* 3 */
  int tensorboard;             /* 1: event files in out_folder/tensorboard */
  int tensorboard_histograms;  /* 1: there also a histogram of each weight after each epoch */
  int tensorboard_steps;       /* 0: there also running figures every so many steps */
  const char *trace;           /* a file for what ran when on all ranks; NULL: none */
  const char *trace_steps;     /* "FIRST-LAST", counted from the call; NULL: "1-100" */
  int validate_epochs;         /* 1: validation every so many epochs */
  const char *shares;          /* "1,3": what each device of the job gets of a batch, in the
                                  order of ranks and devices; "1,3;13:2,1": others from step
                                  13 on; NULL: equal, or measured where kinds differ */
  int batch_per_device;        /* above 0: the global batch is so many images for each device of
                                  the job, in place of run.batch_size */
  clm_wire wire;               /* how gradients go between ranks */
  int sync_batchnorm;          /* 1: batch normalization by the statistics of all devices' images;
                                  else only in layers whose `synchronized` is true */
  const char *config_text;     /* stored as config.json; NULL: none */
  const clm_callback *callbacks;
  size_t callback_count;
  clm_job *job;                /* NULL: clm_train joins the job and leaves it: once a process */
  double peer_timeout_seconds; /* 60: a rank silent for so long ends the run of the others */
  int helper_process;          /* 1: where kernels have to be compiled under one lock (PoCL) a
                                  forked process takes half of them; this one has not used
                                  OpenCL yet, and has one thread or goes without. 0 */
  double setup_timeout_seconds; /* 600: the same until step 1 is done, where that is more */
} clm_train_config;

/* All defaults: those of the tutorial's program. */
CLM_API clm_train_config clm_train_config_default(void);

/* Trains. The folder out_folder/ then holds config.json, classes.txt, training_files.txt,
 * validation_files.txt, bad_files.txt, history.csv, history.json, checkpoints/, best.keras and
 * model.keras. In a job of several ranks all call it with the same settings, but for devices,
 * threads and the cache; rank 0 alone reads the model, writes, and needs out_folder. Errors: what
 * can go wrong before step 1 is found before step 1, and is the same on all ranks; STOPPED (on
 * request, after a checkpoint), DIVERGED (loss or gradient not finite: step named, last good
 * checkpoint kept), PEER_FAILED (a rank died or is silent), IO (the final model could not be
 * written). result is filled also on STOPPED. */
CLM_API CLM_MUST_CHECK clm_status clm_train(const clm_train_config *config,
                                            clm_train_result *result);

#ifdef __cplusplus
}
#endif
#endif
