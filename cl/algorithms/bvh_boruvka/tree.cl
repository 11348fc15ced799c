// bvh-boruvka: the layout of the bounding-volume hierarchy, and the state of a search in it.
//
// Points are ordered so that points that are close in space have close positions. A *slot* is a
// point's position in this order. A leaf is LEAF consecutive slots. A node has FANOUT consecutive
// children, which are nodes of the level below, or leaves. So the tree needs no pointers. With
// FANOUT 4 and 11 leaves:
//
//     level 2                       0
//     level 1           0           1         2
//     level 0        0 1 2 3     4 5 6 7    8 9 10         leaves
//
// Coordinates are stored by leaf:   points[leaf][row][lane], where a lane is one of the LEAF points
//                                   of the leaf. There is one row for each dimension, then a row of
//                                   core distances.
// Boxes are stored by parent:       boxes[group][row][child]. For each dimension there is a row of
//                                   lower ends and a row of upper ends. The last row has the
//                                   minimum core distances. Group bases[level] / FANOUT + p has the
//                                   children of node p, which are on `level`.
// Other arrays of nodes have the index bases[level] + node. All bases are multiples of FANOUT, and
// bases[0] is 0.
//
// Searches compare pairs of points by their plain values, which are distances before any square
// root is taken (DISTANCE_PLAIN of distance.cl).

#ifndef METRIC
#define METRIC 1  // METRIC_EUCLIDEAN, because a hierarchy always has points
#endif
#include "device/bound.cl"
#include "device/distance.cl"
#include "device/work_group.cl"

#define LEAF 8u
#define LEAF_SHIFT 3u

// Number of children of a node of the hierarchy. In work-groups of one work-item it is 8, the
// number of lanes of a vector.
#define FANOUT_SHIFT (WG_SIZE == 1 ? 3u : 2u)
#define FANOUT (1u << FANOUT_SHIFT)
#define FANOUT_MASK (FANOUT - 1)

// The value that stands for "no slot" or "no point". A slot is the position of a point in the
// hierarchy.
#define NO_SLOT 0xffffffffu
// The label of a node of the hierarchy that has points of several components. The label of any
// other node is the component of all its points.
#define MIXED 0xffffffffu

// The index of entry `j` in the list of the `k` nearest points of the point in a slot, which is its
// position in the hierarchy. On GPUs the lists are interleaved, so that neighbouring work-items
// read neighbouring entries.
#define LIST_AT(slot, j, k, n) \
  (WG_SIZE == 1 ? (size_t)(slot) * (k) + (j) : (size_t)(j) * (n) + (slot))

typedef struct {
  const global real *points, *boxes;
  const global uint *ids;    // [n]: the caller's number of the point in each slot
  const global uint *least;  // for each node: the least number of its points
  const global uint *bases;
  uint dimensions, leaf_rows, box_rows;
  uint n, n_leaves, top;  // top: the level of the root
} tree_t;

// The kernel parameters for the arrays of a hierarchy, which tree_t describes.
#define TREE_PARAMETERS                                                        \
  const global real *points, const global real *boxes, const global uint *ids, \
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

// Return the number of nodes of a level of the hierarchy. Level 0 has the leaves.
static inline uint tree_width(uint n_leaves, uint level) {
  return ((n_leaves - 1) >> (FANOUT_SHIFT * level)) + 1;
}

// Return the number of entries that arrays have for a level of the hierarchy that has `n_nodes`
// nodes. It is the number of nodes, rounded up to a multiple of FANOUT, the number of children of a
// node.
static inline uint tree_places(uint n_nodes) {
  return (n_nodes + FANOUT_MASK) & ~FANOUT_MASK;
}

// Return the address of the first coordinates of the points of a leaf of the hierarchy. The next
// coordinates are LEAF entries later.
static inline const global real *tree_leaf(const tree_t *tree, uint leaf) {
  return tree->points + (size_t)leaf * (tree->leaf_rows * LEAF);
}

// Return the address of the lower end of the bounding box of a node in the first dimension. `index`
// is the node's index in arrays of nodes. The next row of the box is FANOUT entries later.
static inline const global real *tree_box(const tree_t *tree, uint index) {
  return tree->boxes + (size_t)(index >> FANOUT_SHIFT) * (tree->box_rows * FANOUT) +
         (index & FANOUT_MASK);
}

// Return the coordinate in row `row` of the point in a slot, which is its position in the
// hierarchy. The row after the last dimension has core distances.
static inline real tree_at(const tree_t *tree, uint slot, uint row) {
  return tree_leaf(tree, slot >> LEAF_SHIFT)[row * LEAF + slot % LEAF];
}

