/* A .keras archive, or the text of a model's configuration, from an enemy. */
#include "io/model_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
  clm__model_file file = {0};
  if (clm__model_file_read_bytes(bytes, size_bytes, NULL, &file) == CLM_OK)
    clm__model_file_fini(&file);
  return 0;
}
