// Split: a stable sort of records by one digit of their keys, which is the value of a few bits. It
// is one pass of a radix sort that begins with the least significant digit.
//
// Source: Patidar, Narayanan 2009, the split on which Vineet, Harish, Patidar, Narayanan 2009
// build; reduce-then-scan as in Merrill, Grimshaw 2010 and 2011. There are as many work-groups as
// run at the same time. Each has one contiguous range of the records.
//
// The array counts[RADIX][W] has, for each digit, how often it occurs in the range of each of W
// work-groups. The array totals[RADIX] follows in the same buffer. Example with W = 2 and digits of
// 1 bit:
//
//     digits           1 0 1 | 0 0 1
//     counts           digit 0: 1 2    digit 1: 2 1       split_count_digits
//     scanned          digit 0: 0 1    digit 1: 0 2       split_scan_counts; totals 3, 3
//     first index      digit 0: 0 1    digit 1: 3 5       = start of the digit + scanned count
//     index of each    3 0 4 | 1 2 5                      split_scatter
//
// A split takes these three launches. If one work-group sorts all records, and if the records fit
// into one tile or the work-group has a single work-item, split_scatter alone is launched, and
// counts the digits itself.
#include "primitives/split_serial.cl"
#include "primitives/split_range.cl"

// Count how often each digit occurs in every work-group's range of the records. A digit is a few
// bits of a record's key. This is the upsweep, the first of three launches.
//
// In       in[n]: the records;
//          range: the number of consecutive records of a work-group, a multiple of TILE;
//          shift: the lowest bit of the digit in the key;
//          mask: RADIX - 1, or less for a digit of fewer bits: its lowest bits are set, as many as
//            the digit has.
// Out      counts[RADIX][number of work-groups]: how often each digit occurs in each range.
// Launch   as many work-groups as it takes for their ranges to cover all records.
// Needs    n < 2**32.
// Ensures  counts[d][g] = the number of records with digit d in the range of work-group g.
kernel void split_count_digits(const global uint *in, global uint *counts, uint n, ulong range,
                               uint shift, uint mask) {
  local uint parts[PARTS];
  const size_t begin = min(get_group_id(0) * range, (size_t)n);
  range_count(in, begin, min(begin + range, (size_t)n), shift, mask, parts);
  for (uint d = get_local_id(0); d < RADIX; d += WG_SIZE)
    counts[d * get_num_groups(0) + get_group_id(0)] = range_digit_count(parts, d);
}

// The counts of a digit say how often it occurs in the range of each work-group. Replace the counts
// of each digit by their exclusive prefix sums, and store the sum of all counts of the digit. This
// is the spine, the second of three launches.
//
// In-out   counts[RADIX][groups]: how often each digit occurs in each work-group's range. The sums
//          totals[RADIX] follow, which are only written.
// Launch   RADIX work-groups.
// Needs    split_count_digits has run with `groups` work-groups.
// Ensures  counts[d][g] = the number of records with digit d in work-groups before g; totals[d] =
//          the number of all records with digit d.
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

// Write every record, and its value, to its index in the array that is sorted by one digit, a few
// bits of the key. This is the downsweep, the last of three launches.
//
// In       in[n]: the records;
//          values[n]: a value for each record, read only if VALUE_WORDS > 0;
//          counts: the prefix sums and totals that split_scan_counts leaves. It is null if this is
//            the only launch, in which one work-group counts the digits itself. All records must
//            then fit into one tile, unless WG_SIZE is 1;
//          range: the number of records of a work-group;
//          shift: the lowest bit of the digit in the key;
//          mask: its lowest bits are set, as many as the digit has.
// Out      out[n], values_out[n]: the sorted records and their values. They must not be arrays that
//          are read.
// Launch   as many work-groups as split_count_digits.
// Needs    split_scan_counts has run, unless `counts` is null.
// Ensures  `out` is `in` sorted by the digit. Records with equal digits keep their order.
LANES_ATTRIBUTE
kernel void split_scatter(const global uint *in, global uint *out, const global uint *values,
                          global uint *values_out, const global uint *counts, uint n, ulong range,
                          uint shift, uint mask) {
  const size_t begin = min(get_group_id(0) * range, (size_t)n);
  const size_t end = min(begin + range, (size_t)n);
#if WG_SIZE == 1
  SERIAL_MEMORY uint next_index[RADIX];
  local uint parts[PARTS];
  if (counts == 0) range_count(in, begin, end, shift, mask, parts);
  const size_t groups = get_num_groups(0);
  uint start = 0;
  for (uint d = 0; d < RADIX; ++d) {
    next_index[d] = start + (counts == 0 ? 0 : counts[d * groups + get_group_id(0)]);
    start += counts == 0 ? range_digit_count(parts, d) : counts[RADIX * groups + d];
  }
  serial_scatter(in, out, values, values_out, begin, end, shift, mask, next_index);
#else
  local uint next_index[RADIX], ranking[RANK_WORDS], scratch[WG_SIZE], sorted[TILE * MOST_WORDS];
  uint next[DIGITS_EACH], me = get_local_id(0);
  wg_first_indices(counts, next, next_index, scratch);
  for (size_t tile = begin; tile < end; tile += TILE) {
    const uint valid = (uint)min(end - tile, (size_t)TILE);
    uint records[TILE_ITEMS * RECORD_WORDS], ranks[TILE_ITEMS], to[TILE_ITEMS];
    tile_load(me, in + tile * RECORD_WORDS, RECORD_WORDS, valid, records);
    wg_rank_records(me, records, valid, shift, mask, ranks, ranking, scratch);
    tile_index(me, next, ranking, valid, counts == 0, next_index);
    tile_exchange(records, RECORD_WORDS, ranks, sorted);
#if VALUE_WORDS > 0
    // The loads of the values start before the records are written, so that loads and stores
    // overlap.
    uint moved[TILE_ITEMS * VALUE_WORDS];
    tile_load(me, values + tile * VALUE_WORDS, VALUE_WORDS, valid, moved);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_write_records(me, sorted, valid, shift, mask, next_index, to, out);
#if VALUE_WORDS > 0
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_exchange(moved, VALUE_WORDS, ranks, sorted);
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_write_values(me, sorted, valid, to, values_out);
#endif
    // This adds 0, but compilers do not know that the mask has fewer than 32 bits. Without this
    // statement, they would see that a work-item uses the same addresses in local memory for every
    // tile. They would keep all of these addresses in registers, and registers would run out.
    me += mask >> 31;
  }
#endif
}

// Copy words to another array. Passes of a sort alternate between two arrays. If the sort is in
// place and has an odd number of passes, its input is copied first, because no pass may write to
// the array that it reads.
//
// In       in[n]: the words.
// Out      out[n]: their copy.
// Launch   any.
// Needs    `out` is not `in`.
// Ensures  out[i] = in[i].
kernel void split_copy(const global uint *in, global uint *out, ulong n) {
  GRID_FOR(i, n) out[i] = in[i];
}
