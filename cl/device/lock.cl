// A lock for the whole device. A work-item that waits too long gives up, so that no kernel hangs.
//
// The caller tries in a loop whose body also does the work: lock_try, work, lock_release, all in
// one branch. If lanes run in step, the other lanes wait at the end of that branch, after the
// release. A loop that only waited for the lock would keep the lane that has it from continuing.
//
// The device must let the work-item that has the lock continue while others try. OpenCL does not
// promise that, neither between work-groups nor between lanes. So the lock is a ticket that changes
// with every turn. A work-item that sees the same turn LOCK_PATIENCE times in a row marks the lock
// as lost. Then every work-item leaves, and the host reports it.
//
//     lock word   0     1     2     3     4     ...    LOCK_LOST
//                 free  taken free  taken free         given up for good
#include "device/fence.cl"

// How often a work-item sees an unchanged lock before it gives up: 1 to 2**32 - 1.
#ifndef LOCK_PATIENCE
#define LOCK_PATIENCE (1u << 20)
#endif

// A lock's word: even if free, odd if taken. It wraps around at LOCK_TURNS.
#define LOCK_TURNS 0x80000000u
#define LOCK_LOST 0xffffffffu

// What a waiting work-item has seen of the lock: zeros at first.
typedef struct {
  uint seen, looks;
} lock_wait_t;

// Try once. Return whether this work-item has the lock now.
static inline bool lock_try(volatile global uint *lock, lock_wait_t *wait) {
  const uint now = *lock;
  if (now % 2 == 0 && atomic_cmpxchg(lock, now, now + 1) == now) {
    wait->seen = now + 1;
    device_fence();
    return true;
  }
  wait->looks = now == wait->seen ? wait->looks + 1 : 0;
  wait->seen = now;
  // Has no effect if the lock has changed after all.
  if (wait->looks == LOCK_PATIENCE) atomic_cmpxchg(lock, now, LOCK_LOST);
  return false;
}

// Release the lock. A lost lock stays lost.
static inline void lock_release(volatile global uint *lock, const lock_wait_t *wait) {
  device_fence();
  atomic_cmpxchg(lock, wait->seen, (wait->seen + 1) % LOCK_TURNS);
}

// Return whether the lock is lost, so that trying again is useless.
static inline bool lock_is_lost(const lock_wait_t *wait) {
  return wait->seen == LOCK_LOST;
}
