// dendrogram: merge the two ends of every tree edge, the lightest edge first; by one work-item, which
// has local memory to itself where work-groups have several.
#include "device/work_group.cl"

// Edges that are taken at a time: their reads do not wait for one another.
#define SERIAL_MERGES 64

// Vertices, at most, where their clusters are in local memory: 30 KiB of it.
#define SERIAL_VERTICES 5120

#if WG_SIZE == 1
#define SERIAL_SPACE global
typedef uint serial_t;
#else
#define SERIAL_SPACE local
typedef ushort serial_t;
#endif

// Cluster v of the disjoint sets; of a root, `node` is the cluster's node in the dendrogram, and
// `size` counts its vertices.
typedef struct {
  serial_t parent, node, size;
} serial_cluster_t;

// The root of a cluster; every second cluster on the way skips one.
static inline uint wi_serial_root(SERIAL_SPACE serial_cluster_t *clusters, uint v) {
  for (uint parent = clusters[v].parent; parent != v; parent = clusters[v].parent) {
    v = clusters[v].parent = clusters[parent].parent;
  }
  return v;
}

// Merge clusters along the edges of a forest. The vertices are nodes 0 .. n - 1, merge i makes node
// n + i. Example, edges in their order:
//
//     0-1 2-3 1-2      merges (0, 1) -> 4, (2, 3) -> 5, (4, 5) -> 6; sizes 2 2 4
//
// Source   Kruskal's algorithm with disjoint sets, united by size.
// In       edges[2 n_merges]: the two ends of each edge; order[n_merges]: edges by rising weight.
// Out      children[2 n_merges]: the two nodes of each merge, the lesser first; sizes[n_merges]:
//          vertices below each merge.
// Temp     clusters[n]; with work-groups of several work-items in local memory, SERIAL_VERTICES at
//          most, and this one is not used.
// Launch   one work-group. Nearly O(n) work.
// Needs    the edges have no cycle; n + n_merges < 2^32, or n <= SERIAL_VERTICES.
// Ensures  the children of merge i are less than n + i.
kernel void dendrogram_serial_merge(const global uint *edges, const global uint *order,
                                    global serial_cluster_t *clusters, global uint *children,
                                    global uint *sizes, uint n, uint n_merges) {
  const uint lane = get_local_id(0);
#if WG_SIZE == 1
  global serial_cluster_t *own = clusters;
  uint ends[2 * SERIAL_MERGES];
#else
  local serial_cluster_t own[SERIAL_VERTICES];
  local uint ends[2 * SERIAL_MERGES];
#endif
  for (uint v = lane; v < n; v += WG_SIZE) own[v] = (serial_cluster_t){v, v, 1};
  for (uint first = 0; first < n_merges; first += SERIAL_MERGES) {
    const uint count = min(n_merges - first, (uint)SERIAL_MERGES);
    for (uint i = lane; i < count; i += WG_SIZE) {
      const size_t edge = 2 * (size_t)order[first + i];
      ends[2 * i] = edges[edge];
      ends[2 * i + 1] = edges[edge + 1];
    }
    wg_barrier_local();
    for (uint i = lane; i < 2 * count; i += WG_SIZE) ends[i] = own[ends[i]].parent;
    wg_barrier_local();
    for (uint i = 0; i < count && lane == 0; ++i) {
      const uint a = wi_serial_root(own, ends[2 * i]);
      const uint b = wi_serial_root(own, ends[2 * i + 1]);
      const serial_cluster_t one = own[a], other = own[b];
      const uint merge = first + i, size = one.size + other.size;
      const uint root = one.size < other.size ? b : a;
      own[a + b - root].parent = root;
      own[root].node = n + merge;
      own[root].size = size;
      children[2 * (size_t)merge] = min(one.node, other.node);
      children[2 * (size_t)merge + 1] = max(one.node, other.node);
      sizes[merge] = size;
    }
    wg_barrier_local();
  }
}
