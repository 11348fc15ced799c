// bvh-boruvka: build the hierarchy of bounding boxes over the points, in three steps. First, halve
// the set of points again and again. This gives an order in which points that are close in space
// have close positions. Then copy the coordinates in this order. Finally, compute the boxes.
#include "algorithms/bvh_boruvka/halves.cl"

// Halve segments of points again and again, at the median along the widest side. A segment is a
// range of consecutive points that becomes a node of the hierarchy. A segment of height h has 2**h
// leaves. Each segment is halved by one work-group.
//
// In       planes[dimensions * n]: the points, with all first coordinates, then all second ones,
//          and so on.
// In-out   ids[n]: the number of the point at each position of the order of points. The kernel
//          permutes the points within each segment.
// Temp     keys[n]: for each point, the coordinate by which it is compared. Only work-groups of one
//          work-item use the array. Others use local memory.
// Launch   any.
// Needs    end <= height, where `height` is the height of the segments to begin with. If
//          work-groups have several work-items, height <= LOCAL_HEIGHT.
// Ensures  all segments of the heights from `height` down to end + 1 are halved.
LANES_ATTRIBUTE
kernel void bvh_boruvka_build_halve(const global real *planes, global uint *ids, global real *keys,
                                    uint dimensions, uint n, uint height, uint end) {
#if WG_SIZE == 1
  TILES_FOR(first, n, SEGMENT_POINTS(height)) {
    const size_t behind = min(first + SEGMENT_POINTS(height), (size_t)n);
    for (uint h = height; h > end; --h) {
      for (size_t at = first; at < behind; at += SEGMENT_POINTS(h)) {
        const uint size = (uint)min(SEGMENT_POINTS(h), behind - at);
        const uint kept = (uint)SEGMENT_POINTS(h - 1);
        if (size <= kept) continue;
        const uint axis = wi_widest(planes, ids + at, dimensions, n, size);
        for (uint i = 0; i < size; ++i)
          keys[at + i] = key_of(planes, ids[at + i], axis, dimensions, n);
        wi_select(keys + at, ids + at, size, kept);
      }
    }
  }
#else
  local real local_keys[LOCAL_POINTS];
  local uint local_ids[LOCAL_POINTS], axes[LOCAL_POINTS / LEAF];
  const uint points = LEAF << height;
  TILES_FOR(first, n, points) {
    for (uint i = get_local_id(0); i < points; i += WG_SIZE)
      local_ids[i] = first + i < n ? ids[first + i] : NO_SLOT;
    wg_barrier_local();
    for (uint h = height; h > end; --h) {
      wg_widest(planes, local_ids, axes, local_keys, dimensions, n, points, h);
      for (uint i = get_local_id(0); i < points; i += WG_SIZE) {
        const uint id = local_ids[i], axis = axes[i / LEAF >> h << h];
        local_keys[i] = id == NO_SLOT ? REAL_INFINITY : key_of(planes, id, axis, dimensions, n);
      }
      wg_barrier_local();
      wg_halve(local_keys, local_ids, points, LEAF << h);
    }
    for (uint i = get_local_id(0); i < points && first + i < n; i += WG_SIZE)
      ids[first + i] = local_ids[i];
    wg_barrier_local();
  }
#endif
}

#if WG_SIZE > 1

// Compute a code for each point, by which points are then sorted. This halves segments that are too
// large for a work-group's local memory. A segment is a range of consecutive points that becomes a
// node of the hierarchy. A segment of height h has 2**h leaves. When the points are sorted by their
// codes, the points of each segment are in order along the segment's widest side, at least near its
// middle. So the sort puts the lower half of the points into the first half of the segment.
//
// In       planes[dimensions * n]: the points, with all first coordinates, then all second ones,
//          and so on; ids[n]: the number of the point at each position of the order of points.
// Out      codes[n]: for each position, the number of its segment << bits | the number of the cell
//          that contains the point. Cells are intervals of the coordinate along the segment's
//          widest side.
// Launch   any. `height` is the height of the segments to halve. A work-group handles 2**part
//          leaves of one segment at a time.
// Needs    0 < part <= height; bits >= 2; codes fit 64 bits.
// Ensures  the middle and the widest side of a segment are estimated from a sample of its points.
//          The cells between the first and the last one have equal widths. They cover the range
//          from a quarter of the sample below its middle to a quarter above its middle. The first
//          cell has all points below this range, and the last cell all points above.
LANES_ATTRIBUTE
kernel void bvh_boruvka_build_encode(const global real *planes, const global uint *ids,
                                     global uint *codes, uint dimensions, uint n, uint height,
                                     uint part, uint bits) {
  local real keys[SAMPLES], window[2];
  local uint sample[SAMPLES], axes[SAMPLES / LEAF];
  const uint last = (1u << bits) - 1;
  TILES_FOR(first, n, SEGMENT_POINTS(part)) {
    const uint segment = (uint)(first / SEGMENT_POINTS(height));
    const size_t begin = segment * SEGMENT_POINTS(height);
    const size_t size = min(SEGMENT_POINTS(height), n - begin);
    for (uint i = get_local_id(0); i < SAMPLES; i += WG_SIZE) {  // one from each share
      const uint within = mul_hi(i * 2654435769u, (uint)(size / SAMPLES));
      sample[i] = ids[begin + i * size / SAMPLES + within];
    }
    wg_barrier_local();
    wg_widest(planes, sample, axes, keys, dimensions, n, SAMPLES, SAMPLES_HEIGHT);
    const uint axis = axes[0];
    for (uint i = get_local_id(0); i < SAMPLES; i += WG_SIZE)
      keys[i] = key_of(planes, sample[i], axis, dimensions, n);
    wg_barrier_local();
    const uint middle = (uint)min(SEGMENT_POINTS(height - 1) * SAMPLES / size, (size_t)SAMPLES);
    for (uint i = get_local_id(0); i < SAMPLES; i += WG_SIZE) {
      uint rank = 0;
      for (uint j = 0; j < SAMPLES; ++j)
        rank += real_less(keys[j], keys[i]) || (real_equal(keys[j], keys[i]) && j < i);
      if (rank + SAMPLES / 4 == max(middle, SAMPLES / 4)) window[0] = keys[i];
      if (rank == min(middle + SAMPLES / 4, SAMPLES - 1)) window[1] = keys[i];
    }
    wg_barrier_local();
    const real lower = window[0], upper = window[1];
    const size_t behind = min(first + SEGMENT_POINTS(part), (size_t)n);
    for (size_t i = first + get_local_id(0); i < behind; i += WG_SIZE) {
      const real key = key_of(planes, ids[i], axis, dimensions, n);
      const real side = real_subtract(upper, lower), above = real_subtract(key, lower);
      const real place = real_less(lower, upper) ? real_divide(above, side) : REAL_ZERO;
      const uint inside = real_to_uint(real_multiply(place, real_from_uint(last - 2)));
      const uint cell = real_less(key, lower) ? 0 : real_less(upper, key) ? last : 1 + inside;
      codes[i] = segment << bits | cell;
    }
    wg_barrier_local();
  }
}

#endif

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
