// From the slots of a forest's edges to the edges themselves.
#include "device/work_group.cl"

// Endpoints of each edge.
//
// In       indptr[n + 1], indices: the graph; slots[k]: rising.
// Out      edges[k]: (row, column), the lesser first.
// Launch   any. O(k log n).
kernel void forest_gather_edges(const global uint *indptr, const global uint *indices,
                                const global uint *slots, global uint2 *edges, uint n, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[i];
    uint low = 0, high = n;  // the row is the last one that starts at or before the slot
    while (high - low > 1) {
      const uint middle = low + (high - low) / 2;
      if (indptr[middle] <= slot) low = middle;
      else high = middle;
    }
    edges[i] = (uint2)(low, indices[slot]);
  }
}
