// filter-boruvka: the whole solve in one launch of work-groups that wait for one another.
//
// The function of each step is called in one place only. Compilers inline every call, so a second
// call would make compilation take seconds longer.
#include "algorithms/filter_boruvka/first.cl"
#include "algorithms/filter_boruvka/sample.cl"
#include "algorithms/filter_boruvka/tiles.cl"
#include "algorithms/filter_boruvka/waiting.cl"
#include "device/verdict.cl"

// 1: all edges are solved in one window (range of the order of edges). Compilers then leave out the
// steps between windows, and take less time. 0: the arguments of the launch say how many windows
// are solved one after the other.
#ifndef ONE_WINDOW
#define ONE_WINDOW 0
#endif

// Do the first round: choose the lightest edge of every vertex from its row, and follow these edges
// from every vertex to its supervertex. Return false if a work-group has waited too long at a
// barrier. Then the launch must end.
static inline bool resident_choose(const solve_t *solve, uint n_phases, workspace_t *workspace) {
#if SYMMETRIC
  minima_take(solve, n_phases > 1, &workspace->tile, workspace->base);
  if (!solve_wait(solve, workspace)) return false;
  minima_join_rows(solve);
  if (!solve_wait(solve, workspace)) return false;
  first_choose_edges(solve, first_spread(solve), workspace->scratch, workspace->base);
  if (!solve_wait(solve, workspace)) return false;
  first_follow_choices(solve);
  return solve_wait(solve, workspace) && resident_shorten(solve, 0, 0, solve->n, workspace);
#else
  return true;
#endif
}

// Begin a phase, which solves one range of the order of edges: read the graph, and list the edges
// of this range that join two components, as the first worklist of the phase. Return false if a
// work-group has waited too long at a barrier. Then the launch must end.
static inline bool resident_begin_phase(const solve_t *solve, uint phase, uint n_phases,
                                        workspace_t *workspace) {
  if (phase == 0) {
    if (!resident_choose(solve, n_phases, workspace)) return false;
  } else {
    const uint first_depth = phase == 1 ? SYMMETRIC : 1;
    if (!resident_settle(solve, phase - 1, first_depth, workspace)) return false;
    if (!solve_wait(solve, workspace)) return false;
    filter_begin_links(solve, phase);
  }
  if (SYMMETRIC && phase == 0 && n_phases > 1)  // minima_take has listed the first window's edges
    round_contract(solve, 0, 0, round_edges(solve, 0, 0), workspace->scratch, workspace->base);
  else
    filter_admit_edges(solve, phase, n_phases, SYMMETRIC || phase > 0, &workspace->tile,
                       workspace->base);
  return solve_wait(solve, workspace);
}

// Find the minimum spanning forest of a graph in one launch, whose work-groups wait for one
// another.
//
// In       the graph, in the arrays of solve.cl;
//          finds_rows: whether the kernel first finds the row of each tile's first slot. A tile is
//            a run of slots (CSR entries) that a work-group handles at a time.
//          n_phases: the number of windows (ranges of the order of edges) that are solved one after
//            the other;
//          seed, draw_bits, rank_a, rank_b, rank_c: how the ends of windows are sampled, as for
//            filter_boruvka_set_windows;
//          verdict[VERDICT_WORDS]: the result of the check of the graph, or null if the graph is
//            known to be valid.
// In-out   tiles: the row of the first slot of each tile, or undefined if finds_rows;
//          state: the number of arrivals at the barrier.
// Out      in_forest[n_slots], in whole words;
//          state: counts, overflow, whether the launch gave up, and whether it refused the graph.
//            All other arrays of a solve are temporary.
// Launch   WG_SIZE; at most as many work-groups as can be resident at once.
// Needs    filter_boruvka_find_rows, unless finds_rows; arrivals are 0.
// Ensures  arrivals are 0 again. If they are not, a work-group has waited too long at a barrier and
//          the launch has given up, so no result is valid. If the verdict says that the graph is
//          invalid, the graph is not read, and no result is valid.
LANES_ATTRIBUTE
kernel void filter_boruvka_resident_solve(SOLVE_PARAMETERS, global uint *in_forest, uint finds_rows,
                                          uint n_phases, uint seed, uint draw_bits, uint rank_a,
                                          uint rank_b, uint rank_c, const global uint *verdict) {
  TILE_MEMORY;
  local full_key_t keys[SAMPLES];
  local uint counts[MAX_DEPTHS], base;
  local few_word_t least[FEW_SUPERVERTICES];
  const solve_t solve = SOLVE_ARGUMENTS;
  workspace_t workspace = {tile, scratch, &base, 0, counts, least};
  if (verdict && !verdict_is_sound(verdict, SYMMETRIC)) {
    if (get_global_id(0) == 0) solve.state[STATE_REFUSED] = 1;
    return;
  }
  if (ONE_WINDOW) n_phases = 1;
  solve_prepare(&solve);
  if (finds_rows) tile_find_rows(&solve, TILE_SLOTS);
  if (n_phases > 1)
    filter_set_windows(&solve, seed, draw_bits, rank_a, rank_b, rank_c, keys, &base);
  // If all edges are solved at once (one window), and the row of each tile's first slot is known,
  // the first pass over the graph does not use results of the steps above. Then no barrier is
  // needed between them.
  const bool needs_none = SYMMETRIC && n_phases == 1 && !finds_rows;
  bool goes_on = needs_none || solve_wait(&solve, &workspace);
  for (uint phase = 0; goes_on && phase < n_phases; ++phase)
    goes_on = resident_begin_phase(&solve, phase, n_phases, &workspace) &&
              resident_rounds(&solve, phase, SYMMETRIC || phase > 0, &workspace);
  if (goes_on) solve_expand(&solve, in_forest);
  grid_leave(solve.state + STATE_ARRIVALS);
}