// The state of a search of the hierarchy for the lightest edge of a point, or for the points near a
// point or a box. The struct has the two corners of the box. For a point, both are its coordinates.
// With few dimensions (DIMENSION_CLASS is then their number) the corners stay in registers.
typedef struct {
#if DIMENSION_CLASS
  real lower[DIMENSION_CLASS], upper[DIMENSION_CLASS];
#else
  const global real *lower, *upper;
  uint stride;
#endif
  real core;   // the point's core distance, or 0 if there are no core distances
  real reach;  // greater plain values are too far
#if BOUNDED
  bound_t limit;  // greater bounds of plain values are too far
#endif
  real weight;               // the weight of the best edge so far; heavier edges are not wanted
  uint id;                   // the point's number
  uint lesser, greater, at;  // the best edge so far, and the slot of its other end, or NO_SLOT
} search_t;

// Coordinate `d` of the lower and of the upper corner of the box around which a search goes. For a
// search around a point, both are the coordinate of the point.
#if DIMENSION_CLASS
#define SEARCH_LOWER(search, d) (search)->lower[d]
#define SEARCH_UPPER(search, d) (search)->upper[d]
#else
#define SEARCH_LOWER(search, d) (search)->lower[(d) * (search)->stride]
#define SEARCH_UPPER(search, d) (search)->upper[(d) * (search)->stride]
#endif
#define SEARCH_OWN SEARCH_LOWER

// Set the corners of the box, or the point, around which the hierarchy is searched. Consecutive
// coordinates are `stride` entries apart.
static inline void search_place(search_t *search, const global real *lower,
                                const global real *upper, uint stride) {
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

// Limit a search: pairs of points whose plain value, which is their distance before any square
// root, is greater than `reach` are too far.
static inline void search_limit(search_t *search, const tree_t *tree, real reach) {
  search->reach = reach;
#if BOUNDED
  search->limit = bound_limit(reach, DIMENSIONS(tree->dimensions));
#endif
}

// Begin a search of the hierarchy around the box of a leaf, for edges whose weight is at most
// `weight`.
static inline void search_open_box(search_t *search, const tree_t *tree, uint leaf, real weight) {
  const global real *box = tree_box(tree, leaf);
  search_place(search, box, box + FANOUT, 2 * FANOUT);
  search->weight = weight;
  search_limit(search, tree, DISTANCE_REACH(weight));
  search->at = NO_SLOT;
}

static inline void search_open(search_t *search, const tree_t *tree, uint slot, real weight) {
  const global real *at = tree_leaf(tree, slot >> LEAF_SHIFT) + slot % LEAF;
  search_place(search, at, at, LEAF);
  search->core = CORE_DISTANCES ? tree_at(tree, slot, tree->dimensions) : REAL_ZERO;
  search->weight = weight;
  search_limit(search, tree, DISTANCE_REACH(weight));
  search->id = tree->ids[slot];
  search->lesser = search->greater = search->at = NO_SLOT;
}

// Return the weight of the edge between the point of the search and the point in `slot`, from its
// plain value, which is the distance before any square root.
static inline real search_weight(const search_t *search, const tree_t *tree, uint slot,
                                 real plain) {
  real weight = DISTANCE_OF_PLAIN(plain);
#if CORE_DISTANCES
  weight = real_fmax(real_fmax(weight, search->core), tree_at(tree, slot, tree->dimensions));
#endif
  return weight;
}

// Return the plain value, which is the distance before any square root, of the point of the search
// and the point in `slot`.
static inline real search_plain(const search_t *search, const tree_t *tree, uint slot) {
  real sum = REAL_ZERO;
#pragma clang loop vectorize(disable)
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d)
    sum = DISTANCE_ADD(sum, SEARCH_OWN(search, d), tree_at(tree, slot, d));
  return DISTANCE_PLAIN(sum);
}

// If the edge from the point of a search to the point in `slot` is lighter than the best edge so
// far, or has equal weight and lesser ends, it becomes the best edge.
static inline void search_take(search_t *search, const tree_t *tree, uint slot, real weight) {
  const uint other = tree->ids[slot];
  const uint lesser = min(search->id, other), greater = max(search->id, other);
  if (real_less(search->weight, weight)) return;
  if (real_equal(weight, search->weight) &&
      (lesser > search->lesser || (lesser == search->lesser && greater >= search->greater)))
    return;
  search->weight = weight;
  search_limit(search, tree, DISTANCE_REACH(weight));
  search->lesser = lesser;
  search->greater = greater;
  search->at = slot;
}

// Return a mask of eight bits. Bit i is 1 if lane i of the vector mask is set.
static inline uint bits_of_mask(long8 mask) {
  const long8 bits = mask & (long8)(1, 2, 4, 8, 16, 32, 64, 128);
  const long4 four = bits.lo | bits.hi;
  const long2 two = four.lo | four.hi;
  return (uint)(two.x | two.y);
}
