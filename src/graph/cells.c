#include "graph/cells.h"

#include <stdint.h>

typedef struct code_range {
  uint32_t first;
  uint32_t last;
} code_range;

/* The blocks of Unicode whose characters combine with the one before. */
static const code_range zero_wide[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

/* The blocks whose characters are East Asian Wide or Fullwidth, and the pictures drawn so. */
static const code_range double_wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
    {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x17000, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

static int is_in(uint32_t code, const code_range *ranges, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (code >= ranges[i].first && code <= ranges[i].last) return 1;
  return 0;
}

/* Decodes the first character; returns its bytes, 1 with code 0xfffd where it is not UTF-8. */
static size_t decode(const char *text, size_t size, uint32_t *code)
{
  const unsigned char head = (unsigned char)text[0];
  const size_t length = head < 0x80 ? 1 : head < 0xe0 ? 2 : head < 0xf0 ? 3 : 4;
  *code = 0xfffd;
  if (head >= 0x80 && (head < 0xc2 || head > 0xf4)) return 1;
  if (length > size) return 1;
  uint32_t value = length == 1 ? head : head & (0x7fU >> length);
  for (size_t i = 1; i < length; i++) {
    const unsigned char byte = (unsigned char)text[i];
    if ((byte & 0xc0U) != 0x80U) return 1;
    value = value << 6 | (byte & 0x3fU);
  }
  *code = value;
  return length;
}

size_t clm__cells_next(const char *text, size_t size, int *cells)
{
  uint32_t code = 0;
  const size_t bytes = decode(text, size, &code);
  *cells = 1;
  if (is_in(code, zero_wide, sizeof zero_wide / sizeof zero_wide[0])) *cells = 0;
  if (is_in(code, double_wide, sizeof double_wide / sizeof double_wide[0])) *cells = 2;
  return bytes;
}

int clm__cells_count(const char *text, size_t size)
{
  int count = 0;
  int cells = 0;
  for (size_t at = 0; at < size; count += cells)
    at += clm__cells_next(text + at, size - at, &cells);
  return count;
}

size_t clm__cells_fit(const char *text, size_t size, int cells)
{
  size_t at = 0;
  int wide = 0;
  while (at < size) {
    const size_t bytes = clm__cells_next(text + at, size - at, &wide);
    if (wide > cells) break;
    cells -= wide;
    at += bytes;
  }
  return at;
}
