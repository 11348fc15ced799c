// dense: the core distances (distances to the k-th nearest point) of a small number of points,
// computed by comparing all pairs.
#include "algorithms/dense/rows.cl"

#if METRIC && WEIGHT_BITS == 64

// Find the distance of each point to its k-th nearest point. A point is not its own neighbour. Each
// of k passes over all points finds the next nearest point, where points at equal distances are
// ordered by index.
//
// In-out   cells[n * (dimensions + 1)]: the coordinates of the points: all first ones, then all
//          second ones, and so on. They are followed by n elements in which the kernel stores the
//          results, the core distances times `alpha`.
// Launch   any; a lane group (lanes that work together) takes a point. O(k n) work for each point.
// Needs    0 < k < n; the metric has distances of 64 bits.
// Ensures  the core distances equal the results of dense_nearest_merge, times `alpha`.
LANES_ATTRIBUTE
kernel void dense_core_find(global real *cells, uint n, uint dimensions, uint k, real alpha) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  TILES_FOR(tile, n, WG_LANE_GROUPS) {
    const uint due = (uint)tile + get_local_id(0) / LANES, u = min(due, n - 1);
    candidate_t last;
    candidate_clear(&last);
    last.key = 0;
#if ROWS_BOUNDED
    point_t point;
    point_open(&point, cells, n, u, dimensions);
#endif
    for (uint turn = 0; turn < k; ++turn) {
      candidate_t best;
      candidate_clear(&best);
      for (uint v = lanes_id(); v < n; v += LANES) {
#if ROWS_BOUNDED
        if (point_bound(&point, v) > best.limit) continue;
#endif
        sum_t sum = SUM_NOTHING;
        for (uint d = 0; d < DIMENSIONS(dimensions); ++d)
          sum = DISTANCE_ADD(sum, cells[(size_t)d * n + u], cells[(size_t)d * n + v]);
        const dense_key_t key = real_bits(DISTANCE_PLAIN(sum));
        const bool is_later = key > last.key || (key == last.key && v + 1 > last.to + 1);
        if (v == u || !is_later || key >= best.key) continue;
        best.key = key;
#if ROWS_BOUNDED
        best.limit = bound_limit(key, DIMENSIONS(dimensions));
#endif
        best.to = v;
      }
      lanes_take_lightest(&best, lane_keys, lane_columns);
      last = best;
    }
    if (due < n && lanes_id() == 0)
      cells[(size_t)DIMENSIONS(dimensions) * n + u] =
          real_multiply(DISTANCE_OF_PLAIN(real_of_bits(last.key)), alpha);
  }
}

#endif
