// dense, for points of many dimensions: find the lightest pair of each row in each block of
// columns. Rows and columns are points. dense.cl uses these pairs as the recorded cells of its
// blocks. The pairs are found tile by tile, where a tile is a range of rows times a range of
// columns of one block.

#include "algorithms/dense/lightest_rows.cl"

// Find the lightest pair of each listed row (point) in its block of columns, and enter it in the
// reservation of the row's component, which holds the lightest edge of the component so far. Pairs
// inside a component are left out. This pass finds only the first one or two 32-bit words of each
// component's lightest edge.
//
// In       the points: rows[n * d], coordinates in float64; core[n], core distances; singles,
//          packs, coordinates in float32, point by point and 16 points together; halves, half of
//          each squared norm; floors[n], a lower bound of the filter values (approximate distances
//          before any square root) of pairs that are at least as far apart as the point's core
//          distance; scaling, the scale (pack.cl). core and floors are not used if CORE_DISTANCES
//          is 0. component[n]: the root of each point; list[n_blocks * n], counts[n_blocks]: the
//          listed rows of each block, and their number. Without a list, all rows of all blocks are
//          searched.
// Out      keys[n * n_blocks], columns[n * n_blocks]: the key and the column of the lightest pair
//          of each listed row in each block.
// In-out   winners[n * words]: the reservations (winners.cl), left unchanged without a list.
// Launch   any.
// Needs    width, the number of columns of a block, is a multiple of TILE_COLUMNS.
// Ensures  the recorded pair of a row in a block is the one with the minimum (key, column). The
//          column is NO_VERTEX if there is no pair.
kernel void dense_lightest_find(const global real *rows, const global real *core,
                                const global float *singles, const global float *packs,
                                const global float *halves, const global float *floors,
                                const global uint *scaling, const global uint *component,
                                const global uint *list, const global uint *counts,
                                global distance_key_t *keys, global uint *columns,
                                volatile global uint *winners, uint n, uint d, uint padded,
                                uint width, uint n_blocks, uint short_ids) {
  const points_t of = {rows, singles, packs, halves, n, d, padded};
  filter_t filter;
  filter_open(&filter, scaling, d);
#if WG_SIZE > 1
  local tile_memory_t memory;
  local uint owners[TILE_ROWS], column_owners[TILE_COLUMNS];
  local float column_floors[TILE_COLUMNS];
  const uint lane = get_local_id(0);
#endif
  uint first_task = 0;
  for (uint block = 0; block < n_blocks; ++block) {
    const uint begin = block * width, end = min(begin + width, n);
    const uint n_rows = list ? counts[block] : n, n_tiles = (n_rows + TILE_ROWS - 1) / TILE_ROWS;
    const uint groups = get_num_groups(0);
    uint tile = (get_group_id(0) + groups - first_task % groups) % groups;
    first_task += n_tiles;
    for (; tile < n_tiles; tile += groups) {
      const uint first_row = tile * TILE_ROWS;
#if WG_SIZE == 1
      for (uint at = first_row; at < min(first_row + TILE_ROWS, n_rows); at += ROWS_AT_ONCE) {
        const uint n_own = min(n_rows - at, (uint)ROWS_AT_ONCE);
        uint vertices[ROWS_AT_ONCE];
        lightest_t best[ROWS_AT_ONCE];
        for (uint r = 0; r < ROWS_AT_ONCE; ++r) {
          const uint i = at + min(r, n_own - 1);
          vertices[r] = list ? list[(size_t)block * n + i] : i;
        }
        lightest_of_rows(&of, &filter, core, floors, component, vertices, n_own, begin, end, best);
        for (uint r = 0; r < n_own; ++r) {
          const size_t entry = (size_t)vertices[r] * n_blocks + block;
          keys[entry] = best[r].key;
          columns[entry] = best[r].to;
          if (!list || best[r].to == NO_VERTEX) continue;
          claim_t claim;
          claim_make(&claim, best[r].key, vertices[r], best[r].to);
          reserve_first(winners, n, component[vertices[r]], &claim, short_ids);
        }
      }
#else
      lightest_t best = {(distance_key_t)-1, NO_VERTEX};
      const uint i = min(first_row + lane, n_rows - 1);
      const uint mine = lane < TILE_ROWS ? (list ? list[(size_t)block * n + i] : i) : 0;
      if (lane < TILE_ROWS) {
        memory.vertices[lane] = mine;
        memory.reach[lane] = INFINITY;
        owners[lane] = component[mine];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint column = begin; column < end; column += TILE_COLUMNS) {
        if (lane < TILE_ROWS) memory.extreme[lane] = as_uint((float)INFINITY);
        for (uint c = lane; c < TILE_COLUMNS; c += WG_SIZE) {
          const uint v = column + c;
          column_owners[c] = v < end ? component[v] : NO_VERTEX;
          column_floors[c] = v < end ? (CORE_DISTANCES ? floors[v] : 0.0f) : INFINITY;
        }
        if (lane == 0) memory.n_pairs[0] = 0;
        float8 values[OWN_ROWS];
        tile_sums(&of, column, &memory, values);
#pragma unroll
        for (uint i = 0; i < OWN_ROWS; ++i) {
          float value[8], nearest = INFINITY;
          vstore8(values[i], 0, value);
#pragma unroll
          for (uint j = 0; j < 8; ++j) {
            const uint c = own_column(j);
            const bool is_own = column_owners[c] == owners[own_row(i)];
            value[j] = is_own ? INFINITY : max(value[j], column_floors[c]);
            nearest = min(nearest, value[j]);
          }
          values[i] = vload8(0, value);
          atomic_min(memory.extreme + own_row(i), as_uint(nearest));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < TILE_ROWS && memory.extreme[lane] < as_uint((float)INFINITY)) {
          float nearest = as_float(memory.extreme[lane]);
          if (CORE_DISTANCES) nearest = max(nearest, floors[mine]);
          if (nearest <= memory.reach[lane])
            memory.reach[lane] = min(memory.reach[lane], filter_of_nearest(&filter, nearest, d));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        ulong found;
        const uint place = tile_queue(values, &memory, &found), n_pairs = memory.n_pairs[0];
        for (uint begun = 0; begun < n_pairs; begun += QUEUE) {
          if (lane < TILE_ROWS) memory.first[lane] = QUEUE_END;
          barrier(CLK_LOCAL_MEM_FENCE);
          tile_fill(&memory, found, place, begun);
          barrier(CLK_LOCAL_MEM_FENCE);
          for (uint k = lane; k < min(n_pairs - begun, (uint)QUEUE); k += WG_SIZE) {
            const uint u = memory.vertices[memory.pairs[k] >> 16];
            const uint v = column + (memory.pairs[k] & 0xffff);
            memory.distances[k] = lightest_measure(&of, core, u, v);
          }
          barrier(CLK_LOCAL_MEM_FENCE);
          if (lane < TILE_ROWS)
            for (uint k = memory.first[lane]; k != QUEUE_END; k = memory.next[k])
              lightest_take(&best, distance_key(memory.distances[k], 0, 0),
                            column + (memory.pairs[k] & 0xffff));
          barrier(CLK_LOCAL_MEM_FENCE);
        }
      }
      if (lane < TILE_ROWS && first_row + lane < n_rows) {
        const size_t entry = (size_t)block * n + mine;
        keys[entry] = best.key;
        columns[entry] = best.to;
        if (list && best.to != NO_VERTEX) {
          claim_t claim;
          claim_make(&claim, best.key, mine, best.to);
          reserve_first(winners, n, component[mine], &claim, short_ids);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
  }
}

// List, for each block of columns, the rows (points) that have to search the block again in this
// round. A row has recorded its lightest pair in each block. It is listed if two things are true.
// Both points of this pair are now in one component, and the pair is not heavier than the lightest
// edge of the component found so far. Once all points are one component, no row is listed, so
// rounds that the host has enqueued in advance do not read anything.
//
// In       keys, columns: [n * n_blocks], the key and the column of each recorded pair;
//          component[n]: the root of each point;
//          winners[n * words]: the reservations (winners.cl); state[0]: the number of components
//          that have been hooked.
// Out      list[n_blocks * n]: the rows of each block. Their order does not affect any result.
// In-out   counts[n_blocks]: the number of listed rows of each block; state[count]: the sum of
//          these numbers; all 0 before.
// Launch   any.
// Needs    dense_bound_rows, unless `every` is 1. In that case all rows of all blocks are listed.
// Ensures  a row is listed for every block in which its recorded pair stays within its component
//          and has a key that is at most the component's winner_bound.
kernel void dense_lightest_list(const global distance_key_t *keys, const global uint *columns,
                                const global uint *component, const volatile global uint *winners,
                                global uint *list, volatile global uint *counts,
                                volatile global uint *state, uint count, uint n, uint n_blocks,
                                uint every) {
  if (state[0] + 1 >= n) return;
  uint n_listed = 0;
  GRID_FOR(u, n) {
    const uint own = component[u];
    const distance_key_t bound = winner_bound(winners, n, own);
    for (uint block = 0; block < n_blocks; ++block) {
      const size_t at = WG_SIZE == 1 ? u * n_blocks + block : (size_t)block * n + u;
      const uint column = columns[at];
      const bool is_stale = column != NO_VERTEX && keys[at] <= bound && component[column] == own;
      if (!is_stale && !every) continue;
      n_listed += 1;
      list[(size_t)block * n + atomic_add(counts + block, 1)] = (uint)u;
    }
  }
  if (n_listed > 0) atomic_add(state + count, n_listed);
}

// Copy the edges of the forest, the counters of the solve and the weights of the edges into one
// array, so that the host reads them at once.
//
// In       rows[n * d], core[n]: the coordinates and core distances of the points; edges[n]: the
//          ends of each edge, lesser << bits | greater, or no_edge; state[n_state]: the counters.
// Out      result[n + n_state / 2 + n]: the edges; then the state; then, unless the metric rounds
//          distances, the weight of each edge, in the order of the edges.
// Launch   any.
// Needs    n_state is even.
// Ensures  weights equal the results of Points.weights_of, bit for bit.
kernel void dense_lightest_gather(const global real *rows, const global real *core,
                                  const global ulong *edges, const global uint *state,
                                  global ulong *result, uint n, uint d, uint bits, ulong no_edge,
                                  uint n_state) {
#if WEIGHT_BITS == 64
  const points_t of = {rows, 0, 0, 0, n, d, 0};
#endif
  global uint *counts = (global uint *)(result + n);
  GRID_FOR(i, n_state) counts[i] = state[i];
  GRID_FOR(u, n) {
    const ulong edge = edges[u];
    result[u] = edge;
#if WEIGHT_BITS == 64
    if (edge == no_edge) continue;
    const uint lesser = (uint)(edge >> bits), greater = (uint)(edge & ((1ul << bits) - 1));
    const real measure = lightest_measure(&of, core, lesser, greater);
    result[n + n_state / 2 + u] = real_bits(DISTANCE_OF_MEASURE(measure));
#endif
  }
}
