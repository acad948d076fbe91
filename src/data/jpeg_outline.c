#include "data/jpeg_outline.h"

#include <string.h>

enum {
  MARK = 0xFF, /* what every marker begins with */
  SOF0 = 0xC0,
  JPG = 0xC8,
  SOF15 = 0xCF,
  RST0 = 0xD0,
  RST7 = 0xD7,
  SOI = 0xD8,
  EOI = 0xD9,
  SOS = 0xDA,
  DQT = 0xDB,
  DRI = 0xDD,
  APP0 = 0xE0,
  APP14 = 0xEE,
  APP15 = 0xEF,
  COM = 0xFE
};

/* What is read and what was copied. */
typedef struct tracer {
  const unsigned char *at;
  const unsigned char *end;
  clm__jpeg_outline *outline;
} tracer;

static bool copy(tracer *t, const unsigned char *bytes, size_t count)
{
  clm__jpeg_outline *outline = t->outline;
  if (count > sizeof outline->bytes - outline->size_bytes) return false;
  memcpy(outline->bytes + outline->size_bytes, bytes, count);
  outline->size_bytes += count;
  return true;
}

/* Segments that tell how the picture is to be decoded. Of the others the decoder looks at APP0 and
 * APP14, which tell the colours. */
static bool is_needed(int marker)
{
  return (marker >= SOF0 && marker <= SOF15 && marker != JPG) || marker == SOS || marker == DQT ||
         marker == DRI || marker == APP0 || marker == APP14;
}

static bool is_ignored(int marker)
{
  return (marker > APP0 && marker <= APP15 && marker != APP14) || marker == COM;
}

/* Goes to the marker behind the data of a scan. Within them stand stuffed bytes and restarts. */
static bool skip_data(tracer *t)
{
  for (;;) {
    t->at = memchr(t->at, MARK, (size_t)(t->end - t->at));
    if (t->at == NULL || t->end - t->at < 2) return false;
    const int next = t->at[1];
    if (next == MARK)
      t->at++;
    else if (next == 0 || (next >= RST0 && next <= RST7))
      t->at += 2;
    else
      return true;
  }
}

/* Takes the segment at t->at, which begins with its marker, and the data of a scan. */
static bool take_segment(tracer *t)
{
  if (t->end - t->at < 4) return false;
  const size_t size_bytes = 2 + ((size_t)t->at[2] << 8) + t->at[3];
  if (size_bytes < 4 || size_bytes > (size_t)(t->end - t->at)) return false;
  const int marker = t->at[1];
  if (!is_needed(marker) && !is_ignored(marker)) return false;
  if (is_needed(marker) && !copy(t, t->at, size_bytes)) return false;
  t->at += size_bytes;
  t->outline->ends_with_scan = marker == SOS;
  if (marker != SOS) return true;
  t->outline->scan_count++;
  return skip_data(t);
}

bool clm__jpeg_outline_take(const void *bytes, size_t size_bytes, clm__jpeg_outline *outline)
{
  tracer t = {.at = bytes, .end = (const unsigned char *)bytes + size_bytes, .outline = outline};
  outline->size_bytes = 0;
  outline->scan_count = 0;
  outline->ends_with_scan = false;
  if (size_bytes < 4 || t.at[0] != MARK || t.at[1] != SOI) return false;
  (void)copy(&t, t.at, 2);
  t.at += 2;
  while (t.end - t.at >= 2 && t.at[0] == MARK) {
    if (t.at[1] == EOI) return outline->scan_count > 0 && copy(&t, t.at, 2);
    if (!take_segment(&t)) return false;
  }
  return false;
}
