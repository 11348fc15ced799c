// dendrogram: merge the two ends of every tree edge, the lightest edge first; by one work-item.
#include "device/work_group.cl"

// Edges that are taken at a time: their first reads do not wait for one another.
#define SERIAL_MERGES 64

// The greatest node that a node is merged into; every second node on the way skips one.
static inline uint wi_dendrogram_top(global uint *parent, uint node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

// Merge clusters along the edges of a forest. The vertices are nodes 0 .. n - 1, merge i makes node
// n + i. Example, edges in their order:
//
//     0-1 2-3 1-2      merges (0, 1) -> 4, (2, 3) -> 5, (4, 5) -> 6; sizes 2 2 4
//
// Source   Kruskal's algorithm with disjoint sets, whose roots are nodes of the dendrogram.
// In       edges[2 n_merges]: the two ends of each edge; order[n_merges]: edges by rising weight.
// Out      children[2 n_merges]: the two nodes of each merge, the lesser first; sizes[n_merges]:
//          vertices below each merge.
// Temp     parent[n + n_merges].
// Launch   any; the first work-item does it all. O(n log n) at most, nearly O(n) as a rule.
// Needs    the edges have no cycle; n + n_merges < 2^32.
// Ensures  the children of merge i are less than n + i.
kernel void dendrogram_serial_merge(const global uint *edges, const global uint *order,
                                    global uint *parent, global uint *children, global uint *sizes,
                                    uint n, uint n_merges) {
  if (get_global_id(0) != 0) return;
  uint ends[2 * SERIAL_MERGES];
  for (uint node = 0; node < n; ++node) parent[node] = node;
  for (uint first = 0; first < n_merges; first += SERIAL_MERGES) {
    const uint count = min(n_merges - first, (uint)SERIAL_MERGES);
    for (uint i = 0; i < count; ++i) {
      const size_t edge = 2 * (size_t)order[first + i];
      ends[2 * i] = edges[edge];
      ends[2 * i + 1] = edges[edge + 1];
    }
    for (uint i = 0; i < 2 * count; ++i) ends[i] = parent[ends[i]];
    for (uint i = 0; i < count; ++i) {
      const uint a = wi_dendrogram_top(parent, ends[2 * i]);
      const uint b = wi_dendrogram_top(parent, ends[2 * i + 1]);
      const uint merge = first + i, node = n + merge;
      parent[a] = parent[b] = parent[node] = node;
      children[2 * (size_t)merge] = min(a, b);
      children[2 * (size_t)merge + 1] = max(a, b);
      sizes[merge] = (a < n ? 1 : sizes[a - n]) + (b < n ? 1 : sizes[b - n]);
    }
  }
}
