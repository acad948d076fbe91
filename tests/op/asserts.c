#include "op/asserts.h"

#include <string.h>

void assert_refused(clm_status status, clm_status expected, const char *words)
{
  assert_string_equal(clm_status_name(status), clm_status_name(expected));
  if (strstr(clm_error_last()->message, words) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", words, clm_error_last()->message);
}
