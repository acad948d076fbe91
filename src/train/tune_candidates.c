#include "train/tune_candidates.h"

#include "base/mem.h"
#include "dev/blas.h"

#include <stdio.h>
#include <string.h>

#define NOISE 1.02

void clm__tune_candidates_fini(clm__tune_candidates *list)
{
  clm__mem_free(list->items);
  *list = (clm__tune_candidates){0};
}

clm_status clm__tune_candidates_add(clm__tune_candidates *list, const clm__tune_values *values,
                                    clm__tune_candidate **item)
{
  for (size_t i = 0; i < list->count; i++) {
    *item = &list->items[i];
    if (strcmp((*item)->values.variant, values->variant) == 0 &&
        strcmp((*item)->values.defines, values->defines) == 0)
      return CLM_OK;
  }
  CLM_TRY(clm__mem_resize(list->count + 1, sizeof *list->items, &list->items));
  *item = &list->items[list->count++];
  **item = (clm__tune_candidate){.values = *values};
  (void)snprintf((*item)->name, sizeof(*item)->name, "%s%s%s", values->variant,
                 values->defines[0] != '\0' ? " " : "", values->defines);
  return CLM_OK;
}

static clm_status add_variant(clm__tune_candidates *list, const clm__variant *variant,
                              clm__pass pass)
{
  clm__tune_candidate *item = NULL;
  clm__tune_values values = {0};
  (void)snprintf(values.variant, sizeof values.variant, "%s", variant->name);
  CLM_TRY(clm__tune_candidates_add(list, &values, &item));
  for (const char *const *at = variant->candidates[pass]; at != NULL && *at != NULL; at++) {
    (void)snprintf(values.defines, sizeof values.defines, "%s", *at);
    CLM_TRY(clm__tune_candidates_add(list, &values, &item));
  }
  return CLM_OK;
}

static bool is_usable_name(const clm__problem *problem, clm__pass pass,
                           const clm__device_info *info, const char *name)
{
  for (const clm__variant *const *at = problem->op->variants; *at != NULL; at++)
    if (strcmp((*at)->name, name) == 0 && clm__variant_is_usable(*at, problem, pass, info))
      return true;
  return false;
}

clm_status clm__tune_candidates_of_task(clm__tune_candidates *list, const clm__tune_task *task,
                                        const clm__device_info *info, const clm__tune *tune)
{
  const clm__problem *problem = task->problems[0];
  for (const clm__variant *const *at = problem->op->variants; *at != NULL; at++)
    if (clm__variant_is_offered(*at, problem, task->pass, info))
      CLM_TRY(add_variant(list, *at, task->pass));
  clm__tune_values used;
  clm__tune_find(tune, info, task->key.op_pass, task->key.shape, &used);
  clm__tune_candidate *item = &list->items[0];
  if (is_usable_name(problem, task->pass, info, used.variant))
    CLM_TRY(clm__tune_candidates_add(list, &used, &item));
  item->was_used = true;
  return CLM_OK;
}

clm_status clm__tune_candidates_of_blas(clm__tune_candidates *list, const clm__device_info *info,
                                        const clm__tune *tune)
{
  clm__tune_candidate *item = NULL;
  clm__tune_values values;
  clm__tune_find(tune, info, CLM__BLAS_OP, "*", &values);
  if (values.variant[0] == '\0') return CLM_OK;
  CLM_TRY(clm__tune_candidates_add(list, &values, &item));
  item->was_used = true;
  for (const char *const *at = clm__blas_candidates(info); *at != NULL; at++) {
    (void)snprintf(values.defines, sizeof values.defines, "%s", *at);
    CLM_TRY(clm__tune_candidates_add(list, &values, &item));
  }
  return CLM_OK;
}

const clm__tune_candidate *clm__tune_candidates_choose(clm__tune_candidates *list)
{
  clm__tune_candidate *best = NULL, *before = NULL;
  for (size_t i = 0; i < list->count; i++) {
    clm__tune_candidate *item = &list->items[i];
    if (item->verdict != CLM_TUNE_GOOD || item->seconds <= 0.0) continue;
    if (best == NULL || item->seconds < best->seconds) best = item;
    if (item->was_used) before = item;
  }
  if (before != NULL && before->seconds <= best->seconds * NOISE) best = before;
  if (best != NULL) best->is_used = true;
  return best;
}
