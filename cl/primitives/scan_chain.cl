// Scan in a single pass: every element is read once and written once. This has two conditions that
// scan.cl does not have: the result of the operator must not depend on how elements are grouped,
// and the output must not be the input array.
//
// Source: Merrill, Garland 2016; Smith, Levien, Owens 2025. tile_state.cl explains the method.
//
// A tile is a run of consecutive elements that one work-group handles. Work-groups take tiles in
// the order in which they start. A tile is divided into parts, one for each lane group (lanes that
// work together) of the work-group. Such a part is what scan_range.cl calls a tile.
//
// A work-group publishes the total of its tile, and later the prefix, which is the combination of
// all elements up to the end of the tile. In a segmented scan, if a segment begins in the tile, the
// total is the prefix, because nothing is carried past the beginning of a segment.
#include "primitives/scan_range.cl"

#define LOOK_T T
#define LOOK_BYTES (4 * T_WORDS)
#define LOOK_IDENTITY IDENTITY
#define LOOK_COMBINE(a, b) combine(a, b)
#include "device/look_back.cl"

#define CHAIN_TILE (RANGE_TILE * LANE_GROUPS)

// Scan, in place, the part of a tile that a lane group handles, as if nothing came before this
// part. Afterwards, bit i of own->heads says whether any segment begins in the part up to and
// including items[i]. The beginning of a segment is called a head.
//
// Out      *all: the combination of all elements of the part, and whether it has a head.
// Scope    a whole lane group; *all is the same in all of its work-items.
static inline void lane_group_scan_part(tile_t *own, partial_t *all, local T *sums,
                                        local uint *heads) {
  partial_clear(all);
  for (uint j = 0; j < CHUNKS; ++j) {
    partial_t before, row;
    range_chunk_run(own, j, &before);
    lane_group_scan(&before, &row, sums, heads);
    partial_prepend(&before, *all);
    partial_append(all, row);
    chunk_scan(own, j, before.sum);
#if SEGMENTED
    for (uint k = 0; k < CHUNK_ITEMS; ++k) {
      before.head = before.head || range_is_head(own, j * CHUNK_ITEMS + k);
      own->heads |= (uint)before.head << (j * CHUNK_ITEMS + k);
    }
#endif
  }
}

// Combine the elements of in[begin, end), a tile that another work-group handles. This is done if
// that work-group has not published its total in time. Each lane takes one element at a time: the
// function is seldom called, and must not use many registers.
//
// Scope    all look-back lanes, which are the lanes that read the totals of earlier tiles; *total
//          is the same in each of them.
static inline void look_back_reduce(const global element_t *in, const global uchar *flags,
                                    size_t begin, size_t end, partial_t *total) {
  partial_clear(total);
#pragma unroll 1
  for (size_t i = begin; i < end; i += LOOK_BACK_LANES) {
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

// Return the combination of all elements before `tile`. It is computed from the totals that the
// work-groups of earlier tiles have published. In a segmented scan, it has only the elements since
// the last beginning of a segment.
//
// In-out   states: the words in which work-groups publish the totals of their tiles.
// Scope    all look-back lanes, which are the lanes that read these totals; the result is the same
//          in each of them.
static inline T look_back_prefix(const global element_t *in, const global uchar *flags, uint n,
                                 volatile global uint *states, uint tile) {
  look_t at = {IDENTITY, tile, tile == 0};
#pragma unroll 1
  while (!look_back_find(states, &at)) {
    const size_t begin = (at.next - 1) * CHAIN_TILE;
    partial_t total;
    look_back_reduce(in, flags, begin, min(begin + CHAIN_TILE, (size_t)n), &total);
    look_back_take(states, &at, total.sum, total.head);
  }
  return at.after;
}

// Scan an array in a single pass. Each work-group takes one tile, a run of consecutive elements. It
// computes the combination of all earlier elements from the totals that earlier work-groups have
// published.
//
// In       in[n]: the elements;
//          flags[n]: for each element, not 0 if a segment begins there, read only with
//            SEGMENTS_FLAGS.
// In-out   states[LOOK_WORDS + 2 * T_WORDS * number of tiles]: the words in which work-groups
//          publish the totals of their tiles, all 0 before the launch.
// Out      out[n]: the result for each element. It must not be `in`.
//          total[1]: the combination of all elements since the last segment began, not written if
//            `total` is null.
// Launch   one work-group for each tile; n > 0.
// Needs    n < 2**32; COMBINE is exact.
// Ensures  out[i] = the combination, in order, of the elements of i's segment before i. Element i
//          itself is included unless EXCLUSIVE is set.
LANES_ATTRIBUTE
kernel void scan_chain_tiles(const global element_t *in, const global uchar *flags,
                             volatile global uint *states, global element_t *out,
                             global element_t *total, uint n) {
  local T sums[LANE_GROUP_SCRATCH], lane_group_sums[LANE_GROUPS], before_tile[1];
  local uint heads[LANE_GROUP_SCRATCH], lane_group_heads[LANE_GROUPS], taken[1];
  if (get_local_id(0) == 0) *taken = wi_take_tile(states);
  wg_barrier_local();
  const uint tile = *taken;
  const size_t begin = (size_t)tile * CHAIN_TILE + lane_group_id() * RANGE_TILE;
  tile_t own;
  range_load(in, flags, begin, n, &own);
  partial_t all;
  lane_group_scan_part(&own, &all, sums, heads);
  if (lane_group_item() == 0) {
    lane_group_sums[lane_group_id()] = all.sum;
    lane_group_heads[lane_group_id()] = all.head;
  }
  wg_barrier_local();
  partial_t left;  // the partial result of the lane groups before this one
  partial_clear(&left);
  partial_clear(&all);
  for (uint g = 0; g < LANE_GROUPS; ++g) {
    const partial_t next = {lane_group_sums[g], lane_group_heads[g] != 0};
    if (g == lane_group_id()) left = all;
    partial_append(&all, next);
  }
  if (is_look_back_lane()) {
    const bool is_alone = tile == 0 || all.head, is_speaker = get_local_id(0) == 0;
    if (is_speaker && !state_is_starved(tile))
      look_publish(states, tile, is_alone ? STATE_PREFIX : STATE_TOTAL, all.sum);
    const partial_t prefix = {look_back_prefix(in, flags, n, states, tile), false};
    if (is_speaker) *before_tile = prefix.sum;
    partial_prepend(&all, prefix);
    if (is_speaker && !is_alone && !state_is_starved(tile))
      look_publish(states, tile, STATE_PREFIX, all.sum);
    if (is_speaker && total != 0 && ((size_t)tile + 1) * CHAIN_TILE >= n)
      element_store(total, 0, all.sum);
  }
  wg_barrier_local();
  const partial_t first = {*before_tile, false};
  partial_prepend(&left, first);
  for (uint i = 0; i < ITEMS; ++i)
    if (!range_is_head(&own, i)) own.items[i] = combine(left.sum, own.items[i]);
  range_store(out, begin, n, &own);
}
