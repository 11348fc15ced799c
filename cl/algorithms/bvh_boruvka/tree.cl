// bvh-boruvka: the layout of the bounding-volume hierarchy, and the state of a search in it.
//
// Points are ordered so that near points have near positions. A *slot* is a point's position in
// this order. A leaf is LEAF consecutive slots; a node has FANOUT consecutive nodes of the level
// below, or leaves. So the tree needs no pointers. With FANOUT 4 and 11 leaves:
//
//     level 2                       0
//     level 1           0           1         2
//     level 0        0 1 2 3     4 5 6 7    8 9 10         leaves
//
// Coordinates lie by leaf:  points[leaf][row][lane], one row for each dimension, then a row of core
//                           distances.
// Boxes lie by parent:      boxes[group][row][child], rows lower and upper end of each dimension in
//                           turns, then the least core distance; group bases[level] / FANOUT + p has
//                           the children of node p, which are on `level`.
// Other arrays of nodes:    index bases[level] + node; bases are multiples of FANOUT, bases[0] is 0.

#ifndef METRIC
#define METRIC 1  // METRIC_EUCLIDEAN: a hierarchy is always of points
#endif
#include "device/distance.cl"
#include "device/work_group.cl"

#define LEAF 8u
#define LEAF_SHIFT 3u

// Children per node: as many as a vector of doubles holds if work-groups have one work-item.
#define FANOUT_SHIFT (WG_SIZE == 1 ? 3u : 2u)
#define FANOUT (1u << FANOUT_SHIFT)
#define FANOUT_MASK (FANOUT - 1)

// Stands for "no slot" and for "no point".
#define NO_SLOT 0xffffffffu
// The label of a node with points of several components.
#define MIXED 0xffffffffu

// Relative and absolute slack of squares: every pair that is not farther than a distance has a
// square within the bound of that distance.
#define SQUARE_SLACK 1e-15
#define SQUARE_SLACK_AT_ZERO 1e-300

// Entry `j` of a slot's list of `k` points; neighbouring work-items read neighbouring entries.
#define LIST_AT(slot, j, k, n) \
  (WG_SIZE == 1 ? (size_t)(slot) * (k) + (j) : (size_t)(j) * (n) + (slot))

typedef struct {
  const global double *points, *boxes;
  const global uint *ids;    // [n]: the caller's number of the point in a slot
  const global uint *least;  // by node: the least number of its points
  const global uint *bases;
  uint dimensions, leaf_rows, box_rows;
  uint n, n_leaves, top;  // top: the level of the root
} tree_t;

// The arrays of a tree, in the order in which kernels take them.
#define TREE_PARAMETERS                                                            \
  const global double *points, const global double *boxes, const global uint *ids, \
      const global uint *least, const global uint *bases, uint dimensions
#define TREE_ARGUMENTS points, boxes, ids, least, bases, dimensions

static inline void tree_open(tree_t *tree, TREE_PARAMETERS, uint n, uint top) {
  tree->points = points;
  tree->boxes = boxes;
  tree->ids = ids;
  tree->least = least;
  tree->bases = bases;
  tree->dimensions = DIMENSIONS(dimensions);
  tree->leaf_rows = tree->dimensions + CORE_DISTANCES;
  tree->box_rows = tree->dimensions + tree->leaf_rows;
  tree->n = n;
  tree->n_leaves = (n + LEAF - 1) / LEAF;
  tree->top = top;
}

// Return the number of nodes of a level.
static inline uint tree_width(uint n_leaves, uint level) {
  return ((n_leaves - 1) >> (FANOUT_SHIFT * level)) + 1;
}

// Return the number of entries that arrays have for a level of `n_nodes` nodes. It is rounded up to
// whole groups of children.
static inline uint tree_places(uint n_nodes) {
  return (n_nodes + FANOUT_MASK) & ~FANOUT_MASK;
}

// Return the address of the first coordinates of a leaf's points. The next coordinates follow LEAF
// entries later.
static inline const global double *tree_leaf(const tree_t *tree, uint leaf) {
  return tree->points + (size_t)leaf * (tree->leaf_rows * LEAF);
}

// Return the address of the lower end of a node's box in the first dimension. `index` is the node's
// index in arrays of nodes. The next row follows FANOUT entries later.
static inline const global double *tree_box(const tree_t *tree, uint index) {
  return tree->boxes + (size_t)(index >> FANOUT_SHIFT) * (tree->box_rows * FANOUT) +
         (index & FANOUT_MASK);
}

// Return a row of the coordinates of a slot.
static inline double tree_at(const tree_t *tree, uint slot, uint row) {
  return tree_leaf(tree, slot >> LEAF_SHIFT)[row * LEAF + slot % LEAF];
}

// The maximum plain sum of a pair that is not farther apart than a distance. The argument is one
// distance or a vector of them.
#if METRIC == METRIC_EUCLIDEAN
#define TREE_REACH(distance) ((distance) * (distance) * (1 + SQUARE_SLACK) + SQUARE_SLACK_AT_ZERO)
#else
#define TREE_REACH(distance) (distance)
#endif

// A search for the lightest edge, or for near points, around the point in a slot or around a box.
// It stores the corners of the box. With few dimensions the coordinates stay in registers.
typedef struct {
#if DIMENSION_CLASS
  double lower[DIMENSION_CLASS], upper[DIMENSION_CLASS];
#else
  const global double *lower, *upper;
  uint stride;
#endif
  double core;               // the point's core distance; 0 where there are none
  double reach;              // greater plain sums are too far
  double weight;             // of the best edge so far; heavier edges are not wanted
  uint id;                   // the point's number
  uint lesser, greater, at;  // the best edge so far, and the slot of its other end, or NO_SLOT
} search_t;

