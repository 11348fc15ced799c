// The reservation of each component of a complete graph, which ends as the component's winner, its
// lightest edge.
//
// Edges are ordered by words: one or two of the key, then the lesser end and the greater end. These
// share a word where vertices take 16 bits. The least edge is found word after word: each pass
// looks at the edges that match all words before it. With 64-bit atomics the first pass takes two
// words at once. For 32-bit weights and up to 65536 vertices those are all.
//
//     weights   vertices    words
//     32 bits   <= 65536    key      | lesser << 16 | greater
//     32 bits   more        key      | lesser | greater
//     64 bits   <= 65536    leading  | trailing | lesser << 16 | greater
//     64 bits   more        leading  | trailing | lesser | greater
//
// Plane w of the array has word w of all components, n words. With 64-bit atomics the first two
// planes are one plane of n ulongs.
#ifndef CLMST_DEVICE_WINNERS
#define CLMST_DEVICE_WINNERS

#include "device/atomics.cl"
#include "device/distance.cl"

#define KEY_WORDS (WEIGHT_BITS == 64 ? 2u : 1u)
// Words that the first pass takes.
#define FIRST_WORDS (ATOMIC64 ? 2u : 1u)

// An edge that leaves a component.
typedef struct {
  distance_key_t key;
  uint lesser, greater;
} claim_t;

static inline void claim_make(claim_t *claim, distance_key_t key, uint u, uint v) {
  claim->key = key;
  claim->lesser = min(u, v);
  claim->greater = max(u, v);
}

static inline uint claim_word(const claim_t *claim, uint word, uint short_ids) {
#if WEIGHT_BITS == 64
  if (word == 0) return (uint)(claim->key >> 32);
#endif
  if (word == KEY_WORDS - 1) return (uint)claim->key;
  if (word > KEY_WORDS) return claim->greater;
  return short_ids ? claim->lesser << 16 | claim->greater : claim->lesser;
}

// A word of component c's reservation: all ones before any edge is entered.
static inline uint winner_word(const volatile global uint *winners, uint n, uint c, uint word) {
#if ATOMIC64
  const ulong first = ((const volatile global ulong *)winners)[c];
  if (word < 2) return (uint)(word == 0 ? first >> 32 : first);
#endif
  return winners[(size_t)word * n + c];
}

// The first pass. The guard's read races with the atomics of others. That is benign: words only
// fall, so a stale value costs at most a needless atomic.
static inline void reserve_first(volatile global uint *winners, uint c, const claim_t *claim,
                                 uint short_ids) {
#if ATOMIC64
  volatile global ulong *first = (volatile global ulong *)winners + c;
  const ulong word = (ulong)claim_word(claim, 0, short_ids) << 32 | claim_word(claim, 1, short_ids);
  if (*first > word) atomic_min_u64(first, word);
#else
  const uint word = claim_word(claim, 0, short_ids);
  if (winners[c] > word) atomic_min_u32(winners + c, word);
#endif
}

// A later pass, for one word: enter the edge if it matches all words before, which are complete.
static inline void reserve_later(volatile global uint *winners, uint n, uint c,
                                 const claim_t *claim, uint word, uint short_ids) {
  for (uint before = 0; before < word; ++before)
    if (winner_word(winners, n, c, before) != claim_word(claim, before, short_ids)) return;
  const uint own = claim_word(claim, word, short_ids);
  volatile global uint *at = winners + (size_t)word * n + c;
  if (*at > own) atomic_min_u32(at, own);
}

// An upper bound of the winner's key, after the first pass.
static inline distance_key_t winner_bound(const volatile global uint *winners, uint n, uint c) {
#if WEIGHT_BITS == 64
  const uint trailing = ATOMIC64 ? winner_word(winners, n, c, 1) : UINT_MAX;
  return (ulong)winner_word(winners, n, c, 0) << 32 | trailing;
#else
  return winner_word(winners, n, c, 0);
#endif
}

// The winner, after all passes; returns whether there is one. No edge has ends of all ones.
static inline bool winner_edge(const volatile global uint *winners, uint n, uint c, uint short_ids,
                               uint2 *edge) {
  const uint id = winner_word(winners, n, c, KEY_WORDS);
  if (id == UINT_MAX) return false;
  if (short_ids) *edge = (uint2)(id >> 16, id & 0xffff);
  else *edge = (uint2)(id, winner_word(winners, n, c, KEY_WORDS + 1));
  return true;
}

static inline void winner_clear(volatile global uint *winners, uint n, uint c, uint short_ids) {
#if ATOMIC64
  ((volatile global ulong *)winners)[c] = ULONG_MAX;
#endif
  const uint n_words = KEY_WORDS + (short_ids ? 1 : 2);
  for (uint word = ATOMIC64 ? 2 : 0; word < n_words; ++word)
    winners[(size_t)word * n + c] = UINT_MAX;
}

#endif
