// filter-boruvka: solve a graph when a part of its forest is already known. Some edges are
// certainly in the forest, some are certainly not, and the solve decides only about the remaining
// edges, the candidates. Each edge of the graph is stored once.
#include "algorithms/filter_boruvka/rounds.cl"

#if !SYMMETRIC

// Begin a solve for which some edges of the forest are known. The other edges of the forest will be
// chosen among the candidates, the undecided edges. Put the known edges into the forest, and clear
// everything else.
//
// In       kept[n_slots / 32, rounded up]: a bit for each slot (CSR entry), 1 if its edge is
//          certainly in the forest.
// Out      marks: a copy of `kept`. It has a bit for each slot, set if its edge is in the forest so
//            far.
//          state: all counts are 0;
//          links: for each vertex of the graph an empty link, which will lead to its supervertex;
//          reservations: for each vertex an empty reservation, which will hold its lightest edge.
// Launch   any.
// Needs    each edge is stored once.
// Ensures  exactly the slots in `kept` are marked, and the solve can begin.
kernel void filter_boruvka_candidates_prepare(SOLVE_PARAMETERS, const global uint *kept) {
  const solve_t solve = SOLVE_ARGUMENTS;
  solve_prepare(&solve);
  GRID_FOR(i, solve_mark_words(&solve)) marks[i] = kept[i];
}

// Make the first worklist (list of undecided edges) from the candidates. A candidate is one edge,
// or a path whose inner vertices have no further edges. Only the heaviest edge of such a path is
// undecided. All its other edges are in the forest. Also enter each candidate in the reservations
// of its two ends, by an atomic minimum of the first word. A reservation holds the lightest edge of
// a vertex so far.
//
// In       weights: the weight of each slot (CSR entry);
//          ends[n_candidates]: the two end vertices of each candidate;
//          starts[n_candidates + 1]: the index in slots[] at which the slots of each candidate
//            begin, or null if each candidate is one edge;
//          slots[starts[n_candidates]]: the slots of the candidates' edges, ascending in each path.
// In-out   marks: a bit for each slot, set if its edge is in the forest. The bits of all edges of
//            a path are set before the launch, which clears the bit of the heaviest edge.
//          reservations of depth 0: the reservations of the graph's vertices, empty before the
//            launch.
// Out      list_even: the worklist, with the heaviest edge of each candidate;
//          state: the number of edges in the worklist.
// Launch   any.
// Needs    filter_boruvka_candidates_prepare; the worklist has capacity for n_candidates.
// Ensures  pass 0 of the reservations is complete (reservation.cl). A path that is a cycle is
//          listed, but is not entered in a reservation.
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
