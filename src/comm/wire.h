/* What floats look like between ranks. Threads: pure functions. */
#ifndef CLM_COMM_WIRE_H
#define CLM_COMM_WIRE_H

#include <stddef.h>
#include <stdint.h>

typedef enum clm__wire {
  CLM__WIRE_F32,
  CLM__WIRE_BF16 /* the upper half of a float32, rounded to nearest even */
} clm__wire;

/* The bytes of one value. */
size_t clm__wire_size_bytes(clm__wire wire);

/* coded = values + residual, rounded; residual = what rounding lost, 0 where that is not finite. */
void clm__wire_encode_bf16(uint16_t *coded, float *residual, const float *values, size_t count);

void clm__wire_decode_bf16(float *values, const uint16_t *coded, size_t count);

/* sum += part, which holds count values as they came over the wire. */
void clm__wire_add(float *sum, clm__wire wire, const void *part, size_t count);

#endif
