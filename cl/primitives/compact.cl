// Stable compaction by reduce-then-scan: three launches whatever the length.
#include "device/work_group.cl"

#define FLAGS_PER_VECTOR 16

// How many of 16 byte flags (each 0 or 1) are set.
static inline uint flags_sum(uint4 flags) {
  const uint bytes = flags.x + flags.y + flags.z + flags.w;  // at most 4 a byte
  return (bytes * 0x01010101u) >> 24;
}

// Upsweep: how many flags are set in each work-group's share.
//
// In       flags[n_vectors]: byte flags, 0 or 1, 16 to a vector.
// Out      sums[number of work-groups].
// Launch   WG_SIZE; share = vectors a work-group.
LANES_ATTRIBUTE
kernel void compact_sum_shares(const global uint4 *flags, global uint *sums, uint n_vectors,
                               uint share) {
  local uint scratch[WG_SIZE];
  const size_t begin = (size_t)get_group_id(0) * share;
  const size_t end = min(begin + share, (size_t)n_vectors);
  uint sum = 0;
  for (size_t i = begin + get_local_id(0); i < end; i += WG_SIZE) sum += flags_sum(flags[i]);
  uint total;
  wg_exclusive_sum_u32(sum, &total, scratch);
  if (get_local_id(0) == 0) sums[get_group_id(0)] = total;
}

// Spine: exclusive scan of the sums in place, and their total.
//
// In-out   sums[n_sums].  Out  *total.  Launch  one work-group of WG_SIZE.
LANES_ATTRIBUTE
kernel void compact_scan_sums(global uint *sums, global uint *total, uint n_sums) {
  local uint scratch[WG_SIZE];
  uint carry = 0;
  for (uint tile = 0; tile < n_sums; tile += WG_SIZE) {
    const uint i = tile + get_local_id(0);
    uint tile_total;
    const uint sum = i < n_sums ? sums[i] : 0;
    const uint before = wg_exclusive_sum_u32(sum, &tile_total, scratch);
    if (i < n_sums) sums[i] = carry + before;
    carry += tile_total;
  }
  if (get_local_id(0) == 0) *total = carry;
}

// Downsweep: write the positions of the set flags.
//
// In       flags[n_vectors]; sums[number of work-groups]: scanned.
// Out      positions[total]: rising.
// Launch   as compact_sum_shares.
LANES_ATTRIBUTE
kernel void compact_write_positions(const global uint4 *flags, const global uint *sums,
                                    global uint *positions, uint n_vectors, uint share) {
  local uint scratch[WG_SIZE];
  const size_t begin = (size_t)get_group_id(0) * share;
  const size_t end = min(begin + share, (size_t)n_vectors);
  uint at = sums[get_group_id(0)];
  for (size_t tile = begin; tile < end; tile += WG_SIZE) {
    const size_t i = tile + get_local_id(0);
    const uint4 vector = i < end ? flags[i] : (uint4)(0);
    uint total;
    uint place = at + wg_exclusive_sum_u32(flags_sum(vector), &total, scratch);
    at += total;
    const uint words[4] = {vector.x, vector.y, vector.z, vector.w};
    for (uint w = 0; w < 4; ++w) {
      if (words[w] == 0) continue;
      for (uint b = 0; b < 4; ++b)
        if (words[w] >> (8 * b) & 1)
          positions[place++] = (uint)(i * FLAGS_PER_VECTOR + 4 * w + b);
    }
  }
}
