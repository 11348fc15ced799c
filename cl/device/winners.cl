// How the lightest edge of each component of a complete graph is found. Each component has a
// reservation, which is a few words. All edges that leave the component are entered in it, and each
// may lower the words. In the end the words belong to the lightest of these edges, the component's
// winner.
//
// Edges are compared word by word: first one or two words of the weight key, then the lesser end,
// then the greater end. The two ends share a word if vertex numbers fit into 16 bits. The lightest
// edge is found in passes. A pass finds the minimum of the next word, or of the next two words if
// there are 64-bit atomics. Only edges whose earlier words are all equal to the minima of the
// earlier passes take part. For 32-bit weights and up to 65536 vertices, one pass of two words is
// enough.
//
//     weights   vertices    words
//     32 bits   <= 65536    key      | lesser << 16 | greater
//     32 bits   more        key      | lesser | greater
//     64 bits   <= 65536    leading  | trailing | lesser << 16 | greater
//     64 bits   more        leading  | trailing | lesser | greater
//
// Plane w of the array holds word w of all n components. With 64-bit atomics, two planes are stored
// as one plane of n ulongs. If the number of words is odd, the lower half of the last plane's
// ulongs is not used.
#include "device/atomics.cl"
#include "device/distance.cl"

#define KEY_WORDS (WEIGHT_BITS == 64 ? 2u : 1u)

// An edge that leaves a component, to be compared with the lightest edge that leaves it so far.
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

// Return a word of component c's reservation, which holds the component's lightest edge so far. It
// is all ones before any edge is entered.
static inline uint winner_word(const volatile global uint *winners, uint n, uint c, uint word) {
#if ATOMIC64
  const ulong pair = ((const volatile global ulong *)winners)[(size_t)(word / 2) * n + c];
  return (uint)(word % 2 == 0 ? pair >> 32 : pair);
#else
  return winners[(size_t)word * n + c];
#endif
}

// Enter an edge in the reservation of component c, by atomic minima of the one or two words that a
// pass handles. A reservation holds the lightest edge of a component so far. `word` is the number
// of the first of these words. The words are read first, which often saves the atomic operations.
// Other work-items may lower them at the same time. This does no harm: words only fall, so an old
// value causes at most one needless atomic operation.
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
// reservation if they are less.
static inline void reserve_first(volatile global uint *winners, uint n, uint c,
                                 const claim_t *claim, uint short_ids) {
  reserve_words(winners, n, c, claim, 0, short_ids);
}

// Later passes: enter the words of an edge from number `word` on in the reservation of component c.
// The reservation is a few words, in which the lightest edge of the component is found word by
// word. So the edge is entered only if its earlier words are equal to those in the reservation. The
// passes of these earlier words must be complete.
static inline void reserve_later(volatile global uint *winners, uint n, uint c,
                                 const claim_t *claim, uint word, uint short_ids) {
  for (uint before = 0; before < word; ++before)
    if (winner_word(winners, n, c, before) != claim_word(claim, before, short_ids)) return;
  reserve_words(winners, n, c, claim, word, short_ids);
}

// Return an upper bound of the key of component c's winner, which is its lightest edge. This may be
// called as soon as the first pass is complete.
static inline distance_key_t winner_bound(const volatile global uint *winners, uint n, uint c) {
#if WEIGHT_BITS == 64
  const uint trailing = ATOMIC64 ? winner_word(winners, n, c, 1) : UINT_MAX;
  return (ulong)winner_word(winners, n, c, 0) << 32 | trailing;
#else
  return winner_word(winners, n, c, 0);
#endif
}

// Return whether component c has a winner, which is the lightest edge that leaves it, and store the
// two ends of the winner in *edge. All words of the reservations must be found. If no edge was
// entered, the word with the lesser end is all ones, which is not a valid end.
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
