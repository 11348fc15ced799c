// k-core: the words by which rounds pass on their state, and how a degree is lowered.
#include "device/work_group.cl"

// state[]: the words of ROUNDS_KEPT rounds in a ring, then the number of rounds that had work.
//
// LEVEL    the level that the round peels.
// SPILLED  vertices that the round before lowered to its level and left to this one. If there are
//          any, this round goes on with that level; else it begins another.
// TAKEN    vertices that the round found at its level.
// LEFT     vertices above the level when it began.
// BOUND    a lower bound of the remaining degrees: the next level, or less.
#define ROUND_LEVEL 0
#define ROUND_SPILLED 1
#define ROUND_TAKEN 2
#define ROUND_LEFT 3
#define ROUND_BOUND 4
#define ROUND_WORDS 5
#define ROUNDS_KEPT 4
#define BUSY_ROUNDS (ROUND_WORDS * ROUNDS_KEPT)

static inline volatile global uint *round_words(volatile global uint *state, uint round) {
  return state + ROUND_WORDS * (round % ROUNDS_KEPT);
}

// Return the first of this work-group's n / W items; with `next` = 1, the first item of the next
// work-group.
static inline uint range_begin(uint n, uint next) {
  return (uint)((ulong)n * (get_group_id(0) + next) / get_num_groups(0));
}

// Lower *word to the least value in the work-group.
//
// Temp     *least: one word of local memory.
// Scope    the whole work-group.
static inline void wg_lower(volatile global uint *word, uint value, local uint *least) {
  if (get_local_id(0) == 0) *least = UINT_MAX;
  wg_barrier_local();
  if (value < UINT_MAX) atomic_min(least, value);
  wg_barrier_local();
  if (get_local_id(0) == 0 && *least < UINT_MAX) atomic_min(word, *least);
}

// Return whether a vertex is above the level. The read races with work-items that lower the degree.
// That is benign: the degree only falls while it is above, so a vertex that is not above never will
// be, and degree_lower detects a stale value.
static inline bool degree_is_above(const volatile global int *degree, uint vertex, uint level) {
  return degree[vertex] > (int)level;
}

// Remove an edge from a vertex above the level; return whether that lowered it to the level, which
// is true for one work-item only. Work-items that come too late undo their decrement, so the degree
// ends as the level. In between it may be less, even negative, hence the sign. Degrees fit 31 bits,
// since both directions of the edges are slots.
static inline bool degree_lower(volatile global int *degree, uint vertex, uint level, uint *bound) {
  const int before = atomic_dec(&degree[vertex]);
  if (before <= (int)level) atomic_inc(&degree[vertex]);
  else if (before > (int)level + 1) *bound = min(*bound, (uint)before - 1);
  return before == (int)level + 1;
}
