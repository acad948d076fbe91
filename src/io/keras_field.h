/* Attributes of layers, losses and optimizers as Keras writes and reads them, through the tables of
 * op/field.h. */
#ifndef CLM_IO_KERAS_FIELD_H
#define CLM_IO_KERAS_FIELD_H

#include "io/json.h"
#include "op/field.h"

/* Fills attributes (zeroed) with the defaults of their table and what the configuration says.
 * Errors: BAD_DATA, UNSUPPORTED, both with the way to the value. */
CLM_MUST_CHECK clm_status clm__keras_read_fields(const clm__json_at *config,
                                                 const clm__field *fields, void *attributes);

/* Refuses keys that stand neither in `known` nor in one of the tables (both end with NULL), unless
 * they are null or false: then whatever they mean is off. Errors: UNSUPPORTED. */
CLM_MUST_CHECK clm_status clm__keras_check_keys(const clm__json_at *config,
                                                const char *const *known,
                                                const clm__field *const *tables);

/* Refuses other types than float32, in every spelling. A missing one is fine. */
CLM_MUST_CHECK clm_status clm__keras_check_dtype(const clm__json_at *dtype);

/* The class name and configuration of an object {"class_name": ..., "config": {...}}; of a text,
 * the text and a missing configuration. Errors: BAD_DATA. */
CLM_MUST_CHECK clm_status clm__keras_get_class(const clm__json_at *object, const char **class_name,
                                               clm__json_at *config);

/* Writes the table's keys into the object that is open. */
void clm__keras_write_fields(clm__json_writer *writer, const clm__field *fields,
                             const void *attributes);

/* Begins and ends {"module": ..., "class_name": ..., "config": {...}, "registered_name": null};
 * between the two, keys go into "config". */
void clm__keras_begin_class(clm__json_writer *writer, const char *key, const char *module,
                            const char *class_name);
void clm__keras_end_class(clm__json_writer *writer);

#endif
