// Split: stable partition of records by a digit of their keys; one pass of a radix sort, least
// significant digit first.
//
// Source: Patidar, Narayanan 2009, the split that Vineet, Harish, Patidar, Narayanan 2009 build on;
// reduce-then-scan as in Merrill, Grimshaw 2010 and 2011. The work-groups are as many as are
// resident; each has one contiguous share of the records.
//
// Counts: for W work-groups uint counts[RADIX][W], then totals[RADIX]: of each digit and work-group,
// of each digit. One pass is three launches; of one work-group's records, counts need no scan and
// are made by split_scatter itself.
#include "primitives/split_serial.cl"
#include "primitives/split_share.cl"

// Upsweep: how many records of each digit every share has.
//
// In       in[n]: records; share: records a work-group, a multiple of TILE; the digit: its lowest
//          bit, `shift`, and its bits in place, `mask`, below RADIX.
// Out      counts[RADIX][number of work-groups].
// Launch   WG_SIZE; so many work-groups that their shares cover n.
kernel void split_count_digits(const global uint *in, global uint *counts, uint n, ulong share,
                               uint shift, uint mask) {
  local uint parts[PARTS];
  const size_t begin = min(get_group_id(0) * share, (size_t)n);
  share_count(in, begin, min(begin + share, (size_t)n), shift, mask, parts);
  for (uint d = get_local_id(0); d < RADIX; d += WG_SIZE)
    counts[d * get_num_groups(0) + get_group_id(0)] = share_digit_count(parts, d);
}

// Spine: exclusive scan of each digit's counts in place, and their total.
//
// In-out   counts[RADIX][groups].  Out  totals[RADIX], behind them.
// Launch   WG_SIZE; RADIX work-groups.
LANES_ATTRIBUTE
kernel void split_scan_counts(global uint *counts, uint groups) {
  local uint scratch[WG_SIZE];
  global uint *row = counts + get_group_id(0) * groups;
  uint carry = 0;
  for (uint tile = 0; tile < groups; tile += WG_SIZE) {
    const uint i = tile + get_local_id(0);
    uint tile_total;
    const uint count = i < groups ? row[i] : 0;
    const uint before = wg_exclusive_sum_u32(count, &tile_total, scratch);
    if (i < groups) row[i] = carry + before;
    carry += tile_total;
  }
  if (get_local_id(0) == 0) counts[RADIX * groups + get_group_id(0)] = carry;
}

// Downsweep: write every record, and its value, to its place.
//
// In       in[n]; values[n]: VALUE_WORDS > 0 only; counts: scanned, with totals; or null: there is
//          one work-group, and unless WG_SIZE is 1 one tile; share, shift, mask: as above.
// Out      out[n], values_out[n]: apart from what is read.
// Launch   as split_count_digits.
// Ensures  out: in, sorted by the digit, equal digits in the order that they have in `in`.
LANES_ATTRIBUTE
kernel void split_scatter(const global uint *in, global uint *out, const global uint *values,
                          global uint *values_out, const global uint *counts, uint n, ulong share,
                          uint shift, uint mask) {
  const size_t begin = min(get_group_id(0) * share, (size_t)n);
  const size_t end = min(begin + share, (size_t)n);
#if WG_SIZE == 1
  LONE_MEMORY uint places[RADIX];
  local uint parts[PARTS];
  if (counts == 0) share_count(in, begin, end, shift, mask, parts);
  const size_t groups = get_num_groups(0);
  uint start = 0;
  for (uint d = 0; d < RADIX; ++d) {
    places[d] = start + (counts == 0 ? 0 : counts[d * groups + get_group_id(0)]);
    start += counts == 0 ? share_digit_count(parts, d) : counts[RADIX * groups + d];
  }
  serial_scatter(in, out, values, values_out, begin, end, shift, mask, places);
#else
  local uint places[RADIX], ranking[RANK_WORDS], scratch[WG_SIZE], sorted[TILE * MOST_WORDS];
  uint next[PLACES_EACH], me = get_local_id(0);
  wg_first_places(counts, next, places, scratch);
  for (size_t tile = begin; tile < end; tile += TILE) {
    const uint valid = (uint)min(end - tile, (size_t)TILE);
    uint records[TILE_ITEMS * RECORD_WORDS], ranks[TILE_ITEMS], to[TILE_ITEMS];
    tile_load(me, in + tile * RECORD_WORDS, RECORD_WORDS, valid, records);
    wg_rank_records(me, records, valid, shift, mask, ranks, ranking, scratch);
    tile_place(me, next, ranking, valid, counts == 0, places);
    tile_exchange(records, RECORD_WORDS, ranks, sorted);
#if VALUE_WORDS > 0
    // Loaded before the records are written, so that neither waits for the other.
    uint moved[TILE_ITEMS * VALUE_WORDS];
    tile_load(me, values + tile * VALUE_WORDS, VALUE_WORDS, valid, moved);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_write_records(me, sorted, valid, shift, mask, places, to, out);
#if VALUE_WORDS > 0
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_exchange(moved, VALUE_WORDS, ranks, sorted);
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_write_values(me, sorted, valid, to, values_out);
#endif
    // Adds nothing, the mask having fewer bits. Compilers that see that a work-item's addresses in
    // local memory are the same in every tile hold them all, until registers do not suffice.
    me += mask >> 31;
  }
#endif
}

// Copy words as they are: what a pass is to write to lies apart from what it reads.
//
// In  in[n].  Out  out[n].  Launch  any.
kernel void split_copy(const global uint *in, global uint *out, ulong n) {
  GRID_FOR(i, n) out[i] = in[i];
}
