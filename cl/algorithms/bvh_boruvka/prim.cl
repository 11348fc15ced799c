// bvh-boruvka for few points: Prim's algorithm over all pairs, by one work-item.
//
// For few points, building a hierarchy would take too many launches. Here one work-item keeps the
// lightest edge between the tree and each point outside it, and updates 8 points at a time. When a
// point joins the tree, its entry is removed and replaced by the last entry. So only half of all
// pairs are compared.
#include "algorithms/bvh_boruvka/leaf_lanes.cl"

// Maximum number of values of a point: its coordinates and its core distance.
#define MOST_PRIM_ROWS (DIMENSION_CLASS ? DIMENSION_CLASS + 1 : 13)

// The points outside the tree. Each has one entry in the arrays, with the lightest edge from the
// tree to the point. Arrays are padded to whole vectors.
typedef struct {
  global real *rows;    // coordinates, then core distances, `width` entries a row
  global real *reach;   // pairs with a greater plain value are too far; -1 in an unused entry
  global real *weight;  // the weight of the lightest edge to the tree
  global ulong *edge;   // this edge: its lesser end << 32 | its greater end
  global ulong *id;
  uint n_rows, width;
} prim_t;

static inline void prim_empty(const prim_t *outside, uint place) {
  outside->reach[place] = REAL(-1.0, 0xbff0000000000000);
  outside->weight[place] = REAL_INFINITY;
  outside->edge[place] = ULONG_MAX;
}

static inline void prim_move(const prim_t *outside, uint from, uint to) {
  for (uint row = 0; row < outside->n_rows; ++row)
    outside->rows[row * outside->width + to] = outside->rows[row * outside->width + from];
  outside->reach[to] = outside->reach[from];
  outside->weight[to] = outside->weight[from];
  outside->edge[to] = outside->edge[from];
  outside->id[to] = outside->id[from];
}

// Compare the edges from a point that has just joined the tree with the lightest edges of the `m`
// points outside the tree, and store the edges that are lighter. Return the minimum weight of all
// stored edges. `own` has the coordinates of the joined point and its core distance, and `id` is
// its number.
static inline real prim_relax(const prim_t *outside, uint dimensions, const real *own, ulong id,
                              uint m) {
  real8 least = REAL_INFINITY;
  for (uint i = 0; i < (m + 7) / 8; ++i) {
    real8 sums = REAL_ZERO;
    for (uint d = 0; d < DIMENSIONS(dimensions); ++d)
      sums = DISTANCE_ADD(sums, own[d], vload8(i, outside->rows + d * outside->width));
    const real8 plains = DISTANCE_PLAIN(sums);
    real8 reach = vload8(i, outside->reach);
    const long8 is_near = real_at_most(plains, reach);
    real8 weights = vload8(i, outside->weight);
    if (any(is_near)) {
      ulong8 edges = vload8(i, outside->edge);
      real8 cores = REAL_ZERO;
#if CORE_DISTANCES
      cores = real_max(vload8(i, outside->rows + dimensions * outside->width), own[dimensions]);
#endif
      eight_take(is_near, plains, cores, vload8(i, outside->id), id, &weights, &edges, &reach);
      vstore8(weights, i, outside->weight);
      vstore8(edges, i, outside->edge);
      vstore8(reach, i, outside->reach);
    }
    least = real_min(least, weights);
  }
  const real4 four = real_min(least.lo, least.hi);
  const real2 two = real_min(four.lo, four.hi);
  return real_min(two.x, two.y);
}

// There are `m` points outside the tree, each with its lightest edge from the tree. Return the
// index of the lightest of these edges, whose weight is `weight`. Among edges of equal weight,
// choose the edge with the lexicographically smallest pair of ends.
static inline uint prim_lightest(const prim_t *outside, real weight, uint m) {
  uint best = 0;
  ulong edge = ULONG_MAX;
  for (uint i = 0; i < (m + 7) / 8; ++i) {
    if (!any(real_equal(vload8(i, outside->weight), weight))) continue;
    for (uint place = 8 * i; place < min(8 * i + 8, m); ++place) {
      if (!real_equal(outside->weight[place], weight) || outside->edge[place] >= edge) continue;
      edge = outside->edge[place];
      best = place;
    }
  }
  return best;
}

