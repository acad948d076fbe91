/* The user's wish for variants: "plain", or "conv2d=gemm,dense.bwd_w=cpu". */
#ifndef CLM_EXEC_CHOICE_H
#define CLM_EXEC_CHOICE_H

#include "op/registry.h"
#include "op/variant.h"

#include <stdbool.h>

#define CLM__CHOICE_NAME_SIZE 32

/* Checks the words of a wish: known ops, passes and variants. NULL is fine. Errors: USAGE. */
CLM_MUST_CHECK clm_status clm__choice_check(const char *wish);

/* The variant wished for a pass of a problem, NULL where none is: a bare name counts where the op
 * has a usable variant of that name; "op=name" and "op.pass=name" count always. name is the
 * caller's memory for the result. */
const char *clm__choice_find(const char *wish, const clm__problem *problem, clm__pass pass,
                             const clm__device_info *info, char name[CLM__CHOICE_NAME_SIZE]);

/* Whether a fused op is worth it on a device: it has something better than plain there, or the wish
 * names the op. */
bool clm__choice_accepts_fusion(const char *wish, const clm__problem *problem,
                                const clm__device_info *info);

#endif
