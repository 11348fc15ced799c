// k-core: what rounds know of one another, and how a degree is lowered.
#ifndef CLMST_ALGORITHMS_K_CORE_STATE
#define CLMST_ALGORITHMS_K_CORE_STATE

#include "device/work_group.cl"

// state[]: the words of a few rounds, one round after the other in a ring, and behind them how many
// rounds had anything to do.
//
// LEVEL    the level that the round peels.
// SPILLED  vertices that the round before brought to its level and left to this one: then this
//          round goes on with that level, else it begins another.
// TAKEN    vertices that the round found at its level itself.
// LEFT     vertices above the level when it began.
// BOUND    no vertex left has a lesser degree: where the next level is, or an underestimate.
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

// The first of n items that fall to this work-group, or to the one behind it.
static inline uint share_begin(uint n, uint behind) {
  return (uint)((ulong)n * (get_group_id(0) + behind) / get_num_groups(0));
}

// Lower *word to the least value in the work-group. Must be reached by all of it.
static inline void wg_lower(volatile global uint *word, uint value, local uint *least) {
  if (get_local_id(0) == 0) *least = UINT_MAX;
  wg_barrier_local();
  if (value < UINT_MAX) atomic_min(least, value);
  wg_barrier_local();
  if (get_local_id(0) == 0 && *least < UINT_MAX) atomic_min(word, *least);
}

// Whether a vertex is above the level. The read races with others that lower the degree, which only
// falls while above: what is not above now never will be, and who reads too much finds out when
// lowering it.
static inline bool degree_is_above(const volatile global int *degree, uint vertex, uint level) {
  return degree[vertex] > (int)level;
}

// Take an edge from a vertex above the level; returns whether that brought it to the level, which
// one work-item only is told. Others that come too late put back what they took: in the end the
// degree is the level. In between it may be less, even negative, hence the sign. Degrees have 31
// bits: both directions of so many edges are all the slots that there can be.
static inline bool degree_lower(volatile global int *degree, uint vertex, uint level,
                                uint *bound) {
  const int before = atomic_dec(&degree[vertex]);
  if (before <= (int)level) atomic_inc(&degree[vertex]);
  else if (before > (int)level + 1) *bound = min(*bound, (uint)before - 1);
  return before == (int)level + 1;
}

#endif
