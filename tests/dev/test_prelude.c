#include "device_support.h"

#include "base/rng.h"

#include <math.h>

static const char text[] = "kernel void write_unit(uint count, global float *y)\n"
                           "{\n"
                           "  const uint i = (uint)get_global_id(0);\n"
                           "  if (i < count) y[i] = clm_random_unit(i * 0x01234567u);\n"
                           "}\n";

static const char activate[] =
    "kernel void activate(int count, global const float *z, global float *y, global float *slope)\n"
    "{\n"
    "  const int i = (int)get_global_id(0);\n"
    "  if (i >= count) return;\n"
    "  y[i] = clm_activate(z[i]);\n"
    "  slope[i] = clm_activate_slope(y[i]);\n"
    "}\n";

static int setup(void **state)
{
  *state = open_test_device();
  return 0;
}

static int teardown(void **state)
{
  clm__device_close(*state);
  return 0;
}

enum { UNITS = 1000 };

static void test_random_unit_equals_host(void **state)
{
  clm__device *device = *state;
  float y[UNITS];
  clm__kernel kernel = make_kernel(device, "random.cl", text, "write_unit");
  cl_mem buffer = make_buffer(device, sizeof y);
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_uint(&launch, UNITS);
  clm__launch_buffer(&launch, buffer);
  assert_ok(clm__launch_run(&launch, 1, (size_t[]){UNITS}, NULL));
  assert_ok(clm__buffer_read(device, buffer, 0, y, sizeof y, true));
  for (uint32_t i = 0; i < UNITS; i++) assert_true(y[i] == clm__rng_unit(i * 0x01234567U));
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

/* ---- Activations ---- */

typedef struct function {
  const char *name; /* behind ACTIVATION_ */
  double (*value)(double z);
  double (*slope)(double z);
} function;

static double linear(double z) { return z; }
static double one(double z) { return z * 0 + 1; }
static double relu(double z) { return z > 0 ? z : 0; }
static double relu_slope(double z) { return z > 0; }
static double relu6(double z) { return z > 6 ? 6 : relu(z); }
static double relu6_slope(double z) { return z > 0 && z < 6; }
static double leaky(double z) { return z > 0 ? z : 0.2 * z; }
static double leaky_slope(double z) { return z > 0 ? 1 : 0.2; }
static double elu(double z) { return z > 0 ? z : expm1(z); }
static double elu_slope(double z) { return z > 0 ? 1 : exp(z); }
static double sigmoid(double z) { return 1 / (1 + exp(-z)); }
static double sigmoid_slope(double z) { return sigmoid(z) * (1 - sigmoid(z)); }
static double tanh_slope(double z) { return 1 - tanh(z) * tanh(z); }

static const function functions[] = {
    {"LINEAR", linear, one},       {"RELU", relu, relu_slope},
    {"RELU6", relu6, relu6_slope}, {"LEAKY_RELU", leaky, leaky_slope},
    {"ELU", elu, elu_slope},       {"SIGMOID", sigmoid, sigmoid_slope},
    {"TANH", tanh, tanh_slope},
};

static const float inputs[] = {-100.0F, -7.5F, -1.0F, -0.3F, -1e-3F, -1e-6F, 0.0F,   1e-6F,
                               1e-3F,   0.3F,  1.0F,  5.5F,  6.0F,   7.5F,   100.0F, INFINITY};
enum { INPUTS = sizeof inputs / sizeof inputs[0] };

/* y and slope of count numbers. */
static void run_activation(clm__device *device, const char *name, const float *z, size_t count,
                           float *y, float *slope)
{
  char options[64];
  clm__program *program = NULL;
  clm__kernel kernel = {0};
  const size_t size = count * sizeof(float);
  snprintf(options, sizeof options, "-DACTIVATION=ACTIVATION_%s", name);
  assert_ok(clm__program_get_text(device, "activate.cl", activate, options, &program));
  assert_ok(clm__kernel_init(program, "activate", &kernel));
  cl_mem buffers[3];
  for (int i = 0; i < 3; i++) buffers[i] = make_buffer(device, size);
  assert_ok(clm__buffer_write(device, buffers[0], 0, z, size, true));
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_int(&launch, (int)count);
  for (int i = 0; i < 3; i++) clm__launch_buffer(&launch, buffers[i]);
  assert_ok(clm__launch_run(&launch, 1, &count, NULL));
  assert_ok(clm__buffer_read(device, buffers[1], 0, y, size, true));
  assert_ok(clm__buffer_read(device, buffers[2], 0, slope, size, true));
  for (int i = 0; i < 3; i++) clm__buffer_release(&buffers[i]);
  clm__kernel_fini(&kernel);
}

static void test_activations(void **state)
{
  for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
    const function *f = &functions[k];
    float y[INPUTS], slope[INPUTS];
    run_activation(*state, f->name, inputs, INPUTS, y, slope);
    for (int i = 0; i < INPUTS - 1; i++) {
      const double value = f->value(inputs[i]), expected = f->slope(inputs[i]);
      if (!(fabs(y[i] - value) <= 1e-6 * fmax(fabs(value), 1e-3)))
        fail_msg("%s(%g) is %g", f->name, inputs[i], y[i]);
      /* Written in terms of a rounded y, the slope keeps less. */
      if (!(fabs(slope[i] - expected) <= 1e-6))
        fail_msg("slope of %s(%g) is %g", f->name, inputs[i], slope[i]);
    }
    const double last = f->value(INFINITY);
    if (isinf(last) ? !isinf(y[INPUTS - 1]) : !(fabs(y[INPUTS - 1] - last) <= 1e-6))
      fail_msg("%s(infinity) is %g", f->name, y[INPUTS - 1]);
  }
}

/* A broken value must reach the loss and be seen, as in Keras. */
static void test_activations_keep_nan(void **state)
{
  for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
    const float z = NAN;
    float y = 0, slope = 0;
    run_activation(*state, functions[k].name, &z, 1, &y, &slope);
    if (!isnan(y)) fail_msg("%s(NaN) is %g", functions[k].name, y);
  }
}

static void note_warning(void *user, clm_log_level level, const char *message)
{
  (void)level;
  if (strstr(message, "warning") != NULL) snprintf(user, 1000, "%s", message);
}

static void test_nothing_warns(void **state)
{
  (void)state;
  char heard[1000] = "";
  const clm_log log = {note_warning, heard};
  const clm__device_options options = {.no_cache = true, .log = &log};
  clm__device *device = open_device(&options);
  for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
    float y, slope;
    run_activation(device, functions[k].name, inputs, 1, &y, &slope);
  }
  assert_string_equal(heard, "");
  clm__device_close(device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_unit_equals_host),
      cmocka_unit_test(test_activations),
      cmocka_unit_test(test_activations_keep_nan),
      cmocka_unit_test(test_nothing_warns),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
