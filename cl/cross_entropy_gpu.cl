// Cross-entropy of class labels, for GPUs: the formulas of cross_entropy.cl.
//
// SHARE neighbouring items share an image, so that they read neighbouring memory; a group of GROUP
// items has GROUP / SHARE images.
//
// Grid: groups for all images. Local memory: GROUP floats.
// Shapes: dx, probabilities, x [batch,CLASSES]; losses, hits [batch]; labels [batch]. dx and
// probabilities may be null.
// Defines: CLASSES, HEAD, NORMALIZED; GROUP and SHARE, powers of two, SHARE no more than GROUP.
// Determinism: sums have a fixed order for a group size: an item adds every SHARE-th class, the
// items of an image are added in pairs.

#ifndef CLASSES
#define CLASSES 100
#define HEAD 0
#define NORMALIZED 0
#define GROUP 64
#define SHARE 64
#endif

#define CLIP_LEAST 1e-7f
#define CLIP_MOST (1.0f - 1e-7f)
#define EACH_OWN_CLASS(k) for (int k = own.lane; k < CLASSES; k += SHARE)

// What an item works on. dx and p are null where nothing is to be written.
typedef struct item {
  int lane;
  int label;
  float on, off;
  global const float *x;
  global float *dx, *p;
} item;

// The first of the largest numbers that an item has seen.
typedef struct winner {
  float most;
  int first;
} winner;

void look_at(winner *best, float rank, int k)
{
  if (!(rank > best->most)) return;
  best->most = rank;
  best->first = k;
}

float sum_all(local float *values, float part) { return clm_group_sum(values, part, 1, SHARE); }

// The first of the largest of an image; 0 where none is a number. A float holds every class, which
// are fewer than 2^24.
int join_winners(local float *values, winner best)
{
  const float most = clm_group_max(values, best.most, 1, SHARE);
  const int seen = best.most == most ? best.first : CLASSES;
  const int first = (int)-clm_group_max(values, -(float)seen, 1, SHARE);
  return first < CLASSES ? first : 0;
}

bool is_inside(float p) { return p >= CLIP_LEAST && p <= CLIP_MOST; }

// log p of one class of bare probabilities, up to the term that all classes share.
float log_of(float x, float scale) { return log(clamp(x * scale, CLIP_LEAST, CLIP_MOST)); }

float share_of(item own, int k) { return own.off + (k == own.label ? own.on : 0.0f); }

#if HEAD != 2
// The loss; writes dx and p.
float loss_of(local float *values, item own, winner *best)
{
  float largest = -INFINITY, sum = 0.0f, loss = 0.0f;
  EACH_OWN_CLASS(k) largest = fmax(largest, own.x[k]);
  largest = clm_group_max(values, largest, 1, SHARE);
  EACH_OWN_CLASS(k) sum += exp(own.x[k] - largest);
  sum = sum_all(values, sum);
  const float log_sum = log(sum);
  EACH_OWN_CLASS(k) {
    const float p = exp(own.x[k] - largest) / sum;
    look_at(best, HEAD == 0 ? p : own.x[k], k);
    loss += own.off * (log_sum - (own.x[k] - largest)) + own.x[k] * 0.0f;
    if (own.p) own.p[k] = p;
    if (own.dx) own.dx[k] = p - share_of(own, k);
  }
  return own.on * (log_sum - (own.x[own.label] - largest)) + sum_all(values, loss);
}
#elif NORMALIZED
float loss_of(local float *values, item own, winner *best)
{
  float sum = 0.0f, loss = 0.0f, shared = 0.0f;
  EACH_OWN_CLASS(k) sum += own.x[k];
  const float scale = 1.0f / sum_all(values, sum);
  EACH_OWN_CLASS(k) {
    look_at(best, own.x[k], k);
    loss += own.x[k] * 0.0f - share_of(own, k) * log_of(own.x[k], scale);
    if (is_inside(own.x[k] * scale)) shared += share_of(own, k);
  }
  loss = sum_all(values, loss);
  shared = sum_all(values, shared);
  EACH_OWN_CLASS(k) {
    const float slope = is_inside(own.x[k] * scale) ? share_of(own, k) / own.x[k] : 0.0f;
    if (own.p) own.p[k] = own.x[k];
    if (own.dx) own.dx[k] = shared * scale - slope;
  }
  return loss;
}
#else
float loss_of(local float *values, item own, winner *best)
{
  float sum = 0.0f, loss = 0.0f;
  EACH_OWN_CLASS(k) sum += clamp(own.x[k], CLIP_LEAST, CLIP_MOST);
  sum = sum_all(values, sum);
  EACH_OWN_CLASS(k) {
    look_at(best, own.x[k], k);
    loss += own.x[k] * 0.0f + share_of(own, k) * (log(sum) - log_of(own.x[k], 1.0f));
    if (own.p) own.p[k] = own.x[k];
    if (own.dx)
      own.dx[k] = is_inside(own.x[k]) ? 1.0f / sum - share_of(own, k) / own.x[k] : 0.0f;
  }
  return sum_all(values, loss);
}
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
cross_entropy_gpu(global float *restrict dx, global float *restrict losses,
                  global float *restrict hits, global float *restrict probabilities,
                  global const float *restrict x, global const int *restrict labels, int batch,
                  float on, float off)
{
  local float values[GROUP];
  const int n = (int)get_group_id(0) * (GROUP / SHARE) + (int)get_local_id(0) / SHARE;
  const bool has_image = n < batch; // the others do as the last one does and write nothing
  const int image = min(n, batch - 1), given = labels[image];
  const bool known = given >= 0 && given < CLASSES;
  const size_t start = (size_t)image * CLASSES;
  const item own = {.lane = (int)get_local_id(0) % SHARE,
                    .label = known ? given : 0,
                    .on = on,
                    .off = off,
                    .x = x + start,
                    .dx = has_image && dx ? dx + start : 0,
                    .p = has_image && probabilities ? probabilities + start : 0};
  winner best = {-INFINITY, CLASSES};
  const float loss = loss_of(values, own, &best);
  const int answer = join_winners(values, best);
  if (!has_image) return;
  if (!known && own.dx) EACH_OWN_CLASS(k) own.dx[k] = NAN;
  if (own.lane > 0) return;
  losses[image] = known ? loss : NAN;
  hits[image] = known && answer == own.label ? 1.0f : 0.0f;
}
