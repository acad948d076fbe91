#include "bench/rivals.h"

#include "bench/passes.h"

#include <string.h>

#define BLAS "gemm"
#define REPEATS 3

/* One way to run the network. */
typedef struct rival {
  bench_trainee trainee;
  timed_passes best; /* of all turns; texts are the trainee's */
} rival;

static clm_status open_rival(bench_run *bench, rival *side, const char *net, int batch,
                             const char *variant)
{
  const trainee_config config = {.device = bench->device,
                                 .tune = bench->tune,
                                 .variant = variant,
                                 .net = net,
                                 .batch = batch,
                                 .use = TRAINEE_TRAINS};
  clm_status status = trainee_open(&side->trainee, &config);
  for (int i = 0; i < 2 && status == CLM_OK; i++) status = trainee_step(&side->trainee);
  return status;
}

/* Keeps the faster of two turns: other programs only ever make a pass slower. */
static clm_status take_turn(rival *side)
{
  timed_passes turn;
  const clm_status status = passes_time(&side->trainee, REPEATS, &turn);
  if (status == CLM_OK && side->best.items == NULL) {
    side->best = turn;
    return CLM_OK;
  }
  for (size_t i = 0; status == CLM_OK && i < turn.count; i++)
    if (turn.items[i].seconds < side->best.items[i].seconds) side->best.items[i] = turn.items[i];
  passes_fini(&turn);
  return status;
}

static const timed_pass *find(const timed_passes *passes, const timed_pass *like)
{
  for (size_t i = 0; i < passes->count; i++) {
    const timed_pass *pass = &passes->items[i];
    if (strcmp(pass->layer, like->layer) == 0 && strcmp(pass->op, like->op) == 0 &&
        strcmp(pass->pass, like->pass) == 0)
      return pass;
  }
  return NULL;
}

static void tell_pair(bench_run *bench, const timed_pass *hand, const timed_pass *blas)
{
  bench_say(bench, "%-10s %-6s %-28s %-9s %9.3f %9.3f %7.2f", hand->op, hand->pass, hand->shape,
            hand->variant, hand->seconds * 1e3, blas->seconds * 1e3, blas->seconds / hand->seconds);
  clm__json_begin_object(&bench->json, NULL);
  clm__json_put_text(&bench->json, "op", hand->op);
  clm__json_put_text(&bench->json, "pass", hand->pass);
  clm__json_put_text(&bench->json, "shape", hand->shape);
  clm__json_put_text(&bench->json, "variant", hand->variant);
  clm__json_put_number(&bench->json, "hand_ms", hand->seconds * 1e3);
  clm__json_put_number(&bench->json, "clblast_ms", blas->seconds * 1e3);
  clm__json_end_object(&bench->json);
}

static void tell(bench_run *bench, const char *net, int batch, const rival *hand, const rival *blas)
{
  bench_say(bench, "\n%s, batch %d: matrix products by hand and by CLBlast", net, batch);
  bench_say(bench, "%-10s %-6s %-28s %-9s %9s %9s %7s", "op", "pass", "shape", "by hand", "ms",
            "CLBlast", "ratio");
  clm__json_begin_list(&bench->json, "products");
  for (size_t i = 0; i < hand->best.count; i++) {
    const timed_pass *pass = &hand->best.items[i], *other = find(&blas->best, pass);
    if (other != NULL && strcmp(other->variant, BLAS) == 0 && strcmp(pass->variant, BLAS) != 0)
      tell_pair(bench, pass, other);
  }
  clm__json_end_list(&bench->json);
}

clm_status rivals_measure(bench_run *bench, const char *net, int batch)
{
  rival hand = {0}, blas = {0};
  const bool is_cpu = bench->device->info.kind == CLM__DEVICE_CPU;
  const int turns = bench->quick ? 1 : 3;
  clm_status status = open_rival(bench, &hand, net, batch, is_cpu ? "dense=cpu" : "dense=plain");
  if (status == CLM_OK)
    status = open_rival(bench, &blas, net, batch, "dense=" BLAS ",conv2d=" BLAS);
  for (int i = 0; i < turns && status == CLM_OK; i++) {
    status = take_turn(&hand);
    if (status == CLM_OK) status = take_turn(&blas);
  }
  if (status == CLM_OK) tell(bench, net, batch, &hand, &blas);
  passes_fini(&hand.best);
  passes_fini(&blas.best);
  trainee_close(&hand.trainee);
  trainee_close(&blas.trainee);
  return status;
}
