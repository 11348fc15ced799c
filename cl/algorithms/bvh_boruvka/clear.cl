// bvh-boruvka: find leaves of the hierarchy whose points need not search, because other components
// are too far from all of them.
//
// In late rounds of Borůvka's algorithm there are few components, and most points are deep inside
// their component, far from all others. The lists of their nearest points contain only points of
// the same component. Without this step, each of these points would search the hierarchy by itself,
// and find nothing:
//
//     +-------+
//     | . . . |        the leaf's box; all its points are of component c
//     |  . .  | <-W->  no point of another component is within W, the weight of c's best edge
//     +-------+
#include "algorithms/bvh_boruvka/components.cl"
#include "algorithms/bvh_boruvka/walk.cl"
#include "device/winners.cl"

// Return whether a leaf of the hierarchy has a point that is not in the component `own`, and is
// within reach of the box around which the search goes. `label` is the component of all points of
// the leaf, or MIXED if each has an entry in `component`.
static inline bool leaf_has_near(const search_t *search, const tree_t *tree, uint leaf,
                                 const global uint *component, uint label, uint own) {
  const global real *at = tree_leaf(tree, leaf);
  const uint n_points = min(tree->n - leaf * LEAF, LEAF);
  for (uint lane = 0; lane < n_points; ++lane) {
#if BOUNDED
    bound_t bound = BOUND_ZERO;
    for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
      const bound_t x = BOUND_OF(SEARCH_LOWER(search, d));
      const bound_t x_upper = BOUND_OF(SEARCH_UPPER(search, d));
      const bound_t other = BOUND_OF(at[d * LEAF + lane]);
      bound = BOUND_ADD(bound, BOUND_GAP(x, x_upper, other, other));
    }
    if (!BOUND_AT_MOST(bound, search->limit)) continue;
#else
    real sum = REAL_ZERO;
#pragma clang loop vectorize(disable)
    for (uint d = 0; d < DIMENSIONS(tree->dimensions); ++d) {
      const real x = at[d * LEAF + lane];
      sum = BOX_ADD(sum, SEARCH_LOWER(search, d), SEARCH_UPPER(search, d), x, x);
    }
    if (real_less(search->reach, DISTANCE_PLAIN(sum))) continue;
#endif
    if ((label == MIXED ? component[leaf * LEAF + lane] : label) != own) return true;
  }
  return false;
}

// Find leaves whose points need not search. All points of such a leaf are in one component, and
// none of them has an edge to another component that is as light as the best edge of their
// component so far. Raise the lower bounds of the edges of these points above the best edge. Then
// no point of the leaf searches in this round.
//
// In       the hierarchy (tree.cl);
//          component[n], labels: the components of single points and of whole nodes;
//          winners[n * words]: the best edge of each component so far (winners.cl).
// In-out   lower[n]: for each point, a lower bound of the weights of its edges to other components;
//          leaf_lower[n_leaves]: for each leaf, a lower bound of `lower` over its points.
// Launch   any.
// Needs    bvh_boruvka_lightest_bound, after which every component has an edge.
// Ensures  no edge from point p to another component is lighter than lower[p]. leaf_lower[l] is at
//          most the minimum of `lower` over the points of leaf l.
kernel void bvh_boruvka_clear_leaves(TREE_PARAMETERS, const global uint *component,
                                     const global uint *labels, global real *lower,
                                     global real *leaf_lower, const volatile global uint *winners,
                                     uint n, uint top) {
  tree_t tree;
  tree_open(&tree, TREE_ARGUMENTS, n, top);
  GRID_FOR(leaf, tree.n_leaves) {
    const uint label = labels[leaf];
    if (label == MIXED) continue;
    const real bound = distance_of_key(winner_bound(winners, n, label));
    if (!real_at_most(leaf_lower[leaf], bound) || real_equal(bound, REAL_INFINITY)) continue;
    search_t search;
    walk_t walk;
    search_open_box(&search, &tree, (uint)leaf, bound);
    walk_open(&walk, (uint)leaf);
    uint near = walk_next(&walk, &tree, &search, labels, label);
    while (near != NO_SLOT && !leaf_has_near(&search, &tree, near, component, labels[near], label))
      near = walk_next(&walk, &tree, &search, labels, label);
    if (near != NO_SLOT) continue;
    const real above = real_of_bits(real_bits(bound) + 1);  // the next number, below heavier edges
    const uint begin = (uint)leaf * LEAF, end = begin + min(n - begin, LEAF);
    for (uint slot = begin; slot < end; ++slot) lower[slot] = real_max(lower[slot], above);
    leaf_lower[leaf] = above;
  }
}
