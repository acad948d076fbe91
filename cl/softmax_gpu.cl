// Softmax over the last axis, for GPUs.
//
// softmax_fwd_gpu    rows of y = softmax of rows of x
// softmax_bwd_x_gpu  dx = y * (dy - sum of y * dy over the row)
//
// SHARE neighbouring items share a row, so that they read neighbouring memory; a group of GROUP
// items has GROUP / SHARE rows.
//
// Grid: groups for all rows of the batch. Local memory: GROUP floats.
// Shapes: all [rows,COLUMNS].
// Defines: COLUMNS; GROUP and SHARE, powers of two, SHARE no more than GROUP.
// Determinism: sums have a fixed order for a group size: an item adds every SHARE-th element, the
// items of a row are added in pairs.

#ifndef COLUMNS
#define COLUMNS 100
#define GROUP 64
#define SHARE 64
#endif

// The row of an item. Those behind the last row do as it does and write nothing.
size_t row_of_item(void)
{
  return get_group_id(0) * (GROUP / SHARE) + get_local_id(0) / SHARE;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
softmax_fwd_gpu(global float *restrict y, global const float *restrict x, uint rows)
{
  local float values[GROUP];
  const int lane = (int)get_local_id(0) % SHARE;
  const size_t row = row_of_item(), start = min(row, (size_t)rows - 1) * COLUMNS;
  float largest = -INFINITY, sum = 0.0f;
  for (int k = lane; k < COLUMNS; k += SHARE) largest = fmax(largest, x[start + k]);
  largest = clm_group_max(values, largest, 1, SHARE);
  for (int k = lane; k < COLUMNS; k += SHARE) sum += exp(x[start + k] - largest);
  sum = clm_group_sum(values, sum, 1, SHARE);
  if (row >= rows) return;
  for (int k = lane; k < COLUMNS; k += SHARE) y[start + k] = exp(x[start + k] - largest) / sum;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
softmax_bwd_x_gpu(global float *restrict dx, global const float *restrict y,
                  global const float *restrict dy, uint rows)
{
  local float values[GROUP];
  const int lane = (int)get_local_id(0) % SHARE;
  const size_t row = row_of_item(), start = min(row, (size_t)rows - 1) * COLUMNS;
  float sum = 0.0f;
  for (int k = lane; k < COLUMNS; k += SHARE) sum = fma(y[start + k], dy[start + k], sum);
  sum = clm_group_sum(values, sum, 1, SHARE);
  if (row >= rows) return;
  for (int k = lane; k < COLUMNS; k += SHARE) dx[start + k] = y[start + k] * (dy[start + k] - sum);
}
