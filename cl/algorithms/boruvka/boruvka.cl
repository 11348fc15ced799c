// Recursive Borůvka contracts a graph level by level: each level replaces the components of the
// level before by single vertices. Here are the kernels by which every vertex of a level finds its
// lightest edge. Primitives, such as segmented minima, run between them.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1. Line numbers below are those of
// this algorithm. Its other lines are in contraction.cl.
//
// Every array element has one writer, and no kernel reads an array that it writes. So there are no
// atomics and no races.
#include "device/edge_list.cl"
#include "device/work_group.cl"

// Line 1 of the paper's Algorithm 1: pack each edge into one word of 64 bits, so that the minimum
// of some of these words is the lightest of the edges. The upper half is the edge's rank, its
// position in the order of weights. The lower half is the vertex at its other end.
//
// In       pairs[n_entries]: both ends of each directed edge, source << bits | target;
//          ranks[n_entries]: the rank of each edge (edge_list.cl).
// Out      appended[n_entries]: the word of each edge.
// Launch   any.
// Needs    each end of a pair has `bits` bits.
// Ensures  appended[i] = ranks[i] << 32 | the target of pairs[i]. edge_list.cl calls this word the
//          choice of the edge.
kernel void boruvka_append(const global ulong *pairs, const global uint *ranks,
                           global ulong *appended, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) appended[i] = make_choice(ranks[i], pair_target(pairs[i], bits));
}

// Line 3 of the paper's Algorithm 1, after a segmented scan: give every vertex its lightest edge.
// The list of edges is sorted by source, so a vertex's edges are a segment of it, and the scan has
// left their minimum at the end of this segment.
//
// In       pairs[n_entries]: both ends of each directed edge, source << bits | target;
//          minima[n_entries]: what the scan has left for each edge, the minimum of the words rank
//          << 32 | target (boruvka_append) over the edges of its segment up to and including this
//          edge.
// In-out   chosen[n]: NO_CHOICE before, and the word of the lightest edge afterwards. Vertices
//          without edges keep NO_CHOICE.
// Launch   any.
// Needs    pairs are sorted by source.
// Ensures  chosen[u] = rank << 32 | target of u's edge with the least rank.
kernel void boruvka_choose_edges(const global ulong *pairs, const global ulong *minima,
                                 global ulong *chosen, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) {
    const uint u = pair_source(pairs[i], bits);
    if (i + 1 == n_entries || pair_source(pairs[i + 1], bits) != u) chosen[u] = minima[i];
  }
}
