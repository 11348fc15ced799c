// Recursive Borůvka: the kernels by which every vertex of a level finds its lightest edge.
// Primitives run between them.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1. Line numbers below are those of
// this algorithm. Its other lines are in contraction.cl.
//
// Every array element has one writer, and no kernel reads an array that it writes. So there are no
// atomics and no races.
#include "device/edge_list.cl"
#include "device/work_group.cl"

// Line 1: append the vertex at the other end to the rank of each edge.
//
// In       pairs[n_entries], ranks[n_entries]: the edge list (edge_list.cl).
// Out      appended[n_entries].
// Launch   any.
// Needs    each end of a pair has `bits` bits.
// Ensures  appended[i] = the choice of edge i, as edge_list.cl defines it.
kernel void boruvka_append(const global ulong *pairs, const global uint *ranks,
                           global ulong *appended, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) appended[i] = make_choice(ranks[i], pair_target(pairs[i], bits));
}

// Line 3, after the scan: every vertex keeps the minimum, which is at the end of its segment.
//
// In       pairs[n_entries]; minima[n_entries]: inclusive segmented minimum of `appended`.
// In-out   chosen[n]: NO_CHOICE before. Vertices without edges keep it.
// Launch   any.
// Needs    pairs are sorted by source.
// Ensures  chosen[u] = the choice of u's edge with the least rank.
kernel void boruvka_choose_edges(const global ulong *pairs, const global ulong *minima,
                                 global ulong *chosen, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) {
    const uint u = pair_source(pairs[i], bits);
    if (i + 1 == n_entries || pair_source(pairs[i + 1], bits) != u) chosen[u] = minima[i];
  }
}
