/* A network on the measured device with one batch of images in host memory. */
#ifndef CLM_TESTS_BENCH_TRAINEE_H
#define CLM_TESTS_BENCH_TRAINEE_H

#include "dev/tune.h"
#include "exec/replica.h"
#include "io/model_file.h"

/* FEEDS: model and images alone, for devices of somebody else. */
typedef enum trainee_use { TRAINEE_TRAINS, TRAINEE_PREDICTS, TRAINEE_FEEDS } trainee_use;

typedef struct bench_trainee {
  clm__model_file model;
  clm__replica *replica;
  int batch;
  float *pixels;        /* [batch,H,W,C] 0..255 */
  int32_t *labels;      /* [batch] */
  uint32_t *image_ids;  /* [batch] */
  float *probabilities; /* [batch,classes] */
  double loss;          /* mean of the last step */
} bench_trainee;

typedef struct trainee_config {
  clm__device *device;
  const clm__tune *tune;
  const char *variant; /* NULL: chosen */
  const char *net;     /* as net_create */
  int batch;
  trainee_use use;
} trainee_config;

/* The struct is valid for trainee_close also on failure. */
CLM_MUST_CHECK clm_status trainee_open(bench_trainee *trainee, const trainee_config *config);
void trainee_close(bench_trainee *trainee);

/* One whole step: upload, forward, loss, backward, update, finish. */
CLM_MUST_CHECK clm_status trainee_step(bench_trainee *trainee);
/* Probabilities of the batch. */
CLM_MUST_CHECK clm_status trainee_predict(bench_trainee *trainee);

/* Writes the images as plain floats, for the other frameworks. Errors: IO. */
CLM_MUST_CHECK clm_status trainee_write_pixels(const bench_trainee *trainee, const char *path);

#endif
