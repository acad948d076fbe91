#include "data/exif.h"

#include <stdbool.h>
#include <string.h>

#define TAG_ORIENTATION 0x0112U
#define TYPE_SHORT 3U
#define ENTRY_SIZE 12U

typedef struct tiff_view {
  const uint8_t *bytes;
  size_t size_bytes;
  bool big_endian;
} tiff_view;

/* Places outside of the data read as 0. */
static uint32_t read_16(const tiff_view *tiff, size_t at)
{
  if (tiff->size_bytes < 2 || at > tiff->size_bytes - 2) return 0;
  const uint8_t *b = tiff->bytes + at;
  return tiff->big_endian ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

static uint32_t read_32(const tiff_view *tiff, size_t at)
{
  const uint32_t first = read_16(tiff, at);
  const uint32_t second = read_16(tiff, at + 2);
  return tiff->big_endian ? first << 16 | second : second << 16 | first;
}

int clm__exif_orientation(const uint8_t *bytes, size_t size_bytes)
{
  const int upright = 1;
  if (size_bytes < 8) return upright;
  const tiff_view tiff = {
      .bytes = bytes, .size_bytes = size_bytes, .big_endian = memcmp(bytes, "MM", 2) == 0};
  if (!tiff.big_endian && memcmp(bytes, "II", 2) != 0) return upright;
  if (read_16(&tiff, 2) != 42) return upright;
  const size_t directory = read_32(&tiff, 4);
  const uint32_t count = read_16(&tiff, directory);
  for (uint32_t i = 0; i < count; i++) {
    const size_t entry = directory + 2 + (size_t)i * ENTRY_SIZE;
    if (read_16(&tiff, entry) != TAG_ORIENTATION) continue;
    const uint32_t value = read_16(&tiff, entry + 8);
    const bool valid = read_16(&tiff, entry + 2) == TYPE_SHORT && value >= 1 && value <= 8;
    return valid ? (int)value : upright;
  }
  return upright;
}
