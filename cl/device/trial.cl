// The kernels of a device's trial, which every process runs before it uses the device. They show
// whether the device can build and run a kernel at all, and whether its lanes (work-items in
// lockstep) work.
#include "device/atomics.cl"
#include "device/work_group.cl"

// Try the device's atomics, with 64 bits if it has them, else with 32 bits: compute the minimum of
// the numbers (length - i) << 32 | i over all i < length.
//
// In-out   words[2]: the minimum so far, the lower word first; all ones before the launch.
// Launch   any.
// Needs    length > 0; `words` is aligned to 8 bytes.
// Ensures  words[] holds the number for i = length - 1.
kernel void trial_take_minimum(volatile global uint *words, uint length) {
  for (uint i = get_global_id(0); i < length; i += get_global_size(0)) {
#if ATOMIC64
    atomic_min_u64((volatile global ulong *)words, (ulong)(length - i) << 32 | i);
#else
    atomic_min_u32(&words[1], length - i);
    if (i + 1 == length) words[0] = i;
#endif
  }
}

// Try loops whose length depends on data: make every pointer of a chain point to the last element
// of the chain, by following pointers, and count the steps. The first work-item does all of it,
// because the trial needs long loops whose length the compiler cannot know
// (quirk: llvmpipe-loop-rounds).
//
// In-out   words[length + 1]: before the launch, words[i] = min(i + 1, length - 1) for i < length.
// Launch   any.
// Needs    length > 0.
// Ensures  words[i] = length - 1 for i < length; words[length] = length * (length - 1) / 2, the
//          number of steps.
kernel void trial_jump_pointers(global uint *words, uint length) {
  if (get_global_id(0) != 0) return;
  uint rounds = 0;
  for (uint i = 0; i < length; ++i) {
    // Each pointer leads to the next index, except that the last element points to itself.
    // Pointers are replaced in ascending order of i. So the pointers from here to the end of the
    // chain still have their old values, and the path has its full length.
    uint vertex = i, next = words[vertex];
    while (next != vertex) {
      vertex = next;
      next = words[vertex];
      rounds += 1;
    }
    words[i] = vertex;
  }
  words[length] = rounds;
}

#if LANES_IMPL != LANES_LOCAL
// Try the functions of lanes.cl, by which the work-items of a lane group exchange values in
// lockstep. All of these functions are called in some of the lane groups of a work-group, with
// 64-bit atomics between the calls. The kernel has no loops, because on some drivers a loop with
// such calls never ends (quirk: pocl-lanes-apart).
//
// In       words[2 * groups + g]: whether lane group g takes part. The work-group has `groups` lane
//            groups.
//          words[3 * groups + i]: the value of work-item i.
// Out      words[3 * groups + (f + 1) * WG_SIZE + i]: the result of function number f in work-item
//          i, if its lane group takes part.
// In-out   words[2 * g], words[2 * g + 1]: with 64-bit atomics, the minimum of the values of lane
//          group g; all ones before the launch.
// Launch   one work-group.
// Needs    `words` is aligned to 8 bytes.
// Ensures  the results are those that lanes.cl defines.
LANES_ATTRIBUTE
kernel void trial_exchange(volatile global uint *words, uint groups) {
  const uint me = get_local_id(0), group = me / LANES, lane = lanes_id();
  const uint value = words[3 * groups + me];
  volatile global uint *results = words + 3 * groups + WG_SIZE + me;
  if (words[2 * groups + group]) {
    const uint of_other = lanes_shuffle_u32(value, (lane * 5 + 1) % LANES);
#if ATOMIC64
    atomic_min_u64((volatile global ulong *)words + group, (ulong)of_other << 32 | value);
#endif
    uint total;
    results[0 * WG_SIZE] = of_other;
    results[1 * WG_SIZE] = lanes_min_u32(value);
    results[2 * WG_SIZE] = (uint)lanes_min_u64((ulong)(value % 4) << 32 | ~value);
    results[3 * WG_SIZE] = lanes_exclusive_sum_u32(value);
    results[4 * WG_SIZE] = lanes_exclusive_max_u32(value);
    results[5 * WG_SIZE] = lanes_ballot(value >> 8 & 1);
    results[6 * WG_SIZE] = lanes_broadcast_u32(value, 3 % LANES);
    results[7 * WG_SIZE] = lanes_rank(value >> 9 & 1, &total) | total << 16;
  }
}
#endif
