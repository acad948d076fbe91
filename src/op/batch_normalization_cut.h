/* How the passes of BatchNormalization cut their work: arithmetic alone. */
#ifndef CLM_OP_BATCH_NORMALIZATION_CUT_H
#define CLM_OP_BATCH_NORMALIZATION_CUT_H

#include "op/batch_normalization_passes.h"

#define CLM__NORMALIZATION_WIDE 32 /* neighbouring channels of a group: the widest read of a GPU   \
                                    */
#define CLM__NORMALIZATION_JOIN 8  /* those of a group that joins parts: the narrowest one */

/* A node in numbers. */
typedef struct clm__normalization_layout {
  const clm__batch_normalization_attributes *attributes;
  clm__batch_normalization_params params;
  bool batch; /* statistics of the batch, else the moving ones */
  bool cpu;
  int group; /* items of a group in the gpu variant, 0 in others */
  size_t channels;
  size_t image_rows;
  size_t rows; /* of all images */
} clm__normalization_layout;

clm__normalization_layout clm__normalization_layout_of(const clm__instance *instance, int batch);

/* Channels that a group of the gpu variant has, `most` or fewer. */
int clm__normalization_wide(const clm__normalization_layout *sizes, int most);

/* The parts that sums over rows are cut into. */
typedef struct clm__normalization_cut {
  size_t splits;
  size_t part_rows;
} clm__normalization_cut;

/* How many parts there are at most. More rows never make fewer. */
size_t clm__normalization_splits(const clm__normalization_layout *sizes);

/* Depends on the sizes alone, so that every run adds in the same order. */
clm__normalization_cut clm__normalization_cut_of(const clm__normalization_layout *sizes);

#endif
