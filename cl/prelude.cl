// What every program begins with. OpenCL C 1.2 without double.
//
// Activations are chosen when the program is built: -DACTIVATION=ACTIVATION_RELU and so on.
// clm_activate(z) is y; clm_activate_slope(y) is dy/dz written in terms of y, for those activations
// that allow it (the others are nodes of their own and never an epilogue).

#define ACTIVATION_LINEAR 0
#define ACTIVATION_RELU 1
#define ACTIVATION_RELU6 2
#define ACTIVATION_LEAKY_RELU 3
#define ACTIVATION_ELU 4
#define ACTIVATION_SIGMOID 5
#define ACTIVATION_TANH 6
#define ACTIVATION_SILU 7
#define ACTIVATION_GELU 8

#ifndef ACTIVATION
#define ACTIVATION ACTIVATION_LINEAR
#endif

// How a helper begins. `inline` alone defines no function (C99, 6.7.4): where a compiler does not
// inline it its symbol is missing. Not every program uses every helper. INLINE is for those whose
// arrays must become registers; with restrict arguments Oclgrind cannot run it.
#define HELPER static inline __attribute__((unused))
#define INLINE HELPER __attribute__((always_inline))

HELPER float clm_activate(float z)
{
#if ACTIVATION == ACTIVATION_RELU
  return z < 0.0f ? 0.0f : z; // keeps NaN, unlike fmax
#elif ACTIVATION == ACTIVATION_RELU6
  return z < 0.0f ? 0.0f : z > 6.0f ? 6.0f : z;
#elif ACTIVATION == ACTIVATION_LEAKY_RELU
  return z > 0.0f ? z : 0.2f * z;
#elif ACTIVATION == ACTIVATION_ELU
  return z > 0.0f ? z : expm1(z);
#elif ACTIVATION == ACTIVATION_SIGMOID
  return 1.0f / (1.0f + exp(-z));
#elif ACTIVATION == ACTIVATION_TANH
  return tanh(z);
#else
  return z;
#endif
}

HELPER float clm_activate_slope(float y)
{
#if ACTIVATION == ACTIVATION_RELU
  return y > 0.0f ? 1.0f : 0.0f;
#elif ACTIVATION == ACTIVATION_RELU6
  return y > 0.0f && y < 6.0f ? 1.0f : 0.0f;
#elif ACTIVATION == ACTIVATION_LEAKY_RELU
  return y > 0.0f ? 1.0f : 0.2f;
#elif ACTIVATION == ACTIVATION_ELU
  return y > 0.0f ? 1.0f : y + 1.0f;
#elif ACTIVATION == ACTIVATION_SIGMOID
  return y * (1.0f - y);
#elif ACTIVATION == ACTIVATION_TANH
  return 1.0f - y * y;
#else
  return 1.0f;
#endif
}

// In front of loops that are to be unrolled, and of those that are better not.
#define UNROLL _Pragma("unroll")
#define ONCE _Pragma("unroll 1")

#ifdef LANES
// Vectors of LANES floats (1, 2, 4, 8 or 16), for kernels that are written for CPUs.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if LANES == 1
typedef float floatv;
typedef int intv;
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))
#define LOAD_BYTES(p) convert_int(*(p))
#define STORE_BYTES(v, p) (*(p) = convert_uchar(v))
#else
typedef JOIN(float, LANES) floatv;
typedef JOIN(int, LANES) intv;
// vload and vstore may become several instructions; an access through these types is one.
typedef floatv __attribute__((aligned(4))) floatv_anywhere;
typedef intv __attribute__((aligned(4))) intv_anywhere;
#define ACCESS INLINE __attribute__((overloadable))
ACCESS floatv LOAD(global const float *p) { return *(global const floatv_anywhere *)p; }
ACCESS floatv LOAD(const float *p) { return *(const floatv_anywhere *)p; }
ACCESS void STORE(floatv v, global float *p) { *(global floatv_anywhere *)p = v; }
ACCESS void STORE(floatv v, float *p) { *(floatv_anywhere *)p = v; }
ACCESS void STORE(intv v, int *p) { *(intv_anywhere *)p = v; }
#define LOAD_BYTES(p) JOIN(convert_int, LANES)(JOIN(vload, LANES)(0, p))
#define STORE_BYTES(v, p) JOIN(vstore, LANES)(JOIN(convert_uchar, LANES)(v), 0, p)
#endif
#define CPU_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1)))

// clm_activate and clm_activate_slope of each lane.
HELPER floatv clm_activate_lanes(floatv z)
{
#if ACTIVATION == ACTIVATION_RELU
  return select(z, (floatv)0.0f, z < (floatv)0.0f);
#elif ACTIVATION == ACTIVATION_LINEAR
  return z;
#else
  float lanes[LANES];
  STORE(z, lanes);
  for (int i = 0; i < LANES; i++) lanes[i] = clm_activate(lanes[i]);
  return LOAD(lanes);
#endif
}

HELPER floatv clm_activate_slope_lanes(floatv y)
{
#if ACTIVATION == ACTIVATION_RELU
  return select((floatv)0.0f, (floatv)1.0f, y > (floatv)0.0f);
#elif ACTIVATION == ACTIVATION_LINEAR
  return 1.0f;
#else
  float lanes[LANES];
  STORE(y, lanes);
  for (int i = 0; i < LANES; i++) lanes[i] = clm_activate_slope(lanes[i]);
  return LOAD(lanes);
#endif
}
#endif

// A number in [0,1) from 24 bits, exact in float.
HELPER float clm_random_unit(uint bits) { return (float)(bits >> 8) * 5.9604644775390625e-8f; }

// Sum and maximum over the `count` items of a group that stand `step` apart, both powers of two;
// each of these items gets the result. Pairs are joined in a fixed order. All items of the group
// must call; `values` has a place for each. NaN is no maximum.
HELPER float clm_group_sum(local float *values, float value, int step, int count)
{
  const int item = (int)get_local_id(0), place = item / step % count;
  barrier(CLK_LOCAL_MEM_FENCE);
  values[item] = value;
  for (int half_count = count / 2; half_count > 0; half_count /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (place < half_count) values[item] += values[item + half_count * step];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return values[item - place * step];
}

HELPER float clm_group_max(local float *values, float value, int step, int count)
{
  const int item = (int)get_local_id(0), place = item / step % count;
  barrier(CLK_LOCAL_MEM_FENCE);
  values[item] = value;
  for (int half_count = count / 2; half_count > 0; half_count /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (place < half_count)
      values[item] = fmax(values[item], values[item + half_count * step]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return values[item - place * step];
}
