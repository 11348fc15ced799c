// The three kinds of disjoint sets of MP (edge_parallel.cl), by which edges find their
// supervertices.
//
// Source: Ma and Wan, section 3.1.1, "Union-Find Implementation". Linking is randomised in all of
// them, as everywhere here (union_find.cl); the paper does not say who is linked to whom.
#ifndef CLMST_ALGORITHMS_EDGE_PARALLEL_SETS
#define CLMST_ALGORITHMS_EDGE_PARALLEL_SETS

#include "device/lock.cl"
#include "device/union_find.cl"

#define SETS_HALVING 0
#define SETS_COMPRESSING 1
#define SETS_LOCKED 2

// How sets are shared: SETS_HALVING (0), finds halve paths by compare-and-swap; SETS_COMPRESSING
// (1), they compress them to the root by compare-and-swap; SETS_LOCKED (2), one lock for all sets
// is taken around every operation, which halves paths and links by plain stores.
#ifndef SETS
#define SETS SETS_HALVING
#endif

#if SETS == SETS_LOCKED

// Only the work-item that has the lock uses the sets, past caches, between the lock's fences. If
// the lock is lost, `vertex` is returned, and the solve is invalid.
static inline uint sets_find(volatile global uint *parent, uint vertex,
                             volatile global uint *lock) {
  lock_wait_t wait = {0, 0};
  bool is_done = false;
  while (!is_done) {
    if (lock_try(lock, &wait)) {
      vertex = wi_find_halving(parent, vertex);
      lock_release(lock, &wait);
      is_done = true;
    } else {
      is_done = lock_is_lost(&wait);
    }
  }
  return vertex;
}

static inline bool sets_unite(volatile global uint *parent, uint a, uint b,
                              volatile global uint *lock) {
  lock_wait_t wait = {0, 0};
  bool is_done = false, were_two = false;
  while (!is_done) {
    if (lock_try(lock, &wait)) {
      were_two = wi_unite_alone(parent, a, b);
      lock_release(lock, &wait);
      is_done = true;
    } else {
      is_done = lock_is_lost(&wait);
    }
  }
  return were_two;
}

#else

// The root of a vertex. `lock` is for SETS_LOCKED.
static inline uint sets_find(volatile global uint *parent, uint vertex,
                             volatile global uint *lock) {
#if SETS == SETS_COMPRESSING
  return wi_find_compressing_exchanging(parent, vertex);
#else
  return wi_find_halving_exchanging(parent, vertex);
#endif
}

// Join the sets of two vertices; returns whether they were two.
static inline bool sets_unite(volatile global uint *parent, uint a, uint b,
                              volatile global uint *lock) {
  return wi_unite(parent, sets_find(parent, a, lock), sets_find(parent, b, lock));
}

#endif

#endif
