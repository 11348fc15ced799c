// bvh-boruvka: leaves with no edge that is light enough, so that their points need not search.
//
// In late rounds there are few components, and most points are deep in one, far from all others. Their
// lists end within the component, so each would search by itself, and find nothing:
//
//     +-------+
//     | . . . |        the leaf's box; all its points are of component c
//     |  . .  | <-W->  no point of another component is within W, the weight of c's best edge so far
//     +-------+
#define SEARCH_BOX 1

#include "algorithms/bvh_boruvka/components.cl"
#include "algorithms/bvh_boruvka/walk.cl"
#include "device/winners.cl"

// Open a search around the box of a leaf.
static inline void search_open_box(search_t *search, const tree_t *tree, uint leaf, double weight) {
  const global double *box =
      tree->boxes + (size_t)(leaf >> FANOUT_SHIFT) * (BOX_ROWS * FANOUT) + (leaf & FANOUT_MASK);
#pragma unroll
  for (uint d = 0; d < DIMENSIONS; ++d) {
    search->own[d] = box[2 * d * FANOUT];
    search->upper[d] = box[(2 * d + 1) * FANOUT];
  }
  search->weight = weight;
  search->reach = tree_reach(weight);
  search->at = NO_SLOT;
}

// Whether a point of a leaf is within reach of a box, and not of the component `own`.
static inline bool leaf_has_near(const search_t *search, const tree_t *tree, uint leaf,
                                 const global uint *component, uint label, uint own) {
  const global double *at = tree->points + (size_t)leaf * (LEAF_ROWS * LEAF);
  const uint n_points = min(tree->n - leaf * LEAF, LEAF);
  for (uint lane = 0; lane < n_points; ++lane) {
    double sum = 0;
#pragma unroll
    for (uint d = 0; d < DIMENSIONS; ++d) {
      const double x = at[d * LEAF + lane];
      sum = BOX_ADD(sum, search->own[d], search->upper[d], x, x);
    }
    if (DISTANCE_PLAIN(sum) > search->reach) continue;
    if ((label == MIXED ? component[leaf * LEAF + lane] : label) != own) return true;
  }
  return false;
}

// Note of leaves of one component that no edge of theirs is as light as the component's best one.
//
// In       points, boxes, ids[n], least, bases: the tree; component[n], labels; winners[n * words].
// In-out   lower[n], leaf_lower[n_leaves]: raised.
// Launch   any.
// Needs    bvh_boruvka_lightest_bound: every component has an edge.
// Ensures  no edge that leaves the component of a point is lighter than the point's entry of lower;
//          leaf_lower[l] is at most the least of them in leaf l.
kernel void bvh_boruvka_clear_leaves(const global double *points, const global double *boxes,
                                     const global uint *ids, const global uint *least,
                                     const global uint *bases, const global uint *component,
                                     const global uint *labels, global double *lower,
                                     global double *leaf_lower, const volatile global uint *winners,
                                     uint n, uint top) {
  tree_t tree;
  tree_open(&tree, points, boxes, ids, least, bases, n, top);
  GRID_FOR(leaf, tree.n_leaves) {
    const uint label = labels[leaf];
    if (label == MIXED) continue;
    const double bound = distance_of_key(winner_bound(winners, n, label));
    if (!(leaf_lower[leaf] <= bound) || bound == INFINITY) continue;
    search_t search;
    walk_t walk;
    search_open_box(&search, &tree, (uint)leaf, bound);
    walk_open(&walk, (uint)leaf);
    uint near = walk_next(&walk, &tree, &search, labels, label);
    while (near != NO_SLOT && !leaf_has_near(&search, &tree, near, component, labels[near], label))
      near = walk_next(&walk, &tree, &search, labels, label);
    if (near != NO_SLOT) continue;
    const double above = as_double(as_ulong(bound) + 1);  // the next number: edges are heavier
    const uint begin = (uint)leaf * LEAF, end = begin + min(n - begin, LEAF);
    for (uint slot = begin; slot < end; ++slot) lower[slot] = max(lower[slot], above);
    leaf_lower[leaf] = above;
  }
}
