// filter-boruvka: solves that begin with a part of the forest. Some edges are known to be in the
// forest, some are known not to be, and the solve decides only about the others, the candidates.
// Each edge of the graph is stored once.
#include "algorithms/filter_boruvka/rounds.cl"

#if !SYMMETRIC

// Begin a solve that is given some edges of the forest, and that chooses the other edges of the
// forest among the candidates (the undecided edges): put the given edges into the forest, and clear
// all that the solve counts.
//
// In       kept[n_slots / 32, rounded up]: a bit for each slot, 1 if its edge is certainly in the
//          forest.
// Out      marks: a copy of `kept`, which has a bit for each slot, set if its edge is in the forest
//          so far; state: all counts are 0; for each vertex of the graph (depth 0) its link, which
//          later leads to its supervertex, and its reservation, which later holds its lightest
//          edge. Links and reservations are empty.
// Launch   any.
// Needs    each edge is stored once.
// Ensures  exactly the slots in `kept` are marked, and the solve can begin.
kernel void filter_boruvka_candidates_prepare(SOLVE_PARAMETERS, const global uint *kept) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
  GRID_FOR(i, solve_mark_words(&solve)) marks[i] = kept[i];
}

// Make the first worklist, the list of undecided edges between the graph's vertices (depth 0), from
// the candidates. A candidate is one edge, or a path whose inner vertices have no further edges
// (series contraction). Only the heaviest edge of such a path is undecided. All its other edges are
// in the forest.
//
// In       weights: the weight of each slot; ends[n_candidates]: the two end vertices of each
//          candidate, below n; starts[n_candidates + 1]: where the slots of each path begin in
//          `slots`, or null if each candidate is one edge; slots[starts[n_candidates]]: slots of
//          edges, ascending in each path.
// In-out   marks: a bit for each slot, set if its edge is in the forest. The bits of all edges of a
//          path of several edges are set before, and this launch clears that of the heaviest; the
//          reservations of depth 0, which hold the lightest edge of each vertex so far, empty
//          before.
// Out      list_even: the candidates as edges; state: their number.
// Launch   any.
// Needs    filter_boruvka_candidates_prepare; the worklist has capacity for n_candidates.
// Ensures  each candidate has lowered the reservations of its two ends in pass 0, which compares
//          the first words of edges. A path that is a cycle is listed, but lowers no reservation.
kernel void filter_boruvka_candidates_enter(SOLVE_PARAMETERS, const global uint2 *ends,
                                            const global uint *slots, const global uint *starts,
                                            uint n_candidates) {
  const solve_t solve = SOLVE_ARGUMENTS;
  GRID_FOR(c, n_candidates) {
    const uint begin = starts ? starts[c] : (uint)c, end = starts ? starts[c + 1] : begin + 1;
    uint heaviest = slots[begin];
    weight_t weight = weights[heaviest], key = weight_key(weight);
    for (uint i = begin + 1; i < end; ++i) {
      const uint slot = slots[i];
      const weight_t other = weights[slot], other_key = weight_key(other);
      if (other_key < key || (other_key == key && slot < heaviest)) continue;
      heaviest = slot;
      weight = other;
      key = other_key;
    }
    if (end - begin > 1) atomic_and(&marks[heaviest / 32], ~(1u << heaviest % 32));
    const uint2 pair = ends[c];
    const edge_t edge = {pair.x, pair.y, weight_key_leading(weight), heaviest};
    if (pair.x == pair.y) round_list(&solve, 0, (uint)c, edge);
    else round_put(&solve, 0, (uint)c, edge);
  }
  if (get_global_id(0) == 0) *solve_count(&solve, 0, 0, COUNT_EDGES) = n_candidates;
}

#endif
