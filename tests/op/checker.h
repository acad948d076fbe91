/* The judge of every op: a test of an op is a table of cases, and the checker does the rest.
 *
 *   static const op_case cases[] = {
 *       {.name = "relu", .attributes = "activation=relu", .inputs = {{3, {5, 7, 3}}}, .batch = 4},
 *       {.name = "Keras", .attributes = "activation=relu", .golden = "activation_relu"},
 *   };
 *   static const op_suite suite = {.op = &clm__op_activation,
 *                                  .forward = clm__ref_activation_forward,
 *                                  .cases = cases,
 *                                  .case_count = sizeof cases / sizeof cases[0]};
 *   int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
 *
 * Every case runs in training and, where the op does the same there, in inference; on a device as
 * it is, and with work-groups limited to 1 and to 7 items; with every usable variant of every pass
 * (on CPUs, those for GPUs in cases marked so), and backward behind the `saved` of every variant of
 * forward. Judged are:
 *   - results against the reference (src/ref), and the recorded arrays where `golden` names some;
 *   - the reference's own gradients against finite differences of its forward;
 *   - writes outside of buffers, elements nobody wrote, inputs that changed (op/fence.h);
 *   - the same bits in a second run;
 *   - two halves of the batch against the whole one;
 *   - no buffer made, no program built, no memory taken and no wait while enqueuing;
 *   - buffers the spec does not ask for are NULL (x without backward_reads_x, and so on).
 *
 * Random x lie in [-1, 1) or [x_least, x_most); weights in [-0.5, 0.5), those called gamma or
 * ...variance in [0.5, 1.5).
 *
 * Options: --device NAME or CLEMATIS_TEST_DEVICE; --tiny runs the cases marked so alone. */
#ifndef CLM_TESTS_OP_CHECKER_H
#define CLM_TESTS_OP_CHECKER_H

#include "op/testdevice.h"
#include "ref/ref.h"

typedef struct op_case {
  const char *name;
  const char *attributes;             /* as op/attributes.h reads them; NULL: the defaults */
  const void *fused_attributes;       /* instead, of an op without fields: its struct */
  clm__shape inputs[CLM__INPUTS_MAX]; /* up to the first of rank 0; with golden: may be missing */
  int batch;                          /* with golden: theirs */
  const char *golden;                 /* folder of tests/golden/ops with x (x0, x1, ...), y, dy, dx,
                                         w_NAME, d_NAME, after_NAME */
  double tolerance;                   /* |a - b| <= tolerance * max(1, |b|); 0: 2e-6 */
  double w_tolerance;                 /* the same for dw, which are longer sums; 0: tolerance */
  double tile_tolerance;              /* of variants that round in tiles, where larger */
  double x_least, x_most;             /* both 0: -1 and 1 */
  unsigned need_dx;                   /* bit i: input i needs a gradient; 0: all do */
  bool inference;                     /* not in training; no backward */
  bool frozen;                        /* the op's params are not trained */
  bool tiny;                          /* small enough for the race check */
  bool gpu;                           /* variants for GPUs are tried on CPUs, too: each costs them
                                         a second to compile */
  bool specials;                      /* x has a NaN and infinities; forward alone is judged */
  bool no_differences;                /* ties or steps near by: no finite differences */
  bool no_halves;                     /* images depend on each other (batch statistics) */
  clm_status refused;                 /* infer must fail so (CLM_OK: must not) ... */
  const char *message;                /* ... with these words in the message */
} op_case;

typedef struct op_suite {
  const clm__op *op;
  clm__ref_function forward;
  clm__ref_function backward; /* NULL: finite differences alone judge sampled elements */
  const op_case *cases;
  size_t case_count;
  const struct CMUnitTest *more; /* tests of the op's own; their state is NULL */
  size_t more_count;
} op_suite;

/* Runs all cases; returns main's result. */
int check_op(const op_suite *suite, int argc, char **argv);

#endif
