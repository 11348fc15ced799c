// dense: find the lightest cell of a block, which is a range of cells of one row of the matrix. The
// lanes of a group search it together, or one work-item does.
#include "algorithms/dense/cells.cl"
#include "device/lanes.cl"
#include "device/work_group.cl"

#if LANES == 1
#include "algorithms/dense/serial_rows.cl"
#endif

// Number of cells of a row that a lane (a work-item of a lane group) loads at once. For stored
// weights it is large, because many loads in flight hide the latency of memory. For points it is
// small, because computing several distances at once takes many registers.
#define LANE_CELLS (METRIC ? 2 : 8)

// Search the cells [begin, end) of a row, which the lanes of a group divide among themselves. Each
// lane replaces *best, its lightest cell so far, if one of its cells is lighter. Cells whose
// columns are in the row's component `own` are left out. If `component` is null, every vertex is
// its own component.
//
// Scope    a whole lane group; each lane has its own result.
static inline void row_scan(const row_t *row, uint begin, uint end, const global uint *component,
                            uint own, candidate_t *best) {
#if LANES == 1
  if (component) {
    row_take_range(row, begin, end, component, own, best);
  } else {
    row_take_range(row, begin, clamp(own, begin, end), 0, own, best);
    row_take_range(row, clamp(own + 1, begin, end), end, 0, own, best);
  }
#elif ROWS_BOUNDED
  for (uint v = begin + lanes_id(); v < end; v += LANES)
    if (component ? component[v] != own : v != own) row_take(row, v, best);
#else
  for (uint first = begin + lanes_id(); first < end; first += LANES * LANE_CELLS) {
    measure_t measures[LANE_CELLS];
#pragma unroll
    for (uint k = 0; k < LANE_CELLS; ++k)
      measures[k] = row_measure(row, min(first + k * LANES, end - 1));
#pragma unroll
    for (uint k = 0; k < LANE_CELLS; ++k) {
      const uint v = first + k * LANES;
      if (v < end && (component ? component[v] != own : v != own))
        row_take_measured(row, v, measures[k], best);
    }
  }
#endif
}

// Find the lightest cell of each lane group, given the lightest cells that its lanes have found in
// a row. It is the cell with the minimum key and, among equal keys, with the minimum column.
//
// In-out   *best: before the call the lane's own cell, afterwards the cell of the lane group.
// Temp     keys, columns: WG_SIZE entries of local memory, which may be reused after the call.
// Scope    the whole work-group; the result is the same in all lanes of a group.
static inline void lanes_take_lightest(candidate_t *best, local dense_key_t *keys,
                                       local uint *columns) {
#if LANES_IMPL != LANES_LOCAL
#if WEIGHT_BITS == 64
  const ulong least = lanes_min_u64(best->key);
  best->to = lanes_min_u32(best->key == least ? best->to : NO_VERTEX);
  best->key = least;
#else
  const ulong word = lanes_min_u64((ulong)best->key << 32 | best->to);
  best->key = (uint)(word >> 32);
  best->to = (uint)word;
#endif
#elif LANES > 1
  const uint me = get_local_id(0);
  keys[me] = best->key;
  columns[me] = best->to;
  wg_barrier_local();
  for (uint stride = LANES / 2; stride > 0; stride /= 2) {
    const uint other = me % LANES < stride ? me + stride : me;
    const dense_key_t key = keys[other];
    const uint to = columns[other];
    if (key < best->key || (key == best->key && to < best->to)) {
      best->key = key;
      best->to = to;
    }
    wg_barrier_local();
    keys[me] = best->key;
    columns[me] = best->to;
    wg_barrier_local();
  }
  best->key = keys[me - me % LANES];
  best->to = columns[me - me % LANES];
  wg_barrier_local();
#endif
}
