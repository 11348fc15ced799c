// Work-group scope: barriers and scans.
//
// A work-group of one work-item is the shape that CPU devices want (one fat work-item, no
// barriers); everything here then folds to plain sequential code.
#ifndef CLMST_DEVICE_WORK_GROUP
#define CLMST_DEVICE_WORK_GROUP

// Work-items in a work-group: 1, or a multiple of LANES up to the device's limit.
#ifndef WG_SIZE
#define WG_SIZE 256
#endif

// Registers of a work-item, at most, so that enough work-groups fit on a compute unit: a compiler
// option on NVIDIA's, where nothing else bounds them. 0: whatever the compiler takes.
#ifndef MAX_REGISTERS
#define MAX_REGISTERS 0
#endif

#include "device/lanes.cl"

// Consecutive items that a work-group takes at a time from an evenly shared range.
#define GRID_TILE (WG_SIZE == 1 ? 1024 : WG_SIZE)

// Share the items 0 .. n - 1 out to all work-items, tile by tile: neighbours in step on GPUs, long
// runs on CPUs. A loop header; `continue` goes to the next item.
#define GRID_FOR(i, n)                                                                         \
  for (size_t i##_tile = (size_t)get_group_id(0) * GRID_TILE; i##_tile < (n);                  \
       i##_tile += (size_t)get_num_groups(0) * GRID_TILE)                                      \
    for (size_t i = i##_tile + get_local_id(0); i < min(i##_tile + GRID_TILE, (size_t)(n));    \
         i += WG_SIZE)

#define WG_LANE_GROUPS ((WG_SIZE + LANES - 1) / LANES)

// Order local memory among the work-items of a work-group.
static inline void wg_barrier_local(void) {
#if WG_SIZE > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// Exclusive prefix sum over the work-group in work-item order; *total gets the sum, everywhere.
// Must be reached by the whole work-group. `scratch` has WG_SIZE words and is free on return.
static inline uint wg_exclusive_sum_u32(uint value, uint *total, local uint *scratch) {
#if WG_SIZE == 1
  *total = value;
  return 0;
#elif LANES_IMPL == LANES_LOCAL
  const uint me = get_local_id(0);
  scratch[me] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = value;
  for (uint stride = 1; stride < WG_SIZE; stride *= 2) {
    const uint left = me >= stride ? scratch[me - stride] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += left;
    scratch[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *total = scratch[WG_SIZE - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum - value;
#else
  const uint group = get_local_id(0) / LANES;
  const uint before = lanes_exclusive_sum_u32(value);
  if (lanes_id() == LANES - 1) scratch[group] = before + value;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint offset = 0, sum = 0;
  for (uint g = 0; g < WG_LANE_GROUPS; ++g) {
    offset += g < group ? scratch[g] : 0;
    sum += scratch[g];
  }
  *total = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  return offset + before;
#endif
}

// The maximum of the values of all work-items before this one, 0 for the first. Must be reached by
// the whole work-group. `scratch` has WG_SIZE words and is free on return.
static inline uint wg_exclusive_max_u32(uint value, local uint *scratch) {
#if WG_SIZE == 1
  return 0;
#elif LANES_IMPL == LANES_LOCAL
  const uint me = get_local_id(0);
  scratch[me] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = 1; stride < WG_SIZE; stride *= 2) {
    const uint left = me >= stride ? scratch[me - stride] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[me] = max(scratch[me], left);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const uint before = me > 0 ? scratch[me - 1] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  return before;
#else
  const uint group = get_local_id(0) / LANES;
  uint before = lanes_exclusive_max_u32(value);
  if (lanes_id() == LANES - 1) scratch[group] = max(before, value);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint g = 0; g < WG_LANE_GROUPS; ++g) before = max(before, g < group ? scratch[g] : 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  return before;
#endif
}

#endif