// Sort the edges of the tree stably by one of their ends. Two such sorts, first by the greater end
// and then by the lesser end, bring the edges into canonical order, which is the order of (lesser,
// greater).
static inline void prim_sort(const global ulong *edges, const global real *weights,
                             global ulong *to, global real *to_weights, global uint *starts,
                             uint shift, uint n) {
  for (uint v = 0; v <= n; ++v) starts[v] = 0;
  for (uint i = 0; i < n - 1; ++i) starts[(uint)(edges[i] >> shift) + 1] += 1;
  for (uint v = 0; v < n; ++v) starts[v + 1] += starts[v];
  for (uint i = 0; i < n - 1; ++i) {
    const uint at = starts[(uint)(edges[i] >> shift)]++;
    to[at] = edges[i];
    to_weights[at] = weights[i];
  }
}

// Find the minimum spanning tree of few points: one vertex after the other joins the tree by the
// lightest edge.
//
// Source   R. C. Prim, "Shortest connection networks and some generalizations", 1957.
// In       planes[rows * n]: the points, with all first coordinates, then all second ones, and so
//          on, then the core distances; order[n]: the points in the order of their entries. The
//          order may be any, but if points that are close in space are close in it, more vectors of
//          eight points are too far to be compared closely.
// Out      ends[n - 1], weights[n - 1]: the two ends and the weight of each edge, sorted by (lesser
//          end, greater end).
// Temp     space[(rows + 6) * width]: the points outside the tree, and their lightest edges; width
//          is n, rounded up to a multiple of 8;
//          starts[n + 1]: counters of the sorts.
// Launch   one work-group. Only its first work-item works. O(n**2) work.
// Needs    n > 1; `order` is a permutation.
// Ensures  the edges are the minimum spanning tree by the total order (weight, lesser, greater).
kernel void bvh_boruvka_prim_solve(const global real *planes, const global uint *order,
                                   global real *space, global uint *starts, global uint2 *ends,
                                   global real *weights, uint dimensions, uint n) {
  if (get_local_id(0) > 0) return;
  const uint width = (n + 7) / 8 * 8, n_rows = DIMENSIONS(dimensions) + CORE_DISTANCES;
  real own[MOST_PRIM_ROWS];
  global real *const more = space + (size_t)n_rows * width;
  const prim_t outside = {
      space,
      more,
      more + width,
      (global ulong *)(more + 2 * width),
      (global ulong *)(more + 3 * width),
      n_rows,
      width,
  };
  global ulong *const edges = (global ulong *)(more + 4 * width);
  global real *const found = more + 5 * width;
  for (uint i = 0; i < width; ++i) {
    const uint id = order[min(i, n - 1)];
    for (uint row = 0; row < n_rows; ++row) space[row * width + i] = planes[(size_t)row * n + id];
    prim_empty(&outside, i);
    if (i < n) outside.reach[i] = REAL_INFINITY;
    outside.id[i] = id;
  }
  uint place = 0;
  for (uint m = n - 1; m > 0; --m) {
    const ulong id = outside.id[place];
    for (uint row = 0; row < n_rows; ++row) own[row] = space[row * width + place];
    prim_move(&outside, m, place);
    prim_empty(&outside, m);
    const real least = prim_relax(&outside, DIMENSIONS(dimensions), own, id, m);
    place = prim_lightest(&outside, least, m);
    edges[m - 1] = outside.edge[place];
    found[m - 1] = least;
  }
  prim_sort(edges, found, outside.edge, outside.weight, starts, 0, n);
  prim_sort(outside.edge, outside.weight, edges, weights, starts, 32, n);
  for (uint i = 0; i < n - 1; ++i) ends[i] = (uint2)((uint)(edges[i] >> 32), (uint)edges[i]);
}
