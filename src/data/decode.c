#include "data/decode.h"

#include "data/jpeg_outline.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct signature {
  clm__image_type type;
  size_t offset;
  const char *bytes;
  size_t size_bytes;
} signature;

#define SIGNATURE(type, offset, bytes)                                                             \
  {                                                                                                \
    (type), (offset), (bytes), sizeof(bytes) - 1                                                   \
  }
static const signature signatures[] = {
    SIGNATURE(CLM__IMAGE_JPEG, 0, "\xFF\xD8\xFF"),
    SIGNATURE(CLM__IMAGE_PNG, 0, "\x89PNG\r\n\x1A\n"),
    SIGNATURE(CLM__IMAGE_GIF, 0, "GIF8"),
    SIGNATURE(CLM__IMAGE_WEBP, 8, "WEBPVP8"),
    SIGNATURE(CLM__IMAGE_TIFF, 0, "II*\0"),
    SIGNATURE(CLM__IMAGE_TIFF, 0, "MM\0*"),
    SIGNATURE(CLM__IMAGE_AVIF, 4, "ftypavif"),
    SIGNATURE(CLM__IMAGE_HEIF, 4, "ftyphei"),
    SIGNATURE(CLM__IMAGE_HEIF, 4, "ftypmif1"),
    SIGNATURE(CLM__IMAGE_JPEG_XL, 0, "\xFF\x0A"),
    SIGNATURE(CLM__IMAGE_JPEG_XL, 4, "JXL \r\n\x87\n"),
    SIGNATURE(CLM__IMAGE_JPEG_2000, 4, "jP  \r\n\x87\n"),
    SIGNATURE(CLM__IMAGE_PSD, 0, "8BPS"),
    SIGNATURE(CLM__IMAGE_BMP, 0, "BM"),
};
#undef SIGNATURE

clm__image_type clm__image_type_of(const void *bytes, size_t size_bytes)
{
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
    const signature *known = &signatures[i];
    if (size_bytes < known->offset + known->size_bytes) continue;
    if (memcmp((const char *)bytes + known->offset, known->bytes, known->size_bytes) == 0)
      return known->type;
  }
  return CLM__IMAGE_UNKNOWN;
}

const char *clm__image_type_name(clm__image_type type)
{
  switch (type) {
  case CLM__IMAGE_JPEG:
    return "JPEG";
  case CLM__IMAGE_PNG:
    return "PNG";
  case CLM__IMAGE_GIF:
    return "GIF";
  case CLM__IMAGE_BMP:
    return "BMP";
  case CLM__IMAGE_WEBP:
    return "WebP";
  case CLM__IMAGE_TIFF:
    return "TIFF";
  case CLM__IMAGE_HEIF:
    return "HEIF";
  case CLM__IMAGE_AVIF:
    return "AVIF";
  case CLM__IMAGE_JPEG_XL:
    return "JPEG XL";
  case CLM__IMAGE_JPEG_2000:
    return "JPEG 2000";
  case CLM__IMAGE_PSD:
    return "PSD";
  case CLM__IMAGE_UNKNOWN:
    break;
  }
  return "unknown";
}

/* Shows how a file that is no picture begins: as text where it is text, else as numbers. */
static clm_status fail_unknown(const unsigned char *bytes, size_t size_bytes)
{
  const size_t shown = size_bytes < 12 ? size_bytes : 12;
  char text[64] = "";
  size_t printable = 0;
  while (printable < shown && isprint(bytes[printable])) printable++;
  if (printable == shown)
    (void)snprintf(text, sizeof text, "\"%.*s\"", (int)shown, (const char *)bytes);
  else
    for (size_t i = 0; i < shown; i++)
      (void)snprintf(text + 3 * i, sizeof text - 3 * i, i > 0 ? " %02x" : "%02x ", bytes[i]);
  CLM_FAIL(CLM_BAD_DATA, "not a picture: it begins with %s", text);
}

clm_status clm__decode_check_size(const clm__decode_options *options, uint32_t height,
                                  uint32_t width, int bytes_each)
{
  const size_t asked = options->limit_bytes;
  const bool tighter = asked > 0 && asked < CLM__IMAGE_LIMIT_BYTES;
  const uint64_t limit = tighter ? asked : CLM__IMAGE_LIMIT_BYTES;
  CLM_REQUIRE((uint64_t)height * width <= (limit - 1) / (uint64_t)bytes_each, CLM_BAD_DATA,
              "too large: %" PRIu32 " x %" PRIu32 " pixels, the limit is %" PRIu64 " bytes", width,
              height, limit);
  return CLM_OK;
}

clm_status clm__decode(const void *bytes, size_t size_bytes, const clm__decode_options *options,
                       clm__image *image)
{
  CLM_REQUIRE(size_bytes > 0, CLM_BAD_DATA, "empty file");
  CLM_REQUIRE(options->channels == 1 || options->channels == 3 || options->channels == 4, CLM_USAGE,
              "a picture is read with 1, 3 or 4 channels, not %d", options->channels);
  const clm__image_type type = clm__image_type_of(bytes, size_bytes);
  switch (type) {
  case CLM__IMAGE_JPEG:
    CLM_TRY(clm__decode_jpeg(bytes, size_bytes, options, image));
    return CLM_OK;
  case CLM__IMAGE_PNG:
    CLM_TRY(clm__decode_png(bytes, size_bytes, options, image));
    return CLM_OK;
  case CLM__IMAGE_UNKNOWN:
    return fail_unknown(bytes, size_bytes);
  default:
    CLM_FAIL(CLM_UNSUPPORTED, "%s is not supported: convert it to JPEG or PNG",
             clm__image_type_name(type));
  }
}

/* Whether the outline of a JPEG shows that it can be decoded. */
static bool is_sound_jpeg(const void *bytes, size_t size_bytes, const clm__decode_options *options,
                          clm__image *image)
{
  clm__jpeg_outline outline;
  if (clm__image_type_of(bytes, size_bytes) != CLM__IMAGE_JPEG) return false;
  if (!clm__jpeg_outline_take(bytes, size_bytes, &outline)) return false;
  if (outline.ends_with_scan && outline.scan_count == 1)
    return clm__decode_jpeg_begin(outline.bytes, outline.size_bytes, options) == CLM_OK;
  return clm__decode_jpeg(outline.bytes, outline.size_bytes, options, image) == CLM_OK;
}

clm_status clm__decode_verify(const void *bytes, size_t size_bytes, clm__image *image)
{
  /* At an eighth of its size a JPEG is read to its end all the same. */
  const clm__decode_options options = {.channels = 3, .least_height = 1, .least_width = 1};
  if (is_sound_jpeg(bytes, size_bytes, &options, image)) return CLM_OK;
  return clm__decode(bytes, size_bytes, &options, image);
}
