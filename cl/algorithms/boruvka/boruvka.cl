// Recursive Borůvka contracts a graph again and again. Each contraction joins every vertex to
// another one by its lightest edge, and replaces each resulting component by a single vertex. The
// kernels in this file find the lightest edge of every vertex of a contracted graph. Between them,
// the host enqueues primitives such as segmented minima.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1. Line numbers below refer to this
// algorithm. Its other lines are in contraction.cl.
//
// Every array element has one writer, and no kernel reads an array that it writes. So there are no
// atomics and no races.
#include "device/edge_list.cl"
#include "device/work_group.cl"

// Pack each directed edge into one word of 64 bits, so that the minimum of several such words is
// the word of the lightest edge. This is line 1 of Algorithm 1 of Vineet et al.
//
// In       pairs[n_entries]: both ends of each directed edge, as the word source << bits | target;
//          ranks[n_entries]: the rank of each edge, which is its position in the order of weights.
// Out      appended[n_entries]: the word rank << 32 | target of each edge.
// Launch   any.
// Needs    each end of a pair has `bits` bits.
// Ensures  appended[i] = ranks[i] << 32 | the target of pairs[i].
kernel void boruvka_append(const global ulong *pairs, const global uint *ranks,
                           global ulong *appended, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) appended[i] = make_choice(ranks[i], pair_target(pairs[i], bits));
}

// Store for every vertex its lightest edge. This is line 3 of Algorithm 1 of Vineet et al. The
// directed edges are sorted by source, so the edges of a vertex are a segment of the list. A
// segmented scan has computed running minima in each segment, so the last minimum of a segment is
// the word of the vertex's lightest edge.
//
// In       pairs[n_entries]: both ends of each directed edge, as the word source << bits | target;
//          minima[n_entries]: for each edge, the minimum of the words rank << 32 | target
//            (boruvka_append) of the edges from the beginning of its segment to this edge.
// In-out   chosen[n]: for each vertex NO_CHOICE before the launch, and afterwards the word of its
//          lightest edge. Vertices without edges keep NO_CHOICE.
// Launch   any.
// Needs    pairs are sorted by source.
// Ensures  chosen[u] = rank << 32 | target of u's edge with the minimum rank.
kernel void boruvka_choose_edges(const global ulong *pairs, const global ulong *minima,
                                 global ulong *chosen, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) {
    const uint u = pair_source(pairs[i], bits);
    if (i + 1 == n_entries || pair_source(pairs[i + 1], bits) != u) chosen[u] = minima[i];
  }
}
