/* Our own member of a .keras archive: what the caller keeps there, and a digest of the weights by
 * which it is seen that both belong together. */
#ifndef CLM_IO_MODEL_EXTRA_H
#define CLM_IO_MODEL_EXTRA_H

#include "io/model_file.h"

/* The member's text for a model with extra. Taken by the caller. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__model_extra_write(const clm__model_file *file, char **text);

/* Fills file->extra from the member's text; weights and state are there already. Errors: BAD_DATA
 * (no such text, or other weights than those it was written with), UNSUPPORTED (a later form). */
CLM_MUST_CHECK clm_status clm__model_extra_read(const char *text, size_t size_bytes,
                                                clm__model_file *file);

#endif
