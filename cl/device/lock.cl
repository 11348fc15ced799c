// A lock for the whole device. A work-item that waits too long gives up, so that no kernel hangs.
//
// The caller loops until it has done its work. The body of the loop has one branch, which contains
// all three steps: lock_try, the work, and lock_release. The reason is that lanes may run in
// lockstep. In one branch, the other lanes wait at the end of the branch, and by then the lock has
// been released. If lanes waited for the lock in a loop of their own, the lane that has the lock
// could not go on to release it.
//
// The device must let the work-item that has the lock continue while others try to take it. OpenCL
// does not promise that, neither between work-groups nor between lanes. So the word of the lock is
// a counter that changes whenever the lock is taken or released. A work-item that sees the same
// value LOCK_PATIENCE times in a row marks the lock as lost. Then every work-item that tries to
// take the lock gives up, and the host reports an error.
//
//     lock word   0     1     2     3     4     ...    LOCK_LOST
//                 free  taken free  taken free         given up for good
#include "device/fence.cl"

// A work-item gives up when it has seen the word of the lock unchanged this number of times in a
// row: 1 to 2**32 - 1.
#ifndef LOCK_PATIENCE
#define LOCK_PATIENCE (1u << 20)
#endif

// Values of the word of a lock. The word counts how often the lock has been taken or released: it
// is even if the lock is free, and odd if it is taken. The values are 0 to LOCK_TURNS - 1, after
// which the count starts again at 0. The value LOCK_LOST means that the lock is given up for good,
// because it stayed unchanged for too long.
#define LOCK_TURNS 0x80000000u
#define LOCK_LOST 0xffffffffu

// What a work-item that waits for a lock has seen of it. `seen` is the value of the lock's word at
// the last look, and `looks` is how many looks in a row have found this value. Both start at 0.
typedef struct {
  uint seen, looks;
} lock_wait_t;

// Try once to take a lock, without waiting. Return whether this work-item has the lock now. *wait
// records the last value of the lock's word that this work-item has seen, and how often in a row it
// has seen this value.
static inline bool lock_try(volatile global uint *lock, lock_wait_t *wait) {
  const uint now = *lock;
  if (now % 2 == 0 && atomic_cmpxchg(lock, now, now + 1) == now) {
    wait->seen = now + 1;
    device_fence();
    return true;
  }
  wait->looks = now == wait->seen ? wait->looks + 1 : 0;
  wait->seen = now;
  // After LOCK_PATIENCE looks at an unchanged word, mark the lock as lost. The exchange does
  // nothing if the word has changed since it was read into `now`.
  if (wait->looks == LOCK_PATIENCE) atomic_cmpxchg(lock, now, LOCK_LOST);
  return false;
}

// Release the lock. A lock that is marked as lost stays lost.
static inline void lock_release(volatile global uint *lock, const lock_wait_t *wait) {
  device_fence();
  atomic_cmpxchg(lock, wait->seen, (wait->seen + 1) % LOCK_TURNS);
}

// Return whether this work-item has seen that the lock is lost, so that trying again is useless.
static inline bool lock_is_lost(const lock_wait_t *wait) {
  return wait->seen == LOCK_LOST;
}
