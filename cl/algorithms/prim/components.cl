// Find the components of a graph, so that Prim's algorithm can grow the trees of several components
// at the same time.
#include "device/rows.cl"
#include "device/union_find.cl"
#include "device/work_group.cl"

// Join the two ends of every edge in disjoint sets of vertices, so that each component becomes one
// set.
//
// In       indptr[n + 1], indices[n_slots]: rows with both directions of every edge.
// In-out   sets[n]: the parent of each vertex in the disjoint sets (device/union_find.cl).
// Launch   any. O(n_slots log n).
// Needs    sets[v] = v before.
// Ensures  two vertices are in the same set if and only if they are in the same component.
kernel void prim_components_unite(const global uint *indptr, const global uint *indices,
                                  volatile global uint *sets, uint n, uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t segment;
    slot_run_open(&segment, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = segment.begin; slot < segment.end; ++slot) {
      const uint row = slot_run_row(&segment, indptr, slot);
      const uint column = indices[slot];
      if (column <= row) continue;
      wi_unite(sets, wi_find_halving(sets, row), wi_find_halving(sets, column));
    }
  }
}

// Find the root of every vertex, which stands for its component.
//
// In       sets[n]: the parent of each vertex in the disjoint sets.
// Out      roots[n]: the root of each vertex.
// Launch   any.
// Needs    prim_components_unite.
// Ensures  roots[v] = the root of v's component.
kernel void prim_components_find_roots(const global uint *sets, global uint *roots, uint n) {
  GRID_FOR(v, n) roots[v] = wi_find(sets, (uint)v);
}

// Flag the first vertex of every component in the list of vertices, which is sorted by root.
//
// In       roots[n]: the root of each vertex in the list.
// Out      heads[n]: a flag for each position of the list.
// Launch   any.
// Needs    roots ascend.
// Ensures  heads[i] = 1 if a component begins at position i, else 0.
kernel void prim_components_mark_heads(const global uint *roots, global uchar *heads, uint n) {
  GRID_FOR(i, n) heads[i] = i == 0 || roots[i - 1] != roots[i];
}
