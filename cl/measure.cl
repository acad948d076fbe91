// What a device reaches (src/dev/measure.c): arithmetic in registers, a stream through memory, and
// nothing at all. WIDTH is the vector that the device likes: 1, 4, 8 or 16 floats.

#pragma OPENCL FP_CONTRACT ON

#if WIDTH == 16
typedef float16 vec;
#elif WIDTH == 8
typedef float8 vec;
#elif WIDTH == 4
typedef float4 vec;
#else
typedef float vec;
#endif

// Twelve independent chains of `rounds` multiply-adds, enough to hide their latency.
kernel void measure_arithmetic(int rounds, float scale, float step, global float *y)
{
  const vec a = (vec)(scale), b = (vec)(step);
  const float start = (float)get_global_id(0);
  vec c0 = (vec)(start), c1 = c0 + b, c2 = c1 + b, c3 = c2 + b, c4 = c3 + b, c5 = c4 + b;
  vec c6 = c5 + b, c7 = c6 + b, c8 = c7 + b, c9 = c8 + b, c10 = c9 + b, c11 = c10 + b;
  for (int i = 0; i < rounds; i++) {
    c0 = fma(c0, a, b), c1 = fma(c1, a, b), c2 = fma(c2, a, b), c3 = fma(c3, a, b);
    c4 = fma(c4, a, b), c5 = fma(c5, a, b), c6 = fma(c6, a, b), c7 = fma(c7, a, b);
    c8 = fma(c8, a, b), c9 = fma(c9, a, b), c10 = fma(c10, a, b), c11 = fma(c11, a, b);
  }
  const vec sum = ((c0 + c1) + (c2 + c3)) + ((c4 + c5) + (c6 + c7)) + ((c8 + c9) + (c10 + c11));
  ((global vec *)y)[get_global_id(0)] = sum;
}

// y = scale * x, four floats an item.
kernel void measure_stream(int count, float scale, global const float4 *restrict x,
                           global float4 *restrict y)
{
  const int i = (int)get_global_id(0);
  if (i < count) y[i] = scale * x[i];
}

kernel void measure_nothing(global float *y)
{
  if (get_global_id(0) > 1000000000u) y[0] = 1.0f;
}