// The corners, and the coordinates of the point, in dimension `d`.
#if DIMENSION_CLASS
#define SEARCH_LOWER(search, d) (search)->lower[d]
#define SEARCH_UPPER(search, d) (search)->upper[d]
#else
#define SEARCH_LOWER(search, d) (search)->lower[(d) * (search)->stride]
#define SEARCH_UPPER(search, d) (search)->upper[(d) * (search)->stride]
#endif
#define SEARCH_OWN SEARCH_LOWER

// Set the corners of the box around which to search. Their coordinates are `stride` entries apart.
static inline void search_place(search_t *search, const global double *lower,
                                const global double *upper, uint stride) {
#if DIMENSION_CLASS
#pragma unroll
  for (uint d = 0; d < DIMENSION_CLASS; ++d) {
    search->lower[d] = lower[d * stride];
    search->upper[d] = upper[d * stride];
  }
#else
  search->lower = lower;
  search->upper = upper;
  search->stride = stride;
#endif
}

// Open a search around the box of a leaf.
static inline void search_open_box(search_t *search, const tree_t *tree, uint leaf, double weight) {
  const global double *box = tree_box(tree, leaf);
  search_place(search, box, box + FANOUT, 2 * FANOUT);
  search->weight = weight;
  search->reach = TREE_REACH(weight);
  search->at = NO_SLOT;
}

static inline void search_open(search_t *search, const tree_t *tree, uint slot, double weight) {
  const global double *at = tree_leaf(tree, slot >> LEAF_SHIFT) + slot % LEAF;
  search_place(search, at, at, LEAF);
  search->core = CORE_DISTANCES ? tree_at(tree, slot, tree->dimensions) : 0;
  search->weight = weight;
  search->reach = TREE_REACH(weight);
  search->id = tree->ids[slot];
  search->lesser = search->greater = search->at = NO_SLOT;
}

// Return the weight of the edge between the point of the search and the point in `slot`.
static inline double search_weight(const search_t *search, const tree_t *tree, uint slot,
                                   double plain) {
  double weight = DISTANCE_OF_PLAIN(plain);
#if CORE_DISTANCES
  weight = fmax(fmax(weight, search->core), tree_at(tree, slot, tree->dimensions));
#endif
  return weight;
}

// Return the plain sum of the point of the search and the point in `slot`.
static inline double search_plain(const search_t *search, const tree_t *tree, uint slot) {
  double sum = 0;
#pragma clang loop vectorize(disable)
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d)
    sum = DISTANCE_ADD(sum, SEARCH_OWN(search, d), tree_at(tree, slot, d));
  return DISTANCE_PLAIN(sum);
}

// Make the edge to the point in `slot`, which has weight `weight`, the best edge if it is better.
static inline void search_take(search_t *search, const tree_t *tree, uint slot, double weight) {
  const uint other = tree->ids[slot];
  const uint lesser = min(search->id, other), greater = max(search->id, other);
  if (weight > search->weight) return;
  if (weight == search->weight &&
      (lesser > search->lesser || (lesser == search->lesser && greater >= search->greater)))
    return;
  search->weight = weight;
  search->reach = TREE_REACH(weight);
  search->lesser = lesser;
  search->greater = greater;
  search->at = slot;
}

#if WG_SIZE == 1
// Return a mask with one bit per lane: whether it is set.
static inline uint bits_of_mask(long8 mask) {
  const long8 bits = mask & (long8)(1, 2, 4, 8, 16, 32, 64, 128);
  const long4 four = bits.lo | bits.hi;
  const long2 two = four.lo | four.hi;
  return (uint)(two.x | two.y);
}
#endif

// Return a mask of the points of a leaf that are within reach, one bit each. With one work-item per
// work-group, the plain sums of the points are kept. Otherwise the few sums that are needed are
// computed again, so that no array is needed for them.
static inline uint search_leaf(const search_t *search, const tree_t *tree, uint leaf,
                               double plains[LEAF]) {
  const global double *at = tree_leaf(tree, leaf);
  uint near = 0;
#if WG_SIZE == 1
  double8 sums = 0;
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d)
    sums = DISTANCE_ADD(sums, SEARCH_OWN(search, d), vload8(d, at));
  sums = DISTANCE_PLAIN(sums);
  vstore8(sums, 0, plains);
  near = bits_of_mask(sums <= search->reach);
#else
  double sums[LEAF] = {0};
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const double own = SEARCH_OWN(search, d);
#pragma unroll
    for (uint lane = 0; lane < LEAF; ++lane)
      sums[lane] = DISTANCE_ADD(sums[lane], own, at[d * LEAF + lane]);
  }
#pragma unroll
  for (uint lane = 0; lane < LEAF; ++lane)
    near |= (uint)(DISTANCE_PLAIN(sums[lane]) <= search->reach) << lane;
#endif
  const uint n_points = min(tree->n - leaf * LEAF, LEAF);
  return near & ((1u << n_points) - 1);
}

// The plain sum of the search's point and a point in the mask of search_leaf.
#if WG_SIZE == 1
#define SEARCHED_PLAIN(search, tree, leaf, lane, plains) (plains)[lane]
#else
#define SEARCHED_PLAIN(search, tree, leaf, lane, plains) \
  search_plain(search, tree, (leaf) * LEAF + (lane))
#endif
