// filter-boruvka, one launch a step; clmst/algorithms/filter_boruvka/solve.py says in which order.
//
// Source: Borůvka's algorithm on worklists of edges, with the filter of Filter-Kruskal (Osipov,
// Sanders, Singler 2009) and the deterministic reservations of ECL-MST (Fallin et al. 2023). The
// first round from the rows alone, consecutive numbers of supervertices, hooking without
// compare-and-swap and tiles of slots are clmst's own.
//
// All kernels take the arrays of a solve (solve.cl), then what they need beside.
#include "algorithms/filter_boruvka/filter.cl"
#include "algorithms/filter_boruvka/first.cl"
#include "algorithms/filter_boruvka/rounds.cl"
#include "algorithms/filter_boruvka/tiles.cl"

// Find the row of each tile's first slot: once a graph, for tiles as they are launched next.
//
// In       tile_slots.
// Out      tiles, their first half.
// Launch   any.
kernel void filter_boruvka_find_rows(SOLVE_PARAMETERS, uint tile_slots) {
  const solve_t solve = SOLVE_ARGUMENTS;
  tile_find_rows(&solve, tile_slots);
}

// Clear marks and counts.
//
// Out      marks, counts; where edges are stored once, links and reservations of depth 0.
// Launch   any.
kernel void filter_boruvka_prepare(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
}

// Set the upper ends of the first windows by a sample of weights.
//
// In       the graph; seed; draw_bits: the logarithm (base 2) of the slots that each sample is the
//          least of, 0 to 16; rank_a, rank_b, rank_c: rising ranks in the sample, SAMPLES for none.
// Out      ends of windows.
// Launch   any.
kernel void filter_boruvka_set_windows(SOLVE_PARAMETERS, uint seed, uint draw_bits, uint rank_a,
                                       uint rank_b, uint rank_c) {
  local full_key_t keys[SAMPLES];
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_set_windows(&solve, seed, draw_bits, rank_a, rank_b, rank_c, keys);
}

#if SYMMETRIC

// Find every vertex's lightest edge in its row; of several windows, list the first one's edges.
//
// In       the graph, tiles, windows.
// Out      chosen[n], target[n]: but for rows that tiles part, whose parts' are noted for tiles;
//          the list of (row, slot).
// Launch   WG_SIZE; any number of work-groups.
// Needs    both directions of all edges.
LANES_ATTRIBUTE
kernel void filter_boruvka_take_minima(SOLVE_PARAMETERS, uint n_phases) {
  local uint2 pairs[TILE_PAIRS];
  local uint rows[TILE_SLOTS], heads[TILE_WORDS], scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  tile_t tile = {rows, heads, pairs, scratch, 0, 0, 0, 0, 0};
  minima_take(&solve, n_phases, &tile, &base);
}

// Find the lightest edges of the rows that tiles part.
//
// In-out   chosen[n], target[n].
// Launch   any.
kernel void filter_boruvka_join_rows(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  minima_join_rows(&solve);
}

// Put every vertex's lightest edge into the forest; roots become supervertices of depth 1.
//
// In       chosen[n], target[n].
// Out      marks; links of roots; supervertices of depth 1.
// Launch   WG_SIZE; any number of work-groups.
LANES_ATTRIBUTE
kernel void filter_boruvka_choose_edges(SOLVE_PARAMETERS) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  first_choose_edges(&solve, VERTICES_PER_ITEM, scratch, &base);
}

// Let every vertex know its supervertex, or point CHASE steps ahead.
//
// In       target[n]; links of roots.  Out  links of all other vertices.
// Launch   any.
kernel void filter_boruvka_follow_choices(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  first_follow_choices(&solve);
}

#else

// Begin with candidates (clmst/algorithms/shared/candidates.py): what is in the forest anyway is
// marked.
//
// In       kept: a bit a slot.
// Out      marks, counts; links and reservations of depth 0.
// Launch   any.
kernel void filter_boruvka_prepare_candidates(SOLVE_PARAMETERS, const global uint *kept) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
  GRID_FOR(i, solve_mark_words(&solve)) marks[i] = kept[i];
}

// Make the worklist of depth 0 of candidates, under the weights that they have now.
//
// In       weights; ends[n_candidates]: numbers below n; slots[n_candidates]: rising.
// Out      the worklist, with its pass-0 reservations.
// Launch   any.
kernel void filter_boruvka_enter_candidates(SOLVE_PARAMETERS, const global uint2 *ends,
                                            const global uint *slots, uint n_candidates) {
  const solve_t solve = SOLVE_ARGUMENTS;
  GRID_FOR(i, n_candidates) {
    const uint2 pair = ends[i];
    const edge_t edge = {pair.x, pair.y, weight_key_leading(weights[slots[i]]), slots[i]};
    round_put(&solve, 0, (uint)i, edge);
  }
  if (get_global_id(0) == 0) *solve_count(&solve, 0, 0, COUNT_EDGES) = n_candidates;
}

