// Reduce and scan, segmented or not: a two-level reduce-then-scan, in three launches for any
// length.
//
// Source: Merrill, Grimshaw 2009; Sun, Skadron 2013, Algorithms 1 to 3. There are as many
// work-groups as run at the same time. Each is divided into lane groups, which are groups of lanes
// that work together. Every lane group has one contiguous range of the array, and processes it tile
// by tile without waiting for another lane group.
//
// Example: a sum over 8 elements, by 2 work-groups of 2 lane groups each, in ranges of 2 elements:
//
//     in                       3  1 | 7  0 || 4  1 | 6  3
//     scan_reduce_ranges       0    | 4    || 0    | 5       sums before each lane group
//                              11          || 14             totals of the work-groups
//     scan_scan_spine          0           || 11             exclusive scan of the totals; total 25
//     scan_write_ranges        0  3 | 4 11 || 11 15 | 16 22  exclusive
//
// A head is the first element of a segment. If the scan is segmented, every partial result has a
// flag that says whether it contains a head (lane_group.cl), and nothing is carried past a head.
// For example, if element 6, the 6 in the last range above, is a head, the totals of the
// work-groups are (11, no head) and (9, head). The results of the last range are then 0 and 6
// instead of 16 and 22, whatever comes before it.
//
// The array `carries`, for W work-groups of LANE_GROUPS lane groups each, has two parts. The first
// has W + W * LANE_GROUPS sums of type T: one for each work-group, then one for each lane group.
// The second part begins at the next whole word, and has the head flag of each sum as a uint.
#include "primitives/scan_range.cl"

// Number of consecutive totals that a work-item holds at once in the spine, the scan over the
// totals of the work-groups. They must fit its registers.
#define SPINE_ITEMS (16 / T_WORDS)

static inline global uint *scan_heads(global T *carries, size_t groups) {
  return (global uint *)carries + (groups * (1 + LANE_GROUPS) * T_BYTES + 3) / 4;
}

static inline void scan_load_carry(global T *carries, size_t groups, size_t at, partial_t *run) {
  run->sum = carries[at];
  run->head = SEGMENTED && scan_heads(carries, groups)[at] != 0;
}

static inline void scan_store_carry(global T *carries, size_t groups, size_t at, partial_t run) {
  carries[at] = run.sum;
#if SEGMENTED
  scan_heads(carries, groups)[at] = run.head;
#endif
}

// Combine the elements in the range of every lane group (lanes that work together), and from these
// results the elements of every work-group. This is the upsweep, the first of three launches of a
// scan.
//
// In       in[n]: the elements;
//          flags[n]: for each element, not 0 if a segment begins there, read only with
//            SEGMENTS_FLAGS;
//          range: the number of consecutive elements of a lane group, a multiple of RANGE_TILE.
// Out      carries: first, for each work-group, the combination of all its elements. Then, for each
//          lane group, the combination of the elements before its range in its work-group. Then, in
//          a segmented scan, a flag for each of these combinations: whether a segment begins among
//          its elements.
// Launch   as many work-groups as it takes for the ranges of their lane groups to cover all
//          elements.
// Needs    n < 2**32.
// Ensures  carries are combined in the order of the array, so COMBINE need not be commutative.
LANES_ATTRIBUTE
kernel void scan_reduce_ranges(const global element_t *in, const global uchar *flags,
                               global T *carries, uint n, ulong range) {
  local T sums[LANE_GROUP_SCRATCH], lane_group_sums[LANE_GROUPS];
  local uint heads[LANE_GROUP_SCRATCH], lane_group_heads[LANE_GROUPS];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t begin = min((group * LANE_GROUPS + lane_group_id()) * range, (size_t)n);
  partial_t total;
  range_reduce(in, flags, begin, min(begin + range, (size_t)n), &total, sums, heads);
  if (lane_group_item() == 0) {
    lane_group_sums[lane_group_id()] = total.sum;
    lane_group_heads[lane_group_id()] = total.head;
  }
  wg_barrier_local();
  if (get_local_id(0) == 0) {
    partial_t run;
    partial_clear(&run);
    for (uint t = 0; t < LANE_GROUPS; ++t) {
      const partial_t next = {lane_group_sums[t], lane_group_heads[t] != 0};
      scan_store_carry(carries, groups, groups + group * LANE_GROUPS + t, run);
      partial_append(&run, next);
    }
    scan_store_carry(carries, groups, group, run);
  }
}

