/* The winners that Winograd's variant names behind a pool. Where the picture is flat, results are
 * equal and the first one must win, as with the plain variant; elsewhere two variants may differ
 * only where two results are nearly equal. */
#include "op/conv2d.h"
#include "op/testdevice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 3
#define HEIGHT 21
#define WIDTH 18
#define TOLERANCE 1e-5

static clm__device *device;

/* Number c of pixel (h,w) of a picture, before its values are spread over [-scale, scale). */
typedef struct picture {
  const char *name;
  int step_h, step_w; /* pixels in a row that are the same */
  double scale;
} picture;

static const picture pictures[] = {{"noise", 1, 1, 1.0},
                                   {"blocks", 7, 6, 1.0},
                                   {"rows", 1, WIDTH, 1.0},
                                   {"columns", HEIGHT, 1, 1.0},
                                   {"one colour", HEIGHT, WIDTH, 1.0},
                                   {"zeros", HEIGHT, WIDTH, 0.0},
                                   {"denormals", 5, 5, 1e-39},
                                   {"huge blocks", 5, 4, 1e30},
                                   {"huge noise", 1, 1, 1e30}};

typedef struct net {
  clm__problem problem;
  clm__conv2d_max_pool_attributes attributes;
  const picture *shown;
  size_t x_count, y_count, w_count;
  float *x, *w, *bias;
} net;

typedef struct results {
  float *y;
  unsigned char *winner;
} results;

static float *make_floats(size_t count)
{
  float *made = calloc(count, sizeof *made);
  assert_non_null(made);
  return made;
}

static void draw(net *made, int channels)
{
  const picture *const shown = made->shown;
  for (size_t i = 0; i < made->x_count; i++) {
    const size_t c = i % (size_t)channels, at = i / (size_t)channels;
    const size_t w = at % WIDTH, h = at / WIDTH % HEIGHT, n = at / WIDTH / HEIGHT;
    const size_t block =
        (h / (size_t)shown->step_h * WIDTH + w / (size_t)shown->step_w) * BATCH + n;
    const float value = test_random(1, block * (size_t)channels + c, -1, 1);
    made->x[i] = value < -0.5F ? 0.0F : (float)(shown->scale * (double)value);
  }
}

static void open_net(net *made, const picture *shown, int channels, int filters, int padding)
{
  const clm__shape input = clm__shape3(HEIGHT, WIDTH, channels);
  *made = (net){.shown = shown,
                .attributes = {.conv = {.filters = filters,
                                        .kernel_size = {3, 3},
                                        .strides = {1, 1},
                                        .padding = padding,
                                        .dilation_rate = {1, 1},
                                        .groups = 1,
                                        .use_bias = true}}};
  made->problem = (clm__problem){.op = &clm__op_conv2d_max_pool,
                                 .attributes = &made->attributes,
                                 .input_count = 1,
                                 .inputs = {input},
                                 .batch_max = BATCH,
                                 .training = true};
  clm__op_spec *const spec = &made->problem.spec;
  assert_ok(made->problem.op->infer(&made->attributes, &input, 1, spec));
  made->x_count = BATCH * clm__shape_elements(&input);
  made->y_count = BATCH * clm__shape_elements(&spec->output);
  made->w_count = clm__shape_elements(&spec->params[0].shape);
  made->x = make_floats(made->x_count);
  made->w = make_floats(made->w_count);
  made->bias = make_floats((size_t)filters);
  draw(made, channels);
  for (size_t i = 0; i < made->w_count; i++) made->w[i] = test_random(2, i, -0.5, 0.5);
  for (size_t i = 0; i < (size_t)filters; i++) made->bias[i] = test_random(3, i, -0.1, 0.1);
}

static void close_net(net *made)
{
  free(made->x);
  free(made->w);
  free(made->bias);
}

static cl_mem upload(const float *values, size_t count)
{
  cl_mem buffer = NULL;
  assert_ok(clm__buffer_create(device, count * sizeof *values, &buffer));
  assert_ok(clm__buffer_write(device, buffer, 0, values, count * sizeof *values, true));
  return buffer;
}

static void run(const net *made, const char *variant, results *found)
{
  clm__instance instance;
  *found = (results){make_floats(made->y_count), calloc(made->y_count, 1)};
  assert_non_null(found->winner);
  const size_t filters = (size_t)made->attributes.conv.filters;
  clm__op_args args = {.batch = BATCH,
                       .x = {upload(made->x, made->x_count)},
                       .y = upload(found->y, made->y_count),
                       .w = {upload(made->w, made->w_count), upload(made->bias, filters)}};
  assert_ok(clm__buffer_create(device, made->y_count, &args.saved));
  assert_ok(clm__instance_init(&instance, &made->problem, CLM__FORWARD, device, NULL, variant));
  if (instance.workspace_bytes > 0)
    assert_ok(clm__buffer_create(device, instance.workspace_bytes, &args.workspace));
  assert_ok(clm__instance_enqueue(&instance, &args));
  const size_t size = made->y_count * sizeof *found->y;
  assert_ok(clm__buffer_read(device, args.y, 0, found->y, size, true));
  assert_ok(clm__buffer_read(device, args.saved, 0, found->winner, made->y_count, true));
  cl_mem *const buffers[] = {&args.x[0], &args.y,     &args.w[0],
                             &args.w[1], &args.saved, &args.workspace};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) clm__buffer_release(buffers[i]);
  clm__instance_fini(&instance);
}

