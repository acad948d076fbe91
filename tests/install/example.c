/* The smallest program on the installed library: prints every outcome that a call can have. */
#include <clematis/status.h>

#include <stdio.h>

int main(void)
{
  for (int code = CLM_OK; code <= CLM_STOPPED; code++) {
    const clm_status status = (clm_status)code;
    printf("%-14s exit %2d  %s\n", clm_status_name(status), clm_status_exit_code(status),
           clm_status_text(status));
  }
  return clm_error_last()->status == CLM_OK ? 0 : 1;
}
