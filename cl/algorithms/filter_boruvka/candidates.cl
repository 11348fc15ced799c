// filter-boruvka: solves that begin with known edges of the forest and with candidates, which are
// the edges that are still undecided. Each edge of the graph is stored once.
#include "algorithms/filter_boruvka/rounds.cl"

#if !SYMMETRIC

// Begin a solve of candidates (clmst/algorithms/filter_boruvka/workspace.py): mark the edges that
// are certainly in the forest.
//
// In       kept[n_slots / 32, rounded up]: a bit for each slot, 1 if its edge is in the forest.
// Out      marks: a copy of `kept`; state: all counts are 0; the links and reservations of depth 0,
//          empty.
// Launch   any.
// Needs    each edge is stored once.
// Ensures  what filter_boruvka_prepare ensures, except that the slots in `kept` are marked.
kernel void filter_boruvka_candidates_prepare(SOLVE_PARAMETERS, const global uint *kept) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
  GRID_FOR(i, solve_mark_words(&solve)) marks[i] = kept[i];
}

// Make a worklist of depth 0 of the candidates, with their present weights. A candidate may be a
// degree-2 path (series contraction). Then only its heaviest edge is undecided, and all its other
// edges are in the forest.
//
// In       weights; ends[n_candidates]: for each candidate two numbers below n; starts[n_candidates
//          + 1]: where the slots of each path begin in `slots`, or null if each candidate is one
//          edge; slots[starts[n_candidates]]: slots of edges, ascending in each path.
// In-out   marks: set for all edges of paths of several edges, then cleared for the heaviest of
//          each path; reservations of depth 0, empty before.
// Out      list_even: the candidates as edges; state: their number.
// Launch   any.
// Needs    filter_boruvka_candidates_prepare; the worklist has capacity for n_candidates.
// Ensures  the reservations of pass 0 are made. A path that is a cycle is listed, but never
//          reserved.
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
