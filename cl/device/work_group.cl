// Barriers and scans of a whole work-group, and loops that divide work among work-groups.
//
// On CPU devices a work-group has one work-item, which does much work without barriers. Everything
// in this file then becomes plain sequential code.

// Number of work-items in a work-group: 1, or a multiple of LANES up to the device's limit.
#ifndef WG_SIZE
#define WG_SIZE 256
#endif

// Maximum number of registers of a work-item, or 0 for no limit. It is a compiler option for NVIDIA
// devices. A limit lets more work-groups run on a compute unit at the same time.
#ifndef MAX_REGISTERS
#define MAX_REGISTERS 0
#endif

// 1: every kernel declares the size of its work-groups, so that the compiler uses only as many
// registers as a work-group of this size can have. This is set only for kernels that could not be
// launched otherwise. 0: kernels do not declare it, as in all measurements of performance.
#ifndef DECLARED_WORK_GROUP
#define DECLARED_WORK_GROUP 0
#endif
#if DECLARED_WORK_GROUP
#define kernel __kernel __attribute__((reqd_work_group_size(WG_SIZE, 1, 1)))
#endif

#include "device/lanes.cl"

// Number of items in a tile, which is the range of consecutive items that a work-group takes at
// once. Kernel files that take long for an item define a smaller number.
#ifndef GRID_TILE
#define GRID_TILE (WG_SIZE == 1 ? 1024 : WG_SIZE)
#endif

// A loop header that divides the items 0 .. n - 1 among work-groups, in tiles of `size` items.
// `tile` is the first item of a tile. All work-items of a work-group stay together.
#define TILES_FOR(tile, n, size)                                   \
  for (size_t tile = (size_t)get_group_id(0) * (size); tile < (n); \
       tile += (size_t)get_num_groups(0) * (size))

// A loop header that divides the items 0 .. n - 1 among all work-items, tile by tile (GRID_TILE
// items). On GPUs neighbouring work-items take neighbouring items of a tile. On CPUs a work-item
// takes a whole tile. `continue` goes on to the next item. With 2 work-groups of 4 work-items, and
// 20 items:
//
//   tile         0           1           2           3           4
//   item         0 1 2 3     4 5 6 7     8 9 10 11   12 .. 15    16 .. 19
//   work-group   0           1           0           1           0
#define GRID_FOR(i, n)                                                                    \
  TILES_FOR(i##_tile, n, GRID_TILE)                                                       \
  for (size_t i = i##_tile + get_local_id(0); i < min(i##_tile + GRID_TILE, (size_t)(n)); \
       i += WG_SIZE)

// A loop header that divides the items 0 .. n - 1 among work-groups, in rows of WG_SIZE items.
// `first` is the first item of a row. Each work-item handles item first + get_local_id(0), if that
// is below n. The rows form the same tiles as in GRID_FOR. All work-items of a work-group stay
// together, so the loop may contain barriers.
#define WG_FOR(first, n)                                                                \
  TILES_FOR(first##_tile, n, GRID_TILE)                                                 \
  for (size_t first = first##_tile; first < min(first##_tile + GRID_TILE, (size_t)(n)); \
       first += WG_SIZE)

#define WG_LANE_GROUPS ((WG_SIZE + LANES - 1) / LANES)

// Make each work-item's writes to local memory visible to the whole work-group.
//
// Scope    the whole work-group.
static inline void wg_barrier_local(void) {
#if WG_SIZE > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// Make each work-item's writes to local and global memory visible to the whole work-group.
//
// Scope    the whole work-group.
static inline void wg_barrier(void) {
#if WG_SIZE > 1
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

// Return the sum of the values that the earlier work-items of the work-group pass.
//
// Out      *total: the sum of the values of all work-items.
// Temp     scratch: WG_SIZE words of local memory, which may be reused on return.
// Scope    the whole work-group; each work-item has its own result, *total is the same in all. Ends
//          with a barrier if WG_SIZE > 1.
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

// Return the maximum of the values that the earlier work-items of the work-group pass. The first
// work-item gets 0.
//
// Temp     scratch: WG_SIZE words of local memory, which may be reused on return.
// Scope    the whole work-group; each work-item has its own result. Ends with a barrier if
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
