/* Functional models: layers in any order, joined by name. */
#ifndef CLM_IO_KERAS_FUNCTIONAL_H
#define CLM_IO_KERAS_FUNCTIONAL_H

#include "graph/graph.h"
#include "io/json.h"

/* Reads the configuration of a Functional model of this name. Errors: BAD_DATA (a cycle, an unknown
 * input, layers that lead nowhere), UNSUPPORTED (several inputs or outputs, shared layers). */
CLM_MUST_CHECK clm_status clm__keras_read_functional(const clm__json_at *config, const char *name,
                                                     clm__graph **graph);

#endif
