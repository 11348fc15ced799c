// Work-group scope: barriers and scans.
//
// CPU devices have work-groups of one work-item, which does much work without barriers. Everything
// here then becomes plain sequential code.

// Work-items in a work-group: 1, or a multiple of LANES up to the device's limit.
#ifndef WG_SIZE
#define WG_SIZE 256
#endif

// Maximum number of registers of a work-item, so that enough work-groups fit on a compute unit. It
// is a compiler option for NVIDIA devices. 0: no limit.
#ifndef MAX_REGISTERS
#define MAX_REGISTERS 0
#endif

// Whether every kernel declares the size of its work-groups, so that the compiler limits registers
// accordingly: 0 or 1. It is set only if a kernel does not fit otherwise, so that kernels that fit
// are compiled as they were measured.
#ifndef DECLARED_WORK_GROUP
#define DECLARED_WORK_GROUP 0
#endif
#if DECLARED_WORK_GROUP
#define kernel __kernel __attribute__((reqd_work_group_size(WG_SIZE, 1, 1)))
#endif

#include "device/lanes.cl"

// Items of a tile, that is, consecutive items that a work-group takes at once. Fewer if each takes
// long.
#ifndef GRID_TILE
#define GRID_TILE (WG_SIZE == 1 ? 1024 : WG_SIZE)
#endif

// Divide the items 0 .. n - 1 among work-groups, in tiles of `size` items. `tile` is the first item
// of a tile. It is a loop header. All work-items of a work-group stay together.
#define TILES_FOR(tile, n, size)                                   \
  for (size_t tile = (size_t)get_group_id(0) * (size); tile < (n); \
       tile += (size_t)get_num_groups(0) * (size))

// Divide the items 0 .. n - 1 among all work-items, tile by tile. On GPUs neighbouring work-items
// take neighbouring items; on CPUs a work-item takes a whole tile. A loop header; `continue` goes
// on to the next item. With 2 work-groups of 4 work-items, and 20 items:
//
//   tile         0           1           2           3           4
//   item         0 1 2 3     4 5 6 7     8 9 10 11   12 .. 15    16 .. 19
//   work-group   0           1           0           1           0
#define GRID_FOR(i, n)                                                                    \
  TILES_FOR(i##_tile, n, GRID_TILE)                                                       \
  for (size_t i = i##_tile + get_local_id(0); i < min(i##_tile + GRID_TILE, (size_t)(n)); \
       i += WG_SIZE)

// Divide the items as GRID_FOR does, but by rows of WG_SIZE items. `first` is the first item of a
// row, and item first + get_local_id(0) belongs to the work-item, if that is below n. All
// work-items of a work-group stay together, so there may be barriers in the loop.
#define WG_FOR(first, n)                                                                \
  TILES_FOR(first##_tile, n, GRID_TILE)                                                 \
  for (size_t first = first##_tile; first < min(first##_tile + GRID_TILE, (size_t)(n)); \
       first += WG_SIZE)

#define WG_LANE_GROUPS ((WG_SIZE + LANES - 1) / LANES)

// Order local memory among the work-items of a work-group.
//
// Scope    the whole work-group.
static inline void wg_barrier_local(void) {
#if WG_SIZE > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// Order local and global memory among the work-items of a work-group.
//
// Scope    the whole work-group.
static inline void wg_barrier(void) {
#if WG_SIZE > 1
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

// Return the exclusive prefix sum over the work-group, in work-item order.
//
// Out      *total: the sum of all values.
// Temp     scratch: WG_SIZE words of local memory, free on return.
// Scope    the whole work-group; each work-item has its own result, *total is the same in all. Ends
//          with a barrier where WG_SIZE > 1.
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

// Return the greatest value of all earlier work-items of the work-group. The first work-item gets
// 0.
//
// Temp     scratch: WG_SIZE words of local memory, free on return.
// Scope    the whole work-group; each work-item has its own result. Ends with a barrier where
//          WG_SIZE > 1.
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
