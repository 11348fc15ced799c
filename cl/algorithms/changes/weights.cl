// New weights for all edges of a kept forest: rows whose weights differ are found and stored.
//
// The columns of the kept forest have the weights of an earlier round, which is one solve of the
// same edges, and its forest. A round whose weights differ in few rows starts from them.
//
// Source: as changes.cl.
#include "algorithms/changes/state.cl"

// Indices of the words of counts[]: rows whose weights differ, edges that the forest loses because
// they became heavier, and edges outside the forest that became lighter.
#define COUNT_DIFFERING 0
#define COUNT_LOST 1
#define COUNT_FRESH 2

// Keep the weights and the forest of a round.
//
// In       given[m]: the weight of each row; in_forest[m]: 1 for the rows of the forest, else 0.
// Out      weights[m], flags[m]: the columns. All rows are present.
// Launch   any. O(m).
// Needs    nothing.
// Ensures  nothing more.
kernel void changes_weights_keep(const global weight_t *given, const global uchar *in_forest,
                                 global weight_t *weights, global uchar *flags, uint m) {
  GRID_FOR(row, m) {
    weights[row] = given[row];
    flags[row] = in_forest[row] ? ROW_PRESENT | ROW_FOREST : ROW_PRESENT;
  }
}

// List the rows whose weights differ from the kept ones, and count those that may change the
// forest.
//
// Every row reads the number of listed rows first, and is left out if the list is full. So weights
// that are all new cost little. An old value of that number is less, and only causes more work.
//
// In       given[m]: the new weight of each row; weights[m], flags[m]: the columns; capacity: the
//          capacity of the list.
// In-out   counts[3]: the counts, 0 before.
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

// Store the new weights of listed rows, list the rows that became lighter outside the forest, and
// dissolve all clusters that contain an end of an edge that matters: an edge outside the forest
// that became lighter, or an edge of the forest whose weight has another key.
//
// In       differing[k]: the rows; given: the new weight of each row; u, v: the ends of each row.
// In-out   weights, flags: the columns; nodes[n]: the clusters, some of which are dissolved; count:
//          the number of rows in the list `rows`, 0 before.
// Out      rows: the rows that became lighter outside the forest, in any order.
// Launch   any. O(k) and the heights of the dissolved clusters.
// Needs    the rows are distinct.
// Ensures  as changes_store. Edges of the forest that became heavier are not in it any more.
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

// Write which rows are in the forest, as solves do: one byte for each row.
//
// In       flags[m]: the flags of each row.
// Out      in_forest[m]: 1 for the rows of the forest, else 0.
// Launch   any. O(m).
// Needs    nothing.
// Ensures  nothing more.
kernel void changes_weights_flag(const global uchar *flags, global uchar *in_forest, uint m) {
  GRID_FOR(row, m) in_forest[row] = flags[row] & ROW_FOREST ? 1 : 0;
}
