// Functions of lane groups, which are groups of LANES work-items (lanes) that work together. On
// devices with sub-groups or warps they run in lockstep.
//
// There are three implementations with the same results:
//     LANES_PTX    NVIDIA warps by inline PTX (the OpenCL driver has no sub-group extension);
//     LANES_KHR    khr or Intel sub-groups, whose size a compiler attribute fixes;
//     LANES_LOCAL  neither: a lane group is only a way to divide work. Its work-items combine
//                  values by atomics on local memory.
//
// In work-groups of one work-item, LANES is 1. The lane group is that work-item and exchanges
// nothing. All lanes of a group call a lanes_ function together, in the same control flow. Every
// kernel that calls such a function, directly or through a wg_ function, has LANES_ATTRIBUTE.
#include "device/quirks.cl"

#define LANES_LOCAL 0
#define LANES_KHR 1
#define LANES_PTX 2

// How lane groups are implemented: LANES_LOCAL (0), LANES_KHR (1) or LANES_PTX (2).
#ifndef LANES_IMPL
#define LANES_IMPL LANES_LOCAL
#endif

// Number of work-items in a lane group: a power of two that divides WG_SIZE. For LANES_KHR and
// LANES_PTX it is the width in which the hardware runs work-items in lockstep. For LANES_LOCAL it
// may be any width, because a lane group is only a way to divide work there.
#ifndef LANES
#define LANES 32
#endif

#if LANES_IMPL == LANES_KHR
#ifdef cl_intel_subgroups
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#elif defined(cl_khr_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#define LANES_ATTRIBUTE SUB_GROUPS_OF(LANES)
#else
#define LANES_ATTRIBUTE
#endif

// Return the position of this work-item in its lane group: 0 to LANES - 1.
//
// Scope    one work-item, which may call it at any time.
static inline uint lanes_id(void) {
  return get_local_id(0) % LANES;
}

// The index in the work-group of the first work-item of this lane group. If Intel's compiler saw
// that all lanes have the same value here, it would run out of registers. The difference hides this
// from the compiler. The tests define the macro in another way, because their static analysis must
// see that the value is the same.
#ifndef LANES_FIRST
#define LANES_FIRST ((uint)get_local_id(0) - lanes_id())
#endif

#if LANES_IMPL == LANES_PTX

// Return a word in which bit l is 1 if lane l of the lane group has `flag` set.
//
// Scope    a whole lane group; result in every lane.
static inline uint lanes_ballot(bool flag) {
  uint mask;
  __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                   : "=r"(mask)
                   : "r"((uint)flag));
  return mask;
}

// Return the value of one lane of the lane group. All lanes name the same `lane`.
//
// Scope    a whole lane group; result in every lane.
static inline uint lanes_broadcast_u32(uint value, uint lane) {
  uint result;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
                   : "=r"(result)
                   : "r"(value), "r"(lane));
  return result;
}

// Return the value of lane number `lane` of the lane group. Each lane may name a different one.
//
// Scope    a whole lane group; each lane has its own result.
static inline uint lanes_shuffle_u32(uint value, uint lane) {
  return lanes_broadcast_u32(value, lane);
}

// Return the sum of the values of all lower lanes of the lane group, which is 0 in lane 0.
//
// Scope    a whole lane group; each lane has its own result.
static inline uint lanes_exclusive_sum_u32(uint value) {
  uint sum = value;
  for (uint stride = 1; stride < LANES; stride *= 2) {
    uint left;
    __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
                     : "=r"(left)
                     : "r"(sum), "r"(stride));
    sum += lanes_id() >= stride ? left : 0;
  }
  return sum - value;
}

// Return the maximum of the values of all lower lanes of the lane group, which is 0 in lane 0.
//
// Scope    a whole lane group; each lane has its own result.
static inline uint lanes_exclusive_max_u32(uint value) {
  uint most = value, left;
  for (uint stride = 1; stride < LANES; stride *= 2) {
    __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
                     : "=r"(left)
                     : "r"(most), "r"(stride));
    most = max(most, lanes_id() >= stride ? left : 0);
  }
  __asm__ volatile("shfl.sync.up.b32 %0, %1, 1, 0, 0xffffffff;" : "=r"(left) : "r"(most));
  return lanes_id() > 0 ? left : 0;
}

