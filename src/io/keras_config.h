/* The configuration of a model in Keras' JSON: graph and compile() in and out. */
#ifndef CLM_IO_KERAS_CONFIG_H
#define CLM_IO_KERAS_CONFIG_H

#include "io/json.h"
#include "io/model_file.h"

/* More layers are refused. */
#define CLM__LAYERS_MAX 4096

/* Reads a model object. Errors: BAD_DATA, UNSUPPORTED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__keras_read_model(const clm__json_at *model, clm__graph **graph);

/* Reads what compile() said; nothing where the model is not compiled. The compile is zeroed first;
 * clm__compile_fini frees it. Errors: BAD_DATA, UNSUPPORTED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__keras_read_compile(const clm__json_at *model, const clm_log *log,
                                                  clm__compile *compile);

/* Writes the model object; compile NULL: no "compile_config". */
void clm__keras_write_model(clm__json_writer *writer, const clm__graph *graph,
                            const clm__compile *compile);

/* Writes the members of "compile_config" into the object that is open. */
void clm__keras_write_compile(clm__json_writer *writer, const clm__compile *compile);

#endif
