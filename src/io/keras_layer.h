/* One entry of "layers". */
#ifndef CLM_IO_KERAS_LAYER_H
#define CLM_IO_KERAS_LAYER_H

#include "graph/graph.h"
#include "io/json.h"

/* A layer's entry, looked at but not yet read. The texts live as long as the document. */
typedef struct clm__keras_layer {
  clm__json_at list; /* places that the others borrow */
  clm__json_at entry;
  clm__json_at config;
  const char *class_name;
  const char *name; /* NULL: none */
  bool is_input;
} clm__keras_layer;

/* Looks at entry `index` of a list. The result must stay where it is. Errors: BAD_DATA, UNSUPPORTED
 * (a nested model, an operation that is no layer, a class of the user's own). */
CLM_MUST_CHECK clm_status clm__keras_open_layer(const clm__json_at *list, size_t index,
                                                clm__keras_layer *layer);

/* Adds the layer to the graph. Errors: BAD_DATA, UNSUPPORTED, NO_MEMORY; messages name it. */
CLM_MUST_CHECK clm_status clm__keras_add_layer(const clm__keras_layer *layer, clm__graph *graph,
                                               const int *inputs, int input_count);

/* Whether the layer tells the shape of its input. */
bool clm__keras_has_shape(const clm__keras_layer *layer);
/* That shape, without the batch. Errors: BAD_DATA, UNSUPPORTED (sizes that are not fixed). */
CLM_MUST_CHECK clm_status clm__keras_read_input(const clm__keras_layer *layer, clm__shape *shape);
/* A list like [null, 180, 180, 3]. */
CLM_MUST_CHECK clm_status clm__keras_read_shape(const clm__json_at *at, clm__shape *shape);

#endif
