// How the lightest edge of each component of a complete graph is found. Each component has a
// reservation, which is a few words. All edges that leave the component are entered in it: atomic
// minima lower its words to the words of lighter edges. In the end the words belong to the lightest
// of these edges, the component's winner.
//
// Edges are compared word by word: first one or two words of the weight key, then the end with the
// lower vertex number, then the other end. The two ends share a word if vertex numbers fit into 16
// bits. The lightest edge is found in passes. A pass finds the minimum of the next word, or of the
// next two words if there are 64-bit atomics. Only edges whose earlier words are all equal to the
// minima of the earlier passes take part. With 64-bit atomics, 32-bit weights and up to 65536
// vertices, one pass is enough.
//
//     weights   vertices    words
//     32 bits   <= 65536    key      | lesser << 16 | greater
//     32 bits   more        key      | lesser | greater
//     64 bits   <= 65536    leading  | trailing | lesser << 16 | greater
//     64 bits   more        leading  | trailing | lesser | greater
//
// Plane w of the array of reservations holds word w of all n components. With 64-bit atomics, two
// planes are stored as one plane of n ulongs. If the number of words is odd, the lower halves of
// the ulongs in the last plane are not used.
#include "device/atomics.cl"
#include "device/distance.cl"

#define KEY_WORDS (WEIGHT_BITS == 64 ? 2u : 1u)

// An edge that leaves a component, to be compared with the lightest edge that has been found for
// this component so far: its weight key and its two ends.
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

// Return word number `word` of component c's reservation, which holds the component's lightest edge
// so far. The word is all ones before any edge is entered.
static inline uint winner_word(const volatile global uint *winners, uint n, uint c, uint word) {
#if ATOMIC64
  const ulong pair = ((const volatile global ulong *)winners)[(size_t)(word / 2) * n + c];
  return (uint)(word % 2 == 0 ? pair >> 32 : pair);
#else
  return winners[(size_t)word * n + c];
#endif
}

// Enter an edge in the reservation of component c, by an atomic minimum of the one or two words
// that a pass handles. A reservation holds the lightest edge of a component so far. `word` is the
// number of the first of these words. The words are read first, which often saves the atomic
// operation. Other work-items may lower them at the same time. This does no harm: words only
// decrease, so an old value causes at most one needless atomic operation.
static inline void reserve_words(volatile global uint *winners, uint n, uint c,
                                 const claim_t *claim, uint word, uint short_ids) {
#if ATOMIC64
  volatile global ulong *at = (volatile global ulong *)winners + (size_t)(word / 2) * n + c;
  const ulong own =
      (ulong)claim_word(claim, word, short_ids) << 32 | claim_word(claim, word + 1, short_ids);
  if (*at > own) atomic_min_u64(at, own);
#else
  volatile global uint *at = winners + (size_t)word * n + c;
  const uint own = claim_word(claim, word, short_ids);
  if (*at > own) atomic_min_u32(at, own);
#endif
}

// First pass: enter an edge in the reservation of component c, in which the lightest edge of the
// component is found word by word. The first words of the edge replace the first words of the
// reservation if they are smaller.
static inline void reserve_first(volatile global uint *winners, uint n, uint c,
                                 const claim_t *claim, uint short_ids) {
  reserve_words(winners, n, c, claim, 0, short_ids);
}

// Later passes: enter the words of an edge from number `word` on in the reservation of component c,
// in which the lightest edge of the component is found word by word. The edge is entered only if
// all of its earlier words are equal to the words in the reservation. The passes that find these
// earlier words must be complete.
static inline void reserve_later(volatile global uint *winners, uint n, uint c,
                                 const claim_t *claim, uint word, uint short_ids) {
  for (uint before = 0; before < word; ++before)
    if (winner_word(winners, n, c, before) != claim_word(claim, before, short_ids)) return;
  reserve_words(winners, n, c, claim, word, short_ids);
}

// Return an upper bound of the weight key of component c's winner, which is its lightest edge. The
// bound is valid when the first pass over the edges is complete.
static inline distance_key_t winner_bound(const volatile global uint *winners, uint n, uint c) {
#if WEIGHT_BITS == 64
  const uint trailing = ATOMIC64 ? winner_word(winners, n, c, 1) : UINT_MAX;
  return (ulong)winner_word(winners, n, c, 0) << 32 | trailing;
#else
  return winner_word(winners, n, c, 0);
#endif
}

// Return whether component c has a winner, which is the lightest edge that leaves it, and store the
// two ends of the winner in *edge. All passes over the edges must be complete. If no edge was
// entered, the word with the lower end is all ones, which is not a vertex number.
static inline bool winner_edge(const volatile global uint *winners, uint n, uint c, uint short_ids,
                               uint2 *edge) {
  const uint id = winner_word(winners, n, c, KEY_WORDS);
  if (id == UINT_MAX) return false;
  if (short_ids) *edge = (uint2)(id >> 16, id & 0xffff);
  else *edge = (uint2)(id, winner_word(winners, n, c, KEY_WORDS + 1));
  return true;
}

static inline void winner_clear(volatile global uint *winners, uint n, uint c, uint short_ids) {
  const uint n_words = KEY_WORDS + (short_ids ? 1 : 2);
#if ATOMIC64
  for (uint word = 0; word < n_words; word += 2)
    ((volatile global ulong *)winners)[(size_t)(word / 2) * n + c] = ULONG_MAX;
#else
  for (uint word = 0; word < n_words; ++word) winners[(size_t)word * n + c] = UINT_MAX;
#endif
}
