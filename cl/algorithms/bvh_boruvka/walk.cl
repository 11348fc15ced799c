// bvh-boruvka: the path of a search through the hierarchy, which is the sequence of the leaves that
// the search visits.
#include "algorithms/bvh_boruvka/tree.cl"

// The gap between two boxes in one dimension, or 0 if they overlap. One box, around which the
// search goes, extends from x to x_upper (for a point, both are equal). The other one, a box of the
// hierarchy, extends from `lower` to `upper`. The gaps of all dimensions give a lower bound of the
// distances between points of the two boxes. Distances are computed by the same operations in the
// same order, and rounding is monotonic. So the computed bound is not greater than any computed
// distance.
#define BOX_GAP(x, x_upper, lower, upper) \
  real_max(real_max(real_subtract(lower, x_upper), real_subtract(x, upper)), REAL_ZERO)
#if METRIC == METRIC_COSINE
#define BOX_ADD(sum, x, x_upper, lower, upper)                                       \
  real_add(sum, real_max(real_max(real_multiply(x, lower), real_multiply(x, upper)), \
                         real_max(real_multiply(x_upper, lower), real_multiply(x_upper, upper))))
#else
#define BOX_ADD(sum, x, x_upper, lower, upper) \
  DISTANCE_ADD_DIFFERENCE(sum, BOX_GAP(x, x_upper, lower, upper))
#endif

// Return whether a node of the hierarchy may contain the end of a better edge, when the best edge
// so far has weight 0. A better edge then has weight 0, too, and lesser ends. `least` is the
// minimum of the numbers of the node's points. Without this test, a search among many equal points
// would visit all of them.
static inline bool search_may_tie(const search_t *search, uint least) {
  const uint lesser = min(search->id, least), greater = max(search->id, least);
  return lesser < search->lesser ||
         (lesser == search->lesser && (least == search->id || greater < search->greater));
}

// Return a mask of those children of a node of the hierarchy that a search has to visit: their
// boxes are within reach, and not all of their points are in the component `own`. `parent` is the
// node, and `level` the level of its children. `labels` has the component of each node, or MIXED.
// If it is null, components are ignored.
static inline uint tree_near_children(const tree_t *tree, const search_t *search, uint level,
                                      uint parent, const global uint *labels, uint own) {
  const uint first = parent << FANOUT_SHIFT, base = tree->bases[level];
  const uint n_children = min(tree_width(tree->n_leaves, level) - first, FANOUT);
  const global real *box = tree_box(tree, base + first);
  uint near = 0;
#if WG_SIZE == 1
#if BOUNDED
  bound8_t bounds = BOUND_ZERO;
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const bound8_t lower = BOUND_OF(vload8(2 * d, box)), upper = BOUND_OF(vload8(2 * d + 1, box));
    const bound8_t x = BOUND_OF(SEARCH_LOWER(search, d)),
                   x_upper = BOUND_OF(SEARCH_UPPER(search, d));
    bounds = BOUND_ADD(bounds, BOUND_GAP(x, x_upper, lower, upper));
  }
  long8 is_near = BOUNDS_AT_MOST(bounds, (bound8_t)search->limit);
#else
  real8 sums = REAL_ZERO;
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const real8 lower = vload8(2 * d, box), upper = vload8(2 * d + 1, box);
    sums = BOX_ADD(sums, SEARCH_LOWER(search, d), SEARCH_UPPER(search, d), lower, upper);
  }
  long8 is_near = real_at_most(DISTANCE_PLAIN(sums), search->reach);
#endif
#if CORE_DISTANCES
  is_near &= real_at_most(vload8(2 * tree->dimensions, box), search->weight);
#endif
  if (labels) is_near &= convert_long8(vload8(0, labels + base + first) != own);
  near = bits_of_mask(is_near);
#else
#if BOUNDED
  bound_t bounds[FANOUT] = {BOUND_ZERO};
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const bound_t x = BOUND_OF(SEARCH_LOWER(search, d));
    const bound_t x_upper = BOUND_OF(SEARCH_UPPER(search, d));
