/* What there is to tune: the passes of a model's nets, those of the same key together. */
#ifndef CLM_TRAIN_TUNE_PLAN_H
#define CLM_TRAIN_TUNE_PLAN_H

#include "exec/problem.h"

#define CLM__TUNE_PROBLEMS_MAX 4
#define CLM__TUNE_NETS 4

/* A line of tuning values to be: one pass of problems that share its key. */
typedef struct clm__tune_task {
  clm__variant_key key;
  clm__pass pass;
  const clm__problem *problems[CLM__TUNE_PROBLEMS_MAX];
  int problem_count;
} clm__tune_task;

typedef struct clm__tune_plan {
  clm__net *nets[CLM__TUNE_NETS];
  clm__problem *problems[CLM__TUNE_NETS]; /* [node_count] of each net */
  clm__tune_task *tasks;
  size_t count;
} clm__tune_plan;

typedef struct clm__tune_plan_config {
  const clm__graph *graph; /* borrowed for the plan's life, as is all below */
  const clm__weights *weights;
  const clm__device_info *info;
  int batch;
} clm__tune_plan_config;

/* Lists what training, evaluation and prediction run on such a device, and what they run where
 * convolutions are not fused with pools; passes with a choice alone. plan is valid for
 * clm__tune_plan_fini also on failure. */
CLM_MUST_CHECK clm_status clm__tune_plan_init(clm__tune_plan *plan,
                                              const clm__tune_plan_config *config);
void clm__tune_plan_fini(clm__tune_plan *plan);

#endif
