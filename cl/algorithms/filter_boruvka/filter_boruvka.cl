// filter-boruvka, one launch a step; clmst/algorithms/filter_boruvka/gpu.py says in which order.
//
// Prepare    find_rows; prepare or set_windows
// Filter     take_minima or take_minima_and_list, join_rows, choose_edges, follow_choices: the first
//            round, of vertices in their rows; admit_edges in any other phase
// Choose     refine, hook, follow
// Contract   contract
// Settle     number_components, find_components, begin_components: between two phases
// Finish     expand
//
// Source: Borůvka's algorithm on worklists of edges, with the filter of Filter-Kruskal (Osipov,
// Sanders, Singler 2009) and the deterministic reservations of ECL-MST (Fallin et al. 2023). The
// first round from the rows alone, consecutive numbers of supervertices, hooking without
// compare-and-swap and tiles of slots are clmst's own.
//
// All kernels take the arrays of a solve (solve.cl), then what they need beside.
#include "algorithms/filter_boruvka/candidates.cl"
#include "algorithms/filter_boruvka/filter.cl"
#include "algorithms/filter_boruvka/first.cl"
#include "algorithms/filter_boruvka/rounds.cl"
#include "algorithms/filter_boruvka/sample.cl"
#include "algorithms/filter_boruvka/tiles.cl"

// Find the row of each tile's first slot: once a graph, for tiles of the length that later launches
// have.
//
// In       indptr[n + 1]; tile_slots: TILE_SLOTS of those launches.
// Out      tiles[n_tiles + 1]: rows; n - 1 behind the last.
// Launch   any.
// Needs    n > 0.
// Ensures  slot t * tile_slots is in row tiles[t].
kernel void filter_boruvka_find_rows(SOLVE_PARAMETERS, uint tile_slots) {
  const solve_t solve = SOLVE_ARGUMENTS;
  tile_find_rows(&solve, tile_slots);
}

// Clear counts; where edges are stored once, let nothing be marked or linked.
//
// Out      state: counts and overflow zero, windows and barrier as before; where edges are stored
//          once, marks, all zero, and links and reservations of depth 0, all empty.
// Launch   any.
// Needs    nothing.
// Ensures  where edges are stored once, no slot is marked.
kernel void filter_boruvka_prepare(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
}

// Clear what prepare clears, and set the upper ends of the first windows by a sample of weights.
//
// In       weights[n_slots]; seed; draw_bits: each sample is the least of 1 << draw_bits slots, 0
//          to 16; rank_a, rank_b, rank_c: rising ranks in the sample, SAMPLES for none.
// Out      as of prepare; state: ends of windows, as (key words, slot).
// Launch   any.
// Needs    n_slots > 0.
// Ensures  ends rise in the order of (key, slot); the same for every launch of the same arguments.
kernel void filter_boruvka_set_windows(SOLVE_PARAMETERS, uint seed, uint draw_bits, uint rank_a,
                                       uint rank_b, uint rank_c) {
  local full_key_t keys[SAMPLES];
  local uint rank;
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
  filter_set_windows(&solve, seed, draw_bits, rank_a, rank_b, rank_c, keys, &rank);
}

#if SYMMETRIC

// Find every vertex's lightest edge in its row.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots], tiles.
// Out      target[n]: the other end of the lightest edge, the vertex itself where there is none;
//          marks: of lightest edges that lead up only; of rows that tiles part, tiles: the
//          lightest slot of each part, and no marks.
// Launch   WG_SIZE; any number of work-groups.
// Needs    find_rows, prepare. Both directions of all edges are stored.
// Ensures  rows within one tile have their choice; join_rows completes the rows that tiles part.
LANES_ATTRIBUTE
kernel void filter_boruvka_take_minima(SOLVE_PARAMETERS) {
  TILE_MEMORY;
  const solve_t solve = SOLVE_ARGUMENTS;
  minima_take(&solve, false, &tile, 0);
}

// Find every vertex's lightest edge in its row, and list the edges of the first of several windows.
//
// In       as of take_minima; state: windows.
// In-out   state: the count of edges at depth 0, zero before; overflow.
// Out      as of take_minima; list_even: the edges of the first window.
// Launch   WG_SIZE; any number of work-groups.
// Needs    find_rows, set_windows. Both directions of all edges are stored.
// Ensures  as take_minima.
LANES_ATTRIBUTE
kernel void filter_boruvka_take_minima_and_list(SOLVE_PARAMETERS) {
  TILE_MEMORY;
  local uint base;
  const solve_t solve = SOLVE_ARGUMENTS;
  minima_take(&solve, true, &tile, &base);
}

// Find the lightest edges of the rows that tiles part.
//
// In       indptr, indices, weights, tiles: the lightest slot of each part.
// In-out   target[n]; marks.
// Launch   any.
// Needs    take_minima.
// Ensures  every vertex has its choice.
kernel void filter_boruvka_join_rows(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  minima_join_rows(&solve);
}

// Put the lightest edges that lead down into the forest; roots become supervertices of depth 1.
//
// In       indptr, indices, weights, target[n].
// In-out   marks; state: the count of vertices at depth 1, zero before.
// Out      links of roots; links and reservations of depth 1, empty.
// Launch   WG_SIZE; any number of work-groups.
// Needs    join_rows.
// Ensures  of two vertices that chose one edge, the lesser is a root.
LANES_ATTRIBUTE
kernel void filter_boruvka_choose_edges(SOLVE_PARAMETERS) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  first_choose_edges(&solve, VERTICES_PER_ITEM, scratch, &base);
}

