/* Figures of several replicas joined on the host: op/variant.h says where they come from. Added in
 * double and in the caller's order, so that the same order gives the same bits. */
#ifndef CLM_OP_JOINT_H
#define CLM_OP_JOINT_H

#include "op/variant.h"

typedef struct clm__joint_total {
  clm__joint_kind kind;
  size_t channels;
  double *figures; /* [2,channels], the caller's */
  uint64_t images;
} clm__joint_total;

/* Empties it. */
void clm__joint_begin(clm__joint_total *total);

/* Adds figures [2,channels] over so many images; nothing is read where there are none. */
void clm__joint_add(clm__joint_total *total, const float *figures, uint64_t images);

/* Rounds to figures [2,channels]; zeros where there were no images. */
void clm__joint_store(const clm__joint_total *total, float *figures);

#endif
