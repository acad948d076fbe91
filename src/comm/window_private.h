/* What buckets need from a window that is shared. A rank says of each bucket how far it is, and
 * sees what the others say of theirs. */
#ifndef CLM_COMM_WINDOW_PRIVATE_H
#define CLM_COMM_WINDOW_PRIVATE_H

#include "comm/window.h"

/* Gives the next bucket its place, whose number is the same on all ranks; its values lie in the
 * window. */
int clm__window_add(clm__window *window, const float *values);

/* Says that this rank's bucket has come to a stage: what was written before is then seen by whoever
 * hears of it. Stages of a bucket follow each other, from 1 on, modulo 2^32. */
void clm__window_say(clm__window *window, int place, uint32_t stage);

/* Whether a rank's bucket has come to a stage, or beyond it. */
bool clm__window_has_said(const clm__window *window, int rank, int place, uint32_t stage);

/* The values of a rank's bucket, once it has said anything of it. */
float *clm__window_get_values(const clm__window *window, int rank, int place);

#endif
