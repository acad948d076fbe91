#include "op/joint.h"

void clm__joint_begin(clm__joint_total *total)
{
  total->images = 0;
  for (size_t i = 0; i < 2 * total->channels; i++) total->figures[i] = 0.0;
}

/* Mean and variance of two groups from those of each: every image has as many rows as any other, so
 * images tell how much a group counts. What tells the groups apart is a difference of means, so
 * nothing is lost where the mean is far from zero. */
static void add_moments(clm__joint_total *total, const float *figures, uint64_t images)
{
  const size_t channels = total->channels;
  const double all = (double)(total->images + images);
  const double theirs = (double)images / all;
  const double ours = (double)total->images / all;
  for (size_t c = 0; c < channels; c++) {
    double *mean = &total->figures[c];
    double *variance = &total->figures[channels + c];
    const double apart = (double)figures[c] - *mean;
    *mean += apart * theirs;
    *variance =
        *variance * ours + (double)figures[channels + c] * theirs + apart * apart * ours * theirs;
  }
}

static void add_sums(clm__joint_total *total, const float *figures)
{
  for (size_t i = 0; i < 2 * total->channels; i++) total->figures[i] += (double)figures[i];
}

void clm__joint_add(clm__joint_total *total, const float *figures, uint64_t images)
{
  if (images == 0) return;
  if (total->kind == CLM__JOINT_MOMENTS)
    add_moments(total, figures, images);
  else
    add_sums(total, figures);
  total->images += images;
}

void clm__joint_store(const clm__joint_total *total, float *figures)
{
  for (size_t i = 0; i < 2 * total->channels; i++) figures[i] = (float)total->figures[i];
}
