// A barrier for all work-groups of a launch. All of them must be resident, which means that they
// all run at the same time.
//
// OpenCL does not promise that one work-group makes progress while another waits. On some devices a
// test has shown that Policy.resident_groups_per_compute_unit work-groups per compute unit all run
// at the same time, so they may wait for one another. A work-group that has looked
// RESIDENT_PATIENCE times and still waits gives up, and tells all others. Then every work-group
// leaves the kernel, and the host solves again with many launches.
#include "device/fence.cl"
#include "device/work_group.cl"

// A work-group that waits at a barrier gives up after this number of looks. A look reads how many
// work-groups have arrived, and takes about a microsecond.
#ifndef RESIDENT_PATIENCE
#define RESIDENT_PATIENCE (1u << 20)
#endif

// A work-group that gives up waiting at a barrier sets this bit in the count of arrivals. The count
// is then larger than any number of arrivals.
#define GAVE_UP 0x80000000u

// Wait until all work-groups of the launch have arrived. Return true if they have. The result is
// false if a work-group has waited too long and given up. Then the kernel must end.
//
// In-out   arrivals[3], all 0 before the launch:
//            [0] the number of arrivals at all barriers of the launch, with the bit GAVE_UP if a
//                work-group has given up. One word for both saves an access to memory.
//            [1] set for the host if a work-group gave up.
//            [2] the number of work-groups that have left.
//          *passed: the number of barriers that this work-item has passed.
// Temp     *verdict: one word of local memory.
// Scope    every work-item of the whole launch; all work-items of a work-group get one result.
// Ensures  global writes before the barrier are visible to all work-groups after it.
static inline bool grid_barrier(volatile global uint *arrivals, uint *passed, local uint *verdict) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  *passed += 1;
  if (get_local_id(0) == 0) {
    device_add_release(&arrivals[0], 1);
    const uint awaited = *passed * (uint)get_num_groups(0);
    uint looks = 0, arrived = device_load_acquire(&arrivals[0]);
    while (arrived < awaited) {
      if (++looks == RESIDENT_PATIENCE) {
        arrivals[1] = 1;
        atomic_or(&arrivals[0], GAVE_UP);
      }
      arrived = device_load_acquire(&arrivals[0]);
    }
    *verdict = arrived < GAVE_UP;  // one result for the whole work-group
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const bool have_come = *verdict;
  barrier(CLK_LOCAL_MEM_FENCE);
  return have_come;
}

// Leave the kernel, and reset arrivals[], the counters of grid_barrier, to their state before the
// launch.
//
// Scope    the whole launch; the last call of the kernel.
static inline void grid_leave(volatile global uint *arrivals) {
  if (get_local_id(0) > 0) return;
  if (atomic_inc(&arrivals[2]) + 1 == get_num_groups(0)) {
    arrivals[0] = 0;
    arrivals[2] = 0;
  }
}
