// filter-boruvka with one launch for each step. The host code is
// clmst/algorithms/filter_boruvka/gpu.py. These are the steps and their kernels, whose names are
// given without the prefix filter_boruvka_:
//
//   Prepare    find_rows; prepare or set_windows
//   Filter     list the undecided edges of a phase: admit_edges. If both directions of all edges
//              are stored, a first round on the rows of the graph comes before: take_minima,
//              join_rows, choose_edges, follow_choices. If there are several phases,
//              take_minima_and_list lists the edges of the first one and replaces take_minima.
//   Choose     refine, hook, follow
//   Contract   contract
//   Settle     between two phases: number_components, find_components, begin_components
//   Finish     expand
//
// Source: Borůvka's algorithm on worklists, with the filter of Filter-Kruskal (Osipov, Sanders,
// Singler 2009) and the reservations of ECL-MST (Fallin et al. 2023). Four things are clmst's own:
// the first round needs only the rows of the graph, supervertices have consecutive numbers, hooking
// (joining components) needs no compare-and-swap, and work is divided into tiles, which are runs of
// consecutive CSR entries of equal length.
//
// All kernels first take the arrays of a solve (SOLVE_PARAMETERS of solve.cl), then their own
// arguments.
#include "algorithms/filter_boruvka/candidates.cl"
#include "algorithms/filter_boruvka/filter.cl"
#include "algorithms/filter_boruvka/first.cl"
#include "algorithms/filter_boruvka/rounds.cl"
#include "algorithms/filter_boruvka/sample.cl"
#include "algorithms/filter_boruvka/tiles.cl"

// Find the row of the first slot of each tile. A tile is a run of consecutive slots (CSR entries)
// that a work-group handles at a time. This is done once for each graph.
//
// In       indptr[n + 1]: where each row begins;
//          tile_slots: the length of a tile, which is TILE_SLOTS of the later launches.
// Out      tiles[n_tiles + 1]: the row of each tile's first slot, and n - 1 after the last tile.
// Launch   any.
// Needs    n > 0.
// Ensures  slot t * tile_slots is in row tiles[t].
kernel void filter_boruvka_find_rows(SOLVE_PARAMETERS, uint tile_slots) {
  const solve_t solve = SOLVE_ARGUMENTS;
  tile_find_rows(&solve, tile_slots);
}

// Begin a solve: clear the counts of edges and vertices. If each edge is stored once, also clear
// the marks, the links and the reservations.
//
// Out      state: the counts and the word for an overflow become 0. The windows (ranges of edges
//          that are solved one after the other) and the barrier keep their values. If each edge is
//          stored once, three arrays become empty: the marks, a bit for each slot, set if its edge
//          is in the forest; the links of the vertices, which will lead to their supervertices; and
//          the reservations of the vertices, which will hold their lightest edges.
// Launch   any.
// Needs    nothing.
// Ensures  if each edge is stored once, no slot is marked.
kernel void filter_boruvka_prepare(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
}

// Begin a solve as filter_boruvka_prepare does. Also divide the order of edges into windows, which
// are ranges that are solved one after the other. The upper ends of all windows but the last come
// from a sample.
//
// In       weights[n_slots]: the weight of each slot (CSR entry); seed: selects the random slots of
//          the sample; draw_bits (0 to 16): each key of the sample is the minimum key of 1 <<
//          draw_bits random slots; rank_a, rank_b, rank_c: ranks in the sample, ascending. Each
//          window but the last ends at the sampled key with one of these ranks. The rank SAMPLES
//          means that there is no such window.
// Out      state: the counts and the word for an overflow become 0, and the ends of windows are
//          set, each as (key words, slot). If each edge is stored once, also the marks, the links
//          and the reservations, which become empty.
// Launch   any.
// Needs    n_slots > 0.
// Ensures  the ends ascend in the order of (key, slot). Equal arguments give equal ends.
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
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph;
//          tiles: the row of the first slot of each tile, a run of slots that a work-group takes at
//            a time.
// Out      target[n]: the other end of the lightest edge, or the vertex itself if it has no edge;
//          marks: a bit for each slot, set for the lightest edges that lead to a vertex with a
//            higher number, except for rows that are divided between several tiles;
//          tiles, after its first n_tiles + 1 words: the lightest slot of each part of a divided
//            row (tiles.cl).
// Launch   WG_SIZE; any number of work-groups.
// Needs    filter_boruvka_find_rows, filter_boruvka_prepare. Both directions of all edges are
//          stored.
// Ensures  every vertex whose row lies within one tile has its lightest edge.
//          filter_boruvka_join_rows finds the lightest edges of all other rows.
LANES_ATTRIBUTE
kernel void filter_boruvka_take_minima(SOLVE_PARAMETERS) {
  TILE_MEMORY;
  const solve_t solve = SOLVE_ARGUMENTS;
  minima_take(&solve, false, &tile, 0);
}

