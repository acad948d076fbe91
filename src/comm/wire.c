#include "comm/wire.h"

#include <math.h>
#include <string.h>

size_t clm__wire_size_bytes(clm__wire wire)
{
  return wire == CLM__WIRE_BF16 ? sizeof(uint16_t) : sizeof(float);
}

static uint16_t encode(float value)
{
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  /* Rounding could carry a NaN into infinity: it keeps its upper half and a bit that says NaN. */
  if (isnan(value)) return (uint16_t)(bits >> 16 | 0x40U);
  return (uint16_t)((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

static float decode(uint16_t coded)
{
  const uint32_t bits = (uint32_t)coded << 16;
  float value = 0.0F;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void clm__wire_encode_bf16(uint16_t *coded, float *residual, const float *values, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const float wanted = values[i] + residual[i];
    coded[i] = encode(wanted);
    const float lost = wanted - decode(coded[i]);
    residual[i] = isfinite(lost) ? lost : 0.0F;
  }
}

void clm__wire_decode_bf16(float *values, const uint16_t *coded, size_t count)
{
  for (size_t i = 0; i < count; i++) values[i] = decode(coded[i]);
}

void clm__wire_add(float *sum, clm__wire wire, const void *part, size_t count)
{
  if (wire == CLM__WIRE_BF16) {
    const uint16_t *const coded = part;
    for (size_t i = 0; i < count; i++) sum[i] += decode(coded[i]);
  } else {
    const float *const values = part;
    for (size_t i = 0; i < count; i++) sum[i] += values[i];
  }
}
