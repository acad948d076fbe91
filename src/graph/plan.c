#include "graph/plan.h"

#include "base/mem.h"
#include "base/num.h"

/* What is placed already in one arena, sorted by offset. */
typedef struct arena_shelf {
  size_t *blocks; /* numbers of requests */
  size_t count;
} arena_shelf;

typedef struct block_planner {
  const clm__plan_request *requests;
  size_t count;
  clm__plan_limits limits;
  clm__plan_place *places;
  clm__plan_arenas *arenas;
  size_t *order; /* numbers of requests by falling size */
  arena_shelf shelves[CLM__ARENAS_MAX];
} block_planner;

static bool is_larger(const clm__plan_request *requests, size_t a, size_t b)
{
  if (requests[a].size_bytes != requests[b].size_bytes)
    return requests[a].size_bytes > requests[b].size_bytes;
  return a < b;
}

/* Puts order[at] where it belongs in the heap of the first `count`; the root is the smallest. */
static void sift_down(block_planner *planner, size_t at, size_t count)
{
  size_t *order = planner->order;
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && is_larger(planner->requests, order[child], order[child + 1])) child++;
    if (!is_larger(planner->requests, order[at], order[child])) return;
    const size_t moved = order[at];
    order[at] = order[child];
    order[child] = moved;
    at = child;
  }
}

static void sort_by_size(block_planner *planner)
{
  size_t *order = planner->order;
  for (size_t i = 0; i < planner->count; i++) order[i] = i;
  for (size_t i = planner->count / 2; i-- > 0;) sift_down(planner, i, planner->count);
  for (size_t end = planner->count; end-- > 1;) {
    const size_t smallest = order[0];
    order[0] = order[end];
    order[end] = smallest;
    sift_down(planner, 0, end);
  }
}

static bool are_together(const clm__plan_request *a, const clm__plan_request *b)
{
  return a->first <= b->last && b->first <= a->last;
}

/* The lowest gap of an arena in which the request fits; false where there is none. */
static bool find_gap(const block_planner *planner, int arena, const clm__plan_request *request,
                     size_t *offset)
{
  const arena_shelf *shelf = &planner->shelves[arena];
  const size_t align = planner->limits.align_bytes;
  size_t free_from = 0;
  for (size_t i = 0; i < shelf->count; i++) {
    const size_t block = shelf->blocks[i];
    if (!are_together(&planner->requests[block], request)) continue;
    const size_t start = planner->places[block].offset_bytes;
    if (start >= free_from && start - free_from >= request->size_bytes) break;
    /* Cannot overflow: the block lies within an arena, which is a multiple of the alignment. */
    const size_t end = clm__round_up(start + planner->requests[block].size_bytes, align);
    free_from = clm__max_size(free_from, end);
  }
  const size_t most = planner->limits.arena_max_bytes / align * align;
  if (free_from > most || most - free_from < request->size_bytes) return false;
  *offset = free_from;
  return true;
}

static void put_on_shelf(block_planner *planner, int arena, size_t block)
{
  arena_shelf *shelf = &planner->shelves[arena];
  const size_t offset = planner->places[block].offset_bytes;
  size_t at = shelf->count++;
  for (; at > 0 && planner->places[shelf->blocks[at - 1]].offset_bytes > offset; at--)
    shelf->blocks[at] = shelf->blocks[at - 1];
  shelf->blocks[at] = block;
}

/* The first arena with a gap, a new one where none has. */
static clm_status place(block_planner *planner, size_t block)
{
  const clm__plan_request *request = &planner->requests[block];
  clm__plan_arenas *arenas = planner->arenas;
  int arena = 0;
  size_t offset = 0;
  while (arena < arenas->count && !find_gap(planner, arena, request, &offset)) arena++;
  CLM_REQUIRE(arena < CLM__ARENAS_MAX, CLM_DEVICE_MEMORY,
              "the plan needs more than %d buffers of %zu bytes", CLM__ARENAS_MAX,
              planner->limits.arena_max_bytes);
  if (arena == arenas->count) {
    CLM_REQUIRE(find_gap(planner, arena, request, &offset), CLM_DEVICE_MEMORY,
                "block %zu needs %zu bytes, a buffer holds at most %zu", block, request->size_bytes,
                planner->limits.arena_max_bytes);
    CLM_TRY(clm__mem_alloc(planner->count, sizeof(size_t), &planner->shelves[arena].blocks));
    arenas->count++;
  }
  planner->places[block] = (clm__plan_place){.arena = arena, .offset_bytes = offset};
  const size_t end = clm__round_up(offset + request->size_bytes, planner->limits.align_bytes);
  arenas->size_bytes[arena] = clm__max_size(arenas->size_bytes[arena], end);
  put_on_shelf(planner, arena, block);
  return CLM_OK;
}

static clm_status place_all(block_planner *planner)
{
  CLM_TRY(clm__mem_alloc(planner->count, sizeof *planner->order, &planner->order));
  sort_by_size(planner);
  for (size_t i = 0; i < planner->count; i++) {
    const size_t block = planner->order[i];
    planner->places[block] = (clm__plan_place){.arena = CLM__PLAN_NONE};
    if (planner->requests[block].size_bytes > 0) CLM_TRY(place(planner, block));
  }
  return CLM_OK;
}

clm_status clm__plan_blocks(const clm__plan_request *requests, size_t count,
                            const clm__plan_limits *limits, clm__plan_place *places,
                            clm__plan_arenas *arenas)
{
  CLM_ASSERT(limits->align_bytes > 0 && (limits->align_bytes & (limits->align_bytes - 1)) == 0);
  *arenas = (clm__plan_arenas){0};
  block_planner planner = {
      .requests = requests, .count = count, .limits = *limits, .places = places, .arenas = arenas};
  const clm_status status = place_all(&planner);
  for (int i = 0; i < CLM__ARENAS_MAX; i++) clm__mem_free(planner.shelves[i].blocks);
  clm__mem_free(planner.order);
  return status;
}