// Find every vertex's lightest edge in its row, and list the edges of the first of several windows.
// A window is a range of the order of edges. Windows are solved one after the other.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph;
//          tiles: the row of the first slot of each tile, a run of slots that a work-group takes at
//            a time;
//          state: the ends of the windows.
// In-out   state: the number of edges between the graph's vertices, 0 before; whether the worklist
//          overflowed.
// Out      target, marks, tiles: as in filter_boruvka_take_minima;
//          list_even: the edges of the first window.
// Launch   WG_SIZE; any number of work-groups.
// Needs    filter_boruvka_find_rows, filter_boruvka_set_windows. Both directions of all edges are
//          stored.
// Ensures  every vertex whose row lies within one tile has its lightest edge.
LANES_ATTRIBUTE
kernel void filter_boruvka_take_minima_and_list(SOLVE_PARAMETERS) {
  TILE_MEMORY;
  local uint base;
  const solve_t solve = SOLVE_ARGUMENTS;
  minima_take(&solve, true, &tile, &base);
}

// Find the lightest edges of the rows that are divided between several tiles. A tile is a run of
// slots (CSR entries) that a work-group handles at a time.
//
// In       indptr, indices, weights: the graph;
//          tiles: the lightest slot of each part of a divided row.
// In-out   target[n]: the other end of each vertex's lightest edge;
//          marks: a bit for each slot, set if its edge is in the forest.
// Launch   any.
// Needs    filter_boruvka_take_minima.
// Ensures  every vertex has the other end of its lightest edge in `target`.
kernel void filter_boruvka_join_rows(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  minima_join_rows(&solve);
}

// Put into the forest those lightest edges that lead from a vertex to a vertex with a lower number.
// filter_boruvka_take_minima and filter_boruvka_join_rows have already marked the lightest edges
// that lead to a vertex with a higher number. Make the roots of the trees of chosen edges the
// supervertices of depth 1, which is the depth after the first contraction.
//
// In       indptr, indices, weights: the graph;
//          target[n]: the other end of each vertex's lightest edge.
// In-out   marks: a bit for each slot, set if its edge is in the forest;
//          state: the number of supervertices of depth 1, 0 before.
// Out      the links of roots, which get the numbers of their supervertices; the links and
//          reservations (lightest edges) of the supervertices of depth 1, which become empty.
// Launch   WG_SIZE; any number of work-groups.
// Needs    filter_boruvka_join_rows.
// Ensures  if two vertices chose the same edge, the one with the lower number is a root.
LANES_ATTRIBUTE
kernel void filter_boruvka_choose_edges(SOLVE_PARAMETERS) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  first_choose_edges(&solve, VERTICES_PER_ITEM, scratch, &base);
}

// Follow the lightest edges from every vertex to its supervertex, at most POINTER_STEPS steps, and
// store in the vertex's link the vertex or supervertex that is reached.
//
// In       target[n]: the other end of each vertex's lightest edge; the links of roots, which have
//          the numbers of their supervertices.
// In-out   state: the number of vertices whose supervertex is still unknown (pending), 0 before.
// Out      the links of all other vertices of the graph (depth 0).
// Launch   any.
// Needs    filter_boruvka_choose_edges.
// Ensures  a link has the number of the supervertex. If the steps do not suffice, the link leads to
//          a vertex nearer to the root, and the vertex is counted as pending.
kernel void filter_boruvka_follow_choices(SOLVE_PARAMETERS) {
  const solve_t solve = SOLVE_ARGUMENTS;
  first_follow_choices(&solve);
}

