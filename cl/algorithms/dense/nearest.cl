// dense: the distance of each point's k-th nearest point, of points of many dimensions.
//
// A part of the columns gives each row a list of its k least plain sums, in any order, and the greatest
// of them is what other pairs must be below.

#include "algorithms/dense/tile.cl"

// A list of a row, of one part of the columns: entry j stands at from[j * n].
typedef struct {
  global double *from;
  size_t stride;
  uint k, filled, last;  // entries; how many there are; where the greatest one is
  double worst;          // the greatest one once the list is full; else infinite
} list_t;

static inline void list_open(list_t *list, global double *lists, uint part, uint n, uint k,
                             uint row) {
  list->from = lists + (size_t)part * k * n + row;
  list->stride = n;
  list->k = k;
  list->filled = list->last = 0;
  list->worst = INFINITY;
}

static inline void list_find_worst(list_t *list) {
  list->worst = -1;
  for (uint j = 0; j < list->k; ++j) {
    const double value = list->from[j * list->stride];
    if (value > list->worst) {
      list->worst = value;
      list->last = j;
    }
  }
}

// Take a pair, if it is nearer than the farthest of a full list.
static inline void list_take(list_t *list, double plain) {
  if (list->filled < list->k) {
    list->from[list->filled * list->stride] = plain;
    list->filled += 1;
    if (list->filled == list->k) list_find_worst(list);
  } else if (plain < list->worst) {
    list->from[list->last * list->stride] = plain;
    list_find_worst(list);
  }
}

// The filter value that pairs must not exceed to get into the list.
static inline float list_reach(const list_t *list, const filter_t *filter, uint d) {
  if (list->filled < list->k) return INFINITY;
  return filter_of_distance(filter, DISTANCE_OF_PLAIN(list->worst), d);
}

// Fill up a list that has too few entries.
static inline void list_close(list_t *list) {
  for (uint j = list->filled; j < list->k; ++j) list->from[j * list->stride] = INFINITY;
}

// Find the k least plain sums of every row in each part of the columns.
//
// In       rows[n * d], singles, packs, scaling: the points (pack.cl).
// Out      lists[n_parts * k * n]: of each part its k entries of each row; infinite where there are
//          fewer.
// Launch   any.
// Needs    width: columns of a part, a multiple of TILE_COLUMNS.
// Ensures  the k least entries of a row are those of all its pairs, the row itself not counted.
kernel void dense_nearest_find(const global double *rows, const global float *singles,
                               const global float *packs, const global uint *scaling,
                               global double *lists, uint n, uint d, uint padded, uint width,
                               uint n_parts, uint k) {
  const points_t of = {rows, singles, packs, n, d, padded};
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
      reach[r] = INFINITY;
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
              list_take(own + at + r, DISTANCE_PLAIN(rows_plain(rows, d, vertices[r], column + c)));
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
      memory.reach[lane] = has_row ? INFINITY : -1.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint column = begin; column < end; column += TILE_COLUMNS) {
      if (lane == 0) memory.n_pairs[0] = 0;
      if (lane < TILE_ROWS) memory.extreme[lane] = 0;
      float8 values[OWN_ROWS];
      tile_sums(&of, column, &memory, values);
#pragma unroll
      for (uint i = 0; i < OWN_ROWS; ++i) {
        // Of 16 work-items that share a row, the least value of each or of each half of its columns:
        // the greatest of these bounds 16 or 32 pairs.
        float value[8], nearest = INFINITY, also = INFINITY;
        vstore8(values[i], 0, value);
#pragma unroll
        for (uint j = 0; j < 8; ++j) {
          const uint v = column + own_column(j);
          if (v >= end || v == memory.vertices[own_row(i)]) value[j] = INFINITY;
          if (j < 4) nearest = min(nearest, value[j]);
          else also = min(also, value[j]);
        }
        values[i] = vload8(0, value);
        atomic_max(memory.extreme + own_row(i),
                   as_uint(k <= 16 ? min(nearest, also) : max(nearest, also)));
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      const bool is_bound = has_row && k <= 32 && own.filled < k;
      if (is_bound && memory.extreme[lane] < as_uint((float)INFINITY))
        memory.reach[lane] =
            min(memory.reach[lane], filter_of_nearest(&filter, as_float(memory.extreme[lane]), d));
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
          memory.distances[i] = DISTANCE_PLAIN(rows_plain(rows, d, u, v));
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

// Find the k-th least entry of each row's lists.
//
// In-out   lists[n_parts * k * n]: that of the first part takes what is less in others.
// Out      distances[n].
// Launch   any.
// Needs    dense_nearest_find.
// Ensures  distances[i] is the distance of the k-th nearest point, the point itself not counted.
kernel void dense_nearest_merge(global double *lists, global double *distances, uint n,
                                uint n_parts, uint k) {
  GRID_FOR(row, n) {
    list_t list;
    list_open(&list, lists, 0, n, k, (uint)row);
    list.filled = k;
    list_find_worst(&list);
    for (size_t i = k; i < (size_t)n_parts * k; ++i) list_take(&list, lists[i * n + row]);
    distances[row] = DISTANCE_OF_PLAIN(list.worst);
  }
}
