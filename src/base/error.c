#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local clm_error thread_error;

const char *clm_status_name(clm_status status)
{
  switch (status) {
#define CLM_STATUS_NAME(name, exit_code, text)                                                     \
  case CLM_##name:                                                                                 \
    return #name;
    CLM_STATUS_MAP(CLM_STATUS_NAME)
#undef CLM_STATUS_NAME
  }
  return "UNKNOWN";
}

const char *clm_status_text(clm_status status)
{
  switch (status) {
#define CLM_STATUS_TEXT(name, exit_code, text)                                                     \
  case CLM_##name:                                                                                 \
    return text;
    CLM_STATUS_MAP(CLM_STATUS_TEXT)
#undef CLM_STATUS_TEXT
  }
  return "unknown status";
}

int clm_status_exit_code(clm_status status)
{
  switch (status) {
#define CLM_STATUS_EXIT(name, exit_code, text)                                                     \
  case CLM_##name:                                                                                 \
    return exit_code;
    CLM_STATUS_MAP(CLM_STATUS_EXIT)
#undef CLM_STATUS_EXIT
  }
  return 70;
}

const clm_error *clm_error_last(void) { return &thread_error; }

void clm_error_clear(void)
{
  thread_error.status = CLM_OK;
  thread_error.message[0] = '\0';
  thread_error.frame_count = 0;
}

clm_status clm__error_fail(clm_status status, const char *file, int line, const char *function,
                           const char *format, ...)
{
  CLM_ASSERT(status != CLM_OK);
  thread_error.status = status;
  thread_error.frame_count = 0;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(thread_error.message, sizeof thread_error.message, format, arguments);
  va_end(arguments);
  return clm__error_pass(status, file, line, function);
}

clm_status clm__error_pass(clm_status status, const char *file, int line, const char *function)
{
  if (thread_error.frame_count < CLM_ERROR_FRAMES_MAX)
    thread_error.frames[thread_error.frame_count++] =
        (clm_error_frame){.file = file, .function = function, .line = line};
  return status;
}

clm_status clm__error_prefix(clm_status status, const char *format, ...)
{
  char message[CLM_ERROR_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (length > 0 && (size_t)length < sizeof message)
    (void)snprintf(message + length, sizeof message - (size_t)length, "%s", thread_error.message);
  memcpy(thread_error.message, message, sizeof message);
  return status;
}

clm_status clm__error_raise(const clm_error *error)
{
  if (error != &thread_error) thread_error = *error;
  return thread_error.status;
}

_Noreturn void clm__assert_failed(const char *expression, const char *file, int line)
{
  (void)fprintf(stderr, "clematis: a bug in Clematis: %s does not hold (%s:%d)\n", expression, file,
                line);
  abort();
}
