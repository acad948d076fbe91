#include "support/npy.h"

#include "base/mem.h"
#include "support/folder.h"
#include "sys/file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *find_value(const char *header, const char *key)
{
  const char *found = strstr(header, key);
  if (found == NULL) fail_msg("no %s in a .npy header", key);
  return found + strlen(key);
}

npy npy_read_file(const char *path)
{
  char *content = NULL;
  size_t size = 0;
  if (clm__file_read(path, SIZE_MAX, &content, &size) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  if (size < 10 || memcmp(content, "\x93NUMPY", 6) != 0) fail_msg("%s is no .npy file", path);
  const unsigned char *const length = (const unsigned char *)content + 8;
  const size_t header_size = (size_t)length[0] | (size_t)length[1] << 8;
  char header[1024];
  if (header_size >= sizeof header || 10 + header_size > size) fail_msg("%s: bad header", path);
  memcpy(header, content + 10, header_size);
  header[header_size] = '\0';

  npy array = {.count = 1, .block = content, .data = content + 10 + header_size};
  if (sscanf(find_value(header, "'descr':"), " '%7[^']'", array.type) != 1)
    fail_msg("%s: no type", path);
  const char *at = strchr(find_value(header, "'shape':"), '(') + 1;
  while (*at != ')') {
    char *end = NULL;
    const long dim = strtol(at, &end, 10);
    if (end == at) break;
    array.dims[array.rank++] = (int)dim;
    array.count *= (size_t)dim;
    at = end + strspn(end, ", ");
  }
  return array;
}

npy npy_read_golden(const char *path)
{
  char full[1024];
  (void)snprintf(full, sizeof full, "%s/golden/%s", tests_folder(), path);
  return npy_read_file(full);
}

void npy_free(npy *array)
{
  clm__mem_free(array->block);
  *array = (npy){0};
}

void assert_floats_near(const char *what, const float *actual, const float *expected, size_t count,
                        double tolerance)
{
  size_t first = count;
  double worst = 0.0;
  for (size_t i = 0; i < count; i++) {
    const double a = actual[i];
    const double e = expected[i];
    if (isnan(a) && isnan(e)) continue;
    if (a == e) continue;
    const double difference = fabs(a - e) / fmax(1.0, fabs(e));
    const int bad = !(difference <= tolerance);
    if (bad && first == count) first = i;
    if (!(difference <= worst)) worst = difference;
  }
  if (first < count)
    fail_msg("%s: element %zu of %zu is %.9g, expected %.9g; largest difference %.3g, allowed %.3g",
             what, first, count, (double)actual[first], (double)expected[first], worst, tolerance);
}
