// dendrogram: the steps of condensing. Condensing finds the clusters that have a minimum size, and
// where each point leaves its cluster. Each step is a launch of its own (condense.cl), or one
// launch does all steps (serial.cl).
//
// Source: Campello, Moulavi, Zimek, Sander, "Hierarchical Density Estimates for Data Clustering,
// Visualization, and Outlier Detection", TKDD 2015. A node is large if it has at least the minimum
// size. A merge of two large nodes is a true split: a cluster begins at each of them. At any other
// merge the points of the small node leave the cluster, and the large node stays in it. The paper
// walks down from the top. Here pointer jumping upwards finds the cluster of every merge.
//
// Nodes are numbered as in the dendrogram: vertices are 0 .. n - 1, and merge i is n + i. Merges
// also have places, which count from the top of the dendrogram: place t is merge m - 1 - t. A merge
// has a lesser place than all merges below it. So if places are processed in ascending order, most
// jumps find a pointer that already leads to the end of the path. Example, with a minimum of two
// points in a cluster:
//
//     merges      (0, 1) -> 5, (2, 3) -> 6, (5, 6) -> 7, (4, 7) -> 8
//     places      nodes 8, 7, 6 and 5 have the places 0, 1, 2 and 3
//     clusters    cluster 0 begins at node 8 and goes on at 7; 1 and 2 begin at nodes 6 and 5
//     points      4 leaves cluster 0 at place 0; 2 and 3 leave 1 at place 2; 0 and 1 leave 2 at 3
#include "algorithms/dendrogram/jump.cl"

// The value that means "no place" (a place is the number of a merge, counted from the top of the
// dendrogram), "no cluster", or that a value of a cluster is not known yet.
#define CONDENSE_NONE 0xFFFFFFFFu

// A cluster that condensing has found, which has at least the minimum size. Clusters are numbered
// in any order.
typedef struct {
  uint parent;  // the cluster from which it splits, or CONDENSE_NONE for the first cluster
  uint leaves,
      last;            // `leaves`: merge where it leaves its parent, or the top; `last`: last merge
  uint size;           // number of points
  uint least_point;    // the least point that is in none of its child clusters, or CONDENSE_NONE
  uint place;          // the place of the merge where it begins
  ulong birth, death;  // the heights of `leaves` and `last`
} condense_cluster_t;

typedef struct {
  const global uint *children, *sizes, *order;
  const global ulong *heights;
  volatile global uint *above;   // for each vertex, then for each place: the place above it
  volatile global uint *top;     // for each place: a place farther up, finally its path's end
  volatile global uint *number;  // for each place: the cluster that begins there, or CONDENSE_NONE
  global ulong *point_height;    // the height of the merge where each point leaves its last cluster
  global uint *point_cluster;    // the last cluster of each point
  volatile global uint *n_clusters;
  volatile global condense_cluster_t *clusters;
  uint n, m, least;
} condense_t;

// Return whether the merge at `place` has enough points for a cluster. Places number the merges
// from the top of the dendrogram. The top merge, at place 0, always counts as large.
static inline bool wi_condense_is_large(const condense_t *run, uint place) {
  return place == 0 || run->sizes[run->m - 1 - place] >= run->least;
}

// Let the merge at `place` point to the merge above it, at place `over`, unless its path upwards
// ends here. Places number the merges from the top of the dendrogram. A merge is large if it has
// enough points for a cluster. The path of a large merge ends at the merge where its cluster
// begins. The path of a small merge ends at the last small merge, directly below a large one. If
// `begins` is set, a cluster begins at the merge at `place` and gets a number.
static inline void wi_condense_place(const condense_t *run, uint place, uint over, bool begins) {
  const bool is_large = wi_condense_is_large(run, place);
  const bool ends = is_large ? begins : wi_condense_is_large(run, over);
  run->above[run->n + place] = place ? over : CONDENSE_NONE;
  run->top[place] = ends ? place : over;
  run->number[place] = CONDENSE_NONE;
  if (!begins) return;
  run->number[place] = atomic_inc(run->n_clusters);
  volatile global condense_cluster_t *of = &run->clusters[run->number[place]];
  of->parent = of->last = of->least_point = CONDENSE_NONE;
  of->leaves = run->m - 1 - over;
  of->size = run->sizes[run->m - 1 - place];
  of->place = place;
}

