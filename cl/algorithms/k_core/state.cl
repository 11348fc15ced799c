// k-core: vertices of the minimum remaining degree are removed in rounds. This file has the words
// by which a round passes its state to the next one, and the function that lowers a degree.
#include "device/work_group.cl"

// Indices of the words of a round in state[]. A round removes vertices of one degree, which is
// called its level. state[] keeps the words of the last ROUNDS_KEPT rounds. After them comes one
// word, the number of rounds that removed vertices.
//
//   LEVEL    the degree of the vertices that the round removes.
//   SPILLED  the number of vertices that the round before has left to this round. Their degrees
//            fell to its level when it removed their neighbours. If SPILLED is not 0, this round
//            goes on with that level. Otherwise it begins another level.
//   TAKEN    the number of vertices that the round found at its level by itself.
//   LEFT     the number of vertices that were above the level when the round began.
//   BOUND    a lower bound of the remaining degrees: the next level, or less.
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

// Divide the n vertices evenly among the work-groups, in contiguous ranges. Return the first vertex
// of this work-group's range or, with `next` = 1, of the next work-group's range.
static inline uint range_begin(uint n, uint next) {
  return (uint)((ulong)n * (get_group_id(0) + next) / get_num_groups(0));
}

// Replace *word, a global word, by the minimum of *word and the `value` of every work-item of the
// work-group.
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

// Return whether a vertex's remaining degree is above the level, the degree whose vertices are
// being removed. Other work-items may lower the degree at the same time. This does no harm: a
// vertex that is not above the level will never be above it again. If this function has returned
// true, but the degree has fallen to the level since then, degree_lower notices it.
static inline bool degree_is_above(const volatile global int *degree, uint vertex, uint level) {
  return degree[vertex] > (int)level;
}

// Remove an edge from a vertex whose degree is above the level, the degree whose vertices are being
// removed. Return whether this lowered the degree to the level, which is true in one work-item
// only. Several work-items may remove edges of the vertex at the same time. Those that find the
// degree at the level already undo their decrement, so the degree is the level in the end. In
// between it may be less, even negative. Therefore it is a signed integer. Degrees fit in 31 bits,
// because both directions of every edge are stored.
static inline bool degree_lower(volatile global int *degree, uint vertex, uint level, uint *bound) {
  const int before = atomic_dec(&degree[vertex]);
  if (before <= (int)level) atomic_inc(&degree[vertex]);
  else if (before > (int)level + 1) *bound = min(*bound, (uint)before - 1);
  return before == (int)level + 1;
}
