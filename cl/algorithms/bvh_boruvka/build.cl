// bvh-boruvka: how the hierarchy is built: Hilbert codes, the points in their order, boxes.
//
// Source: Skilling, "Programming the Hilbert curve" (2004), for codes in any number of dimensions;
// Kamel and Faloutsos, "Hilbert R-tree" (1994), for boxes of equally many consecutive points.
#include "algorithms/bvh_boruvka/greatest.cl"
#include "algorithms/bvh_boruvka/tree.cl"

// Dimensions of which codes are made: a bit each is the least. Further ones count for boxes only.
#define MOST_CODED (DIMENSION_CLASS ? DIMENSION_CLASS : 32)
#define CODED(dimensions) (DIMENSION_CLASS || (dimensions) > 32 ? MOST_CODED : (dimensions))

// A group of more points whose codes are equal gets codes of its own box.
#define CROWD 64u

// The cell of a coordinate, of 2**bits: in the box from `lower` on of side `side`, halved both so
// that no difference is infinite.
static inline uint cell_of(double x, double lower, double side, uint bits) {
  const double part = side > 0 ? (0.5 * x - 0.5 * lower) / side : 0;
  return min((uint)(max(part, 0.0) * (double)(1u << bits)), (1u << bits) - 1);
}

// The index along the Hilbert curve of the cell at `x`, of 2**bits in each of `coded` dimensions;
// changes x.
static inline ulong hilbert_code(uint x[MOST_CODED], uint coded, uint bits) {
  uint first = x[0];  // which changes in each step, so it is in a register
  for (uint bit = bits - 1; bit > 0; --bit) {
    const uint below = (1u << bit) - 1;
    first ^= below & -(first >> bit & 1);
    for (uint d = 1; d < coded; ++d) {
      const uint is_set = -(x[d] >> bit & 1);  // all ones or none
      const uint swapped = (first ^ x[d]) & below & ~is_set;
      first ^= swapped | (below & is_set);
      x[d] ^= swapped;
    }
  }
  x[0] = first;
  uint flips = 0;
  for (uint d = 1; d < coded; ++d) x[d] ^= x[d - 1];
  for (uint bit = bits - 1; bit > 0; --bit) flips ^= -(x[coded - 1] >> bit & 1) & ((1u << bit) - 1);
  ulong code = 0;
  for (uint bit = bits; bit-- > 0;)
    for (uint d = 0; d < coded; ++d) code = code << 1 | ((x[d] ^ flips) >> bit & 1);
  return code;
}

