// dense: for points of many dimensions, the distance of each point to its k-th nearest point.
//
// Rows and columns are points. First, a sample of the columns gives each row an upper bound of the
// filter values (approximate distances before any square root, in float32) of its k nearest points.
// Then the columns are divided into parts. For each part, each row gets a list of its k smallest
// plain values (exact distances before any square root), in any order. Finally, the lists of a row
// are merged.

#include "algorithms/dense/near_list.cl"
#include "algorithms/dense/tile.cl"

#if WG_SIZE > 1  // where an exact distance costs more than many filter values
// Number of filter values (approximate distances) that a row (point) samples in each tile, which is
// a range of columns (points). Each sampled value is the minimum over 8 columns.
#define SAMPLES 16

// Sample the filter values (approximate distances before any square root) of every point. Each
// point is a row, and all points are columns, divided into tiles. A row is compared with the points
// of some evenly spaced tiles. In each of these tiles it gets SAMPLES values, each of which is the
// minimum over 8 columns.
//
// In       the points (pack.cl): singles, packs, coordinates in float32, point by point and 16
//          points together; halves, half of each squared norm.
// Out      values[n_tiles * SAMPLES * n]: the sampled values.
// Launch   any.
// Needs    n_tiles is at least 1 and at most the number of tiles of columns.
// Ensures  different values of a row belong to different pairs. The pair of a row with itself is
//          left out. A value is infinite if its 8 columns contain no other point.
kernel void dense_nearest_sample(const global float *singles, const global float *packs,
                                 const global float *halves, global float *values, uint n, uint d,
                                 uint padded, uint n_tiles) {
  const points_t of = {0, singles, packs, halves, n, d, padded};
  const uint n_columns = (n + TILE_COLUMNS - 1) / TILE_COLUMNS;
  const uint n_tasks = (n + TILE_ROWS - 1) / TILE_ROWS * n_tiles;
  local tile_memory_t memory;
  const uint lane = get_local_id(0);
  for (uint task = get_group_id(0); task < n_tasks; task += get_num_groups(0)) {
    const uint first_row = task / n_tiles * TILE_ROWS, tile = task % n_tiles;
    const uint begin = (uint)((ulong)tile * n_columns / n_tiles) * TILE_COLUMNS;
    if (lane < TILE_ROWS) memory.vertices[lane] = min(first_row + lane, n - 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    float8 sums[OWN_ROWS];
    tile_sums(&of, begin, &memory, sums);
#pragma unroll
    for (uint i = 0; i < OWN_ROWS; ++i) {
      const uint row = first_row + own_row(i);
      float value[8], nearest = INFINITY;
      vstore8(sums[i], 0, value);
#pragma unroll
      for (uint j = 0; j < 8; ++j) {
        const uint v = begin + own_column(j);
        if (v < n && v != row) nearest = min(nearest, value[j]);
      }
      if (row < n) values[(size_t)(tile * SAMPLES + lane % SAMPLES) * n + row] = nearest;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Compute the reach of each row (point) from the sample. The reach is an upper bound of the filter
// values (approximate distances before any square root) of the row's k nearest points.
//
// In       values[n_values * n]: the sample of filter values; scaling: the scale of the coordinates
//          and the greatest norm (pack.cl).
// Out      reach[n]: the bounds.
// Launch   any.
// Needs    dense_nearest_sample, and all kernels of pack.cl.
// Ensures  no pair that is as near as a row's k-th nearest point has a filter value above the row's
//          reach. The reach is infinite if the row has fewer than k finite values in the sample.
kernel void dense_nearest_reach(const global float *values, const global uint *scaling,
                                global float *reach, uint n, uint d, uint n_values, uint k) {
  filter_t filter;
  filter_open(&filter, scaling, d);
  GRID_FOR(row, n) {
    // Find the upper 16 bits of the k-th smallest value, beginning with the highest bit. A bit is
    // set if fewer than k values are below the number that the bits so far and this bit form.
    uint upper = 0;
    for (uint bit = 0x8000; bit; bit >>= 1) {
      uint n_below = 0;
      for (uint i = 0; i < n_values; ++i)
        n_below += as_uint(values[(size_t)i * n + row]) >> 16 < (upper | bit);
      if (n_below < k) upper |= bit;
    }
    const float least = as_float(upper << 16 | 0xffff);
    reach[row] = least < INFINITY ? filter_of_nearest(&filter, least, d) : INFINITY;
  }
}

#endif

// For every point and every part of the points, find the point's k smallest plain values, which are
// distances before any square root. Each point is a row, and the points of a part are consecutive
// columns.
//
// In       the points (pack.cl): rows[n * d], coordinates in float64; singles, packs, coordinates
//          in float32, point by point and 16 points together; halves, half of each squared norm;
//          scaling, the scale; limits[n]: the greatest filter value (approximate distance before
//          any square root) that matters in each row, or infinity if it is not known.
// Out      lists[n_parts * k * n]: for each part, the k entries of each row. Unused entries are
//          infinite.
// Launch   any.
// Needs    width, the number of columns of a part, is a multiple of TILE_COLUMNS.
// Ensures  the lists of a row together contain the k smallest plain values of its pairs with other
//          points.
kernel void dense_nearest_find(const global real *rows, const global float *singles,
                               const global float *packs, const global float *halves,
                               const global uint *scaling, const global float *limits,
                               global real *lists, uint n, uint d, uint padded, uint width,
                               uint n_parts, uint k) {
  const points_t of = {rows, singles, packs, halves, n, d, padded};
  filter_t filter;
  filter_open(&filter, scaling, d);
#if WG_SIZE > 1
  local tile_memory_t memory;
  const uint lane = get_local_id(0);
#endif
  const uint n_tiles = (n + TILE_ROWS - 1) / TILE_ROWS;
  for (uint task = get_group_id(0); task < n_tiles * n_parts; task += get_num_groups(0)) {
    const uint part = task % n_parts, first_row = task / n_parts * TILE_ROWS;
    const uint begin = part * width, end = min(begin + width, n);
#if WG_SIZE == 1
    const uint n_rows = min(n - first_row, (uint)TILE_ROWS);
    list_t own[TILE_ROWS];
    float reach[TILE_ROWS];
    for (uint r = 0; r < n_rows; ++r) {
      list_open(own + r, lists, part, n, k, first_row + r);
      reach[r] = limits ? limits[first_row + r] : INFINITY;
    }
    for (uint from = begin; from < end; from += NEAREST_COLUMNS) {
      const uint until = min(from + NEAREST_COLUMNS, end);
      for (uint at = 0; at < n_rows; at += ROWS_AT_ONCE) {
        const uint n_own = min(n_rows - at, (uint)ROWS_AT_ONCE);
        uint vertices[ROWS_AT_ONCE];
        for (uint r = 0; r < ROWS_AT_ONCE; ++r) vertices[r] = first_row + at + min(r, n_own - 1);
        for (uint column = from; column < until; column += PACK) {
          float16 sums[ROWS_AT_ONCE];
          pack_sums(&of, vertices, column / PACK, sums);
          for (uint r = 0; r < n_own; ++r) {
            if (!any(sums[r] <= (float16)(reach[at + r]))) continue;
            float values[PACK];
            vstore16(sums[r], 0, values);
            for (uint c = 0; c < min(until - column, (uint)PACK); ++c) {
              if (!(values[c] <= reach[at + r]) || column + c == vertices[r]) continue;
              list_take(own + at + r, DISTANCE_PLAIN(rows_sum(rows, d, vertices[r], column + c)));
              reach[at + r] = list_reach(own + at + r, &filter, d);
            }
          }
        }
      }
    }
    for (uint r = 0; r < n_rows; ++r) list_close(own + r);
#else
    list_t own;
    const uint mine = min(first_row + lane, n - 1);
    list_open(&own, lists, part, n, k, mine);
    const bool has_row = lane < TILE_ROWS && first_row + lane < n;
    if (lane < TILE_ROWS) {
      memory.vertices[lane] = mine;
      memory.reach[lane] = !has_row ? -1.0f : limits ? limits[mine] : INFINITY;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint column = begin; column < end; column += TILE_COLUMNS) {
      if (lane == 0) memory.n_pairs[0] = 0;
      float8 values[OWN_ROWS];
      tile_sums(&of, column, &memory, values);
#pragma unroll
      for (uint i = 0; i < OWN_ROWS; ++i) {
        float value[8];
        vstore8(values[i], 0, value);
#pragma unroll
        for (uint j = 0; j < 8; ++j) {
          const uint v = column + own_column(j);
          if (v >= end || v == memory.vertices[own_row(i)]) value[j] = INFINITY;
        }
        values[i] = vload8(0, value);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      ulong found;
      const uint place = tile_queue(values, &memory, &found), n_pairs = memory.n_pairs[0];
      for (uint begun = 0; begun < n_pairs; begun += QUEUE) {
        if (lane < TILE_ROWS) memory.first[lane] = QUEUE_END;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile_fill(&memory, found, place, begun);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lane; i < min(n_pairs - begun, (uint)QUEUE); i += WG_SIZE) {
          const uint u = memory.vertices[memory.pairs[i] >> 16];
          const uint v = column + (memory.pairs[i] & 0xffff);
          memory.distances[i] = DISTANCE_PLAIN(rows_sum(rows, d, u, v));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < TILE_ROWS)
          for (uint i = memory.first[lane]; i != QUEUE_END; i = memory.next[i])
            list_take(&own, memory.distances[i]);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      if (has_row && own.filled == k)
        memory.reach[lane] = min(memory.reach[lane], list_reach(&own, &filter, d));
    }
    if (has_row) list_close(&own);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
}

// Find the distance of each point to its k-th nearest point, which is the k-th smallest value in
// the point's lists.
//
// In-out   lists[n_parts * k * n]: for each part of the points, the k smallest plain values
//          (distances before any square root) of each point. The first part's list takes smaller
//          entries from the lists of all other parts.
// Out      distances[n]: the results.
// Launch   any.
// Needs    dense_nearest_find.
// Ensures  distances[i] is the distance to the k-th nearest point, not counting the point itself.
kernel void dense_nearest_merge(global real *lists, global real *distances, uint n, uint n_parts,
                                uint k) {
  GRID_FOR(row, n) {
    list_t list;
    list_open(&list, lists, 0, n, k, (uint)row);
    list.filled = k;
    list_find_worst(&list);
    for (size_t i = k; i < (size_t)n_parts * k; ++i) list_take(&list, lists[i * n + row]);
    distances[row] = DISTANCE_OF_PLAIN(list.worst);
  }
}
