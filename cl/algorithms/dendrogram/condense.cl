// dendrogram, condensing: clusters of a least size, and when each point leaves its cluster.
//
// Source: Campello, Moulavi, Zimek, Sander, "Hierarchical Density Estimates for Data Clustering,
// Visualization, and Outlier Detection", TKDD 2015. A merge of two large nodes is a true split: a
// cluster begins at each of them. At any other merge the points of the small node leave, and the
// large node stays the same cluster. Here pointer jumping does it, without a walk from the top.
//
// Nodes are those of the dendrogram: vertices 0 .. n - 1, and n + i of merge i. Merges are counted
// from the top: place t is merge m - 1 - t, so a merge is above those of greater places, and the
// first jump of an ascending sweep finds most tops. Example, with two points of a cluster at least:
//
//     merges      (0, 1) -> 5, (2, 3) -> 6, (5, 6) -> 7, (4, 7) -> 8
//     places      8, 7, 6, 5 are 0 .. 3
//     clusters    8 begins cluster 0, which 7 stays; 6 and 5 begin clusters 1 and 2
//     points      4 leaves cluster 0 at place 0; 2 and 3 leave 1 at place 2; 0 and 1 leave 2 at 3
#include "algorithms/dendrogram/jump.cl"

// No place: what is above the top.
#define CONDENSE_NONE 0xFFFFFFFFu

// Find the merge above each node, and where clusters begin.
//
// In       children[2 m]: of each merge; sizes[m]: vertices below each.
// Out      above[n + m]: the place above each node, vertices first, then places; begins[m]: by
//          place, 1 where a cluster begins, else 0.
// Launch   any. A node is below one merge, so one work-item writes it.
// Needs    m == n - 1 > 0: all vertices are joined. least > 1.
// Ensures  the first place begins a cluster.
kernel void dendrogram_condense_above(const global uint *children, const global uint *sizes,
                                      global uint *above, global uint *begins, uint n, uint least) {
  const uint m = n - 1;
  GRID_FOR(i, m) {
    const uint place = m - 1 - (uint)i;
    uint node[2], at[2];
    bool is_split = true;
    for (uint side = 0; side < 2; ++side) {
      node[side] = children[2 * i + side];
      const bool is_point = node[side] < n;
      at[side] = is_point ? node[side] : n + m - 1 - (node[side] - n);
      is_split = is_split && !is_point && sizes[node[side] - n] >= least;
    }
    for (uint side = 0; side < 2; ++side) {
      above[at[side]] = place;
      if (node[side] >= n) begins[at[side] - n] = is_split;
    }
    if (place == 0) {
      above[n] = CONDENSE_NONE;
      begins[0] = 1;
    }
  }
}

// Whether a merge has a cluster's points. The top has, however few they are.
static inline bool wi_condense_is_large(const global uint *sizes, uint place, uint m, uint least) {
  return place == 0 || sizes[m - 1 - place] >= least;
}

// Point each merge to the one above, but those where its way ends: of a large one where its cluster
// begins, of a small one where what is above is large. Number the clusters, in any order.
//
// In       above[n + m], begins[m], sizes[m].
// In-out   n_clusters: 0 before.
// Out      top[m]; number[m]: where clusters begin.
// Launch   any.
// Needs    dendrogram_condense_above.
// Ensures  pointers make trees.
kernel void dendrogram_condense_point(const global uint *above, const global uint *begins,
                                      const global uint *sizes, global uint *top,
                                      global uint *number, volatile global uint *n_clusters, uint n,
                                      uint least) {
  const uint m = n - 1;
  GRID_FOR(place, m) {
    const uint over = above[n + place];
    const bool is_large = wi_condense_is_large(sizes, (uint)place, m, least);
    const bool ends = is_large ? begins[place] : wi_condense_is_large(sizes, over, m, least);
    top[place] = ends ? (uint)place : over;
    if (begins[place]) number[place] = atomic_inc(n_clusters);
  }
}

// Point each merge to one that is farther up.
//
// In-out   top[m].
// Launch   any; as often as the depth needs: a launch divides it by DENDROGRAM_HOPS at least.
// Needs    dendrogram_condense_point.
// Ensures  after enough launches a merge points to where its way ends.
kernel void dendrogram_condense_jump(volatile global uint *top, uint m) {
  GRID_FOR(place, m) wi_dendrogram_jump(top, (uint)place);
}

// Describe clusters.
//
// In       above[n + m], begins[m], sizes[m], top[m], number[m].
// In-out   clusters[6][n_clusters]: CONDENSE_NONE before. The cluster that each comes from, which
//          stays of the first; the merge where it leaves that one, the top one of the first; its
//          last merge; how many points it has; its least point, which stays; the place where it
//          begins.
// Launch   any. The last merge does not depend on the order.
// Needs    dendrogram_condense_jump.
// Ensures  all rows but the fifth.
kernel void dendrogram_condense_clusters(const global uint *above, const global uint *begins,
                                         const global uint *sizes, const global uint *top,
                                         const global uint *number, volatile global uint *clusters,
                                         uint n, uint n_clusters, uint least) {
  const uint m = n - 1;
  GRID_FOR(place, m) {
    if (!wi_condense_is_large(sizes, (uint)place, m, least)) continue;
    const uint cluster = number[top[place]];
    volatile global uint *last = &clusters[2 * (size_t)n_clusters + cluster];
    if (*last > m - 1 - place) atomic_min(last, m - 1 - (uint)place);
    if (!begins[place]) continue;
    const uint over = place ? above[n + place] : 0;
    if (place) clusters[cluster] = number[top[over]];
    clusters[n_clusters + (size_t)cluster] = m - 1 - over;
    clusters[3 * (size_t)n_clusters + cluster] = sizes[m - 1 - place];
    clusters[5 * (size_t)n_clusters + cluster] = (uint)place;
  }
}

// Find where each point leaves its last cluster, and the heights of clusters.
//
// In       above[n + m], sizes[m], top[m], number[m]; order[m]: the edge of each merge; heights[m]:
//          the bits of each edge's weight.
// In-out   clusters[6][n_clusters].
// Out      point_cluster[n], point_height[n]: the cluster that a point leaves, and the weight of the
//          merge where it does; cluster_height[2][n_clusters]: those of the merges of clusters.
// Launch   any. The least point does not depend on the order.
// Needs    dendrogram_condense_clusters.
// Ensures  clusters are complete.
kernel void dendrogram_condense_points(const global uint *above, const global uint *sizes,
                                       const global uint *top, const global uint *number,
                                       const global uint *order, const global ulong *heights,
                                       volatile global uint *clusters, global uint *point_cluster,
                                       global ulong *point_height, global ulong *cluster_height,
                                       uint n, uint n_clusters, uint least) {
  const uint m = n - 1;
  GRID_FOR(point, n) {
    uint leaves_at = above[point];
    if (!wi_condense_is_large(sizes, leaves_at, m, least)) leaves_at = above[n + top[leaves_at]];
    const uint cluster = number[top[leaves_at]];
    point_cluster[point] = cluster;
    point_height[point] = heights[order[m - 1 - leaves_at]];
    volatile global uint *first = &clusters[4 * (size_t)n_clusters + cluster];
    if (*first > point) atomic_min(first, (uint)point);
  }
  GRID_FOR(i, 2 * n_clusters) cluster_height[i] = heights[order[clusters[n_clusters + i]]];
}
