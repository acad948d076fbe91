#include "ref/pooling2d.h"

#include "base/num.h"

#include <string.h>

/* One axis: padding is what is missing for all windows, its smaller half in front. */
static void cut_axis(const clm__ref_call *call, int axis, int place, int *first, int *end)
{
  const clm__problem *problem = call->problem;
  const int size = problem->inputs[0].dims[axis];
  const int pool = clm__ref_pair(problem, "pool_size")[axis];
  const int stride = clm__ref_pair(problem, "strides")[axis];
  const int missing = (problem->spec.output.dims[axis] - 1) * stride + pool - size;
  const bool same = clm__ref_int(problem, "padding") == 1;
  const int start = place * stride - (same && missing > 0 ? missing / 2 : 0);
  *first = clm__max_int(start, 0);
  *end = clm__min_int(start + pool, size);
}

clm__ref_window clm__ref_pooling2d_window(const clm__ref_call *call, int out_h, int out_w)
{
  clm__ref_window window;
  cut_axis(call, 0, out_h, &window.top, &window.bottom);
  cut_axis(call, 1, out_w, &window.left, &window.right);
  return window;
}

size_t clm__ref_pooling2d_at(const clm__shape *shape, int n, int h, int w, int c)
{
  const size_t row = (size_t)n * (size_t)shape->dims[0] + (size_t)h;
  return (row * (size_t)shape->dims[1] + (size_t)w) * (size_t)shape->dims[2] + (size_t)c;
}

void clm__ref_pooling2d_visit(const clm__ref_call *call, clm__ref_pooling2d_visitor visit)
{
  const clm__shape *output = &call->problem->spec.output;
  const size_t outputs = clm__shape_elements(output) * (size_t)call->batch;
  for (size_t y = 0; y < outputs; y++) {
    const int c = (int)(y % (size_t)output->dims[2]);
    const size_t pixel = y / (size_t)output->dims[2];
    const size_t row = pixel / (size_t)output->dims[1];
    const clm__ref_window window = clm__ref_pooling2d_window(
        call, (int)(row % (size_t)output->dims[0]), (int)(pixel % (size_t)output->dims[1]));
    visit(call, &window, (int)(row / (size_t)output->dims[0]), c, y);
  }
}

void clm__ref_pooling2d_clear(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->inputs[0]) * (size_t)call->batch;
  memset(call->dx[0], 0, count * sizeof(double));
}
