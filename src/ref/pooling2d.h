/* Windows of the pooling references. */
#ifndef CLM_REF_POOLING2D_H
#define CLM_REF_POOLING2D_H

#include "ref/ref.h"

/* The elements of x that a window holds, without padding: rows [top, bottom), columns [left,
 * right). */
typedef struct clm__ref_window {
  int top, bottom, left, right;
} clm__ref_window;

clm__ref_window clm__ref_pooling2d_window(const clm__ref_call *call, int out_h, int out_w);

/* The place of an element in an array of images of this shape. */
size_t clm__ref_pooling2d_at(const clm__shape *shape, int n, int h, int w, int c);

/* Calls `visit` for every output of the batch, in order. */
typedef void (*clm__ref_pooling2d_visitor)(const clm__ref_call *call, const clm__ref_window *window,
                                           int n, int c, size_t y);
void clm__ref_pooling2d_visit(const clm__ref_call *call, clm__ref_pooling2d_visitor visit);

/* Sets dx to zero. */
void clm__ref_pooling2d_clear(const clm__ref_call *call);

#endif