// The first step of condensing: find which merge is above each node, and where clusters begin.
//
// Scope    the whole launch. Each node is directly below one merge, so one work-item writes the
//          node's entry.
static inline void grid_condense_begin(const condense_t *run) {
  GRID_FOR(i, run->m) {
    const uint place = run->m - 1 - (uint)i;
    const uint node[2] = {run->children[2 * i], run->children[2 * i + 1]};
    bool is_split = true;
    for (uint side = 0; side < 2; ++side)
      is_split = is_split && node[side] >= run->n && run->sizes[node[side] - run->n] >= run->least;
    for (uint side = 0; side < 2; ++side) {
      if (node[side] < run->n) run->above[node[side]] = place;
      else wi_condense_place(run, run->m - 1 - (node[side] - run->n), place, is_split);
    }
    if (place == 0) wi_condense_place(run, 0, 0, true);
  }
}

// The last step but one of condensing: find the last merge of each cluster, which is the lowest one
// in the dendrogram, and the cluster's parent, from which it has split.
//
// Scope    the whole launch. Minima do not depend on the order of work-items.
static inline void grid_condense_clusters(const condense_t *run) {
  GRID_FOR(place, run->m) {
    if (!wi_condense_is_large(run, (uint)place)) continue;
    volatile global uint *last = &run->clusters[run->number[run->top[place]]].last;
    if (*last > run->m - 1 - place) atomic_min(last, run->m - 1 - (uint)place);
    const uint cluster = run->number[place];
    if (place && cluster != CONDENSE_NONE)
      run->clusters[cluster].parent = run->number[run->top[run->above[run->n + place]]];
  }
}

// The last step of condensing: find the merge at which each point leaves its last cluster, and the
// heights at which clusters begin and end.
//
// Scope    the whole launch. The minimum point of a cluster does not depend on the order of
//          work-items.
static inline void grid_condense_points(const condense_t *run) {
  GRID_FOR(point, run->n) {
    uint leaves_at = run->above[point];
    if (!wi_condense_is_large(run, leaves_at)) leaves_at = run->above[run->n + run->top[leaves_at]];
    const uint cluster = run->number[run->top[leaves_at]];
    run->point_cluster[point] = cluster;
    run->point_height[point] = run->heights[run->order[run->m - 1 - leaves_at]];
    volatile global uint *least_point = &run->clusters[cluster].least_point;
    if (*least_point > point) atomic_min(least_point, (uint)point);
  }
  GRID_FOR(i, *run->n_clusters) {
    volatile global condense_cluster_t *of = &run->clusters[i];
    of->birth = run->heights[run->order[of->leaves]];
    of->death = run->heights[run->order[of->last]];
  }
}

// Fill *run with pointers to the arrays of condensing. They are the caller's arrays, or parts of
// its buffers `scratch` and `result`, which dendrogram_condense_steps (condense.cl) describes.
static inline void condense_open(condense_t *run, const global uint *children,
                                 const global uint *sizes, const global uint *order,
                                 const global ulong *heights, global uint *scratch,
                                 global uint *count, global ulong *result, uint n, uint least) {
  const size_t m = n - 1, points = 1 + (size_t)n;
  run->children = children;
  run->sizes = sizes;
  run->order = order;
  run->heights = heights;
  run->above = scratch;
  run->top = scratch + n + m;
  run->number = scratch + n + 2 * m;
  run->point_height = result + 1;
  run->point_cluster = (global uint *)(result + points);
  run->n_clusters = count;
  run->clusters = (global condense_cluster_t *)(result + points + points / 2);
  run->n = n;
  run->m = n - 1;
  run->least = least;
}

// Do the steps from `step` to end - 1 of condensing a dendrogram.
//
// The first step finds which merge is above each node, and where clusters begin. Each of the next
// steps lets merges point farther up. The last step but one finds the last merge and the parent of
// each cluster. The last step finds where each point leaves its last cluster, and the heights at
// which clusters begin and end.
//
// Scope    the whole launch for one step; one work-group for several steps. Ends with a barrier.
static inline void grid_condense_steps(const condense_t *run, global ulong *result, uint step,
                                       uint end, uint n_steps) {
  for (; step < end; ++step) {
    if (step == 0) grid_condense_begin(run);
    else if (step == n_steps - 1) grid_condense_points(run);
    else if (step == n_steps - 2) grid_condense_clusters(run);
    else
      GRID_FOR(place, run->m) wi_dendrogram_jump(run->top, (uint)place);
    wg_barrier();
  }
  if (end == n_steps && get_global_id(0) == 0) *result = *run->n_clusters;
}