// The same for chains of edges, of which the heaviest is entered and the others are in the forest.
//
// In       weights; starts[n_chains + 1]: where in `slots` chains begin; ends[n_chains].
// In-out   marks: set for the edges of chains of several.
// Out      the worklist, with its pass-0 reservations.
// Launch   any.
kernel void filter_boruvka_enter_chains(SOLVE_PARAMETERS, const global uint2 *ends,
                                        const global uint *slots, const global uint *starts,
                                        uint n_chains) {
  const solve_t solve = SOLVE_ARGUMENTS;
  GRID_FOR(c, n_chains) {
    const uint begin = starts[c], end = starts[c + 1];
    uint heaviest = slots[begin];
    weight_t key = weight_key(weights[heaviest]);
    for (uint i = begin + 1; i < end; ++i) {
      const uint slot = slots[i];
      const weight_t other = weight_key(weights[slot]);
      if (other < key || (other == key && slot < heaviest)) continue;
      heaviest = slot;
      key = other;
    }
    if (end - begin > 1) atomic_and(&marks[heaviest / 32], ~(1u << heaviest % 32));
    const uint2 pair = ends[c];
    const edge_t edge = {pair.x, pair.y, weight_key_leading(weights[heaviest]), heaviest};
    // A chain that ends where it began is listed, but never reserved.
    if (pair.x == pair.y) round_list(&solve, 0, (uint)c, edge);
    else round_put(&solve, 0, (uint)c, edge);
  }
  if (get_global_id(0) == 0) *solve_count(&solve, 0, 0, COUNT_EDGES) = n_chains;
}

#endif

// Make the worklist of `depth` of the edges of a phase's window that join two components.
//
// In       the graph, tiles, windows; at depth 1 the supervertices of all vertices.
// Out      the worklist, with its pass-0 reservations.
// Launch   WG_SIZE; any number of work-groups.
LANES_ATTRIBUTE
kernel void filter_boruvka_admit_edges(SOLVE_PARAMETERS, uint phase, uint n_phases, uint depth) {
  local uint2 pairs[TILE_PAIRS];
  local uint rows[TILE_SLOTS], heads[TILE_WORDS], scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  tile_t tile = {rows, heads, pairs, scratch, 0, 0, 0, 0, 0};
  if (solve.state[STATE_GAVE_UP]) return;  // what comes before was not finished
  filter_admit_edges(&solve, phase, n_phases, depth, &tile, &base);
}

#if RESERVATION_PASSES > 1
// Make the reservations of a later pass (reservation.cl).
//
// Needs    1 <= pass < RESERVATION_PASSES, in rising order.
// Launch   any.
kernel void filter_boruvka_refine(SOLVE_PARAMETERS, uint phase, uint depth, uint pass) {
  const solve_t solve = SOLVE_ARGUMENTS;
  round_refine(&solve, depth, round_edges(&solve, phase, depth), pass);
}
#endif

// Put the lightest edge of every supervertex into the forest; roots become those of depth + 1.
//
// In       the worklist and the reservations of `depth`.
// Out      marks; links of `depth`; supervertices of depth + 1.
// Launch   WG_SIZE; any number of work-groups.
LANES_ATTRIBUTE
kernel void filter_boruvka_hook(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  round_hook(&solve, phase, depth, round_edges(&solve, phase, depth), scratch, &base);
}

// Let every vertex of a depth know its supervertex, or point further ahead.
//
// In       again: whether it was done before; then nothing is, unless that left some pending.
// In-out   links of `depth`; the count of those pending: zero before the first time.
// Launch   any.
kernel void filter_boruvka_follow(SOLVE_PARAMETERS, uint phase, uint depth, uint again) {
  const solve_t solve = SOLVE_ARGUMENTS;
  if (again && *solve_count(&solve, phase, depth, COUNT_PENDING) == 0) return;
  round_follow(&solve, phase, depth, round_vertices(&solve, phase, depth));
}

// Make the worklist of depth + 1 of that of `depth`, or of the list of (row, slot).
//
// Out      the worklist, with its pass-0 reservations.
// Launch   WG_SIZE; any number of work-groups.
LANES_ATTRIBUTE
kernel void filter_boruvka_contract(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  round_contract(&solve, phase, depth, round_edges(&solve, phase, depth), scratch, &base);
}

// Number the components that a phase leaves.
//
// In-out   links of all depths from `depth` on.
// Out      the count of supervertices at depth 1 of the next phase.
// Launch   WG_SIZE; any number of work-groups.
LANES_ATTRIBUTE
kernel void filter_boruvka_number_components(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_number_components(&solve, phase, depth, scratch, &base);
}

// Let every vertex of the graph know the component that a phase leaves it in.
//
// In-out   links of depth 0.
// Launch   any.
kernel void filter_boruvka_find_components(SOLVE_PARAMETERS, uint phase) {
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_find_components(&solve, phase, 0);
}

// Let the components be the supervertices of depth 1.
//
// Out      links and reservations of depth 1.
// Launch   any.
kernel void filter_boruvka_begin_components(SOLVE_PARAMETERS, uint phase) {
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_begin_components(&solve, phase);
}

// Expand the forest from a bit to a byte a slot.
//
// In       marks.
// Out      in_forest[n_slots], in whole words: 1 for edges of the forest, else 0.
// Launch   any.
kernel void filter_boruvka_expand(SOLVE_PARAMETERS, global uint *in_forest) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_expand(&solve, in_forest);
}
