/* Lists of words: argument vectors and environments. */
#ifndef CLM_LAUNCH_WORDS_H
#define CLM_LAUNCH_WORDS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, it is valid and empty. items[count] is NULL where anything was added. */
typedef struct clm__words {
  char **items;
  size_t count;
  size_t capacity;
} clm__words;

/* Adds a copy of a word. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__words_add(clm__words *words, const char *word);

/* Adds a formatted word. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__words_addf(clm__words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds copies of `more` words, which may stand in one call: {"-x", "NAME"}. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__words_add_list(clm__words *words, const char *const *more,
                                              size_t count);

/* Adds a word that the list takes over (clm__str_take); it is freed on failure too. */
CLM_MUST_CHECK clm_status clm__words_add_str(clm__words *words, clm__str *str);

/* Sets NAME=VALUE in an environment, in place of an earlier value. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__words_set_variable(clm__words *words, const char *name,
                                                  const char *value);

/* The value of NAME in an environment, NULL where it is not set; borrowed. */
const char *clm__words_get_variable(const clm__words *words, const char *name);

bool clm__words_have(const clm__words *words, const char *word);
bool clm__words_equal(const clm__words *a, const clm__words *b);
void clm__words_fini(clm__words *words);

#endif
