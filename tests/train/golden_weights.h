/* The weights that Keras had in its twelve steps (tests/golden/train). */
#ifndef CLM_TESTS_TRAIN_GOLDEN_WEIGHTS_H
#define CLM_TESTS_TRAIN_GOLDEN_WEIGHTS_H

#include "io/model_file.h"

/* Compares flat values of the trainable layout of init.keras with the arrays in a folder there, as
 * "weights_after12". */
void golden_weights_compare(const clm__model_file *model, const float *values, const char *folder,
                            double tolerance);

#endif
