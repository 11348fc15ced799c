// filter-boruvka in one launch of work-groups that wait for one another (device/resident.cl): the
// whole solve, or the rounds that are left of a phase.
#include "algorithms/filter_boruvka/few.cl"
#include "algorithms/filter_boruvka/filter.cl"
#include "algorithms/filter_boruvka/first.cl"
#include "algorithms/filter_boruvka/rounds.cl"
#include "algorithms/filter_boruvka/sample.cl"
#include "algorithms/filter_boruvka/tiles.cl"
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

// From the graph to the first worklist; returns whether it could.
static inline bool resident_first_round(const solve_t *solve, uint n_phases,
                                        workspace_t *workspace) {
#if SYMMETRIC
  minima_take(solve, n_phases, &workspace->tile, workspace->base);
  if (!solve_wait(solve, workspace)) return false;
  minima_join_rows(solve);
  if (!solve_wait(solve, workspace)) return false;
  first_choose_edges(solve, first_spread(solve), workspace->scratch, workspace->base);
  if (!solve_wait(solve, workspace)) return false;
  first_follow_choices(solve);
  if (!solve_wait(solve, workspace)) return false;
  if (n_phases > 1)
    round_contract(solve, 0, 0, round_edges(solve, 0, 0), workspace->scratch, workspace->base);
  else filter_admit_edges(solve, 0, n_phases, 1, &workspace->tile, workspace->base);
#else
  filter_admit_edges(solve, 0, n_phases, 0, &workspace->tile, workspace->base);
#endif
  return solve_wait(solve, workspace);
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

// The whole solve in one launch.
//
// In       the graph and tiles (solve.cl); seed, draw_bits, rank_a, rank_b, rank_c: as of
//          filter_boruvka_set_windows.
// In-out   state: arrivals at the barrier.
// Out      in_forest[n_slots], in whole words; state: counts, overflow, whether it gave up; all
//          other arrays of a solve are scratch.
// Launch   WG_SIZE; as many work-groups as can be resident at once.
// Needs    find_rows; arrivals zero.
// Ensures  arrivals are zero again, unless it gave up: then nothing else is valid.
LANES_ATTRIBUTE
kernel void filter_boruvka_resident_solve(SOLVE_PARAMETERS, global uint *in_forest, uint n_phases,
                                          uint seed, uint draw_bits, uint rank_a, uint rank_b,
                                          uint rank_c) {
  local full_key_t keys[SAMPLES];
  local uint2 pairs[TILE_PAIRS];
  local uint rows[TILE_SLOTS], heads[TILE_WORDS], scratch[WG_SIZE], counts[MAX_DEPTHS], base;
  local few_word_t least[FEW_SUPERVERTICES];
  const solve_t solve = SOLVE_ARGUMENTS;
  workspace_t workspace = {
      {rows, heads, pairs, scratch, 0, 0, 0, 0, 0}, scratch, &base, 0, counts, least};
  solve_prepare(&solve);
  if (n_phases > 1)
    filter_set_windows(&solve, seed, draw_bits, rank_a, rank_b, rank_c, keys, &base);
  // Without a list of light edges the first pass over the graph needs nothing of these.
  bool goes_on = (SYMMETRIC && n_phases == 1) || solve_wait(&solve, &workspace);
  goes_on = goes_on && resident_first_round(&solve, n_phases, &workspace) &&
            resident_rounds(&solve, 0, SYMMETRIC, &workspace);
  for (uint phase = 1; goes_on && phase < n_phases; ++phase) {
    goes_on = resident_settle(&solve, phase - 1, phase == 1 ? SYMMETRIC : 1, &workspace) &&
              solve_wait(&solve, &workspace);
    if (!goes_on) break;
    filter_begin_links(&solve, phase);
    filter_admit_edges(&solve, phase, n_phases, 1, &workspace.tile, &base);
    goes_on = solve_wait(&solve, &workspace) && resident_rounds(&solve, phase, 1, &workspace);
  }
  if (goes_on) solve_expand(&solve, in_forest);
  grid_leave(solve.state + STATE_ARRIVALS);
}

// The remaining rounds of a phase in one launch and, if another phase follows, the step to it.
//
// In       first_depth: the phase's first; settles: whether another phase follows.
// In-out   the worklist, the links and the reservations of `depth`; marks; state: counts, arrivals.
// Out      if it settles: links of depth 0, final; supervertices of depth 1 for the next phase.
// Launch   WG_SIZE; as many work-groups as can be resident at once.
// Needs    the reservations of pass 0 at `depth`; arrivals zero.
// Ensures  arrivals are zero again, unless it gave up: then nothing else is valid.
LANES_ATTRIBUTE
kernel void filter_boruvka_resident_finish_phase(SOLVE_PARAMETERS, uint phase, uint depth,
                                                 uint first_depth, uint settles) {
  local uint scratch[WG_SIZE], counts[MAX_DEPTHS], base;
  local few_word_t least[FEW_SUPERVERTICES];
  const solve_t solve = SOLVE_ARGUMENTS;
  workspace_t workspace = {{0}, scratch, &base, 0, counts, least};
  if (solve.state[STATE_GAVE_UP]) return;  // a launch before this one did not finish
  if (resident_rounds(&solve, phase, depth, &workspace) && settles &&
      resident_settle(&solve, phase, first_depth, &workspace) && solve_wait(&solve, &workspace))
    filter_begin_links(&solve, phase + 1);
  grid_leave(solve.state + STATE_ARRIVALS);
}
