// Selection of records, for the primitives compact, positions, partition and unique_by_key. The
// kept records stay in their order. The method is reduce-then-scan: three launches, whatever the
// length of the array is. If a single work-group is faster, it does all three steps in one launch.
//
// Source: Merrill, Grimshaw 2009, with a count of kept records in place of the sum. There are as
// many work-groups as run at the same time. Each is divided into lane groups, which are groups of
// lanes that work together. A lane group has one contiguous range of the array, and processes it
// without waiting for another lane group.
//
// The array counts[W + 1 + W * LANE_GROUPS] belongs to W work-groups of LANE_GROUPS lane groups
// each. Example with W = 2 and LANE_GROUPS = 3:
//
//     records kept by each lane group   3 1 2 | 0 4 1
//     counts[0 .. W)                    6 5       after the upsweep; 0 6 after the spine: scanned
//     counts[W]                         -         11 after the spine: the number of kept records
//     counts[W + 1 ..)                  0 3 4 | 0 0 4      exclusive sums within a work-group
//
// So the first index of the result to which the third lane group of the first work-group writes is
// 0 + 4.
#include "device/work_group.cl"
#include "primitives/compact_rule.cl"
#if WG_SIZE == 1
#define LANE_GROUP 1
#include "primitives/compact_serial.cl"
#else
#include "primitives/compact_rows.cl"
#endif

#define LANE_GROUPS (WG_SIZE / LANE_GROUP)

// Return the index, in its work-group, of this lane group, which is a group of lanes that work
// together.
static inline uint lane_group_id(void) {
  return get_local_id(0) / LANE_GROUP;
}

// Return the index of the first record in the range of this lane group, the group of lanes that
// works on one contiguous range of the array. All ranges but the last have `range` records, and
// each ends where the next one begins.
static inline size_t range_begin(uint n, ulong range) {
  return min((get_group_id(0) * LANE_GROUPS + lane_group_id()) * range, (ulong)n);
}

// Count the records that the selection keeps. Every lane group, a group of lanes that work
// together, counts in one contiguous range of the array. This is the upsweep, the first of three
// launches of a reduce-then-scan.
//
// In       records[n]: the records, not read with KEEP_FLAGGED;
//          flags[n]: a byte for each record, not 0 if the record is kept, read only with
//            KEEP_FLAGGED;
//          range: the number of records in the range of a lane group, a multiple of TILE.
// Out      counts: first, for each of the W work-groups, the number of records that it keeps. Then,
//          from index W + 1 on, for each lane group, the number of records that earlier lane groups
//          of its work-group keep.
// Launch   as many work-groups as it takes for the ranges of their lane groups to cover all
//          records.
// Needs    n < 2**32.
// Ensures  counts[group] = the number of records that the work-group keeps; counts[W] is not
//          written.
LANES_ATTRIBUTE
kernel void compact_count_ranges(const global record_chunk_t *records, const global uchar *flags,
                                 global uint *counts, uint n, ulong range GIVEN_PARAMETERS) {
  local uint scratch[WG_SIZE];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const selection_t of = {records, flags, 0, 0, 0, 0, GIVEN};
  const size_t begin = range_begin(n, range), end = min(begin + range, (size_t)n);
  uint all;
  const uint before = wg_exclusive_sum_u32(range_count(&of, begin, end), &all, scratch);
  if (get_local_id(0) % LANE_GROUP == 0)
    counts[groups + 1 + group * LANE_GROUPS + lane_group_id()] = before;
  if (get_local_id(0) == 0) counts[group] = all;
}

// Each work-group has counted the records that it keeps. Replace these counts by their exclusive
// prefix sums, and compute the sum of all of them. This is the spine, the second of three launches
// of a reduce-then-scan.
//
// In-out   counts[groups + 1]: before the launch, the number of kept records of each work-group;
//          afterwards the prefix sums, and in the last element the sum of all counts.
// Out      count[1]: the sum of all counts.
// Launch   one work-group.
// Needs    compact_count_ranges has run with `groups` work-groups.
// Ensures  counts[g] = the number of records kept by work-groups before g; count[0] =
//          counts[groups] = the number of all kept records.
LANES_ATTRIBUTE
kernel void compact_scan_counts(global uint *counts, global uint *count, uint groups) {
  local uint scratch[WG_SIZE];
  const uint run = (groups + WG_SIZE - 1) / WG_SIZE;
  const uint begin = min((uint)get_local_id(0) * run, groups), end = min(begin + run, groups);
  uint own = 0, all;
  for (uint g = begin; g < end; ++g) own += counts[g];
  uint before = wg_exclusive_sum_u32(own, &all, scratch);
  for (uint g = begin; g < end; ++g) {
    const uint kept = counts[g];
    counts[g] = before;
    before += kept;
  }
  if (get_local_id(0) == 0) counts[groups] = *count = all;
}

