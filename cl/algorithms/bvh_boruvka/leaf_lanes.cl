// bvh-boruvka: search the hierarchy for the nearest points of eight points at once. They are the
// points of one leaf, one in each lane of a vector. This is for work-groups of one work-item.
#include "algorithms/bvh_boruvka/leaf.cl"
#include "algorithms/bvh_boruvka/walk.cl"

// Number of points of a visited leaf that are compared with the eight searching points at a time.
// If it is larger, the coordinates of the searching points are loaded less often.
#define AT_ONCE (DIMENSION_CLASS ? 1u : 4u)

// The coordinates of a leaf's points. With few dimensions (DIMENSION_CLASS is then their number)
// they are held in registers.
#if DIMENSION_CLASS
typedef struct {
  real8 row[DIMENSION_CLASS];
} coordinates_t;
#define LANES_AT(own, d) (own)->row[d]
#define LANE_AT(own, d, lane) ((const real *)&(own)->row[d])[lane]
#else
typedef const global real *coordinates_t;
#define LANES_AT(own, d) vload8(d, *(own))
#define LANE_AT(own, d, lane) (*(own))[(d) * LEAF + (lane)]
#endif

static inline void eight_place(coordinates_t *own, const tree_t *tree, uint leaf) {
#if DIMENSION_CLASS
#pragma unroll
  for (uint d = 0; d < DIMENSION_CLASS; ++d) own->row[d] = vload8(d, tree_leaf(tree, leaf));
#else
  *own = tree_leaf(tree, leaf);
#endif
}

// Compute the plain values, which are distances before any square root, between the points of two
// leaves. Lane j of plains[i] is for point first + i of `leaf` and point j of the leaf `own`. Plain
// values that are greater than lane j of `reach`, the searching point's limit, may be replaced by
// infinity.
static inline void eight_plains(real8 plains[AT_ONCE], const tree_t *tree, const coordinates_t *own,
                                uint leaf, uint first, real8 reach) {
  const global real *at = tree_leaf(tree, leaf) + first;
#if BOUNDED
  const bound8_t limits = bound_limit(reach, DIMENSIONS(tree->dimensions));
  bound8_t bounds[AT_ONCE];
  for (uint i = 0; i < AT_ONCE; ++i) bounds[i] = BOUND_ZERO;
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const bound8_t x = BOUND_OF(LANES_AT(own, d));
#pragma unroll
    for (uint i = 0; i < AT_ONCE; ++i) {
      const bound8_t other = BOUND_OF(at[d * LEAF + i]);
      bounds[i] = BOUND_ADD(bounds[i], BOUND_DIFFERENCE(x, other));
    }
  }
  for (uint i = 0; i < AT_ONCE; ++i) {
    uint near = bits_of_mask(BOUNDS_AT_MOST(bounds[i], limits));
#if BOUND_IS_FLOAT
    real each[LEAF];
    for (uint lane = 0; lane < LEAF; ++lane) each[lane] = REAL_INFINITY;
    for (; near; near &= near - 1) {
      const uint lane = 31 - clz(near & -near);
      real sum = REAL_ZERO;
      for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d)
        sum = DISTANCE_ADD(sum, LANE_AT(own, d, lane), at[d * LEAF + i]);
      each[lane] = DISTANCE_PLAIN(sum);
    }
    plains[i] = vload8(0, each);
#else
    plains[i] = REAL_INFINITY;
    if (near == 0) continue;
    plains[i] = REAL_ZERO;
    for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d)
      plains[i] = DISTANCE_ADD(plains[i], LANES_AT(own, d), at[d * LEAF + i]);
    plains[i] = DISTANCE_PLAIN(plains[i]);
#endif
  }
#else
  for (uint i = 0; i < AT_ONCE; ++i) plains[i] = REAL_ZERO;
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const real8 x = LANES_AT(own, d);
#pragma unroll
    for (uint i = 0; i < AT_ONCE; ++i) plains[i] = DISTANCE_ADD(plains[i], x, at[d * LEAF + i]);
  }
#pragma unroll
  for (uint i = 0; i < AT_ONCE; ++i) plains[i] = DISTANCE_PLAIN(plains[i]);
#endif
}

// Return whether the box of a leaf is within reach of any of the eight searching points. A
// searching point reaches as far as its lane of `reach`, which is a distance before any square
// root. The path through the hierarchy visits the leaves near the box of all eight points. In many
// dimensions the points of a leaf are far apart, and most of these leaves are far from every one of
// them. This test leaves such leaves out.
static inline bool eight_are_near(const tree_t *tree, const coordinates_t *own, uint leaf,
                                  real8 reach) {
  if (DIMENSION_CLASS) return true;
  const global real *box = tree_box(tree, leaf);
#if BOUNDED
  bound8_t bounds = BOUND_ZERO;
  for (uint d = 0; d < tree->dimensions; ++d) {
    const bound8_t x = BOUND_OF(LANES_AT(own, d)), lower = BOUND_OF(box[2 * d * FANOUT]);
    const bound8_t upper = BOUND_OF(box[(2 * d + 1) * FANOUT]);
    bounds = BOUND_ADD(bounds, BOUND_GAP(x, x, lower, upper));
  }
  return any(BOUNDS_AT_MOST(bounds, bound_limit(reach, tree->dimensions)));
#else
  real8 sums = REAL_ZERO;
  for (uint d = 0; d < tree->dimensions; ++d) {
    const real8 x = LANES_AT(own, d);
    sums = BOX_ADD(sums, x, x, box[2 * d * FANOUT], box[(2 * d + 1) * FANOUT]);
  }
  return any(real_at_most(DISTANCE_PLAIN(sums), reach));
#endif
}

static inline real greatest_of(real8 values) {
  const real4 four = real_max(values.lo, values.hi);
  const real2 two = real_max(four.lo, four.hi);
  return real_max(two.x, two.y);
}

// Compare the edges from eight searching points, one per lane, to the point `id` with the lightest
// edges of the eight points so far. Store each edge that is lighter. `ids` has the number of the
// searching point in each lane, and `cores` the greater core distance of the two ends. Return a
// mask of the lanes in which an edge was stored.
static inline long8 eight_take(long8 is_near, real8 plains, real8 cores, ulong8 ids, ulong id,
                               real8 *weights, ulong8 *edges, real8 *reach) {
#if !DOUBLES
  plains = real_select((real8)REAL_INFINITY, plains, is_near);  // no roots of what is not used
#endif
  real8 found = DISTANCE_OF_PLAIN(plains);
  if (CORE_DISTANCES) found = real_max(found, cores);
  const ulong8 pairs = min(ids, (ulong8)id) << 32 | max(ids, (ulong8)id);
  const long8 is_less = real_less(found, *weights), is_equal = real_equal(found, *weights);
  const long8 is_better = is_near & (is_less | (is_equal & (pairs < *edges)));
  *weights = real_select(*weights, found, is_better);
  *edges = select(*edges, pairs, is_better);
  *reach = real_select(*reach, DISTANCE_REACH(*weights), is_better);
  return is_better;
}
