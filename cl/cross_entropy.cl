// Cross-entropy of class labels, together with the softmax before it: one formula from logits to
// losses and their gradient, without clipping. Bare probabilities are clipped as Keras does.
//
// With t = `on` for the label and `off` added to every class (label smoothing s: on = 1 - s, off =
// s / CLASSES):
//   HEAD 0, 1  loss = sum of t * (log sum exp(x) - x), dx = softmax(x) - t; with head 1 the model's
//              output is x itself, so the largest x decides a hit, with head 0 the largest softmax
//   HEAD 2     x are probabilities. NORMALIZED 0: p = clip(x), loss = -sum of t * log(p / sum p);
//              NORMALIZED 1: p = clip(x / sum x), loss = -sum of t * log p
// dx is the gradient of the sum of losses, 0 through a clip. A label that is no class gives a loss
// and gradients that are not numbers; so does any x that is not finite (its loss at least).
//
// Grid: one item an image. Local memory: none.
// Shapes: dx, probabilities, x [batch,CLASSES]; losses, hits [batch]; labels [batch]. dx and
// probabilities may be null.
// Defines: CLASSES, HEAD, NORMALIZED.
// Determinism: every item writes its image's values and sums in order.

#ifndef CLASSES
#define CLASSES 5
#define HEAD 0
#define NORMALIZED 0
#endif

#define CLIP_LEAST 1e-7f
#define CLIP_MOST (1.0f - 1e-7f)

// 0 where all are finite, else NaN.
float poison_of(global const float *x)
{
  float poison = 0.0f;
  for (int k = 0; k < CLASSES; k++) poison += x[k] * 0.0f;
  return poison;
}

float sum_of(global const float *x)
{
  float sum = 0.0f;
  for (int k = 0; k < CLASSES; k++) sum += x[k];
  return sum;
}

bool is_inside(float p) { return p >= CLIP_LEAST && p <= CLIP_MOST; }

// log p of one class of bare probabilities, up to the term that all classes share.
float log_of(float x, float scale) { return log(clamp(x * scale, CLIP_LEAST, CLIP_MOST)); }

// From logits.
float loss_of_logits(global float *dx, global float *probabilities, global const float *x,
                     int label, float on, float off, int *best)
{
  float largest = x[0];
  for (int k = 1; k < CLASSES; k++) largest = fmax(largest, x[k]);
  float sum = 0.0f;
  for (int k = 0; k < CLASSES; k++) sum += exp(x[k] - largest);
  const float log_sum = log(sum);
  float loss = on * (log_sum - (x[label] - largest)), most = -1.0f;
  // Unrolled, many classes take more registers than some GPUs have.
  ONCE
  for (int k = 0; k < CLASSES; k++) {
    const float p = exp(x[k] - largest) / sum;
    const float rank = HEAD == 0 ? p : x[k];
    if (k == 0 || rank > most) {
      most = rank;
      *best = k;
    }
    loss += off * (log_sum - (x[k] - largest));
    if (probabilities) probabilities[k] = p;
    if (dx) dx[k] = p - off - (k == label ? on : 0.0f);
  }
  return loss;
}

#if NORMALIZED
float loss_of_probabilities(global float *dx, global const float *x, int label, float on, float off)
{
  const float scale = 1.0f / sum_of(x);
  float loss = 0.0f, shared = 0.0f;
  for (int k = 0; k < CLASSES; k++) {
    const float t = off + (k == label ? on : 0.0f);
    loss -= t * log_of(x[k], scale);
    if (is_inside(x[k] * scale)) shared += t;
  }
  for (int k = 0; dx && k < CLASSES; k++) {
    const float t = off + (k == label ? on : 0.0f);
    dx[k] = shared * scale - (is_inside(x[k] * scale) ? t / x[k] : 0.0f);
  }
  return loss;
}
#else
float loss_of_probabilities(global float *dx, global const float *x, int label, float on, float off)
{
  float sum = 0.0f, loss = 0.0f;
  for (int k = 0; k < CLASSES; k++) sum += clamp(x[k], CLIP_LEAST, CLIP_MOST);
  for (int k = 0; k < CLASSES; k++) {
    const float t = off + (k == label ? on : 0.0f);
    loss += t * (log(sum) - log_of(x[k], 1.0f));
    if (dx) dx[k] = is_inside(x[k]) ? 1.0f / sum - t / x[k] : 0.0f;
  }
  return loss;
}
#endif

int first_largest(global const float *x)
{
  int best = 0;
  for (int k = 1; k < CLASSES; k++)
    if (x[k] > x[best]) best = k;
  return best;
}

kernel void cross_entropy_plain(global float *restrict dx, global float *restrict losses,
                                global float *restrict hits, global float *restrict probabilities,
                                global const float *restrict x, global const int *restrict labels,
                                int batch, float on, float off)
{
  const size_t n = get_global_id(0);
  if (n >= (size_t)batch) return;
  const size_t start = n * CLASSES;
  global float *own_dx = dx ? dx + start : 0;
  global float *own_p = probabilities ? probabilities + start : 0;
  const int given = labels[n];
  const bool known = given >= 0 && given < CLASSES;
  const int label = known ? given : 0;
  int best = 0;
#if HEAD == 2
  float loss = loss_of_probabilities(own_dx, x + start, label, on, off);
  best = first_largest(x + start);
  for (int k = 0; own_p && k < CLASSES; k++) own_p[k] = x[start + k];
#else
  float loss = loss_of_logits(own_dx, own_p, x + start, label, on, off, &best);
#endif
  loss += poison_of(x + start);
  losses[n] = known ? loss : NAN;
  hits[n] = known && best == label ? 1.0f : 0.0f;
  for (int k = 0; !known && own_dx && k < CLASSES; k++) own_dx[k] = NAN;
}
