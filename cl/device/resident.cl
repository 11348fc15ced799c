// Grid scope: a barrier across all work-groups of a launch, where all of them are resident.
//
// OpenCL promises no work-group that another one makes progress. On devices where that was tried
// (Policy.resident_groups_per_compute_unit > 0) a launch of so many work-groups is on the device as
// a whole, and they may wait for one another. Should one wait longer than RESIDENT_PATIENCE, it
// gives up for all: every work-group leaves, and the host solves again in many launches.
#ifndef CLMST_DEVICE_RESIDENT
#define CLMST_DEVICE_RESIDENT

#include "device/fence.cl"
#include "device/work_group.cl"

// Looks at the count of arrivals before a work-group gives up; each takes about a microsecond.
#ifndef RESIDENT_PATIENCE
#define RESIDENT_PATIENCE (1u << 20)
#endif

// What is added to the count of arrivals by who gives up: more than work-groups ever come to.
#define GAVE_UP 0x80000000u

// Wait until all work-groups of the launch have come here; returns whether they have. If not, the
// kernel must end. Must be reached by the whole launch.
//
// arrivals[0]: work-groups that have come to any barrier of the launch, zero before it, and GAVE_UP:
// one word for both, since each look at another takes a trip to memory; arrivals[1]: set when one
// gave up, for the host; arrivals[2]: work-groups that have left, zero before; *passed: barriers
// this work-item has passed; *verdict: a word that is free.
static inline bool grid_barrier(volatile global uint *arrivals, uint *passed,
                                local uint *verdict) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  *passed += 1;
  if (get_local_id(0) == 0) {
    device_fence();
    atomic_inc(&arrivals[0]);
    const uint awaited = *passed * (uint)get_num_groups(0);
    uint looks = 0, arrived = arrivals[0];
    while (arrived < awaited) {
      if (++looks == RESIDENT_PATIENCE) {
        arrivals[1] = 1;
        atomic_or(&arrivals[0], GAVE_UP);
      }
      arrived = arrivals[0];
    }
    *verdict = arrived < GAVE_UP;  // one look for the whole work-group
    device_fence();
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const bool have_come = *verdict;
  barrier(CLK_LOCAL_MEM_FENCE);
  return have_come;
}

// Leave arrivals[] as it was before the launch. Must be reached by the whole launch, last of all.
static inline void grid_leave(volatile global uint *arrivals) {
  if (get_local_id(0) > 0) return;
  if (atomic_inc(&arrivals[2]) + 1 == get_num_groups(0)) {
    arrivals[0] = 0;
    arrivals[2] = 0;
  }
}

#endif
