// dense, few vertices: all rounds of a solve in one launch of one work-group, without the host.
#include "algorithms/dense/steps.cl"

// What both launches work in; see dense_few_solve.
typedef struct {
  volatile global uint *winners;
  global dense_key_t *keys;
  global uint *columns, *list, *component, *parents;
} few_t;

static inline void few_open(few_t *few, global ulong *scratch, uint n, uint n_blocks) {
  const size_t n_entries = (size_t)n * n_blocks;
  few->winners = (volatile global uint *)scratch;
  few->keys = (global dense_key_t *)(scratch + 2 * (size_t)n);
  few->columns = (global uint *)(few->keys + n_entries);
  few->list = few->columns + n_entries;
  few->component = few->list + n_entries;
  few->parents = few->component + n;
}

// Find the lightest cell of every block, as dense_scan_blocks does.
//
// In       cells: of all rows; of points, all coordinates.
// Temp     scratch: as of dense_few_solve.
// Launch   any; a lane group takes a block.
// Needs    as of dense_scan_blocks.
// Ensures  the entries of all blocks are in scratch.
LANES_ATTRIBUTE
kernel void dense_few_scan(const global cell_t *cells, global ulong *scratch, uint n,
                           uint dimensions, uint width, uint n_blocks) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  few_t few;
  few_open(&few, scratch, n, n_blocks);
  grid_dense_scan_blocks(cells, few.keys, few.columns, 0, n, n, dimensions, width, n_blocks,
                         lane_keys, lane_columns);
}

// Take all rounds. What one work-item writes of any array, another one reads behind a barrier.
//
// In       cells: as of dense_few_scan.
// Temp     scratch[3 n + 2 * n * n_blocks]: the entries of all blocks, from dense_few_scan; winners,
//          components and a list of blocks.
// Out      result: n edges, lesser << bits | greater, each at the root that it has hooked, or no_edge;
//          two words of 32 bits a round, how many blocks were read again, and how many components
//          were hooked, and two words more; of points with core distances n weights.
// Launch   one work-group.
// Needs    no_edge: a value that is no edge.
// Ensures  edges are the forest, unless all `most_rounds` were taken. The words of rounds that were
//          not taken are 0.
LANES_ATTRIBUTE
kernel void dense_few_solve(const global cell_t *cells, global ulong *scratch, global ulong *result,
                            uint n, uint dimensions, uint width, uint n_blocks, uint short_ids,
                            uint bits, ulong no_edge, uint most_rounds) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  few_t few;
  few_open(&few, scratch, n, n_blocks);
  global uint *state = (global uint *)(result + n), *component = few.component;
  global uint *parents = few.parents;
  const uint n_words = KEY_WORDS + (short_ids ? 1 : 2), pass_words = ATOMIC64 ? 2 : 1;
  // Its count is not looked at: there are as many jumps as may be needed.
  const uint pending = 2 * most_rounds;
  grid_dense_begin(component, few.winners, result, state, n, short_ids, no_edge, pending + 1);
  wg_barrier();
  uint n_left = n;
  for (uint count = 0; n_left > 1 && count < pending; count += 2) {
    grid_dense_bound_rows(few.keys, few.columns, component, few.winners, n, n_blocks, short_ids);
    wg_barrier();
    grid_dense_list_blocks(few.keys, few.columns, component, few.winners, few.list, state, count, n,
                           n_blocks);
    wg_barrier();
    grid_dense_rescan_blocks(cells, few.keys, few.columns, component, few.winners, few.list, state,
                             count, 0, n, n, dimensions, width, n_blocks, short_ids, lane_keys,
                             lane_columns);
    wg_barrier();
    for (uint word = pass_words; word < n_words; word += pass_words) {
      grid_dense_reserve_word(few.keys, few.columns, component, few.winners, n, n_blocks, short_ids,
                              word);
      wg_barrier();
    }
    grid_dense_hook_components(few.winners, component, parents, result, state, count + 1, n,
                               short_ids, bits);
    wg_barrier();
    const uint n_hooked = ((const volatile global uint *)state)[count + 1];
    n_left = n_hooked ? n_left - n_hooked : 0;
    for (uint reached = 1; reached < n; reached *= DENSE_JUMPS) {
      grid_dense_jump_pointers(parents, few.winners, state, pending, n, short_ids);
      wg_barrier();
    }
    global uint *merged = parents;
    parents = component;
    component = merged;
  }
#if CORE_DISTANCES
  GRID_FOR(u, n) {
    if (result[u] == no_edge) continue;
    point_t point;
    point_open(&point, cells, n, (uint)(result[u] >> bits), dimensions);
    const double measure = distance_measure(&point, (uint)(result[u] & ((1ul << bits) - 1)));
    result[n + most_rounds + 1 + u] = as_ulong(measure);
  }
#endif
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