#endif

// Make the worklist, which is the list of undecided edges, of a depth (number of contractions so
// far). It gets those edges of the phase's window that join two components. A window is the range
// of the order of edges that one phase solves.
//
// In       indptr, indices, weights, tiles: the graph, and the row of the first slot of each tile;
//          state: the ends of the windows;
//          links of depth 0: the component of each vertex, read if depth is 1.
// In-out   the reservations of `depth`, which hold the lightest edge of each supervertex so far,
//          empty before; state: the number of edges of `depth`, 0 before.
// Out      the worklist of `depth`: the listed edges; state: whether it overflowed.
// Launch   WG_SIZE; any number of work-groups.
// Needs    filter_boruvka_find_rows. At depth 1, the links of depth 0 have the component of every
//          vertex.
// Ensures  all edges of the worklist are entered in the reservations of both ends by their first
//          words (pass 0 of reservation.cl).
LANES_ATTRIBUTE
kernel void filter_boruvka_admit_edges(SOLVE_PARAMETERS, uint phase, uint n_phases, uint depth) {
  TILE_MEMORY;
  local uint base;
  solve_t solve = SOLVE_ARGUMENTS;
  if (solve.state[STATE_GAVE_UP]) solve.n_slots = 0;  // an earlier launch did not finish
  filter_admit_edges(&solve, phase, n_phases, depth, &tile, &base);
}

#if RESERVATION_PASSES > 1
// Compare one further word of each edge with the reservations of both ends, by an atomic minimum. A
// reservation holds the lightest edge of a supervertex so far. Each word of an edge has a launch of
// its own, and this launch is for word number `pass` (reservation.cl).
//
// In       the worklist of `depth`: the edges between its supervertices;
//          weights: the weight of each slot.
// In-out   the reservations of `depth`.
// Launch   any.
// Needs    1 <= pass < RESERVATION_PASSES; the passes before it are complete.
// Ensures  after the last pass every supervertex has reserved its lightest edge.
kernel void filter_boruvka_refine(SOLVE_PARAMETERS, uint phase, uint depth, uint pass) {
  const solve_t solve = SOLVE_ARGUMENTS;
  round_refine(&solve, depth, round_edges(&solve, phase, depth), pass);
}
#endif

// Put the edge that each supervertex has reserved, which is its lightest edge, into the forest, and
// link the supervertex to the other end of this edge. Make the roots of the trees of these links
// the supervertices of depth + 1. A depth is a number of contractions.
//
// In       the worklist of `depth`, which has the undecided edges between its supervertices; the
//          reservations, which hold the lightest edge of each supervertex.
// In-out   marks: a bit for each slot, set if its edge is in the forest;
//          state: the number of supervertices of depth + 1, 0 before.
// Out      the links of `depth`, each of which leads to another supervertex of `depth` or, for a
//          root, has its number at depth + 1; the links and reservations of depth + 1, now empty.
// Launch   WG_SIZE; any number of work-groups.
// Needs    all passes of the reservations of `depth` are complete (reservation.cl).
// Ensures  if two supervertices have reserved the same edge, the one with the lower number is a
//          root.
LANES_ATTRIBUTE
kernel void filter_boruvka_hook(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  round_hook(&solve, phase, depth, round_edges(&solve, phase, depth), scratch, &base);
}

