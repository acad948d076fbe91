// Resizing with half-pixel centres and without antialias, as tf.image.resize. Backward gathers: an
// input pixel adds up the output pixels that read it, so nothing is added concurrently.
//
// Grid: (columns * channels, rows * batch) of the tensor that is written. Local memory: none.
// Shapes: x, dx [batch,IN_ROWS,IN_COLUMNS,CHANNELS]; y, dy [batch,OUT_ROWS,OUT_COLUMNS,CHANNELS].
// Defines: those; TOP, LEFT, PART_ROWS, PART_COLUMNS, the part of the input that is resized;
// NEAREST, 1 for the nearest pixel (which also copies where the sizes are equal), 0 for bilinear.
// Determinism: every item writes one element and sums in order. Nothing is contracted, so that
// bilinear pixels are TensorFlow's to the bit.

#pragma OPENCL FP_CONTRACT OFF

#ifndef IN_ROWS
#define IN_ROWS 4
#define IN_COLUMNS 4
#define OUT_ROWS 3
#define OUT_COLUMNS 3
#define CHANNELS 3
#define TOP 0
#define LEFT 0
#define PART_ROWS 4
#define PART_COLUMNS 4
#define NEAREST 0
#endif

// What one output row or column reads: two inputs and the share of the second.
typedef struct taps {
  int low, high;
  float share;
} taps;

taps find_taps(int out, int in_size, int out_size)
{
  const float scale = (float)in_size / (float)out_size;
  taps found;
#if NEAREST
  found.low = min((int)floor(((float)out + 0.5f) * scale), in_size - 1);
  found.high = found.low;
  found.share = 0.0f;
#else
  const float place = ((float)out + 0.5f) * scale - 0.5f;
  const float below = floor(place);
  found.low = max((int)below, 0);
  found.high = min((int)ceil(place), in_size - 1);
  found.share = place - below;
#endif
  return found;
}

// The weight with which an output row reads an input row.
float weight_of(int out, int in, int in_size, int out_size)
{
  const taps found = find_taps(out, in_size, out_size);
  if (found.low == found.high) return found.low == in ? 1.0f : 0.0f;
  return (found.low == in ? 1.0f - found.share : 0.0f) + (found.high == in ? found.share : 0.0f);
}

// The first and the end of the outputs that may read an input; some too many.
int first_reader(int in, int in_size, int out_size)
{
  const float scale = (float)out_size / (float)in_size;
  return clamp((int)floor(((float)in - 0.5f) * scale - 0.5f) - 1, 0, out_size);
}

int end_of_readers(int in, int in_size, int out_size)
{
  const float scale = (float)out_size / (float)in_size;
  return clamp((int)ceil(((float)in + 1.5f) * scale - 0.5f) + 2, 0, out_size);
}

kernel void resizing_fwd_plain(global float *restrict y, global const float *restrict x, int batch)
{
  const size_t place = get_global_id(0), line = get_global_id(1);
  if (place >= (size_t)OUT_COLUMNS * CHANNELS || line >= (size_t)OUT_ROWS * (size_t)batch) return;
  const taps r = find_taps((int)(line % OUT_ROWS), PART_ROWS, OUT_ROWS);
  const taps c = find_taps((int)(place / CHANNELS), PART_COLUMNS, OUT_COLUMNS);
  const size_t start = line / OUT_ROWS * IN_ROWS + TOP;
  global const float *above = x + (start + (size_t)r.low) * IN_COLUMNS * CHANNELS;
  const size_t left = (size_t)(LEFT + c.low) * CHANNELS + place % CHANNELS;
#if NEAREST
  y[line * OUT_COLUMNS * CHANNELS + place] = above[left];
#else
  global const float *below = x + (start + (size_t)r.high) * IN_COLUMNS * CHANNELS;
  const size_t right = (size_t)(LEFT + c.high) * CHANNELS + place % CHANNELS;
  const float top = above[left] + (above[right] - above[left]) * c.share;
  const float bottom = below[left] + (below[right] - below[left]) * c.share;
  y[line * OUT_COLUMNS * CHANNELS + place] = top + (bottom - top) * r.share;
#endif
}

kernel void resizing_bwd_x_plain(global float *restrict dx, global const float *restrict dy,
                                 int batch)
{
  const size_t place = get_global_id(0), line = get_global_id(1);
  if (place >= (size_t)IN_COLUMNS * CHANNELS || line >= (size_t)IN_ROWS * (size_t)batch) return;
  const int row = (int)(line % IN_ROWS) - TOP, column = (int)(place / CHANNELS) - LEFT;
  const size_t n = line / IN_ROWS;
  float sum = 0.0f;
  if (row >= 0 && row < PART_ROWS && column >= 0 && column < PART_COLUMNS) {
    const int row_end = end_of_readers(row, PART_ROWS, OUT_ROWS);
    const int column_first = first_reader(column, PART_COLUMNS, OUT_COLUMNS);
    const int column_end = end_of_readers(column, PART_COLUMNS, OUT_COLUMNS);
    for (int r = first_reader(row, PART_ROWS, OUT_ROWS); r < row_end; r++) {
      const float down = weight_of(r, row, PART_ROWS, OUT_ROWS);
      const size_t from = (n * OUT_ROWS + (size_t)r) * OUT_COLUMNS * CHANNELS + place % CHANNELS;
      if (down == 0.0f) continue;
      for (int c = column_first; c < column_end; c++)
        sum = fma(down * weight_of(c, column, PART_COLUMNS, OUT_COLUMNS),
                  dy[from + (size_t)c * CHANNELS], sum);
    }
  }
  dx[line * IN_COLUMNS * CHANNELS + place] = sum;
}
