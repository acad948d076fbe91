/* Device buffers with fences: a pattern before and behind each one shows writes outside of it, and
 * as the pattern is not a number, most reads outside too. Results hold the pattern before the call,
 * so that an element nobody wrote is seen. */
#ifndef CLM_TESTS_OP_FENCE_H
#define CLM_TESTS_OP_FENCE_H

#include "dev/buffer.h"

#define FENCES_MAX 48

/* One buffer of a call. */
typedef struct fence {
  const char *name;    /* for messages */
  cl_mem *argument;    /* gets the buffer while the fences stand, NULL afterwards */
  const void *content; /* NULL: the pattern */
  void *result;        /* read back to here; NULL: must still hold its content, if any */
  size_t size_bytes;
  cl_mem whole;
} fence;

typedef struct fences {
  clm__device *device;
  int count;
  fence list[FENCES_MAX];
} fences;

/* A buffer that the call must not change. Size 0 or content NULL: the argument is NULL. */
void fences_add_input(fences *set, const char *name, cl_mem *argument, const void *content,
                      size_t size_bytes);
/* A buffer that the call writes. content NULL: nothing is in it before. */
void fences_add_output(fences *set, const char *name, cl_mem *argument, const void *content,
                       void *result, size_t size_bytes);
/* Makes the buffers and fills them. */
void fences_open(fences *set);
/* Waits, reads the results, and checks the fences and the inputs: the test fails, naming `what`
 * and the buffer. The set is empty afterwards. */
void fences_close(fences *set, const char *what);

#endif
