/* The weights that Keras had in its twelve steps (tests/golden/train). */
#ifndef CLM_TESTS_TRAIN_GOLDEN_WEIGHTS_H
#define CLM_TESTS_TRAIN_GOLDEN_WEIGHTS_H

#include "io/model_file.h"

/* Compares flat values of the trainable layout of init.keras with the arrays in a folder there, as
 * "weights_after12". */
void golden_weights_compare(const clm__model_file *model, const float *values, const char *folder,
                            double tolerance);

/* Steps of the golden run. */
#define GOLDEN_STEPS 12

/* Fails unless the losses of the steps and the weights behind them are, within the tolerance, those
 * of one way that Keras takes. The recorded way is the first; the others part from it where two
 * results of a pool's window are equal to rounding, so that the last bits of a convolution decide
 * (tests/golden/ways.py). Each way is compared as a whole. Says which one it was. */
void golden_weights_expect_way(const clm__model_file *model, const float *values,
                               const float losses[GOLDEN_STEPS], double tolerance);

#endif
