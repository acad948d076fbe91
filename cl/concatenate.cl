// Concatenate: the rows of an input (everything from the axis on) go to their place in the rows of
// the output, one launch an input. Backward copies the other way.
//
// Grid: (part, rows). Local memory: none.
// Shapes: to [rows,to_length], from [rows,from_length]; `part` elements at the offsets are copied.
// Defines: none.
// Determinism: every item writes one element.

kernel void concatenate_plain(global float *restrict to, global const float *restrict from,
                              uint rows, uint part, uint to_length, uint to_offset,
                              uint from_length, uint from_offset)
{
  const size_t i = get_global_id(0), row = get_global_id(1);
  if (i >= part || row >= rows) return;
  to[row * to_length + to_offset + i] = from[row * from_length + from_offset + i];
}
