/* Any bytes as the list of images that rank 0 sends. */
#include "data/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
  clm__dataset *dataset = NULL;
  if (clm__dataset_unpack(bytes, size_bytes, "folder", &dataset) != CLM_OK) return 0;
  size_t all_count = 0;
  clm__dataset_drop_faulty(dataset, &all_count);
  (void)clm__dataset_digest(dataset);
  clm__dataset_close(dataset);
  return 0;
}