#pragma unroll
    for (uint c = 0; c < FANOUT; ++c) {
      const bound_t lower = BOUND_OF(box[2 * d * FANOUT + c]);
      const bound_t upper = BOUND_OF(box[(2 * d + 1) * FANOUT + c]);
      bounds[c] = BOUND_ADD(bounds[c], BOUND_GAP(x, x_upper, lower, upper));
    }
  }
#else
  real sums[FANOUT] = {REAL_ZERO};
  for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
    const real own_lower = SEARCH_LOWER(search, d), own_upper = SEARCH_UPPER(search, d);
#pragma unroll
    for (uint c = 0; c < FANOUT; ++c)
      sums[c] = BOX_ADD(sums[c], own_lower, own_upper, box[2 * d * FANOUT + c],
                        box[(2 * d + 1) * FANOUT + c]);
  }
#endif
#pragma unroll
  for (uint c = 0; c < FANOUT; ++c) {
#if BOUNDED
    bool is_near = BOUND_AT_MOST(bounds[c], search->limit);
#else
    bool is_near = real_at_most(DISTANCE_PLAIN(sums[c]), search->reach);
#endif
#if CORE_DISTANCES
    is_near = is_near && real_at_most(box[2 * tree->dimensions * FANOUT + c], search->weight);
#endif
    near |= (uint)is_near << c;
  }
  if (labels) {
    const uint4 of_children = vload4(0, labels + base + first);
    near &= (of_children.x != own) | (of_children.y != own) << 1 | (of_children.z != own) << 2 |
            (of_children.w != own) << 3;
  }
#endif
  near &= (1u << n_children) - 1;
  if (real_equal(search->weight, REAL_ZERO) && search->at != NO_SLOT) {
    for (uint c = 0; c < n_children; ++c)
      if (near >> c & 1 && !search_may_tie(search, tree->least[base + first + c]))
        near &= ~(1u << c);
  }
  return near;
}

// The path of a search through the hierarchy. It begins at the leaf of the searching point and goes
// up level by level. At each level it goes down into the siblings whose boxes are within reach. So
// the first leaves are usually near. They shorten the reach, and many later leaves need not be
// visited.
typedef struct {
  ulong masks;   // FANOUT bits for each level: the children that remain
  uint leaf;     // the leaf where the path begins
  uint ceiling;  // the level whose siblings are visited now
  uint level, parent;
} walk_t;

static inline void walk_open(walk_t *walk, uint leaf) {
  walk->masks = 0;
  walk->leaf = leaf;
  walk->ceiling = UINT_MAX;
  walk->level = UINT_MAX;
  walk->parent = leaf;
}

// Return the next leaf on the path of a search that is within reach and has points outside the
// component `own`, or NO_SLOT if no leaf remains.
static inline uint walk_next(walk_t *walk, const tree_t *tree, const search_t *search,
                             const global uint *labels, uint own) {
  for (;;) {
    uint remaining = 0;
    if (walk->level != UINT_MAX)
      remaining = (uint)(walk->masks >> (walk->level << FANOUT_SHIFT)) & ((1u << FANOUT) - 1);
    if (remaining == 0) {
      if (walk->level == walk->ceiling) {
        walk->ceiling += 1;
        if (walk->ceiling == tree->top) return NO_SLOT;
        const uint below = walk->leaf >> (FANOUT_SHIFT * walk->ceiling);
        walk->level = walk->ceiling;
        walk->parent = below >> FANOUT_SHIFT;
        remaining = tree_near_children(tree, search, walk->level, walk->parent, labels, own);
        remaining &= ~(1u << (below & FANOUT_MASK));
        walk->masks |= (ulong)remaining << (walk->level << FANOUT_SHIFT);
      } else {
        walk->level += 1;
        walk->parent >>= FANOUT_SHIFT;
      }
      continue;
    }
    const uint bit = remaining & -remaining, child = 31 - clz(bit);
    walk->masks ^= (ulong)bit << (walk->level << FANOUT_SHIFT);
    const uint node = walk->parent << FANOUT_SHIFT | child;
    if (walk->level == 0) return node;
    walk->level -= 1;
    walk->parent = node;
    const ulong near = tree_near_children(tree, search, walk->level, node, labels, own);
    walk->masks |= near << (walk->level << FANOUT_SHIFT);
  }
}