// Return the minimum of the values of all lanes of the lane group.
//
// Scope    a whole lane group; result in every lane.
static inline uint lanes_min_u32(uint value) {
  for (uint stride = LANES / 2; stride > 0; stride /= 2) {
    uint other;
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                     : "=r"(other)
                     : "r"(value), "r"(stride));
    value = min(value, other);
  }
  return value;
}

// Return the minimum of the 64-bit values of all lanes of the lane group.
//
// Scope    a whole lane group; result in every lane.
static inline ulong lanes_min_u64(ulong value) {
  for (uint stride = LANES / 2; stride > 0; stride /= 2) {
    uint low, high;
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                     : "=r"(low)
                     : "r"((uint)value), "r"(stride));
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                     : "=r"(high)
                     : "r"((uint)(value >> 32)), "r"(stride));
    value = min(value, (ulong)high << 32 | low);
  }
  return value;
}

// Return how many lower lanes of the lane group have `flag` set. *total becomes the number of lanes
// with `flag` set in the whole lane group.
//
// Scope    a whole lane group; each lane has its own result, *total is the same in all.
static inline uint lanes_rank(bool flag, uint *total) {
  const uint mask = lanes_ballot(flag);
  *total = popcount(mask);
  return popcount(mask & ((1u << lanes_id()) - 1));
}

#elif LANES_IMPL == LANES_KHR

// Return a word in which bit l is 1 if lane l of the lane group has `flag` set. Each lane l with
// the flag adds 2**l to a sum over the lane group. No two lanes add the same bit, so the sum has no
// carries.
static inline uint lanes_ballot(bool flag) {
  return sub_group_reduce_add((uint)flag << lanes_id());
}

static inline uint lanes_broadcast_u32(uint value, uint lane) {
  return sub_group_broadcast(value, lane);
}

static inline uint lanes_shuffle_u32(uint value, uint lane) {
  return intel_sub_group_shuffle(value, lane);
}

static inline uint lanes_exclusive_sum_u32(uint value) {
  return sub_group_scan_exclusive_add(value);
}

static inline uint lanes_exclusive_max_u32(uint value) {
  const uint before = sub_group_scan_exclusive_max(value);
  return lanes_id() > 0 ? before : 0;
}

static inline uint lanes_min_u32(uint value) {
  return sub_group_reduce_min(value);
}

static inline ulong lanes_min_u64(ulong value) {
  return sub_group_reduce_min(value);
}

static inline uint lanes_rank(bool flag, uint *total) {
  *total = sub_group_reduce_add((uint)flag);
  return sub_group_scan_exclusive_add((uint)flag);
}

#endif

// lanes_claim_local and lanes_claim_global reserve positions in a list for the lanes of a group.
// The length of the list, *count, grows by the number of lanes that have `keep` set. If lanes can
// exchange values directly, one atomic addition reserves the positions of the whole lane group.
// Otherwise each work-item makes an atomic addition of its own.
#if LANES_IMPL == LANES_LOCAL

// Reserve the next free index of a list for this lane, if it has `keep` set, and return the index.
// The list's length *count is in local memory.
//
// Scope    a whole lane group; the result is valid in lanes with `keep` set, undefined in others.
static inline uint lanes_claim_local(volatile local uint *count, bool keep) {
  return keep ? atomic_inc(count) : 0;
}

// Reserve the next free index of a list for this lane, if it has `keep` set, and return the index.
// The list's length *count is in global memory.
//
// Scope    a whole lane group; the result is valid in lanes with `keep` set, undefined in others.
static inline uint lanes_claim_global(volatile global uint *count, bool keep) {
  return keep ? atomic_inc(count) : 0;
}

#else

static inline uint lanes_claim_local(volatile local uint *count, bool keep) {
  uint total, base = 0;
  const uint rank = lanes_rank(keep, &total);
  if (total > 0 && lanes_id() == 0) base = atomic_add(count, total);
  return lanes_broadcast_u32(base, 0) + rank;
}

static inline uint lanes_claim_global(volatile global uint *count, bool keep) {
  uint total, base = 0;
  const uint rank = lanes_rank(keep, &total);
  if (total > 0 && lanes_id() == 0) base = atomic_add(count, total);
  return lanes_broadcast_u32(base, 0) + rank;
}

#endif
