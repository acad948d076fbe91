#include "op/build.h"

#include "base/str.h"
#include "sys/file.h"

#include <stdlib.h>

static clm_status list_build(const char *path, const clm__build *build)
{
  clm__str line = {0};
  clm_status status =
      clm__str_add(&line, "%s\t%s\t%s\n", build->file, build->options, build->variant);
  if (status == CLM_OK) status = clm__file_append(path, clm__str_get(&line), line.length);
  clm__str_fini(&line);
  return status;
}

clm_status clm__build_kernel(clm__device *device, const clm__build *build, clm__kernel *kernel)
{
  clm__program *program = NULL;
  const char *list = getenv("CLEMATIS_TEST_LIST_KERNELS");
  if (list != NULL && list[0] != '\0') CLM_TRY(list_build(list, build));
  CLM_TRY(clm__program_get(device, build->file, build->options, &program));
  CLM_TRY(clm__kernel_init(program, build->kernel, kernel));
  return CLM_OK;
}
