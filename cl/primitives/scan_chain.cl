// Scan in one pass: every element is read once and written once. Beside scan.cl for operators whose
// result does not depend on the grouping, and for results that do not overwrite the input.
//
// Source: Merrill, Garland 2016; Smith, Levien, Owens 2025. tile_state.cl says how.
//
// Work-groups take tiles in the order in which they start. A tile consists of one tile of
// scan_range.cl for each lane group.
//
// Segmented: a tile with a head publishes its total as a prefix, as nothing goes past the head.
#include "primitives/scan_range.cl"

#define LOOK_T T
#define LOOK_BYTES T_BYTES
#define LOOK_IDENTITY IDENTITY
#define LOOK_COMBINE(a, b) combine(a, b)
#include "device/look_back.cl"

#define CHAIN_TILE (RANGE_TILE * LANE_GROUPS)

// Scan a tile's chunks: before[j] = the partial result of all before chunk j in the lane group's
// part of the tile; *all = that of the whole part.
//
// Scope    a whole lane group; *all is the same in all of its work-items.
static inline void lane_group_scan_chunks(const tile_t *own, partial_t *before, partial_t *all,
                                          local T *sums, local uint *heads) {
  partial_clear(all);
  for (uint j = 0; j < CHUNKS; ++j) {
    partial_t row;
    range_chunk_run(own, j, &before[j]);
    lane_group_scan(&before[j], &row, sums, heads);
    partial_prepend(&before[j], *all);
    partial_append(all, row);
  }
}

// The total of in[begin, end). An element a time of each looker: it is seldom called, and must not
// take registers.
//
// Scope    all lookers; *total is the same in each of them.
static inline void lookers_reduce(const global T *in, const global uchar *flags, size_t begin,
                                  size_t end, partial_t *total) {
  partial_clear(total);
#pragma unroll 1
  for (size_t i = begin; i < end; i += LOOKERS) {
    partial_t own, all;
    partial_clear(&own);
    const size_t mine = i + get_local_id(0);
    if (mine < end) own.sum = range_element(in, flags, mine, &own.head);
#if LANES_IMPL == LANES_LOCAL
    all = own;
#else
    lane_group_scan(&own, &all, 0, 0);
#endif
    partial_append(total, all);
  }
}

// The combination of all tiles before `tile`, since the last head.
//
// In-out   states.
// Scope    all lookers; result in each of them.
static inline T lookers_prefix(const global T *in, const global uchar *flags, uint n,
                               volatile global uint *states, uint tile) {
  look_t at = {IDENTITY, tile, tile == 0};
#pragma unroll 1
  while (!lookers_find(states, &at)) {
    const size_t begin = (at.next - 1) * CHAIN_TILE;
    partial_t total;
    lookers_reduce(in, flags, begin, min(begin + CHAIN_TILE, (size_t)n), &total);
    lookers_take(states, &at, total.sum, total.head);
  }
  return at.after;
}

// Scan each tile, with all that comes before it.
//
// In       in[n]; flags[n]: SEGMENTS_FLAGS only.
// In-out   states[LOOK_WORDS + T_BYTES / 2 * number of tiles]: all 0 before.
// Out      out[n]: not `in`; total[1]: unless it is null.
// Launch   one work-group a tile; n > 0.
// Needs    n < 2**32; COMBINE is exact.
// Ensures  out as scan_write_ranges; total[0] = the combination of all, since the last head.
LANES_ATTRIBUTE
kernel void scan_chain_tiles(const global T *in, const global uchar *flags,
                             volatile global uint *states, global T *out, global T *total,
                             uint n) {
  local T sums[LANE_GROUP_SCRATCH], lane_group_sums[LANE_GROUPS], before_tile;
  local uint heads[LANE_GROUP_SCRATCH], lane_group_heads[LANE_GROUPS], taken;
  if (get_local_id(0) == 0) taken = wi_take_tile(states);
  wg_barrier_local();
  const uint tile = taken;
  const size_t begin = (size_t)tile * CHAIN_TILE + lane_group_id() * RANGE_TILE;
  tile_t own;
  range_load(in, flags, begin, n, &own);
  // Of each chunk: what comes before it in its lane group's part of the tile.
  partial_t before[CHUNKS], all;
  lane_group_scan_chunks(&own, before, &all, sums, heads);
  if (lane_group_item() == 0) {
    lane_group_sums[lane_group_id()] = all.sum;
    lane_group_heads[lane_group_id()] = all.head;
  }
  wg_barrier_local();
  partial_t left;  // of the lane groups before this one
  partial_clear(&left);
  partial_clear(&all);
  for (uint g = 0; g < LANE_GROUPS; ++g) {
    const partial_t next = {lane_group_sums[g], lane_group_heads[g] != 0};
    if (g == lane_group_id()) left = all;
    partial_append(&all, next);
  }
  if (get_local_id(0) < LOOKERS) {
    const bool is_alone = tile == 0 || all.head, is_speaker = get_local_id(0) == 0;
    if (is_speaker && !state_is_starved(tile))
      look_publish(states, tile, is_alone ? STATE_PREFIX : STATE_TOTAL, all.sum);
    const partial_t prefix = {lookers_prefix(in, flags, n, states, tile), false};
    if (is_speaker) before_tile = prefix.sum;
    partial_prepend(&all, prefix);
    if (is_speaker && !is_alone && !state_is_starved(tile))
      look_publish(states, tile, STATE_PREFIX, all.sum);
    if (is_speaker && total != 0 && ((size_t)tile + 1) * CHAIN_TILE >= n) *total = all.sum;
  }
  wg_barrier_local();
  const partial_t first = {before_tile, false};
  partial_prepend(&left, first);
  for (uint j = 0; j < CHUNKS; ++j) {
    partial_prepend(&before[j], left);
    chunk_scan(&own, j, before[j].sum);
  }
  range_store(out, begin, n, &own);
}
