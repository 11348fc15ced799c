// filter-boruvka: divide the order of edges into windows, ranges that are solved one after the
// other. Their ends are chosen from a sample of the weights.
#include "algorithms/filter_boruvka/solve.cl"

// Number of keys in the sample from which the ends of windows are chosen: a multiple of WG_SIZE up
// to 2048.
#ifndef SAMPLES
#define SAMPLES 1024
#endif

// Divide all slots (CSR entries) into SAMPLES << draw_bits equal parts, and return a random slot of
// the i-th part. The same seed always gives the same slot.
static inline uint sample_slot(uint n_slots, uint i, uint seed, uint draw_bits) {
  uint hash = (seed * (SAMPLES << draw_bits) + i) * 0x9e3779b9u;
  hash = (hash ^ hash >> 16) * 0x7feb352du;
  hash = (hash ^ hash >> 15) * 0x846ca68bu;
  const ulong position = (ulong)i * n_slots + mul_hi(hash ^ hash >> 16, n_slots);
  return (uint)(position / SAMPLES >> draw_bits);
}

// Draw a sample of the keys of edges. All slots are divided into SAMPLES equal parts, and each key
// of the sample is the minimum key of 1 << draw_bits random slots (CSR entries) of one part. The
// inner loop draws one slot for each of several keys. Its reads do not depend on one another, so
// they are in flight at the same time.
static inline void sample_draw(const solve_t *solve, uint seed, uint draw_bits,
                               local full_key_t *keys) {
  for (uint draw = 0; draw < 1u << draw_bits; ++draw) {
    for (uint i = get_local_id(0); i < SAMPLES; i += WG_SIZE) {
      const uint slot = sample_slot(solve->n_slots, (i << draw_bits) + draw, seed, draw_bits);
      const full_key_t key = weight_key(solve->weights[slot]);
      keys[i] = draw == 0 ? key : min(keys[i], key);
    }
  }
}

// Return the slot of `key`, the i-th key of a sample. This key is the minimum key of several random
// slots (CSR entries), so draw these slots again, and return the first one with this key.
static inline uint sample_find(const solve_t *solve, uint i, uint seed, uint draw_bits,
                               full_key_t key) {
  uint k = i << draw_bits;
  const uint last = k + (1u << draw_bits) - 1;
  uint slot = sample_slot(solve->n_slots, k, seed, draw_bits);
  while (k < last && weight_key(solve->weights[slot]) != key)
    slot = sample_slot(solve->n_slots, ++k, seed, draw_bits);
  return slot;
}

// Return how many work-groups of a launch share the work of finding the ranks of the sampled keys.
// Each of these work-groups draws the whole sample by itself. So if each key takes many draws,
// fewer work-groups take part.
static inline uint sample_groups(uint draw_bits) {
  return min((uint)get_num_groups(0), max(1u, 128u >> draw_bits));
}

// Divide the order of edges into windows, ranges that are solved one after the other: set the upper
// ends of all windows except the last one to the edges that have the ranks rank_a, rank_b and
// rank_c in a sample. A rank of SAMPLES or more means that there is no such window. The keys of the
// sample are dealt out to the work-groups, and each work-group finds the ranks of its keys. The
// work-items of a work-group share the comparisons of a key with all other keys.
//
// Temp     keys[SAMPLES], rank: local memory, which may be reused after the call.
// Scope    the whole launch.
static inline void filter_set_windows(const solve_t *solve, uint seed, uint draw_bits, uint rank_a,
                                      uint rank_b, uint rank_c, local full_key_t *keys,
                                      local uint *rank) {
  const uint n_groups = sample_groups(draw_bits), me = get_local_id(0);
  const bool takes_part = get_group_id(0) < n_groups;
  if (takes_part) sample_draw(solve, seed, draw_bits, keys);
  for (uint i = takes_part ? get_group_id(0) : SAMPLES; i < SAMPLES; i += n_groups) {
    if (me == 0) *rank = 0;
    wg_barrier_local();
    const full_key_t key = keys[i];
    // Equal keys are ordered by i. Slots ascend with i, so this is the rank in the order of (key,
    // slot), and all ranks are different.
    uint n_before = 0;
    for (uint k = me; k < SAMPLES; k += WG_SIZE)
      n_before += keys[k] < key || (keys[k] == key && k < i);
    if (n_before) atomic_add(rank, n_before);
    wg_barrier_local();
    const uint end = *rank == rank_a ? 0 : *rank == rank_b ? 1 : *rank == rank_c ? 2 : MAX_PHASES;
    if (end < MAX_PHASES && me == 0) {
      volatile global uint *words = solve->state + STATE_WINDOWS + 3 * end;
      words[0] = (uint)key;
#if WEIGHT_BITS == 64
      words[1] = (uint)(key >> 32);
#endif
      words[2] = sample_find(solve, i, seed, draw_bits, key);
    }
    wg_barrier_local();
  }
}
