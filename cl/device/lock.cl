// A lock that one work-item of the device holds at a time, and that nobody waits for in vain.
//
// Whoever wants it tries in a loop whose body does the work as well: lock_try, the work, lock_release
// in one branch. Where lanes run in step, the others then wait at the end of that branch, behind the
// release; a loop that only waits for the lock would keep the lane that has it from ever going on.
//
// What is asked of a device is that a work-item that has the lock runs on, whoever else keeps
// trying. OpenCL promises that of no two work-groups, nor of two lanes. So the lock is a ticket: it
// moves on with every turn, and a work-item that sees it in the same turn LOCK_PATIENCE times in
// a row gives up for all. The lock is lost then, everybody leaves, and the host says so.
#ifndef CLMST_DEVICE_LOCK
#define CLMST_DEVICE_LOCK

#include "device/fence.cl"

// Looks at a lock that does not move on before a work-item gives up: 1 to 2**32 - 1.
#ifndef LOCK_PATIENCE
#define LOCK_PATIENCE (1u << 20)
#endif

// A lock's word: even when it is free, odd when it is held; it goes round below LOCK_TURNS.
#define LOCK_TURNS 0x80000000u
#define LOCK_LOST 0xffffffffu

// What a work-item that wants a lock has seen of it: zeros at first.
typedef struct {
  uint seen, looks;
} lock_wait_t;

// Try once; returns whether this work-item has the lock.
static inline bool lock_try(volatile global uint *lock, lock_wait_t *wait) {
  const uint now = *lock;
  if (now % 2 == 0 && atomic_cmpxchg(lock, now, now + 1) == now) {
    wait->seen = now + 1;
    device_fence();
    return true;
  }
  wait->looks = now == wait->seen ? wait->looks + 1 : 0;
  wait->seen = now;
  // Fails if the lock has moved on after all.
  if (wait->looks == LOCK_PATIENCE) atomic_cmpxchg(lock, now, LOCK_LOST);
  return false;
}

// Give the lock back. It stays lost if somebody gave up.
static inline void lock_release(volatile global uint *lock, const lock_wait_t *wait) {
  device_fence();
  atomic_cmpxchg(lock, wait->seen, (wait->seen + 1) % LOCK_TURNS);
}

// Whether it is of no use to try again.
static inline bool lock_is_lost(const lock_wait_t *wait) {
  return wait->seen == LOCK_LOST;
}

#endif
