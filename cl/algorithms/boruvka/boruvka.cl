// Recursive Borůvka: how every vertex of a level finds its lightest edge, between the primitives.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1. Line numbers below are its. All
// other lines are in contraction.cl.
//
// Every array element has one writer, and no kernel reads what it writes: no atomics, no races.
#include "device/edge_list.cl"
#include "device/work_group.cl"

// Line 1: append the rank and the outgoing vertex of each edge.
//
// In  pairs, ranks[n_entries].  Out  appended[n_entries]: choices.  Launch  any.
kernel void boruvka_append(const global ulong *pairs, const global uint *ranks,
                           global ulong *appended, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) appended[i] = make_choice(ranks[i], pair_target(pairs[i], bits));
}

// Line 3, after the scan: every vertex keeps the minimum that its segment ends with.
//
// In       pairs; minima[n_entries]: inclusive segmented minimum of `appended`.
// In-out   chosen[n]: NO_CHOICE before, and after for vertices without edges.
// Launch   any.
kernel void boruvka_choose_edges(const global ulong *pairs, const global ulong *minima,
                                 global ulong *chosen, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) {
    const uint u = pair_source(pairs[i], bits);
    if (i + 1 == n_entries || pair_source(pairs[i + 1], bits) != u) chosen[u] = minima[i];
  }
}
