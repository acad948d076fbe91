#include "op/attributes.h"
#include "op/fence.h"
#include "op/loss.h"
#include "op/testdevice.h"
#include "support/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const clm__loss clm__loss_sparse_categorical_crossentropy;
extern const clm__loss clm__loss_categorical_crossentropy;

#define SPARSE (&clm__loss_sparse_categorical_crossentropy)
#define CATEGORICAL (&clm__loss_categorical_crossentropy)
#define TOLERANCE 5e-6

static clm__device *device;

/* One batch and what a loss makes of it. */
typedef struct loss_run {
  const clm__loss *loss;
  const char *attributes;
  clm__loss_head head;
  int batch, classes;
  const float *x;
  const int *labels;
  float *dx, *losses, *hits, *p;
} loss_run;

static void open_run(loss_run *run)
{
  const size_t elements = (size_t)run->batch * (size_t)run->classes;
  run->dx = calloc(elements, sizeof(float));
  run->p = calloc(elements, sizeof(float));
  run->losses = calloc((size_t)run->batch, sizeof(float));
  run->hits = calloc((size_t)run->batch, sizeof(float));
}

static void close_run(loss_run *run)
{
  free(run->dx);
  free(run->p);
  free(run->losses);
  free(run->hits);
}

static void enqueue(const loss_run *run, bool evaluates)
{
  char attributes[64] = {0};
  clm__loss_instance instance;
  fences set = {.device = device};
  clm__loss_args args = {.batch = run->batch};
  const size_t rows = (size_t)run->batch * sizeof(float);
  const size_t all = rows * (size_t)run->classes;
  assert_true(run->loss->attribute_bytes <= sizeof attributes);
  attributes_read(run->loss->fields, run->attributes, attributes);
  assert_ok(
      clm__loss_instance_init(&instance, run->loss, attributes, run->head, run->classes, device));
  fences_add_input(&set, "x", &args.x, run->x, all);
  fences_add_input(&set, "labels", &args.labels, run->labels, rows);
  fences_add_output(&set, "losses", &args.losses, NULL, run->losses, rows);
  fences_add_output(&set, "hits", &args.hits, NULL, run->hits, rows);
  if (!evaluates) fences_add_output(&set, "dx", &args.dx, NULL, run->dx, all);
  if (!evaluates) fences_add_output(&set, "p", &args.probabilities, NULL, run->p, all);
  fences_open(&set);
  assert_ok(run->loss->enqueue(&instance, &args));
  fences_close(&set, run->loss->name);
  clm__loss_instance_fini(&instance);
}

/* ---- Keras' own ---- */

typedef struct golden_case {
  const char *name;
  const clm__loss *loss;
  const char *attributes;
  clm__loss_head head;
} golden_case;

static npy read_golden(const golden_case *test, const char *key)
{
  char path[128];
  (void)snprintf(path, sizeof path, "ops/%s/%s.npy", test->name, key);
  return npy_read_golden(path);
}

/* Class labels, also where one-hot rows were recorded. */
static int *read_labels(const golden_case *test, int batch)
{
  npy array = read_golden(test, "labels");
  int *labels = calloc((size_t)batch, sizeof *labels);
  const size_t classes = array.count / (size_t)batch;
  for (size_t n = 0; n < (size_t)batch; n++) {
    if (test->loss == SPARSE) labels[n] = array.i32[n];
    for (size_t k = 0; test->loss == CATEGORICAL && k < classes; k++)
      if (array.f32[n * classes + k] == 1.0F) labels[n] = (int)k;
  }
  npy_free(&array);
  return labels;
}

/* The recorded gradient is that of the mean. */
static void check_gradient(const golden_case *test, const loss_run *run)
{
  npy expected = read_golden(test, "dx");
  for (size_t i = 0; i < expected.count; i++) run->dx[i] /= (float)run->batch;
  assert_floats_near("dx", run->dx, expected.f32, expected.count, TOLERANCE);
  npy_free(&expected);
}

static void check_golden(void **state)
{
  const golden_case *test = *state;
  npy x = read_golden(test, "x"), losses = read_golden(test, "per_sample");
  int *labels = read_labels(test, x.dims[0]);
  loss_run run = {.loss = test->loss,
                  .attributes = test->attributes,
                  .head = test->head,
                  .batch = x.dims[0],
                  .classes = x.dims[1],
                  .x = x.f32,
                  .labels = labels};
  open_run(&run);
  enqueue(&run, false);
  assert_floats_near("losses", run.losses, losses.f32, losses.count, TOLERANCE);
  check_gradient(test, &run);
  if (test->head == CLM__HEAD_SOFTMAX) {
    npy p = read_golden(test, "p");
    assert_floats_near("p", run.p, p.f32, p.count, 2e-6);
    npy_free(&p);
  }
  memset(run.losses, 0, (size_t)run.batch * sizeof *run.losses);
  enqueue(&run, true);
  assert_floats_near("losses in evaluation", run.losses, losses.f32, losses.count, TOLERANCE);
  close_run(&run);
  free(labels);
  npy_free(&x);
  npy_free(&losses);
}

