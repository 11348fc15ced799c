// dendrogram: Kruskal's algorithm on the edges of a tree, sorted by weight. Each edge merges two
// clusters. A single work-item does all merges. The launch has one work-group. If the work-group
// has several work-items, the disjoint sets of a small tree are in its local memory.
#include "algorithms/dendrogram/condense_steps.cl"

// Number of edges that are read from memory together, before their merges are done one after the
// other.
#define SERIAL_MERGES 64

// Maximum number of vertices whose clusters fit in local memory, where they take 30 KiB.
#define SERIAL_VERTICES 5120

#if WG_SIZE == 1
#define SERIAL_SPACE global
#define SERIAL_ENDS private
typedef uint serial_t;
#else
#define SERIAL_SPACE local
#define SERIAL_ENDS local
typedef ushort serial_t;
#endif

// The entry of a vertex in the disjoint sets, which are the clusters. In the entry of a root,
// `node` is the cluster's node in the dendrogram, and `size` is the number of the cluster's
// vertices.
typedef struct {
  serial_t parent, node, size;
} serial_cluster_t;

// Replace the vertices *a and *b by the roots of their clusters, with path halving. Both roots are
// searched in one loop, so that the reads of the two searches overlap.
static inline void wi_serial_roots(SERIAL_SPACE serial_cluster_t *clusters, uint *a, uint *b) {
  uint over_a = clusters[*a].parent, over_b = clusters[*b].parent;
  while (over_a != *a || over_b != *b) {
    *a = clusters[*a].parent = clusters[over_a].parent;
    *b = clusters[*b].parent = clusters[over_b].parent;
    over_a = clusters[*a].parent;
    over_b = clusters[*b].parent;
  }
}

// Merge clusters along the edges of a forest, the lightest edge first. The arrays edges, order,
// children and sizes are as in dendrogram_serial_merge.
//
// Temp     own[n]: the disjoint sets of the vertices;
//          ends[2 * SERIAL_MERGES]: the two ends of each of the SERIAL_MERGES edges that are read
//            together.
// Scope    the whole launch, which is one work-group. Ends with a barrier of local memory.
static inline void grid_serial_merge(const global uint *edges, const global uint *order,
                                     SERIAL_SPACE serial_cluster_t *own, SERIAL_ENDS uint *ends,
                                     global uint *children, global uint *sizes, uint n,
                                     uint n_merges) {
  const uint lane = get_local_id(0);
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
      uint a = ends[2 * i], b = ends[2 * i + 1];
      wi_serial_roots(own, &a, &b);
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

// Merge clusters along the edges of a forest, the lightest edge first. The vertices are the nodes
// 0 .. n - 1, and merge i makes node n + i. Example, edges in their order:
//
//     0-1 2-3 1-2      merges (0, 1) -> 4, (2, 3) -> 5, (4, 5) -> 6; sizes 2 2 4
//
// Source   Kruskal's algorithm with disjoint sets, united by size.
// In       edges[2 n_merges]: the two ends of each edge;
//          order[n_merges]: the indices of the edges by ascending weight.
// Out      children[2 n_merges]: the two nodes of each merge, the lesser first;
//          sizes[n_merges]: the number of vertices below each merge.
// Temp     clusters[n]: the disjoint sets of the vertices. For at most SERIAL_VERTICES vertices,
//          work-groups of several work-items use local memory instead.
// Launch   one work-group. Nearly O(n) work.
// Needs    the edges do not form a cycle; n + n_merges < 2^32, or n <= SERIAL_VERTICES.
// Ensures  the children of merge i are less than n + i.
kernel void dendrogram_serial_merge(const global uint *edges, const global uint *order,
                                    global serial_cluster_t *clusters, global uint *children,
                                    global uint *sizes, uint n, uint n_merges) {
#if WG_SIZE == 1
  global serial_cluster_t *own = clusters;
  uint ends[2 * SERIAL_MERGES];
#else
  local serial_cluster_t own[SERIAL_VERTICES];
  local uint ends[2 * SERIAL_MERGES];
#endif
  grid_serial_merge(edges, order, own, ends, children, sizes, n, n_merges);
}

// Merge clusters along the edges of a tree, the lightest edge first. Then condense the dendrogram:
// find the clusters of at least `least` points, and where each point leaves its last cluster.
//
// In       tree: the weights, the ends and the order of m = n - 1 edges. First come the bits of the
//          weights, a 64-bit word each. Then come the two ends of each edge, a 32-bit word each.
//          Then come the indices of the edges by ascending weight, a 32-bit word each.
// Temp     clusters[n]: the disjoint sets of the vertices, unless they are in local memory
//            (dendrogram_serial_merge);
//          scratch[n + 3 m + 3 m + 1]: first the scratch memory of dendrogram_condense_steps, then
//            the children, the sizes and the number of clusters.
// Out      result: the number of clusters, the height and the cluster of each point, and the
//          clusters, in the words that dendrogram_condense_steps (condense.cl) describes.
// Launch   one work-group.
// Needs    what dendrogram_serial_merge and dendrogram_condense_steps need.
// Ensures  `result` is complete.
kernel void dendrogram_serial_condense(const global ulong *tree, global serial_cluster_t *clusters,
                                       global uint *scratch, global ulong *result, uint n,
                                       uint least, uint n_steps) {
#if WG_SIZE == 1
  global serial_cluster_t *own = clusters;
  uint ends[2 * SERIAL_MERGES];
#else
  local serial_cluster_t own[SERIAL_VERTICES];
  local uint ends[2 * SERIAL_MERGES];
#endif
  const size_t m = n - 1;
  const global uint *edges = (const global uint *)(tree + m), *order = edges + 2 * m;
  global uint *children = scratch + n + 3 * m, *sizes = children + 2 * m, *count = sizes + m;
  grid_serial_merge(edges, order, own, ends, children, sizes, n, n - 1);
  if (get_local_id(0) == 0) *count = 0;
  wg_barrier();
  condense_t run;
  condense_open(&run, children, sizes, order, tree, scratch, count, result, n, least);
  grid_condense_steps(&run, result, 0, n_steps, n_steps);
}
