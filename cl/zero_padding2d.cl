// ZeroPadding2D: rows and columns of zeros around an image. Backward takes the inner part of dy.
//
// Grid: (columns * channels, rows * batch) of the tensor that is written. Local memory: none.
// Shapes: x, dx [batch,in_rows,in_columns,channels]; y, dy [batch,out_rows,out_columns,channels].
// Defines: none.
// Determinism: every item writes one element.

kernel void zero_padding2d_fwd_plain(global float *restrict y, global const float *restrict x,
                                     int batch, int in_rows, int in_columns, int out_rows,
                                     int out_columns, int channels, int top, int left)
{
  const size_t width = (size_t)out_columns * (size_t)channels;
  const size_t place = get_global_id(0), line = get_global_id(1);
  if (place >= width || line >= (size_t)out_rows * (size_t)batch) return;
  const int row = (int)(line % (size_t)out_rows) - top;
  const int column = (int)(place / (size_t)channels) - left;
  const bool inside = row >= 0 && row < in_rows && column >= 0 && column < in_columns;
  const size_t n = line / (size_t)out_rows, channel = place % (size_t)channels;
  float value = 0.0f;
  if (inside)
    value = x[((n * (size_t)in_rows + (size_t)row) * (size_t)in_columns + (size_t)column) *
                  (size_t)channels + channel];
  y[line * width + place] = value;
}

kernel void zero_padding2d_bwd_x_plain(global float *restrict dx, global const float *restrict dy,
                                       int batch, int in_rows, int in_columns, int out_rows,
                                       int out_columns, int channels, int top, int left)
{
  const size_t width = (size_t)in_columns * (size_t)channels;
  const size_t place = get_global_id(0), line = get_global_id(1);
  if (place >= width || line >= (size_t)in_rows * (size_t)batch) return;
  const size_t n = line / (size_t)in_rows, row = line % (size_t)in_rows;
  const size_t from = n * (size_t)out_rows + row + (size_t)top;
  dx[line * width + place] =
      dy[from * (size_t)out_columns * (size_t)channels + (size_t)left * (size_t)channels + place];
}
