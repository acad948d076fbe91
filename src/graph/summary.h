/* Keras' model.summary() as text (keras/src/utils/summary_utils.py print_summary). */
#ifndef CLM_GRAPH_SUMMARY_H
#define CLM_GRAPH_SUMMARY_H

#include "graph/weights.h"

/* columns: width of the terminal, 80 where unknown. optimizer_params: numbers in optimizer
 * variables, 0 where there is none or it is not built (then the line is left out). *text is taken
 * by the caller. */
CLM_MUST_CHECK clm_status clm__summary(const clm__graph *graph, const clm__weights *weights,
                                       int columns, size_t optimizer_params, char **text);

#endif
