// Recursive Borůvka: how every vertex of a level finds its lightest edge, between the primitives.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1. Line numbers below are its. All
// other lines are in contraction.cl.
//
// Every array element has one writer, and no kernel reads what it writes: no atomics, no races.
#include "device/edge_list.cl"
#include "device/work_group.cl"

// Line 1: append the vertex at the other end to the rank of each edge.
//
// In       pairs[n_entries], ranks[n_entries].
// Out      appended[n_entries].
// Launch   any.
// Needs    pairs of `bits`.
// Ensures  appended[i] = the choice of edge i (edge_list.cl).
kernel void boruvka_append(const global ulong *pairs, const global uint *ranks,
                           global ulong *appended, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) appended[i] = make_choice(ranks[i], pair_target(pairs[i], bits));
}

// Line 3, after the scan: every vertex keeps the minimum at the end of its segment.
//
// In       pairs[n_entries]; minima[n_entries]: inclusive segmented minimum of `appended`.
// In-out   chosen[n]: NO_CHOICE before, and after for vertices without edges.
// Launch   any.
// Needs    pairs are sorted by source.
// Ensures  chosen[u] = the choice of u's edge of least rank.
kernel void boruvka_choose_edges(const global ulong *pairs, const global ulong *minima,
                                 global ulong *chosen, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) {
    const uint u = pair_source(pairs[i], bits);
    if (i + 1 == n_entries || pair_source(pairs[i + 1], bits) != u) chosen[u] = minima[i];
  }
}
