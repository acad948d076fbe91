/* The gpu variant of conv2d and conv2d_max_pool (cl/conv2d_gpu.cl). */
#ifndef CLM_OP_CONV2D_GPU_H
#define CLM_OP_CONV2D_GPU_H

#include "op/conv2d.h"

extern const clm__variant clm__conv2d_gpu;

/* A work-group's share of a product: m x n results, k of the depth at a time; item_m x item_n
 * results an item. */
typedef struct clm__conv2d_gpu_tile {
  int m, n, k;
  int item_m, item_n;
} clm__conv2d_gpu_tile;

/* Work-items of a group. */
int clm__conv2d_gpu_items(const clm__conv2d_gpu_tile *tile);

/* Whether a device can run groups with that tile, read in vectors of `vector` floats. */
bool clm__conv2d_gpu_tile_fits(const clm__conv2d_gpu_tile *tile, int vector,
                               const clm__device_info *info);

/* The tile for a product of rows x columns: little of it empty, few reads a result, and groups for
 * all of the device. False where the device takes none. */
bool clm__conv2d_gpu_choose_tile(size_t rows, size_t columns, const clm__device_info *info,
                                 clm__conv2d_gpu_tile *tile);

#endif
