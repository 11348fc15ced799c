// Selection: compaction, positions, partition, heads of runs. Stable, by reduce-then-scan: three
// launches whatever the length, or one where a single work-group is quicker.
//
// Source: Merrill, Grimshaw 2009, with a count in place of the sum. The work-groups are as many as
// are resident; each of their lane groups has one contiguous share of the array, and goes through it
// without waiting for any other.
//
// Counts: for W work-groups, uint[W + 1 + W * LANE_GROUPS]. First, what the work-groups keep,
// scanned. Then, what all keep. Then, for each lane group, what those before it in the same
// work-group keep.
#include "device/work_group.cl"
#include "primitives/compact_rule.cl"
#if WG_SIZE == 1
#define LANE_GROUP 1
#include "primitives/compact_serial.cl"
#else
#include "primitives/compact_rows.cl"
#endif

#define LANE_GROUPS (WG_SIZE / LANE_GROUP)

// Position of the lane group in its work-group.
static inline uint lane_group_id(void) {
  return get_local_id(0) / LANE_GROUP;
}

// Where this lane group's share begins; it ends where the next one begins.
static inline size_t share_begin(uint n, ulong share) {
  return min((get_group_id(0) * LANE_GROUPS + lane_group_id()) * share, (ulong)n);
}

// Upsweep: how much is kept of every share.
//
// In       records[n]: not for KEEP_FLAGGED; flags[n]: for KEEP_FLAGGED only; share: records a lane
//          group, a multiple of TILE.
// Out      counts: of the work-groups, not scanned yet; of the lane groups. Not the sum of all.
// Launch   WG_SIZE; so many work-groups that their lane groups' shares cover n.
LANES_ATTRIBUTE
kernel void compact_count_shares(const global record_chunk_t *records, const global uchar *flags,
                                 global uint *counts, uint n, ulong share) {
  local uint scratch[WG_SIZE];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const selection_t of = {records, flags, 0, 0, 0, 0};
  const size_t begin = share_begin(n, share), end = min(begin + share, (size_t)n);
  uint all;
  const uint before = wg_exclusive_sum_u32(share_count(&of, begin, end), &all, scratch);
  if (get_local_id(0) % LANE_GROUP == 0)
    counts[groups + 1 + group * LANE_GROUPS + lane_group_id()] = before;
  if (get_local_id(0) == 0) counts[group] = all;
}

// Spine: exclusive scan of the work-groups' counts in place, and their sum.
//
// In-out   counts of `groups` work-groups.  Out  *count: their sum.
// Launch   WG_SIZE; one work-group.
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

// Downsweep: write what is kept of every share.
//
// In       records[n]: not for WRITE_POSITIONS; flags[n], share: as above; values[n]: for
//          VALUE_WORDS > 0; counts: scanned; bound: places in `out`.
// Out      out, values_out: `bound` places; apart from what is read.
// Launch   as compact_count_shares.
// Ensures  out[k] = the kept record k, or its position, for k < bound; nothing is written elsewhere.
//          WRITE_ALL: all other records behind them, in order; bound is n.
LANES_ATTRIBUTE
kernel void compact_write_shares(const global record_chunk_t *records, const global uchar *flags,
                                 const global value_chunk_t *values, const global uint *counts,
                                 global record_chunk_t *out, global value_chunk_t *values_out, uint n,
                                 ulong share, uint bound) {
  local uint scratch[WG_SIZE];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const selection_t of = {records, flags, values, out, values_out, bound};
  const size_t begin = share_begin(n, share), end = min(begin + share, (size_t)n);
  const uint at = counts[group] + counts[groups + 1 + group * LANE_GROUPS + lane_group_id()];
#if WG_SIZE == 1
  share_write(&of, begin, end, at, counts[group + 1], counts[groups]);
#else
  share_write(&of, begin, end, share, at, counts[groups], scratch);
#endif
}

// All three at once, for a single work-group.
//
// In, Out  as above; *count: how many are kept.
// Launch   WG_SIZE; one work-group, whose lane groups' shares cover n.
// Ensures  as above.
LANES_ATTRIBUTE
kernel void compact_select_one_group(const global record_chunk_t *records, const global uchar *flags,
                                 const global value_chunk_t *values, global record_chunk_t *out,
                                 global value_chunk_t *values_out, global uint *count, uint n,
                                 ulong share, uint bound) {
  local uint scratch[WG_SIZE];
  const selection_t of = {records, flags, values, out, values_out, bound};
  const size_t begin = share_begin(n, share), end = min(begin + share, (size_t)n);
  uint all;
  const uint before = wg_exclusive_sum_u32(share_count(&of, begin, end), &all, scratch);
  if (get_local_id(0) == 0) *count = all;
#if WG_SIZE == 1
  share_write(&of, begin, end, before, all, all);
#else
  if (get_local_id(0) % LANE_GROUP == 0) scratch[lane_group_id()] = before;
  wg_barrier_local();
  share_write(&of, begin, end, share, scratch[lane_group_id()], all, scratch);
#endif
}
