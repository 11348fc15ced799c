// bvh-boruvka: a search of the hierarchy looks for the points that are nearest to one point. This
// file compares that point with all points of one leaf.
#include "algorithms/bvh_boruvka/tree.cl"

// Whether search_leaf stores the plain values (distances before any square root) of the points that
// it finds.
#define STORES_PLAINS (WG_SIZE == 1 && !BOUNDED)

// Return a mask of the points of a leaf that are within reach of a search, one bit each. If BOUNDED
// is 1, only lower bounds of the distances are computed here, and the mask may also have some
// points that are too far. If STORES_PLAINS is 1, the plain values of the points, which are
// distances before any square root, are stored in `plains`. Otherwise SEARCHED_PLAIN computes a
// plain value when it is needed.
static inline uint search_leaf(const search_t *search, const tree_t *tree, uint leaf,
                               real plains[LEAF]) {
  const global real *at = tree_leaf(tree, leaf);
  uint near = 0;
#if BOUNDED && WG_SIZE == 1
  bound8_t bounds = BOUND_ZERO;
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const bound8_t own = BOUND_OF(SEARCH_OWN(search, d)), others = BOUND_OF(vload8(d, at));
    bounds = BOUND_ADD(bounds, BOUND_DIFFERENCE(own, others));
  }
  near = bits_of_mask(BOUNDS_AT_MOST(bounds, (bound8_t)search->limit));
#elif BOUNDED
  bound_t bounds[LEAF] = {BOUND_ZERO};
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const bound_t own = BOUND_OF(SEARCH_OWN(search, d));
#pragma unroll
    for (uint lane = 0; lane < LEAF; ++lane) {
      const bound_t other = BOUND_OF(at[d * LEAF + lane]);
      bounds[lane] = BOUND_ADD(bounds[lane], BOUND_DIFFERENCE(own, other));
    }
  }
#pragma unroll
  for (uint lane = 0; lane < LEAF; ++lane)
    near |= (uint)BOUND_AT_MOST(bounds[lane], search->limit) << lane;
#elif WG_SIZE == 1
  real8 sums = REAL_ZERO;
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d)
    sums = DISTANCE_ADD(sums, SEARCH_OWN(search, d), vload8(d, at));
  sums = DISTANCE_PLAIN(sums);
  vstore8(sums, 0, plains);
  near = bits_of_mask(real_at_most(sums, search->reach));
#else
  real sums[LEAF] = {REAL_ZERO};
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const real own = SEARCH_OWN(search, d);
#pragma unroll
    for (uint lane = 0; lane < LEAF; ++lane)
      sums[lane] = DISTANCE_ADD(sums[lane], own, at[d * LEAF + lane]);
  }
#pragma unroll
  for (uint lane = 0; lane < LEAF; ++lane)
    near |= (uint)real_at_most(DISTANCE_PLAIN(sums[lane]), search->reach) << lane;
#endif
  const uint n_points = min(tree->n - leaf * LEAF, LEAF);
  return near & ((1u << n_points) - 1);
}

// The plain value (distance before any square root) between the point of the search and a point of
// the leaf that is in the mask which search_leaf has returned. `lane` is the index of this point in
// the leaf.
#if STORES_PLAINS
#define SEARCHED_PLAIN(search, tree, leaf, lane, plains) (plains)[lane]
#else
#define SEARCHED_PLAIN(search, tree, leaf, lane, plains) \
  search_plain(search, tree, (leaf) * LEAF + (lane))
#endif
