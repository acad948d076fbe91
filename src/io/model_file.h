/* Models in Keras' formats: a .keras archive, the text of model.to_json(), and ours: a .keras with
 * the place in the data and the random state as one more member. */
#ifndef CLM_IO_MODEL_FILE_H
#define CLM_IO_MODEL_FILE_H

#include "base/log.h"
#include "graph/weights.h"
#include "op/loss.h"

/* What compile() says. */
typedef struct clm__compile {
  const clm__optim *optim; /* NULL: not compiled */
  void *optim_attributes;  /* owned */
  const clm__loss *loss;   /* NULL: none */
  void *loss_attributes;   /* owned */
} clm__compile;

void clm__compile_fini(clm__compile *compile);

/* A model read from a file, or about to be written to one. */
typedef struct clm__model_file {
  clm__graph *graph;
  clm__weights *weights; /* NULL: the file holds none (to_json) */
  clm__compile compile;
  clm__optim_state *optim_state; /* NULL: none stored, or it does not fit (a WARNING told so) */
  char *extra;                   /* JSON text kept in our own member, NULL: none */
} clm__model_file;

/* Name of our own member in a .keras archive. */
#define CLM__EXTRA_MEMBER "clematis.json"

/* Reads a .keras file or JSON text, told apart by the first bytes. Trusts no length, index or
 * name in it. Errors: NO_INPUT, BAD_DATA (what is wrong, and where: member, JSON line and column,
 * layer), UNSUPPORTED (a class, option or Keras 2 format by name). */
CLM_MUST_CHECK clm_status clm__model_file_read(const char *path, const clm_log *log,
                                               clm__model_file *file);
/* The same for a file in memory. */
CLM_MUST_CHECK clm_status clm__model_file_read_bytes(const void *bytes, size_t size_bytes,
                                                     const clm_log *log, clm__model_file *file);
void clm__model_file_fini(clm__model_file *file);

/* Writes a .keras archive whole: temporary name, flush, rename. optim_state NULL: untrained.
 * extra NULL: the archive has Keras' three members only. Everything is borrowed. Errors: IO. */
CLM_MUST_CHECK clm_status clm__model_file_write(const char *path, const clm__model_file *file);
/* The same as bytes, taken by the caller (clm__mem_free). Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__model_file_pack(const clm__model_file *file, char **bytes,
                                               size_t *size_bytes);

/* The text of model.to_json() without compile_config. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__model_file_to_json(const clm__graph *graph, char **text);

#endif
