/* Failing with a message and a trail. The record is per thread and plain data, so a worker's error
 * can be copied into its queue item and raised again by the consumer. */
#ifndef CLM_BASE_ERROR_H
#define CLM_BASE_ERROR_H

#include "clematis/status.h"

/* Starts a trail: stores status and message, returns status. Errors: none of its own. */
clm_status clm__error_fail(clm_status status, const char *file, int line, const char *function,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds a frame to the trail of an error on its way up; returns status. */
clm_status clm__error_pass(clm_status status, const char *file, int line, const char *function);

/* Puts words before the message of the thread's error ("while reading FILE: "); returns status. */
clm_status clm__error_prefix(clm_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Raises a copied error on this thread; returns its status. */
clm_status clm__error_raise(const clm_error *error);

/* Ends the process after naming a broken assumption of our own. */
_Noreturn void clm__assert_failed(const char *expression, const char *file, int line);

#define CLM_FAIL(status, ...)                                                                      \
  return clm__error_fail((status), __FILE__, __LINE__, __func__, __VA_ARGS__)

/* Guards against the caller or the outside, in every build. */
#define CLM_REQUIRE(condition, status, ...)                                                        \
  do {                                                                                             \
    if (!(condition)) CLM_FAIL((status), __VA_ARGS__);                                             \
  } while (0)

/* Returns the failure of an inner call to our caller. */
#define CLM_TRY(expression)                                                                        \
  do {                                                                                             \
    const clm_status clm__try_status = (expression);                                               \
    if (clm__try_status != CLM_OK)                                                                 \
      return clm__error_pass(clm__try_status, __FILE__, __LINE__, __func__);                       \
  } while (0)

/* Keeps the failure of an inner call in `status` and goes to the clean-up ladder. */
#define CLM_TRY_TO(label, status, expression)                                                      \
  do {                                                                                             \
    (status) = (expression);                                                                       \
    if ((status) != CLM_OK) {                                                                      \
      (void)clm__error_pass((status), __FILE__, __LINE__, __func__);                               \
      goto label;                                                                                  \
    }                                                                                              \
  } while (0)

/* Starts a trail, keeps its status and goes to the clean-up ladder. */
#define CLM_FAIL_TO(label, status, code, ...)                                                      \
  do {                                                                                             \
    (status) = clm__error_fail((code), __FILE__, __LINE__, __func__, __VA_ARGS__);                 \
    goto label;                                                                                    \
  } while (0)

/* Guards against ourselves. Active unless CLM_NO_ASSERT is defined. */
#ifdef CLM_NO_ASSERT
#define CLM_ASSERT(condition) ((void)0)
#else
#define CLM_ASSERT(condition)                                                                      \
  do {                                                                                             \
    if (!(condition)) clm__assert_failed(#condition, __FILE__, __LINE__);                          \
  } while (0)
#endif

#endif
