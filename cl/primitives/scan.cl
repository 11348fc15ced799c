// Reduce and scan, segmented or not: two-level reduce-then-scan, three launches whatever the length.
//
// Source: Merrill, Grimshaw 2009; Sun, Skadron 2013, Algorithms 1 to 3. The work-groups are as many
// as are resident; every lane group has one contiguous share of the array, and goes through it tile
// by tile without waiting for any other.
//
// Carries: for W work-groups of LANE_GROUPS lane groups, T sums[W + W * LANE_GROUPS], then as many
// uint heads: first one entry a work-group, then one a lane group.
#include "primitives/scan_share.cl"

// Consecutive entries of the spine that a work-item takes at a time: as many as registers hold.
#define SPINE_ITEMS (64 / T_BYTES)

static inline global uint *scan_heads(global T *carries, size_t groups) {
  return (global uint *)(carries + groups * (1 + LANE_GROUPS));
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

// Upsweep: what each lane group's and each work-group's share amounts to.
//
// In       in[n]; flags[n]: SEGMENTS_FLAGS only; share: elements a lane group, a
//          multiple of SHARE_TILE.
// Out      carries: of the work-groups, totals; of the lane groups, what those of the same work-group
//          before it amount to.
// Launch   WG_SIZE; so many work-groups that their lane groups' shares cover n.
LANES_ATTRIBUTE
kernel void scan_reduce_shares(const global T *in, const global uchar *flags, global T *carries,
                               uint n, ulong share) {
  local T sums[LANE_GROUP_SCRATCH], lane_group_sums[LANE_GROUPS];
  local uint heads[LANE_GROUP_SCRATCH], lane_group_heads[LANE_GROUPS];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t begin = min((group * LANE_GROUPS + lane_group_id()) * share, (size_t)n);
  partial_t total;
  share_reduce(in, flags, begin, min(begin + share, (size_t)n), &total, sums, heads);
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

// Spine: exclusive scan of the work-groups' totals in place, by one lane group, and the grand total.
//
// In-out   carries of `groups` work-groups.  Out  *total, unless it is null.
// Launch   WG_SIZE; one work-group.
LANES_ATTRIBUTE
kernel void scan_scan_spine(global T *carries, global T *total, uint groups) {
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
  if (total != 0 && lane_group_item() == 0) *total = carry.sum;
}

// Downsweep: scan every share, with what comes before it.
//
// In       in[n], flags[n], share: as above; carries: scanned, or null: one lane group has the whole.
// Out      out[n]: may be `in`.
// Launch   as scan_reduce_shares.
// Ensures  out[i] = the combination, in order, of the elements of i's segment before i (EXCLUSIVE)
//          or up to i.
LANES_ATTRIBUTE
kernel void scan_write_shares(const global T *in, const global uchar *flags, global T *carries,
                              global T *out, uint n, ulong share) {
  local T sums[LANE_GROUP_SCRATCH];
  local uint heads[LANE_GROUP_SCRATCH];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t begin = min((group * LANE_GROUPS + lane_group_id()) * share, (size_t)n);
  partial_t carry;
  partial_clear(&carry);
  if (carries != 0) {
    partial_t before;
    scan_load_carry(carries, groups, group, &carry);
    scan_load_carry(carries, groups, groups + group * LANE_GROUPS + lane_group_id(), &before);
    partial_append(&carry, before);
  }
  share_scan(in, flags, out, begin, min(begin + share, (size_t)n), &carry, sums, heads);
}
