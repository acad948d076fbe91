/* A second process that compiles half of the kernels.
 *
 * PoCL compiles under one lock for the whole process, and keeps what it has compiled on disk, where
 * every process finds it. So a process is forked before OpenCL is loaded, and waits. When the first
 * program has to be compiled it goes through the same model from the other end, and the two meet in
 * the middle. Then it writes the programs for the next start to disk, while the other one trains.
 * It computes nothing that is used; whatever befalls it, only time is lost. */
#ifndef CLM_TRAIN_HELPER_H
#define CLM_TRAIN_HELPER_H

#include "clematis/train.h"
#include "dev/device.h"

typedef struct clm__helper clm__helper;

/* Forks it. This process has not used OpenCL yet. *helper stays NULL where the system refuses or
 * this process has several threads. */
void clm__helper_start(const clm_train_config *config, clm__helper **helper);
/* Ends it, at once; takes NULL. */
void clm__helper_end(clm__helper *helper);

/* Lets the device call it, where that is of use, for training a model of so many classes on batches
 * of `batch_max`. helper may be NULL; else it outlives the device. */
void clm__helper_serve(clm__helper *helper, clm__device *device, int class_count, int batch_max);

#endif
