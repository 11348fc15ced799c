// filter-boruvka: solves in which some edges are known to be in the forest, and only the
// candidates, which are the edges that are still undecided, are solved. Each edge of the graph is
// stored once.
#include "algorithms/filter_boruvka/rounds.cl"

#if !SYMMETRIC

// Begin a solve that is given some edges of the forest, and that chooses the other edges of the
// forest among candidates, which are the undecided edges. Mark the given edges.
//
// In       kept[n_slots / 32, rounded up]: a bit for each slot, 1 if its edge is certainly in the
//          forest.
// Out      marks: a bit for each slot of the forest so far, a copy of `kept`; state: all counts are
//          0; for each vertex of the graph (depth 0) its link, which later leads to its
//          supervertex, and its reservation, which later holds its lightest edge. Both are empty.
// Launch   any.
// Needs    each edge is stored once.
// Ensures  exactly the slots in `kept` are marked, and the solve can begin.
kernel void filter_boruvka_candidates_prepare(SOLVE_PARAMETERS, const global uint *kept) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
  GRID_FOR(i, solve_mark_words(&solve)) marks[i] = kept[i];
}

// List the candidates, which are the undecided edges, with their present weights, as the worklist
// of the graph's vertices (depth 0). A candidate may be a degree-2 path, whose inner vertices have
// two edges each (series contraction). Then only its heaviest edge is undecided, and all its other
// edges are in the forest.
//
// In       weights: the weight of each slot; ends[n_candidates]: the two end vertices of each
//          candidate, below n; starts[n_candidates + 1]: where the slots of each path begin in
//          `slots`, or null if each candidate is one edge; slots[starts[n_candidates]]: slots of
//          edges, ascending in each path.
// In-out   marks: a bit for each slot of the forest, set for all edges of paths of several edges,
//          then cleared for the heaviest of each path; the reservations of depth 0, which hold the
//          lightest edge of each vertex so far, empty before.
// Out      list_even: the candidates as edges; state: their number.
// Launch   any.
// Needs    filter_boruvka_candidates_prepare; the worklist has capacity for n_candidates.
// Ensures  each candidate has lowered the reservations of its ends in pass 0, which compares the
//          first word of edges. A path that is a cycle is listed, but lowers none.
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