/* ---- finite differences in double ---- */

static double clip(double p) { return p < 1e-7 ? 1e-7 : p > 1.0 - 1e-7 ? 1.0 - 1e-7 : p; }

static double reference_loss(const loss_run *run, const double *x, int label, double smoothing)
{
  double sum = 0.0, loss = 0.0;
  const bool is_sparse = run->loss == SPARSE;
  for (int k = 0; k < run->classes; k++)
    sum += run->head != CLM__HEAD_PROBABILITIES ? exp(x[k]) : is_sparse ? clip(x[k]) : x[k];
  for (int k = 0; k < run->classes; k++) {
    const double t = smoothing / run->classes + (k == label ? 1.0 - smoothing : 0.0);
    if (run->head != CLM__HEAD_PROBABILITIES)
      loss += t * (log(sum) - x[k]);
    else
      loss -= t * (is_sparse ? log(clip(x[k]) / sum) : log(clip(x[k] / sum)));
  }
  return loss;
}

static void check_row(const loss_run *run, int n, double smoothing)
{
  const int classes = run->classes, label = run->labels[n];
  double *x = calloc((size_t)classes, sizeof *x);
  for (int k = 0; k < classes; k++) x[k] = run->x[n * classes + k];
  const float loss = (float)reference_loss(run, x, label, smoothing);
  assert_floats_near("loss", &run->losses[n], &loss, 1, TOLERANCE);
  for (int k = 0; k < classes; k++) {
    const double kept = x[k], step = 1e-7;
    x[k] = kept + step;
    const double above = reference_loss(run, x, label, smoothing);
    x[k] = kept - step;
    const double below = reference_loss(run, x, label, smoothing);
    x[k] = kept;
    const float slope = (float)((above - below) / (2.0 * step));
    assert_floats_near("dx", &run->dx[n * classes + k], &slope, 1, 2e-5);
  }
  free(x);
}

static void check_random(const clm__loss *loss, clm__loss_head head, double smoothing)
{
  enum { BATCH = 9, CLASSES = 11 };
  float x[BATCH * CLASSES];
  int labels[BATCH];
  char attributes[64] = "";
  const bool bare = head == CLM__HEAD_PROBABILITIES;
  for (size_t i = 0; i < BATCH * CLASSES; i++)
    x[i] = test_random(1, i, bare ? 0.05 : -5.0, bare ? 0.9 : 5.0);
  for (int n = 0; n < BATCH; n++) labels[n] = (n * 4) % CLASSES;
  if (loss == CATEGORICAL)
    (void)snprintf(attributes, sizeof attributes, "label_smoothing=%g", smoothing);
  loss_run run = {.loss = loss,
                  .attributes = attributes,
                  .head = head,
                  .batch = BATCH,
                  .classes = CLASSES,
                  .x = x,
                  .labels = labels};
  open_run(&run);
  enqueue(&run, false);
  for (int n = 0; n < BATCH; n++) check_row(&run, n, smoothing);
  close_run(&run);
}

static void test_differences(void **state)
{
  (void)state;
  check_random(SPARSE, CLM__HEAD_SOFTMAX, 0.0);
  check_random(SPARSE, CLM__HEAD_PROBABILITIES, 0.0);
  check_random(CATEGORICAL, CLM__HEAD_LOGITS, 0.3);
  check_random(CATEGORICAL, CLM__HEAD_PROBABILITIES, 0.0);
  check_random(CATEGORICAL, CLM__HEAD_PROBABILITIES, 0.2);
}

/* ---- edges ---- */

static void run_rows(loss_run *run, const float *x, const int *labels, int batch)
{
  *run = (loss_run){.loss = SPARSE,
                    .head = CLM__HEAD_SOFTMAX,
                    .batch = batch,
                    .classes = 3,
                    .x = x,
                    .labels = labels};
  open_run(run);
  enqueue(run, false);
}

static void test_hits_are_first_maxima(void **state)
{
  (void)state;
  const float x[] = {1, 2, 2, 1, 2, 2, 5, 5, 5, 5, 5, 5};
  const int labels[] = {1, 2, 0, 2};
  const float expected[] = {1, 0, 1, 0};
  loss_run run;
  run_rows(&run, x, labels, 4);
  assert_memory_equal(run.hits, expected, sizeof expected);
  close_run(&run);
}

/* More classes than a group has items, with the largest number twice. */
static void test_many_classes(void **state)
{
  (void)state;
  enum { BATCH = 3, CLASSES = 700 };
  float x[BATCH * CLASSES];
  const int labels[BATCH] = {333, 0, 699};
  for (size_t i = 0; i < BATCH * CLASSES; i++) x[i] = test_random(2, i, -5.0, 5.0);
  for (int n = 0; n < BATCH; n++) x[n * CLASSES + 333] = x[n * CLASSES + 600] = 6.0F;
  loss_run run = {.loss = CATEGORICAL,
                  .attributes = "label_smoothing=0.2",
                  .head = CLM__HEAD_SOFTMAX,
                  .batch = BATCH,
                  .classes = CLASSES,
                  .x = x,
                  .labels = labels};
  open_run(&run);
  enqueue(&run, false);
  for (int n = 0; n < BATCH; n++) check_row(&run, n, 0.2);
  assert_true(run.hits[0] == 1.0F && run.hits[1] == 0.0F && run.hits[2] == 0.0F);
  close_run(&run);
}