// Write the kept records of every lane group's range to their places in the result. A lane group is
// a group of lanes that work together. This is the downsweep, the last of three launches of a
// reduce-then-scan.
//
// In       records[n]: the records, not read with WRITE_POSITIONS;
//          flags[n]: a byte for each record, not 0 if the record is kept, read only with
//            KEEP_FLAGGED;
//          range: the number of records in the range of a lane group;
//          values[n]: a value for each record, read only if VALUE_WORDS > 0;
//          counts: the prefix sums that compact_scan_counts leaves;
//          bound: the capacity of the result.
// Out      out[bound]: the kept records, or with WRITE_POSITIONS their positions in the input;
//          values_out[bound]: the values of the kept records. `out` and `values_out` must not be
//            arrays that are read.
// Launch   as many work-groups as compact_count_ranges.
// Needs    compact_scan_counts has run.
// Ensures  out[k] = kept record k, or its position, for k < bound. Nothing else is written. With
//          WRITE_ALL, bound is n, and all other records follow the kept ones, in their order.
LANES_ATTRIBUTE
kernel void compact_write_ranges(const global record_chunk_t *records, const global uchar *flags,
                                 const global value_chunk_t *values, const global uint *counts,
                                 global record_chunk_t *out, global value_chunk_t *values_out,
                                 uint n, ulong range, uint bound GIVEN_PARAMETERS) {
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const selection_t of = {records, flags, values, out, values_out, bound, GIVEN};
  const size_t begin = range_begin(n, range), end = min(begin + range, (size_t)n);
  const uint at = counts[group] + counts[groups + 1 + group * LANE_GROUPS + lane_group_id()];
#if WG_SIZE == 1
  range_write(&of, begin, end, at, counts[group + 1], counts[groups]);
#else
  local uint scratch[WG_SIZE];
  range_write(&of, begin, end, range, at, counts[groups], scratch);
#endif
}

// Select the records to keep by one work-group, which counts, scans and writes in one launch.
//
// In       records[n]: the records, not read with WRITE_POSITIONS;
//          flags[n]: a byte for each record, not 0 if the record is kept, read only with
//            KEEP_FLAGGED;
//          values[n]: a value for each record, read only if VALUE_WORDS > 0;
//          range: the number of records in the range of a lane group;
//          bound: the capacity of the result.
// Out      out[bound]: the kept records, or with WRITE_POSITIONS their positions in the input;
//          values_out[bound]: the values of the kept records;
//          count[1]: the number of all kept records.
// Launch   one work-group. The ranges of its lane groups must cover all records.
// Needs    n < 2**32.
// Ensures  out, values_out: as in compact_write_ranges; count[0] = the number of all kept records.
LANES_ATTRIBUTE
kernel void compact_select_one_group(const global record_chunk_t *records,
                                     const global uchar *flags, const global value_chunk_t *values,
                                     global record_chunk_t *out, global value_chunk_t *values_out,
                                     global uint *count, uint n, ulong range,
                                     uint bound GIVEN_PARAMETERS) {
  local uint scratch[WG_SIZE];
  const selection_t of = {records, flags, values, out, values_out, bound, GIVEN};
  const size_t begin = range_begin(n, range), end = min(begin + range, (size_t)n);
  uint all;
  const uint before = wg_exclusive_sum_u32(range_count(&of, begin, end), &all, scratch);
  if (get_local_id(0) == 0) *count = all;
#if WG_SIZE == 1
  range_write(&of, begin, end, before, all, all);
#else
  if (get_local_id(0) % LANE_GROUP == 0) scratch[lane_group_id()] = before;
  wg_barrier_local();
  range_write(&of, begin, end, range, scratch[lane_group_id()], all, scratch);
#endif
}
