// The components of a graph, so that Prim's algorithm can grow trees in all of them at once.
#include "device/rows.cl"
#include "device/union_find.cl"
#include "device/work_group.cl"

// Let every vertex be a set.
//
// Out  sets[n].  Launch  any. O(n).
kernel void prim_components_separate(global uint *sets, uint n) {
  GRID_FOR(v, n) sets[v] = (uint)v;
}

// Join the sets of the ends of every edge.
//
// In       indptr, indices[n_slots]: rows of both directions.
// In-out   sets[n]: parents of disjoint sets (device/union_find.cl).
// Launch   any. O(n_slots log n).
kernel void prim_components_unite(const global uint *indptr, const global uint *indices,
                                  volatile global uint *sets, uint n, uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = run.begin; slot < run.end; ++slot) {
      const uint row = slot_run_row(&run, indptr, slot);
      const uint column = indices[slot];
      if (column <= row) continue;
      wi_unite(sets, wi_find_halving(sets, row), wi_find_halving(sets, column));
    }
  }
}

// Find the set of every vertex.
//
// In  sets[n].  Out  roots[n].  Launch  any.
kernel void prim_components_find_roots(const global uint *sets, global uint *roots, uint n) {
  GRID_FOR(v, n) roots[v] = wi_find(sets, (uint)v);
}

// Mark where a component begins in the vertices sorted by root.
//
// In  roots[n], sorted.  Out  heads[n].  Launch  any.
kernel void prim_components_mark_heads(const global uint *roots, global uchar *heads, uint n) {
  GRID_FOR(i, n) heads[i] = i == 0 || roots[i - 1] != roots[i];
}
