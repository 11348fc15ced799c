// dense, few vertices: all rounds of a solve in one launch of one work-group, without the host.
#include "algorithms/dense/steps.cl"

// Find the lightest cell of every block, as dense_scan_blocks does.
//
// In       cells: of all rows; of points, all coordinates.
// Out      keys[n * n_blocks], columns[n * n_blocks].
// Launch   any; a lane group takes a block.
// Needs    as of dense_scan_blocks.
// Ensures  as of dense_scan_blocks.
LANES_ATTRIBUTE
kernel void dense_few_scan(const global cell_t *cells, global dense_key_t *keys,
                           global uint *columns, uint n, uint dimensions, uint width,
                           uint n_blocks) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  grid_dense_scan_blocks(cells, keys, columns, 0, n, n, dimensions, width, n_blocks, lane_keys,
                         lane_columns);
}

// Take all rounds. What one work-item writes of any array, another one reads behind a barrier.
//
// In       cells: as of dense_few_scan.
// In-out   keys[n * n_blocks], columns[n * n_blocks]: what dense_few_scan has found.
// Out      edges[n]: lesser << bits | greater, each at the root that it has hooked, or no_edge; behind
//          them two words of 32 bits a round: how many blocks were read again, and how many
//          components were hooked; and one word more.
// Temp     component[n], parents[n]; winners[n * words]; list[n * n_blocks].
// Launch   one work-group.
// Needs    no_edge: a value that is no edge.
// Ensures  edges are the forest, unless all `most_rounds` were taken. The words of rounds that were
//          not taken are 0.
LANES_ATTRIBUTE
kernel void dense_few_solve(const global cell_t *cells, global dense_key_t *keys,
                            global uint *columns, global uint *component, global uint *parents,
                            volatile global uint *winners, global uint *list, global ulong *edges,
                            uint n, uint dimensions, uint width, uint n_blocks, uint short_ids,
                            uint bits, ulong no_edge, uint most_rounds) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  global uint *state = (global uint *)(edges + n);
  const uint n_words = KEY_WORDS + (short_ids ? 1 : 2), pass_words = ATOMIC64 ? 2 : 1;
  // Its count is not looked at: there are as many jumps as may be needed.
  const uint pending = 2 * most_rounds;
  grid_dense_begin(component, winners, edges, state, n, short_ids, no_edge, pending + 1);
  wg_barrier();
  uint n_left = n;
  for (uint count = 0; n_left > 1 && count < pending; count += 2) {
    grid_dense_bound_rows(keys, columns, component, winners, n, n_blocks, short_ids);
    wg_barrier();
    grid_dense_list_blocks(keys, columns, component, winners, list, state, count, n, n_blocks);
    wg_barrier();
    grid_dense_rescan_blocks(cells, keys, columns, component, winners, list, state, count, 0, n, n,
                             dimensions, width, n_blocks, short_ids, lane_keys, lane_columns);
    wg_barrier();
    for (uint word = pass_words; word < n_words; word += pass_words) {
      grid_dense_reserve_word(keys, columns, component, winners, n, n_blocks, short_ids, word);
      wg_barrier();
    }
    grid_dense_hook_components(winners, component, parents, edges, state, count + 1, n, short_ids,
                               bits);
    wg_barrier();
    const uint n_hooked = ((const volatile global uint *)state)[count + 1];
    n_left = n_hooked ? n_left - n_hooked : 0;
    for (uint reached = 1; reached < n; reached *= DENSE_JUMPS) {
      grid_dense_jump_pointers(parents, winners, state, pending, n, short_ids);
      wg_barrier();
    }
    global uint *merged = parents;
    parents = component;
    component = merged;
  }
}

#if CORE_DISTANCES

// Find the distance of each point's k-th nearest one, pair after pair in order of (distance, column).
//
// In-out   cells[n * (dimensions + 1)]: coordinates, a plane a dimension; behind them comes the
//          distance times `alpha`, the point itself not counted.
// Launch   any; a lane group takes a point. O(k n) work for each.
// Needs    0 < k < n; the metric has distances of 64 bits.
// Ensures  distances are those of dense_nearest_find.
LANES_ATTRIBUTE
kernel void dense_few_core(global double *cells, uint n, uint dimensions, uint k, double alpha) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  TILES_FOR(tile, n, WG_LANE_GROUPS) {
    const uint due = (uint)tile + get_local_id(0) / LANES, u = min(due, n - 1);
    candidate_t last = {0, 0, NO_VERTEX};
    for (uint turn = 0; turn < k; ++turn) {
      candidate_t best;
      candidate_clear(&best);
      for (uint v = lanes_id(); v < n; v += LANES) {
        double sum = 0;
        for (uint d = 0; d < DIMENSIONS(dimensions); ++d)
          sum = DISTANCE_ADD(sum, cells[(size_t)d * n + u], cells[(size_t)d * n + v]);
        const dense_key_t key = as_ulong(DISTANCE_PLAIN(sum));
        const bool is_later = key > last.key || (key == last.key && v + 1 > last.to + 1);
        if (v == u || !is_later || key >= best.key) continue;
        best.key = key;
        best.to = v;
      }
      lanes_take_lightest(&best, lane_keys, lane_columns);
      last = best;
    }
    if (due < n && lanes_id() == 0)
      cells[(size_t)DIMENSIONS(dimensions) * n + u] =
          DISTANCE_OF_PLAIN(as_double(last.key)) * alpha;
  }
}

#endif
