/* The weights of a small model, from an enemy who gets the archive's checksums right. */
#include "io/hdf5.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

/* HDF5 forgets to give some memory back when it meets a damaged file. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
  const clm__shape kernel = clm__shape2(32, 2);
  const clm__shape bias = clm__shape1(2);
  clm__hdf5 *file = NULL;
  float values[64];
  int64_t number = 0;
  if (clm__hdf5_open(bytes, size_bytes, "the input", &file) != CLM_OK) return 0;
  clm_status status = clm__hdf5_read_floats(file, "/layers/dense/vars/0", &kernel, values);
  if (status == CLM_OK) status = clm__hdf5_read_floats(file, "/layers/dense/vars/1", &bias, values);
  if (status == CLM_OK) status = clm__hdf5_read_int(file, "/optimizer/vars/0", &number);
  (void)clm__hdf5_count(file, "/layers/dense/vars");
  clm__hdf5_close(file);
  return 0;
}
