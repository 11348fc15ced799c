// Reduce and scan, segmented or not: two-level reduce-then-scan, three launches whatever the length.
//
// Source: Merrill, Grimshaw 2009; Sun, Skadron 2013, Algorithms 1 to 3. The work-groups are as many
// as are resident; every team has one contiguous share of the array, through which it goes tile by
// tile without waiting for any other.
//
// Carries: for W work-groups of TEAMS teams, T sums[W + W * TEAMS], behind it uint heads of the same
// number: first one entry a work-group, then one a team.
#include "primitives/scan_share.cl"

// Consecutive entries of the spine that a work-item takes at a time: as many as registers hold.
#define SPINE_ITEMS (64 / T_BYTES)

static inline global uint *scan_heads(global T *carries, size_t groups) {
  return (global uint *)(carries + groups * (1 + TEAMS));
}

static inline void scan_load_carry(global T *carries, size_t groups, size_t at, run_t *run) {
  run->sum = carries[at];
  run->head = SEGMENTED && scan_heads(carries, groups)[at] != 0;
}

static inline void scan_store_carry(global T *carries, size_t groups, size_t at, run_t run) {
  carries[at] = run.sum;
#if SEGMENTED
  scan_heads(carries, groups)[at] = run.head;
#endif
}

// Upsweep: what each team's and each work-group's share amounts to.
//
// In       in[n]; flags[n]: SEGMENTS_FLAGS only; share: elements a team, a multiple of SHARE_TILE.
// Out      carries: of the work-groups, totals; of the teams, what those of the same work-group
//          before it amount to.
// Launch   WG_SIZE; so many work-groups that their teams' shares cover n.
LANES_ATTRIBUTE
kernel void scan_reduce_shares(const global T *in, const global uchar *flags, global T *carries,
                               uint n, ulong share) {
  local T sums[TEAM_SCRATCH], team_sums[TEAMS];
  local uint heads[TEAM_SCRATCH], team_heads[TEAMS];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t begin = min((group * TEAMS + team_id()) * share, (size_t)n);
  run_t total;
  share_reduce(in, flags, begin, min(begin + share, (size_t)n), &total, sums, heads);
  if (team_item() == 0) {
    team_sums[team_id()] = total.sum;
    team_heads[team_id()] = total.head;
  }
  wg_barrier_local();
  if (get_local_id(0) == 0) {
    run_t run;
    run_clear(&run);
    for (uint t = 0; t < TEAMS; ++t) {
      const run_t next = {team_sums[t], team_heads[t] != 0};
      scan_store_carry(carries, groups, groups + group * TEAMS + t, run);
      run_append(&run, next);
    }
    scan_store_carry(carries, groups, group, run);
  }
}

// Spine: exclusive scan of the work-groups' totals in place, by one team, and the grand total.
//
// In-out   carries of `groups` work-groups.  Out  *total, unless it is null.
// Launch   WG_SIZE; one work-group.
LANES_ATTRIBUTE
kernel void scan_scan_spine(global T *carries, global T *total, uint groups) {
  local T sums[TEAM_SCRATCH];
  local uint heads[TEAM_SCRATCH];
#if TEAMS > 1
  if (team_id() > 0) return;
#endif
  run_t carry;
  run_clear(&carry);
  for (uint tile = 0; tile < groups; tile += TEAM * SPINE_ITEMS) {
    const uint first = tile + team_item() * SPINE_ITEMS;
    run_t entries[SPINE_ITEMS], run, row;
    run_clear(&run);
    for (uint k = 0; k < SPINE_ITEMS; ++k) {
      run_clear(&entries[k]);
      if (first + k < groups) scan_load_carry(carries, groups, first + k, &entries[k]);
    }
    for (uint k = 0; k < SPINE_ITEMS; ++k) run_append(&run, entries[k]);
    team_scan(&run, &row, sums, heads);
    run_prepend(&run, carry);
    for (uint k = 0; k < SPINE_ITEMS; ++k) {
      if (first + k < groups) scan_store_carry(carries, groups, first + k, run);
      run_append(&run, entries[k]);
    }
    run_append(&carry, row);
  }
  if (total != 0 && team_item() == 0) *total = carry.sum;
}

// Downsweep: scan every share, with what comes before it.
//
// In       in[n], flags[n], share: as above; carries: scanned, or null: one team has the whole.
// Out      out[n]: may be `in`.
// Launch   as scan_reduce_shares.
// Ensures  out[i] = the combination, in order, of the elements of i's segment before i (EXCLUSIVE)
//          or up to i.
LANES_ATTRIBUTE
kernel void scan_write_shares(const global T *in, const global uchar *flags, global T *carries,
                              global T *out, uint n, ulong share) {
  local T sums[TEAM_SCRATCH];
  local uint heads[TEAM_SCRATCH];
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t begin = min((group * TEAMS + team_id()) * share, (size_t)n);
  run_t carry;
  run_clear(&carry);
  if (carries != 0) {
    run_t before;
    scan_load_carry(carries, groups, group, &carry);
    scan_load_carry(carries, groups, groups + group * TEAMS + team_id(), &before);
    run_append(&carry, before);
  }
  share_scan(in, flags, out, begin, min(begin + share, (size_t)n), &carry, sums, heads);
}
