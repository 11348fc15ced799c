// bvh-boruvka: build the hierarchy of bounding boxes over the points, which are in order already
// (halves.cl). First copy the coordinates in this order, then compute the boxes.
#include "algorithms/bvh_boruvka/tree.cl"

// Copy the coordinates of the points into the leaves of the hierarchy, in which LEAF consecutive
// points are a leaf.
//
// In       planes[rows * n]: the points, with all first coordinates, then all second ones, and so
//          on, then the core distances if there are any;
//          ids[n]: the number of the point at each position of the order of leaves.
// Out      points[n_leaves * rows * LEAF]: the coordinates and core distances, leaf by leaf, and in
//          each leaf row by row;
//          slots[n]: for each point its slot, which is its position in the order of leaves.
// Launch   any.
// Needs    ids is a permutation.
// Ensures  slots[ids[i]] = i. Slots after the last point have infinite coordinates.
kernel void bvh_boruvka_build_gather(const global real *planes, const global uint *ids,
                                     global real *points, global uint *slots, uint rows, uint n) {
  const uint n_places = (n + LEAF - 1) / LEAF * LEAF;
  GRID_FOR(slot, n_places) {
    const uint id = slot < n ? ids[slot] : 0;
    global real *to = points + (slot >> LEAF_SHIFT) * (rows * LEAF) + slot % LEAF;
    for (uint row = 0; row < rows; ++row)
      to[row * LEAF] = slot < n ? planes[(size_t)row * n + id] : REAL_INFINITY;
    if (slot < n) slots[id] = (uint)slot;
  }
}

// Compute the bounding box of each leaf, which is eight consecutive points, and the minimum of the
// numbers that its points have in the caller's input.
//
// In       points: the coordinates and core distances, leaf by leaf, as bvh_boruvka_build_gather
//          stores them;
//          ids[n]: the number of the point at each position of the order of leaves.
// Out      boxes: for each leaf, the minimum and the maximum of each coordinate, and the minimum
//          core distance, in the layout of tree.cl;
//          least: for each leaf, the minimum of its points' numbers.
// Launch   any.
// Needs    bvh_boruvka_build_gather.
// Ensures  every point is in the box of its leaf. Entries of `boxes` that no leaf uses (padding)
//          have empty boxes.
kernel void bvh_boruvka_build_bound_leaves(const global real *points, const global uint *ids,
                                           global real *boxes, global uint *least, uint dimensions,
                                           uint rows, uint n) {
  const uint n_leaves = (n + LEAF - 1) / LEAF;
  GRID_FOR(leaf, tree_places(n_leaves)) {
    const uint n_points = leaf < n_leaves ? min(n - (uint)leaf * LEAF, LEAF) : 0;
    const global real *from = points + leaf * (rows * LEAF);
    global real *box =
        boxes + (leaf >> FANOUT_SHIFT) * ((dimensions + rows) * FANOUT) + (leaf & FANOUT_MASK);
    for (uint row = 0; row < rows; ++row) {
      real lower = REAL_INFINITY, upper = real_negate(REAL_INFINITY);
      for (uint lane = 0; lane < LEAF; ++lane) {
        const bool is_there = lane < n_points;
        lower = real_min(lower, is_there ? from[row * LEAF + lane] : REAL_INFINITY);
        upper = real_max(upper, is_there ? from[row * LEAF + lane] : real_negate(REAL_INFINITY));
      }
      box[2 * row * FANOUT] = lower;
      if (row < dimensions) box[(2 * row + 1) * FANOUT] = upper;
    }
    uint least_id = NO_SLOT;
    for (uint lane = 0; lane < n_points; ++lane)
      least_id = min(least_id, ids[(uint)leaf * LEAF + lane]);
    least[leaf] = least_id;
  }
}

// Compute the bounding boxes of the nodes of each level of the hierarchy from the boxes of the
// level below. Level 0 has the leaves, and the last level has the root.
//
// In       bases: for each level, the index of its first node in arrays of nodes.
// In-out   boxes: the box of each node;
//          least: for each node, the minimum of its points' numbers. The kernel reads the entries
//          of level - 1, and writes the entries of the levels from `level` to end - 1.
// Launch   any for one level; one work-group for several levels. Levels are handled in ascending
//          order, beginning with level 1.
// Needs    the level below is complete.
// Ensures  the box of every node contains the boxes of its children. Entries of `boxes` that no
//          node uses (padding) have empty boxes.
kernel void bvh_boruvka_build_bound_nodes(global real *boxes, global uint *least,
                                          const global uint *bases, uint box_rows, uint n_leaves,
                                          uint level, uint end) {
  for (; level < end; ++level) {
    const uint n_below = tree_width(n_leaves, level - 1);
    const uint base = bases[level], below = bases[level - 1];
    GRID_FOR(node, tree_places(tree_width(n_leaves, level))) {
      const uint first = (uint)node << FANOUT_SHIFT;
      const uint n_children = first < n_below ? min(n_below - first, FANOUT) : 0;
      const global real *from =
          boxes + ((size_t)(below >> FANOUT_SHIFT) + node) * (box_rows * FANOUT);
      global real *box =
          boxes + ((size_t)(base >> FANOUT_SHIFT) + (node >> FANOUT_SHIFT)) * (box_rows * FANOUT) +
          (node & FANOUT_MASK);
      for (uint row = 0; row < box_rows; ++row) {
        const bool is_upper = row % 2 == 1;  // the core distances' row is even
        real end_of_row = is_upper ? real_negate(REAL_INFINITY) : REAL_INFINITY;
        for (uint c = row * FANOUT; c < row * FANOUT + n_children; ++c)
          end_of_row = is_upper ? real_max(end_of_row, from[c]) : real_min(end_of_row, from[c]);
        box[row * FANOUT] = end_of_row;
      }
      uint least_id = NO_SLOT;
      for (uint c = 0; c < n_children; ++c) least_id = min(least_id, least[below + first + c]);
      least[base + node] = least_id;
    }
    wg_barrier();
  }
}