static void test_labels_that_are_no_class(void **state)
{
  (void)state;
  const float x[] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  const int labels[] = {3, -1, INT32_MAX, INT32_MIN};
  loss_run run;
  run_rows(&run, x, labels, 4);
  for (int n = 0; n < 4; n++) {
    assert_true(isnan(run.losses[n]));
    assert_true(run.hits[n] == 0.0F);
    for (int k = 0; k < 3; k++) assert_true(isnan(run.dx[n * 3 + k]));
  }
  close_run(&run);
}

static void test_logits_that_are_not_finite(void **state)
{
  (void)state;
  const float x[] = {NAN, 0, 0, 0, INFINITY, 0, 0, 0, -INFINITY, 1, 2, 3};
  const int labels[] = {1, 1, 0, 0};
  loss_run run;
  run_rows(&run, x, labels, 4);
  for (int n = 0; n < 3; n++) assert_true(isnan(run.losses[n]));
  assert_true(isfinite(run.losses[3]));
  close_run(&run);
}

static void test_large_logits(void **state)
{
  (void)state;
  const float x[] = {1e4F, 0, -1e4F, -1e4F, 0, 1e4F};
  const int labels[] = {0, 0};
  loss_run run;
  run_rows(&run, x, labels, 2);
  assert_true(run.losses[0] == 0.0F);
  assert_true(run.losses[1] == 2e4F);
  assert_true(run.dx[3] == -1.0F);
  assert_true(run.dx[5] == 1.0F);
  close_run(&run);
}

static void test_from_logits(void **state)
{
  (void)state;
  char attributes[64] = {0};
  attributes_read(SPARSE->fields, NULL, attributes);
  assert_false(SPARSE->from_logits(attributes));
  attributes_read(SPARSE->fields, "from_logits=true", attributes);
  assert_true(SPARSE->from_logits(attributes));
  attributes_read(CATEGORICAL->fields, "from_logits=true label_smoothing=0.1", attributes);
  assert_true(CATEGORICAL->from_logits(attributes));
}

static golden_case golden[] = {
    {"loss_sparse_ce_softmax", SPARSE, NULL, CLM__HEAD_SOFTMAX},
    {"loss_sparse_ce_logits", SPARSE, "from_logits=true", CLM__HEAD_LOGITS},
    {"loss_sparse_ce_bare_probabilities", SPARSE, NULL, CLM__HEAD_PROBABILITIES},
    {"loss_categorical_ce_softmax", CATEGORICAL, NULL, CLM__HEAD_SOFTMAX},
    {"loss_categorical_ce_softmax_smoothing", CATEGORICAL, "label_smoothing=0.1",
     CLM__HEAD_SOFTMAX},
    {"loss_categorical_ce_bare_probabilities", CATEGORICAL, NULL, CLM__HEAD_PROBABILITIES},
};

#define GOLDEN(i)                                                                                  \
  {                                                                                                \
    .name = "Keras", .test_func = check_golden, .initial_state = &golden[i]                        \
  }

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      GOLDEN(0),
      GOLDEN(1),
      GOLDEN(2),
      GOLDEN(3),
      GOLDEN(4),
      GOLDEN(5),
      cmocka_unit_test(test_differences),
      cmocka_unit_test(test_many_classes),
      cmocka_unit_test(test_hits_are_first_maxima),
      cmocka_unit_test(test_labels_that_are_no_class),
      cmocka_unit_test(test_logits_that_are_not_finite),
      cmocka_unit_test(test_large_logits),
      cmocka_unit_test(test_from_logits),
  };
  /* One item a group, which takes long to compile. */
  const struct CMUnitTest few[] = {
      cmocka_unit_test(test_many_classes),
      cmocka_unit_test(test_hits_are_first_maxima),
      cmocka_unit_test(test_labels_that_are_no_class),
  };
  const test_options options = test_options_read(argc, argv);
  int failed = 0;
  for (int limit = 0; limit < (options.tiny ? 1 : 2); limit++) {
    device = test_device_open(&options, limit);
    /* The kernels for CPUs and for GPUs, whatever the device is. */
    device->info.kind = CLM__DEVICE_CPU;
    failed += cmocka_run_group_tests_name("cross-entropy", tests, NULL, NULL);
    device->info.kind = CLM__DEVICE_GPU;
    if (limit == 0) failed += cmocka_run_group_tests_name("for GPUs", tests, NULL, NULL);
    if (limit == 1) failed += cmocka_run_group_tests_name("for GPUs, alone", few, NULL, NULL);
    clm__device_close(device);
  }
  return failed;
}