// Follow the choices of every vertex to its supervertex, or POINTER_STEPS steps ahead.
//
// In       target[n]; links of roots.
// In-out   state: the count of pending vertices at depth 0, zero before.
// Out      links of all other vertices of depth 0.
// Launch   any.
// Needs    choose_edges.
// Ensures  a link is known, or leads to a vertex nearer to the root; then it is counted as pending.
kernel void filter_boruvka_follow_choices(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  first_follow_choices(&solve);
}

#endif

// Make the worklist of `depth` of the edges of a phase's window that join two components.
//
// In       indptr, indices, weights, tiles; state: windows; links of depth 0, if depth is 1.
// In-out   reservations of `depth`, empty before; state: the count of edges of `depth`, zero
//          before.
// Out      the worklist of `depth`; state: whether it overflowed.
// Launch   WG_SIZE; any number of work-groups.
// Needs    find_rows; at depth 1 every vertex of the graph knows its component.
// Ensures  the reservations of pass 0 are made.
LANES_ATTRIBUTE
kernel void filter_boruvka_admit_edges(SOLVE_PARAMETERS, uint phase, uint n_phases, uint depth) {
  TILE_MEMORY;
  local uint base;
  solve_t solve = SOLVE_ARGUMENTS;
  if (solve.state[STATE_GAVE_UP]) solve.n_slots = 0;  // what comes before was not finished
  filter_admit_edges(&solve, phase, n_phases, depth, &tile, &base);
}

#if RESERVATION_PASSES > 1
// Make the reservations of a later pass (reservation.cl).
//
// In       the worklist of `depth`, weights.
// In-out   reservations of `depth`.
// Launch   any.
// Needs    1 <= pass < RESERVATION_PASSES; the passes before it are complete.
// Ensures  after the last pass every supervertex has reserved its lightest edge.
kernel void filter_boruvka_refine(SOLVE_PARAMETERS, uint phase, uint depth, uint pass) {
  const solve_t solve = SOLVE_ARGUMENTS;
  round_refine(&solve, depth, round_edges(&solve, phase, depth), pass);
}
#endif

// Put the edge that every supervertex has reserved into the forest; roots become supervertices of
// depth + 1.
//
// In       the worklist and the reservations of `depth`.
// In-out   marks; state: the count of vertices of depth + 1, zero before.
// Out      links of `depth`; links and reservations of depth + 1, empty.
// Launch   WG_SIZE; any number of work-groups.
// Needs    all passes of the reservations of `depth`.
// Ensures  of two supervertices that reserved one edge, the lesser is a root.
LANES_ATTRIBUTE
kernel void filter_boruvka_hook(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  round_hook(&solve, phase, depth, round_edges(&solve, phase, depth), scratch, &base);
}

// Follow the links of every vertex of a depth to its supervertex, or POINTER_STEPS steps ahead.
//
// In       again: whether it was done before; then it does nothing unless some are pending.
// In-out   links of `depth`; state: the count of pending vertices, zero before the first time.
// Launch   any.
// Needs    hook of the same depth.
// Ensures  a link is known, or leads to a vertex nearer to the root; then it is counted as pending.
kernel void filter_boruvka_follow(SOLVE_PARAMETERS, uint phase, uint depth, uint again) {
  const solve_t solve = SOLVE_ARGUMENTS;
  if (again && *solve_count(&solve, phase, depth, COUNT_PENDING) == 0) return;
  round_follow(&solve, phase, depth, round_vertices(&solve, phase, depth));
}

// Make the worklist of depth + 1 from the worklist of `depth`.
//
// In       the worklist of `depth`; links of `depth`.
// In-out   reservations of depth + 1, empty before; state: the count of edges of depth + 1, zero
//          before.
// Out      the worklist of depth + 1; state: whether it overflowed.
// Launch   WG_SIZE; any number of work-groups.
// Needs    follow of the same depth.
// Ensures  edges within one supervertex are gone; the reservations of pass 0 are made.
LANES_ATTRIBUTE
kernel void filter_boruvka_contract(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  round_contract(&solve, phase, depth, round_edges(&solve, phase, depth), scratch, &base);
}

// Number the components that a phase leaves: supervertices that no edge of the phase leads out of.
//
// In-out   links of all depths from `depth` on; state: the count of vertices at depth 1 of the next
//          phase, zero before.
// Launch   WG_SIZE; any number of work-groups.
// Needs    all rounds of the phase.
// Ensures  a finished supervertex has a final link.
LANES_ATTRIBUTE
kernel void filter_boruvka_number_components(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint counts[MAX_DEPTHS], scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_number_components(&solve, phase, depth, counts, scratch, &base);
}

// Find the component that a phase leaves every vertex of the graph in.
//
// In-out   links of depth 0.
// Launch   any.
// Needs    number_components.
// Ensures  all links of depth 0 are final.
kernel void filter_boruvka_find_components(SOLVE_PARAMETERS, uint phase) {
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_find_components(&solve, phase, 0);
}

// Let the components be the supervertices of depth 1.
//
// In       state: the count of components, at depth 1 of the phase.
// Out      links and reservations of depth 1, empty.
// Launch   any.
// Needs    find_components of the phase before.
// Ensures  admit_edges may fill depth 1.
kernel void filter_boruvka_begin_components(SOLVE_PARAMETERS, uint phase) {
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_begin_reservations(&solve, phase);
  filter_begin_links(&solve, phase);
}

// Expand the forest from a bit to a byte a slot.
//
// In       marks.
// Out      in_forest[n_slots], in whole words: 1 for edges of the forest, else 0.
// Launch   any.
// Needs    all phases.
// Ensures  nothing more.
kernel void filter_boruvka_expand(SOLVE_PARAMETERS, global uint *in_forest) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_expand(&solve, in_forest);
}