// Follow the links of every vertex of a depth (number of contractions) for at most POINTER_STEPS
// steps. Links lead from vertex to vertex, and finally to a root, whose link has the number of the
// supervertex.
//
// In       again: whether this launch repeats another one. Then it does nothing if the count of
//          pending vertices is 0. A vertex is pending as long as its supervertex is unknown.
// In-out   the links of `depth`; state: a count to which each launch adds the number of vertices
//          that are pending at its end, 0 before the first launch.
// Launch   any.
// Needs    filter_boruvka_hook of `depth`.
// Ensures  a link has the number of the supervertex. If the steps do not suffice, the link leads to
//          a vertex nearer to the root, and the vertex is counted as pending.
kernel void filter_boruvka_follow(SOLVE_PARAMETERS, uint phase, uint depth, uint again) {
  const solve_t solve = SOLVE_ARGUMENTS;
  if (again && *solve_count(&solve, phase, depth, COUNT_PENDING) == 0) return;
  round_follow(&solve, phase, depth, round_vertices(&solve, phase, depth));
}

// Make the worklist (list of undecided edges) of depth + 1 from the worklist of `depth`: replace
// the ends of edges by the supervertices that contain them, and drop the edges within one
// supervertex.
//
// In       the worklist of `depth`; the links of `depth`, which lead to supervertices of depth + 1.
// In-out   the reservations of depth + 1, which hold the lightest edge of each supervertex so far,
//            empty before;
//          state: the number of edges of depth + 1, 0 before.
// Out      the worklist of depth + 1: the remaining edges; state: whether it overflowed.
// Launch   WG_SIZE; any number of work-groups.
// Needs    filter_boruvka_follow of `depth`.
// Ensures  edges within one supervertex are gone. All other edges are entered in the reservations
//          of depth + 1 by their first words (pass 0 of reservation.cl).
LANES_ATTRIBUTE
kernel void filter_boruvka_contract(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  round_contract(&solve, phase, depth, round_edges(&solve, phase, depth), scratch, &base);
}

// Number the components that exist at the end of a phase. A component is a supervertex, of `depth`
// or a later depth (number of contractions), that no edge of the phase's window leaves. The window
// is the range of the order of edges that the phase solves.
//
// In-out   the links of all depths from `depth` on, which lead from vertices to supervertices;
//          state: the number of components, as vertices of depth 1 of the next phase, 0 before.
// Launch   WG_SIZE; any number of work-groups.
// Needs    all rounds of the phase are done.
// Ensures  every finished supervertex has the number of its component in its link.
LANES_ATTRIBUTE
kernel void filter_boruvka_number_components(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint counts[MAX_DEPTHS], scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_number_components(&solve, phase, depth, counts, scratch, &base);
}

// Find the component of every vertex at the end of a phase, which solves a range of edges.
//
// In-out   the links of depth 0, which lead from each vertex of the graph towards its component.
// Launch   any.
// Needs    filter_boruvka_number_components.
// Ensures  every link of depth 0 has the number of the vertex's component.
kernel void filter_boruvka_find_components(SOLVE_PARAMETERS, uint phase) {
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_find_components(&solve, phase, 0);
}

// Begin the next phase, which solves the next range of the order of edges. The components at the
// end of the phase before become the supervertices of depth 1.
//
// In       state: the number of components, stored as the number of supervertices of depth 1 of the
//          new phase.
// Out      the links and the reservations (lightest edges) of the supervertices of depth 1, which
//          become empty.
// Launch   any.
// Needs    filter_boruvka_find_components of the phase before.
// Ensures  filter_boruvka_admit_edges may put edges on the worklist of depth 1.
kernel void filter_boruvka_begin_components(SOLVE_PARAMETERS, uint phase) {
  const solve_t solve = SOLVE_ARGUMENTS;
  filter_begin_reservations(&solve, phase);
  filter_begin_links(&solve, phase);
}

// Expand the marks, which say for each slot whether its edge is in the forest, from bits to bytes.
//
// In       marks: a bit for each slot.
// Out      in_forest[n_slots], in whole words: 1 for edges of the forest, else 0.
// Launch   any.
// Needs    all phases are done.
// Ensures  nothing more.
kernel void filter_boruvka_expand(SOLVE_PARAMETERS, global uint *in_forest) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_expand(&solve, in_forest);
}