// Replace the totals of the work-groups by their exclusive prefix sums, and compute the total of
// all elements. One lane group does this. It is the spine, the second of three launches of a scan.
//
// In-out   carries: before the launch the totals of `groups` work-groups, afterwards their
//          exclusive scan.
// Out      total[1]: the combination of all elements, not written if `total` is null.
// Launch   one work-group; only its first lane group works.
// Needs    scan_reduce_ranges has run with `groups` work-groups.
// Ensures  carries[g] = the partial result of all work-groups before g; total[0] = the combination
//          of all elements since the last head.
LANES_ATTRIBUTE
kernel void scan_scan_spine(global T *carries, global element_t *total, uint groups) {
  local T sums[LANE_GROUP_SCRATCH];
  local uint heads[LANE_GROUP_SCRATCH];
#if LANE_GROUPS > 1
  if (lane_group_id() > 0) return;
#endif
  partial_t carry;
  partial_clear(&carry);
  for (uint tile = 0; tile < groups; tile += LANE_GROUP * SPINE_ITEMS) {
    const uint first = tile + lane_group_item() * SPINE_ITEMS;
    partial_t entries[SPINE_ITEMS], run, row;
    partial_clear(&run);
    for (uint k = 0; k < SPINE_ITEMS; ++k) {
      partial_clear(&entries[k]);
      if (first + k < groups) scan_load_carry(carries, groups, first + k, &entries[k]);
    }
    for (uint k = 0; k < SPINE_ITEMS; ++k) partial_append(&run, entries[k]);
    lane_group_scan(&run, &row, sums, heads);
    partial_prepend(&run, carry);
    for (uint k = 0; k < SPINE_ITEMS; ++k) {
      if (first + k < groups) scan_store_carry(carries, groups, first + k, run);
      partial_append(&run, entries[k]);
    }
    partial_append(&carry, row);
  }
  if (total != 0 && lane_group_item() == 0) element_store(total, 0, carry.sum);
}

// Scan the range of every lane group (lanes that work together). The scan of a range starts with
// the carry, which is the combination of all elements before the range. This is the downsweep, the
// last of three launches of a scan.
//
// In       in[n]: the elements;
//          flags[n]: for each element, not 0 if a segment begins there, read only with
//            SEGMENTS_FLAGS;
//          range: the number of consecutive elements of a lane group.
// In-out   carries: the carries, as scan_scan_spine leaves them, which are not changed. It is null
//          if one lane group has the whole array.
// Out      out[n]: the result for each element. It may be `in`.
// Launch   as many work-groups as scan_reduce_ranges.
// Needs    scan_scan_spine has run, unless `carries` is null.
// Ensures  out[i] = the combination, in order, of the elements of i's segment before i. Element i
//          itself is included unless EXCLUSIVE is set.
LANES_ATTRIBUTE
kernel void scan_write_ranges(const global element_t *in, const global uchar *flags,
                              global T *carries, global element_t *out, uint n, ulong range) {
  local T sums[LANE_GROUP_SCRATCH];
  local uint heads[LANE_GROUP_SCRATCH];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t begin = min((group * LANE_GROUPS + lane_group_id()) * range, (size_t)n);
  partial_t carry;
  partial_clear(&carry);
  if (carries != 0) {
    partial_t before;
    scan_load_carry(carries, groups, group, &carry);
    scan_load_carry(carries, groups, groups + group * LANE_GROUPS + lane_group_id(), &before);
    partial_append(&carry, before);
  }
  range_scan(in, flags, out, begin, min(begin + range, (size_t)n), &carry, sums, heads);
}
