/* A text that grows. Zeroed, it is valid and empty. */
#ifndef CLM_BASE_STR_H
#define CLM_BASE_STR_H

#include "base/error.h"

#include <stddef.h>

typedef struct clm__str {
  char *text; /* NUL-terminated; NULL while nothing was added */
  size_t length;
  size_t capacity;
} clm__str;

/* Adds formatted text at the end. Errors: NO_MEMORY; the text so far stays. */
CLM_MUST_CHECK clm_status clm__str_add(clm__str *str, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds bytes at the end. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__str_add_bytes(clm__str *str, const char *bytes, size_t count);

/* The text, "" where nothing was added; borrowed until the next change. */
const char *clm__str_get(const clm__str *str);

/* Gives the text to the caller (clm__mem_free) and empties the builder. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__str_take(clm__str *str, char **result);

/* Frees the text; the builder is empty and valid again. */
void clm__str_fini(clm__str *str);

#endif
