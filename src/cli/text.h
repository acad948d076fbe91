/* The program's only door to memory: texts that grow, copies that live to the end, plain arrays.
 * The program sees include/clematis alone, so base/mem.h is not for it. */
#ifndef CLM_CLI_TEXT_H
#define CLM_CLI_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* A text that grows. Zeroed, it is valid and empty. */
typedef struct clm__text {
  char *bytes; /* NUL-terminated; NULL while nothing was added */
  size_t length;
  size_t capacity;
} clm__text;

/* Adds formatted text at the end. The program ends with status 71 where memory is missing. */
void clm__text_add(clm__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

void clm__text_add_list(clm__text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Ends the program for want of memory. */
_Noreturn void clm__text_end_program(void);

/* The text, "" where nothing was added; borrowed until the next change. */
const char *clm__text_get(const clm__text *text);
void clm__text_fini(clm__text *text);

/* Zeroed memory for `count` items, given back with clm__memory_free; never NULL: the program ends
 * with status 71 where memory is missing. */
void *clm__memory_take(size_t count, size_t size_bytes);
void clm__memory_free(void *block);

#endif
