// Give new weights to all edges of a kept forest: find the rows (edges) whose weights differ, and
// store these weights.
//
// The arrays `weights` and `flags` have the weights and the forest of an earlier solve of the same
// edges. If the new weights differ in few rows, the solve starts from that forest.
//
// Source: as changes.cl.
#include "algorithms/changes/state.cl"

// Indices of the words of counts[], which count rows whose weights differ, edges of the forest that
// became heavier (the forest may lose them), and edges outside the forest that became lighter.
#define COUNT_DIFFERING 0
#define COUNT_LOST 1
#define COUNT_FRESH 2

// Keep the weights and the forest of a solve for later solves of the same edges.
//
// In       given[m]: the weight of each row; in_forest[m]: 1 for the rows of the forest, else 0.
// Out      weights[m]: the kept weight of each row;
//          flags[m]: the flags of each row: ROW_PRESENT for all rows, and ROW_FOREST for those of
//          the forest.
// Launch   any. O(m).
// Needs    nothing.
// Ensures  what the fields above say.
kernel void changes_weights_keep(const global weight_t *given, const global uchar *in_forest,
                                 global weight_t *weights, global uchar *flags, uint m) {
  GRID_FOR(row, m) {
    weights[row] = given[row];
    flags[row] = in_forest[row] ? ROW_PRESENT | ROW_FOREST : ROW_PRESENT;
  }
}

// List the rows (edges) whose weights differ from the kept ones, and count those whose new weights
// may change the forest.
//
// The number of listed rows is read before each row is compared. If the list is full, the row is
// skipped. So the kernel takes little time even if all weights differ. The number may be out of
// date. Then it is too small, and the row is only compared needlessly.
//
// In       given[m]: the new weight of each row;
//          weights[m], flags[m]: the kept weight and the flags of each row;
//          capacity: the capacity of the list.
// In-out   counts[3]: the counts COUNT_DIFFERING, COUNT_LOST and COUNT_FRESH, 0 before.
// Out      differing[capacity]: the rows whose weights differ, in any order.
// Launch   any. O(m).
// Needs    nothing.
// Ensures  if counts[COUNT_DIFFERING] is at most `capacity`, the list and all counts are complete.
LANES_ATTRIBUTE
kernel void changes_weights_compare(const global weight_t *given, const global weight_t *weights,
                                    const global uchar *flags, global uint *differing,
                                    volatile global uint *counts, uint capacity, uint m) {
  WG_FOR(first, m) {
    const size_t row = first + get_local_id(0);
    bool differs = false;
    if (row < m && counts[COUNT_DIFFERING] <= capacity) {
      const weight_t before = weights[row], after = given[row];
      differs = before != after;
      if (differs) {
        const bool is_inside = flags[row] & ROW_FOREST;
        const weight_t old_key = weight_key(before), new_key = weight_key(after);
        if (is_inside && new_key > old_key) atomic_inc(counts + COUNT_LOST);
        if (!is_inside && new_key < old_key) atomic_inc(counts + COUNT_FRESH);
      }
    }
    const uint at = lanes_claim_global(counts + COUNT_DIFFERING, differs);
    if (differs && at < capacity) differing[at] = (uint)row;
  }
}

// Store the new weights of the listed rows (edges). List the edges outside the forest that became
// lighter. Dissolve all clusters that contain an end of such an edge, or an end of an edge of the
// forest whose weight has changed.
//
// In       differing[k]: the listed rows;
//          given: the new weight of each row;
//          u, v: the ends of the edge of each row.
// In-out   weights, flags: the weight and the flags of each row;
//          nodes[n]: the clusters (state.cl), some of which are dissolved;
//          count: the number of rows in the list `rows`, 0 before.
// Out      rows: the rows of edges outside the forest that became lighter, in any order.
// Launch   any. O(k + the number of dissolved clusters).
// Needs    the rows are distinct.
// Ensures  every cluster of two or more vertices that contains an end of such an edge is dissolved.
//          Edges of the forest that became heavier are no longer flagged as edges of the forest.
LANES_ATTRIBUTE
kernel void changes_weights_store(const global uint *differing, const global weight_t *given,
                                  const global uint *u, const global uint *v,
                                  global weight_t *weights, global uchar *flags,
                                  global node_t *nodes, global uint *rows,
                                  volatile global uint *count, uint k) {
  WG_FOR(first, k) {
    const size_t i = first + get_local_id(0);
    bool is_fresh = false;
    uint row = 0;
    if (i < k) {
      row = differing[i];
      const weight_t before = weight_key(weights[row]), after = weight_key(given[row]);
      const bool is_inside = flags[row] & ROW_FOREST;
      weights[row] = given[row];
      is_fresh = !is_inside && after < before;
      if (is_inside && after > before) flags[row] = ROW_PRESENT;
      if (is_fresh) flags[row] = ROW_PRESENT | ROW_FRESH;
      if (is_fresh || (is_inside && after != before)) {
        wi_dissolve(nodes, u[row]);
        wi_dissolve(nodes, v[row]);
      }
    }
    const uint at = lanes_claim_global(count, is_fresh);
    if (is_fresh) rows[at] = row;
  }
}

// Write one byte for each row, which says whether the edge of the row is in the forest. Other
// solvers store their forests in the same way.
//
// In       flags[m]: the flags of each row.
// Out      in_forest[m]: 1 for the rows of the forest, else 0.
// Launch   any. O(m).
// Needs    nothing.
// Ensures  what the fields above say.
kernel void changes_weights_flag(const global uchar *flags, global uchar *in_forest, uint m) {
  GRID_FOR(row, m) in_forest[row] = flags[row] & ROW_FOREST ? 1 : 0;
}
