/* The memory plan: who lies where, before anything is allocated. Plain arithmetic on numbers, so it
 * is the same for every device and is tested with invented ones. */
#ifndef CLM_GRAPH_PLAN_H
#define CLM_GRAPH_PLAN_H

#include "graph/net.h"

#define CLM__PLAN_NONE (-1)

/* A block wanted from time first to time last, both included. */
typedef struct clm__plan_request {
  size_t size_bytes; /* 0: gets no place */
  int first;
  int last;
} clm__plan_request;

typedef struct clm__plan_place {
  int arena;           /* CLM__PLAN_NONE for size 0 */
  size_t offset_bytes; /* a multiple of the alignment */
} clm__plan_place;

typedef struct clm__plan_limits {
  size_t align_bytes;     /* power of two */
  size_t arena_max_bytes; /* largest single buffer */
} clm__plan_limits;

#define CLM__ARENAS_MAX 16
typedef struct clm__plan_arenas {
  int count;
  size_t size_bytes[CLM__ARENAS_MAX];
} clm__plan_arenas;

/* Finds places such that blocks wanted at the same time never overlap. Deterministic; first fit by
 * falling size. Errors: DEVICE_MEMORY where one request is larger than an arena may be (its number
 * is told) or arenas run out, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__plan_blocks(const clm__plan_request *requests, size_t count,
                                           const clm__plan_limits *limits,
                                           clm__plan_place *places /* [count] */,
                                           clm__plan_arenas *arenas);

/* The blocks of a net for one batch size. */
typedef struct clm__net_plan {
  clm__plan_place *values;    /* [node_count + 1] activations; views share their root's place */
  clm__plan_place *gradients; /* [node_count + 1] the same; CLM__PLAN_NONE where none is needed */
  clm__plan_place *partials;  /* [node_count * CLM__INPUTS_MAX] temporaries of adds_dx */
  clm__plan_place *saved;     /* [node_count] */
  clm__plan_place workspace;  /* one, shared by all nodes */
  clm__plan_arenas arenas;
  size_t total_bytes;
} clm__net_plan;

/* Plans activations, gradients, saved data and the workspace. workspace_bytes: the largest any
 * node's pass wants. The input (value 0) gets a place and the last value and its gradient too; the
 * input lives through the whole step. In inference memory is reused as soon as a value is dead. */
CLM_MUST_CHECK clm_status clm__net_plan_create(const clm__net *net, int batch_max,
                                               size_t workspace_bytes,
                                               const clm__plan_limits *limits,
                                               clm__net_plan **plan);
void clm__net_plan_destroy(clm__net_plan *plan);

#endif