// The first index of sorted codes whose code is at least `code`, or n.
static inline uint first_of(const global ulong *codes, uint n, ulong code) {
  uint low = 0, high = n;
  while (low < high) {
    const uint middle = low + (high - low) / 2;
    if (codes[middle] < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Find the least and the greatest coordinate in each dimension, of the points of each work-group.
//
// In       planes[dimensions * n]: one dimension after the other.
// Out      ends[2 * dimensions * work-groups]: by row, the lower and upper ends of each dimension in
//          turns.
// Launch   any.
// Needs    nothing.
// Ensures  infinite ends, the lower one greater, of a work-group without points.
LANES_ATTRIBUTE
kernel void bvh_boruvka_build_find_ends(const global double *planes, global double *ends,
                                        uint dimensions, uint n) {
  local double scratch[WG_SIZE];
  for (uint row = 0; row < 2 * DIMENSIONS(dimensions); ++row) {
    const double sign = row % 2 == 1 ? 1 : -1;  // the lower end is the greatest of what is negated
    double end = -INFINITY;
    GRID_FOR(i, n) end = max(end, sign * planes[(size_t)(row / 2) * n + i]);
    end = sign * wg_max_f64(end, scratch);
    if (get_local_id(0) == 0) ends[(size_t)row * get_num_groups(0) + get_group_id(0)] = end;
  }
}

// Compute the code of every point in the box of all.
//
// In       planes[dimensions * n]: one dimension after the other; box[dimensions + 1]: the lower ends
//          of all points' box, and half its longest side.
// Out      codes[n]; order[n].
// Launch   any.
// Needs    1 <= bits <= 31, bits * dimensions <= 64.
// Ensures  order[i] = i.
kernel void bvh_boruvka_build_encode(const global double *planes, const global double *box,
                                     global ulong *codes, global uint *order, uint dimensions,
                                     uint n, uint bits) {
  const uint coded = CODED(dimensions);
  GRID_FOR(i, n) {
    uint x[MOST_CODED];
    for (uint d = 0; d < coded; ++d)
      x[d] = cell_of(planes[(size_t)d * n + i], box[d], box[dimensions], bits);
    codes[i] = hilbert_code(x, coded, bits);
    order[i] = (uint)i;
  }
}

// Bring the points into their order.
//
// In       planes[rows * n]: one dimension after the other, then the core distances; ids[n].
// Out      points[n_leaves * rows * LEAF]: by leaf; slots[n].
// Launch   any.
// Needs    ids: a permutation.
// Ensures  slots[ids[i]] = i; places behind the last point are at infinity.
kernel void bvh_boruvka_build_gather(const global double *planes, const global uint *ids,
                                     global double *points, global uint *slots, uint rows, uint n) {
  const uint n_places = (n + LEAF - 1) / LEAF * LEAF;
  GRID_FOR(slot, n_places) {
    const uint id = slot < n ? ids[slot] : 0;
    global double *to = points + (slot >> LEAF_SHIFT) * (rows * LEAF) + slot % LEAF;
    for (uint row = 0; row < rows; ++row)
      to[row * LEAF] = slot < n ? planes[(size_t)row * n + id] : INFINITY;
    if (slot < n) slots[id] = (uint)slot;
  }
}

// Compute the boxes of all leaves.
//
// In       points; ids[n].
// Out      boxes, least: those of level 0.
// Launch   any.
// Needs    bvh_boruvka_build_gather.
// Ensures  every point is in the box of its leaf. Places without a leaf have empty boxes.
kernel void bvh_boruvka_build_bound_leaves(const global double *points, const global uint *ids,
                                           global double *boxes, global uint *least,
                                           uint dimensions, uint rows, uint n) {
  const uint n_leaves = (n + LEAF - 1) / LEAF;
  GRID_FOR(leaf, tree_places(n_leaves)) {
    const uint n_points = leaf < n_leaves ? min(n - (uint)leaf * LEAF, LEAF) : 0;
    const global double *from = points + leaf * (rows * LEAF);
    global double *box =
        boxes + (leaf >> FANOUT_SHIFT) * ((dimensions + rows) * FANOUT) + (leaf & FANOUT_MASK);
    for (uint row = 0; row < rows; ++row) {
      double lower = INFINITY, upper = -INFINITY;
      for (uint lane = 0; lane < LEAF; ++lane) {
        lower = min(lower, lane < n_points ? from[row * LEAF + lane] : INFINITY);
        upper = max(upper, lane < n_points ? from[row * LEAF + lane] : -INFINITY);
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

// Compute the boxes of the nodes of levels of those of the level below each.
//
// In       bases: by level.
// In-out   boxes, least: those of [level, end) are written, level - 1 is read.
// Launch   any for one level; one work-group for several. Level after level, from 1 on.
// Needs    the level below is complete.
// Ensures  the box of every child is in that of its node. Places without a node have empty boxes.
kernel void bvh_boruvka_build_bound_nodes(global double *boxes, global uint *least,
                                          const global uint *bases, uint box_rows, uint n_leaves,
                                          uint level, uint end) {
  for (; level < end; ++level) {
    const uint n_below = tree_width(n_leaves, level - 1);
    const uint base = bases[level], below = bases[level - 1];
    GRID_FOR(node, tree_places(tree_width(n_leaves, level))) {
      const uint first = (uint)node << FANOUT_SHIFT;
      const uint n_children = first < n_below ? min(n_below - first, FANOUT) : 0;
      const global double *from =
          boxes + ((size_t)(below >> FANOUT_SHIFT) + node) * (box_rows * FANOUT);
      global double *box =
          boxes + ((size_t)(base >> FANOUT_SHIFT) + (node >> FANOUT_SHIFT)) * (box_rows * FANOUT) +
          (node & FANOUT_MASK);
      for (uint row = 0; row < box_rows; ++row) {
        const bool is_upper = row % 2 == 1;  // the core distances' row is even
        double end_of_row = is_upper ? -INFINITY : INFINITY;
        for (uint c = row * FANOUT; c < row * FANOUT + n_children; ++c)
          end_of_row = is_upper ? max(end_of_row, from[c]) : min(end_of_row, from[c]);
        box[row * FANOUT] = end_of_row;
      }
      uint least_id = NO_SLOT;
      for (uint c = 0; c < n_children; ++c) least_id = min(least_id, least[below + first + c]);
      least[base + node] = least_id;
    }
    wg_barrier();
  }
}

// The box of the points in the slots [begin, end) in one dimension, by the largest nodes that lie
// in between.
static inline double2 box_of_range(const tree_t *tree, uint begin, uint end, uint d) {
  double2 ends = (double2)(INFINITY, -INFINITY);
  for (uint slot = begin; slot < end;) {
    if (slot % LEAF || end - slot < LEAF) {
      const double x = tree_at(tree, slot, d);
      ends = (double2)(min(ends.x, x), max(ends.y, x));
      slot += 1;
      continue;
    }
    uint level = 0, node = slot >> LEAF_SHIFT, width = LEAF;
    while (level + 1 < tree->top && !(node & FANOUT_MASK) &&
           (end - slot) >> FANOUT_SHIFT >= width) {
      level += 1;
      node >>= FANOUT_SHIFT;
      width <<= FANOUT_SHIFT;
    }
    const global double *box = tree_box(tree, tree->bases[level] + node);
    ends.x = min(ends.x, box[2 * d * FANOUT]);
    ends.y = max(ends.y, box[(2 * d + 1) * FANOUT]);
    slot += width;
  }
  return ends;
}

// Find the crowds: more than CROWD points of one code that are not all equal. They get a box each.
//
// In       codes[n]: sorted; points, boxes, bases: the tree in this order.
// Out      sides[n]: at the first slot of a group, half the longest side of a crowd's box, or 0 of
//          any other group; lowers[n * dimensions]: the lower ends, at the first slot of a crowd.
// In-out   state[0]: the number of crowds, 0 before.
// Launch   any.
// Needs    all boxes; top: the level of the root.
// Ensures  as above.
kernel void bvh_boruvka_build_find_crowds(const global ulong *codes, const global double *points,
                                          const global double *boxes, const global uint *bases,
                                          global double *sides, global double *lowers,
                                          volatile global uint *state, uint dimensions, uint rows,
                                          uint n, uint top) {
  const uint coded = CODED(dimensions);
  tree_t tree;
  tree_open(&tree, points, boxes, 0, 0, bases, dimensions, n, top);
  tree_set_rows(&tree, rows);
  uint n_crowds = 0;
  GRID_FOR(slot, n) {
    const ulong code = codes[slot];
    if (slot > 0 && codes[slot - 1] == code) continue;
    double longest = 0;
    if (n - slot > CROWD && codes[slot + CROWD] == code) {
      const uint end = code == ULONG_MAX ? n : first_of(codes, n, code + 1);
      for (uint d = 0; d < coded; ++d) {
        const double2 ends = box_of_range(&tree, (uint)slot, end, d);
        lowers[slot * dimensions + d] = ends.x;
        longest = max(longest, 0.5 * ends.y - 0.5 * ends.x);
      }
      n_crowds += longest > 0;
    }
    sides[slot] = longest;
  }
  if (n_crowds > 0) atomic_add(state, n_crowds);
}

// Compute codes anew: of the points of a crowd, in the crowd's own box.
//
// In       codes[n]: sorted; points; sides[n], lowers[n * dimensions].
// Out      finer[n]: the first slot of the group << 32 | the code in its box.
// Launch   any.
// Needs    bvh_boruvka_build_find_crowds; 1 <= bits, bits * dimensions <= 32.
// Ensures  points of different groups keep their order.
kernel void bvh_boruvka_build_refine(const global ulong *codes, const global double *points,
                                     const global double *sides, const global double *lowers,
                                     global ulong *finer, uint dimensions, uint rows, uint n,
                                     uint bits) {
  const uint coded = CODED(dimensions);
  GRID_FOR(slot, n) {
    const uint first = first_of(codes, n, codes[slot]);
    const double side = sides[first];
    ulong code = 0;
    if (side > 0) {
      uint x[MOST_CODED];
      for (uint d = 0; d < coded; ++d) {
        const double at = points[((slot >> LEAF_SHIFT) * rows + d) * LEAF + slot % LEAF];
        x[d] = cell_of(at, lowers[(size_t)first * dimensions + d], side, bits);
      }
      code = hilbert_code(x, coded, bits);
    }
    finer[slot] = (ulong)first << 32 | code;
  }
}
