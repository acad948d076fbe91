/* From the nodes of a net to the problems that variants solve on a device. */
#ifndef CLM_EXEC_PROBLEM_H
#define CLM_EXEC_PROBLEM_H

#include "exec/choice.h"
#include "graph/net.h"

/* Which fused ops are worth it on a device: for clm__net_options. Plain data. */
typedef struct clm__fusion_judge {
  const clm__device_info *info; /* borrowed */
  const char *variant;          /* the user's wish, may be NULL; borrowed */
} clm__fusion_judge;

/* `accepts` of clm__net_options; user is a clm__fusion_judge. A fused op without a kernel of its
 * own on this device would only hide faster parts. */
bool clm__fusion_judge_accepts(void *user, const clm__op *fused, const void *attributes,
                               const clm__shape *inputs);

/* The problem of a node of a net, which must outlive it. */
void clm__problem_of_node(const clm__net *net, int index, int batch_max, clm__problem *problem);

/* Whether a pass of a node runs at all. */
bool clm__node_wants_pass(const clm__net *net, int index, clm__pass pass);

#endif