static void drop(results *found)
{
  free(found->y);
  free(found->winner);
}

/* Where an output stands, and what it is made from. */
typedef struct output {
  const net *from;
  int n, row, column, filter;
} output;

static output output_at(const net *from, size_t i)
{
  const clm__shape *const shape = &from->problem.spec.output;
  const size_t f = (size_t)shape->dims[2], w = (size_t)shape->dims[1], h = (size_t)shape->dims[0];
  return (output){.from = from,
                  .n = (int)(i / f / w / h),
                  .row = (int)(i / f / w % h),
                  .column = (int)(i / f % w),
                  .filter = (int)(i % f)};
}

/* Number c of pixel (h,w) from the corner of what the output's window sees; zero outside. */
static float pixel(const output *at, int h, int w, int c)
{
  const int pad = at->from->attributes.conv.padding == CLM__CONV2D_SAME ? 1 : 0;
  const int channels = at->from->problem.inputs[0].dims[2];
  const int row = 2 * at->row - pad + h, column = 2 * at->column - pad + w;
  if (row < 0 || row >= HEIGHT || column < 0 || column >= WIDTH) return 0.0F;
  return at->from->x[((at->n * HEIGHT + row) * WIDTH + column) * channels + c];
}

/* Whether the 4x4 pixels do not change along rows, or along columns. */
static bool is_flat(const output *at, bool along_rows)
{
  const int channels = at->from->problem.inputs[0].dims[2];
  for (int i = 0; i < 4; i++)
    for (int j = 1; j < 4; j++)
      for (int c = 0; c < channels; c++) {
        const float here = along_rows ? pixel(at, i, j, c) : pixel(at, j, i, c);
        if (here != (along_rows ? pixel(at, i, 0, c) : pixel(at, 0, i, c))) return false;
      }
  return true;
}

/* The result at one place of the window. */
static double result_at(const output *at, int place)
{
  const int channels = at->from->problem.inputs[0].dims[2];
  const int filters = at->from->attributes.conv.filters;
  double sum = (double)at->from->bias[at->filter];
  for (int tap = 0; tap < 9; tap++)
    for (int c = 0; c < channels; c++)
      sum += (double)pixel(at, place / 2 + tap / 3, place % 2 + tap % 3, c) *
             (double)at->from->w[(tap * channels + c) * filters + at->filter];
  return sum;
}

static void judge(const net *made, const results *plain, const results *found)
{
  const double unit = TOLERANCE * fmax(made->shown->scale, 1.0);
  for (size_t i = 0; i < made->y_count; i++) {
    const output at = output_at(made, i);
    const double off = fabs((double)found->y[i] - (double)plain->y[i]);
    if (!(off <= unit * 10))
      fail_msg("%s, y[%zu]: %g is not %g", made->shown->name, i, (double)found->y[i],
               (double)plain->y[i]);
    const int winner = found->winner[i], expected = plain->winner[i];
    if ((is_flat(&at, true) && winner % 2 != 0) || (is_flat(&at, false) && winner >= 2))
      fail_msg("%s, output %zu: place %d wins, the one before is equal", made->shown->name, i,
               winner);
    if (winner != expected && !(fabs(result_at(&at, winner) - result_at(&at, expected)) <= unit))
      fail_msg("%s, output %zu: place %d wins, not %d", made->shown->name, i, winner, expected);
  }
}

static void compare(int channels, int filters, int padding)
{
  if (device->info.kind != CLM__DEVICE_CPU) skip();
  for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
    net made;
    results plain, found;
    open_net(&made, &pictures[i], channels, filters, padding);
    run(&made, "plain", &plain);
    run(&made, "winograd", &found);
    judge(&made, &plain, &found);
    drop(&plain);
    drop(&found);
    close_net(&made);
  }
}

static void flat_areas_keep_their_winners(void **state)
{
  (void)state;
  compare(16, 32, CLM__CONV2D_SAME);
}

static void so_they_do_in_short_vectors(void **state)
{
  (void)state;
  const int width = device->info.vector_width;
  device->info.vector_width = 4;
  compare(11, 27, CLM__CONV2D_VALID);
  device->info.vector_width = width;
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(flat_areas_keep_their_winners),
                                     cmocka_unit_test(so_they_do_in_short_vectors)};
  const test_options options = test_options_read(argc, argv);
  device = test_device_open(&options, 0);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  clm__device_close(device);
  return failed;
}
