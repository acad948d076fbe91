/* Keras' model.weights.h5: where each weight and each variable of the optimizer lies. */
#ifndef CLM_IO_KERAS_WEIGHTS_H
#define CLM_IO_KERAS_WEIGHTS_H

#include "base/log.h"
#include "graph/weights.h"
#include "io/hdf5.h"

/* The group of every layer: its class in snake case, numbered in the order of the model's layers.
 * names: [layer_count], taken by the caller, each with clm__mem_free; NULL for the InputLayer of a
 * Sequential, which has no group. Errors: NO_MEMORY, with nothing taken. */
CLM_MUST_CHECK clm_status clm__keras_group_names(const clm__graph *graph, char **names);

/* Reads all weights. Errors: BAD_DATA, naming the layer. */
CLM_MUST_CHECK clm_status clm__keras_read_weights(const clm__hdf5 *file, const clm__graph *graph,
                                                  clm__weights *weights);

/* Reads the state of an optimizer. *state stays as it is where none is stored, or, after a WARNING,
 * where it does not fit. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__keras_read_optim_state(const clm__hdf5 *file,
                                                      const clm__optim *optim,
                                                      const void *attributes,
                                                      const clm__weights *weights,
                                                      const clm_log *log, clm__optim_state **state);

/* Writes weights and the optimizer's state; optim NULL: not compiled, state NULL: not trained. */
CLM_MUST_CHECK clm_status clm__keras_write_weights(clm__hdf5 *file, const clm__graph *graph,
                                                   const clm__weights *weights);
CLM_MUST_CHECK clm_status clm__keras_write_optim(clm__hdf5 *file, const clm__optim *optim,
                                                 const void *attributes,
                                                 const clm__optim_state *state,
                                                 const clm__weights *weights);

#endif
