/* The steps of lowering, in their order. Nodes of clm__net are complete after each. */
#ifndef CLM_GRAPH_NET_BUILD_H
#define CLM_GRAPH_NET_BUILD_H

#include "graph/net.h"

/* A node for every layer that does something, activations apart from the op that names them. */
CLM_MUST_CHECK clm_status clm__net_lower(clm__net *net, const clm__weights *weights,
                                         const clm__net_options *options);

/* Joins pairs of nodes by the ops' fusion tables until nothing changes. */
CLM_MUST_CHECK clm_status clm__net_fuse(clm__net *net, const clm__net_options *options);

/* Fills has_backward, need_dw, need_dx and adds_dx of a training net. */
CLM_MUST_CHECK clm_status clm__net_mark_gradients(clm__net *net);

/* Takes out the nodes whose op is NULL, which nobody reads, and renumbers the rest. map:
 * [node_count + 1] scratch. */
void clm__net_compact(clm__net *net, int *map);

/* The activation member of an op's attributes, NULL where it has none. */
clm__activation *clm__net_activation(const clm__op *op, void *attributes);

/* Finds an op of the registry by our name. Errors: INTERNAL where it is missing. */
CLM_MUST_CHECK clm_status clm__net_find_op(const char *name, const clm__op **op);

void clm__net_fini_node(clm__node *node);

#endif
