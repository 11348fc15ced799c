// filter-boruvka: rounds, and the step to the next phase, of resident work-groups that wait for one
// another (device/resident.cl).
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_WAITING
#define CLMST_ALGORITHMS_FILTER_BORUVKA_WAITING

#include "algorithms/filter_boruvka/few.cl"
#include "algorithms/filter_boruvka/filter.cl"
#include "algorithms/filter_boruvka/rounds.cl"
#include "device/resident.cl"

// Vertices of a depth up to which ways to supervertices are not shortened before edges follow them:
// a step less, where no way is long.
#ifndef FEW_VERTICES
#define FEW_VERTICES 16384
#endif

// Vertices of a graph up to which each finds its component on its own after a window: any number.
#ifndef DIRECT_VERTICES
#define DIRECT_VERTICES (1u << 20)
#endif

// What a resident work-group works in, one step after the other.
typedef struct {
  tile_t tile;
  local uint *scratch, *base;
  uint passed;              // barriers of the launch
  local uint *counts;       // [MAX_DEPTHS]
  local few_word_t *least;  // [FEW_SUPERVERTICES]: see few.cl
} workspace_t;

static inline bool solve_wait(const solve_t *solve, workspace_t *workspace) {
  return grid_barrier(solve->state + STATE_ARRIVALS, &workspace->passed, workspace->base);
}

// Contract a worklist to that of the next depth, which has `n_next` supervertices.
static inline void resident_contract(const solve_t *solve, uint phase, uint depth, uint n_edges,
                                     uint n_next, workspace_t *workspace) {
#if HAS_FEW
  if (few_applies(n_edges, n_next)) {
    few_contract(solve, phase, depth, n_edges, n_next, workspace->least, workspace->scratch,
                 workspace->base);
    return;
  }
#endif
  round_contract(solve, phase, depth, n_edges, workspace->scratch, workspace->base);
}

// Do the rounds of a phase from `depth` on, until no edge can be left: where all supervertices with
// edges have become one, none is looked for. Returns whether it could.
static inline bool resident_rounds(const solve_t *solve, uint phase, uint depth,
                                   workspace_t *workspace) {
  uint n_edges = round_edges(solve, phase, depth), n_vertices = round_vertices(solve, phase, depth);
  while (n_edges > 0 && depth + 1 < MAX_DEPTHS) {
#if RESERVATION_PASSES > 1
    for (uint pass = 1; pass < RESERVATION_PASSES; ++pass) {
      round_refine(solve, depth, n_edges, pass);
      if (!solve_wait(solve, workspace)) return false;
    }
#endif
    round_hook(solve, phase, depth, n_edges, workspace->scratch, workspace->base);
    if (!solve_wait(solve, workspace)) return false;
    const uint n_next = round_vertices(solve, phase, depth + 1);
    if (n_vertices > FEW_VERTICES) {
      round_follow(solve, phase, depth, n_vertices);
      if (!solve_wait(solve, workspace)) return false;
    }
    if (n_next <= 1) return true;
    resident_contract(solve, phase, depth, n_edges, n_next, workspace);
    if (!solve_wait(solve, workspace)) return false;
    depth += 1;
    n_vertices = n_next;
    n_edges = round_edges(solve, phase, depth);
  }
  return true;
}

// Let every vertex know the component that a phase left it in, and the components' reservations
// begin; returns whether it could.
//
// Needs    a barrier, then filter_begin_links.
static inline bool resident_settle(const solve_t *solve, uint phase, uint depth,
                                   workspace_t *workspace) {
  local uint *counts = workspace->counts;
  filter_number_components(solve, phase, depth, counts, workspace->scratch, workspace->base);
  if (!solve_wait(solve, workspace)) return false;
  // A vertex of a small graph goes the whole way, a step a depth; else depths go one by one.
  uint deepest = 0;
  if (solve->n > DIRECT_VERTICES)
    for (deepest = depth; deepest + 1 < MAX_DEPTHS && counts[deepest + 1] > 0;) deepest += 1;
  for (uint d = deepest; d > 0; --d) {
    filter_find_components(solve, phase, d);
    if (!solve_wait(solve, workspace)) return false;
  }
  filter_find_components(solve, phase, 0);
  filter_begin_reservations(solve, phase + 1);
  return true;
}

#endif
