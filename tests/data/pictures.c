#include "data/pictures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/folder.h"

const clm__decode_options keras = {.channels = 3};

file_content read_path(const char *path)
{
  file_content content = {0};
  if (clm__file_read(path, SIZE_MAX, &content.bytes, &content.size_bytes) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  return content;
}

file_content read_golden(const char *name)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/pixels/%s", tests_folder(), name);
  return read_path(path);
}

clm_status decode_golden(const char *name, const clm__decode_options *options, clm__image *image)
{
  file_content content = read_golden(name);
  const clm_status status = clm__decode(content.bytes, content.size_bytes, options, image);
  clm__mem_free(content.bytes);
  return status;
}

bool ends_with(const char *text, const char *end)
{
  const size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static clm__file_listing list_golden(const char *name)
{
  char folder[1024];
  (void)snprintf(folder, sizeof folder, "%s/golden/pixels/%s", tests_folder(), name);
  clm__file_listing listing;
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  return listing;
}

clm__file_listing list_sources(void) { return list_golden("src"); }

clm__file_listing list_bad(void) { return list_golden("bad"); }

uint32_t crc32(const uint8_t *bytes, size_t count)
{
  static uint32_t table[256];
  for (uint32_t i = 0; i < 256 && table[255] == 0; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? UINT32_C(0xedb88320) : 0);
    table[i] = value;
  }
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < count; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xFF];
  return ~crc;
}
