/* From the trials of the references to problems that run. */
#ifndef CLM_TRAIN_SELFTEST_CASE_H
#define CLM_TRAIN_SELFTEST_CASE_H

#include "ref/ref.h"

/* The problem of a trial for a batch of that size; *attributes is taken by the caller
 * (clm__mem_free) and must outlive the problem. Errors: INTERNAL where the layers do not fuse. */
CLM_MUST_CHECK clm_status clm__selftest_make_problem(const clm__ref_trial *trial, int batch,
                                                     clm__problem *problem, void **attributes);

#endif
