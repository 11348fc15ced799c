// Deterministic reservation: every component ends up holding the least (weight key, edge id)
// among the edges that entered for it, whatever the order of arrival.
//
// Source: deterministic reservations (Blelloch, Fineman, Gibbons, Shun 2012) with the 64-bit
// minimum of ECL-MST (Fallin, Gonzalez, Seo, Burtscher 2023, section 3.2), carried over to devices
// without 64-bit atomics and to 64-bit weights by lexicographic minima, a word a pass: in pass k an
// edge enters its k-th word for those components whose earlier words it matches, so each pass
// needs the one before it to be complete.
//
//   weights     64-bit atomics   words: what is entered in pass 0, 1, 2
//   <= 32 bits  yes              (key, id)
//   <= 32 bits  no               key | id
//   64 bits     yes              (leading, trailing) | id
//   64 bits     no               leading | trailing | id
//
// Reservations of n components live in one array of RESERVATION_WORDS planes of n words. All ones
// is 'no edge yet': ids stay below 2**32 - 1.
#ifndef CLMST_DEVICE_RESERVATION
#define CLMST_DEVICE_RESERVATION

#include "device/atomics.cl"
#include "device/weight_key.cl"
#include "device/worklist.cl"

// 1: look before the atomic, which most edges then need not do. 0: always do it.
#ifndef ATOMIC_GUARDS
#define ATOMIC_GUARDS 1
#endif

#if WEIGHT_BITS == 64
#define RESERVATION_WORDS 3
#define RESERVATION_PASSES (3 - ATOMIC64)
#else
#define RESERVATION_WORDS 2
#define RESERVATION_PASSES (2 - ATOMIC64)
#endif

// The guard's read races with the atomics of others. The word only ever falls, so a stale value is
// too large and costs at most a needless atomic. Aligned words of up to 64 bits are read whole on
// every device that has atomics of that width.
static inline void reservation_lower_u32(volatile global uint *word, uint value) {
#if ATOMIC_GUARDS
  if (*word <= value) return;
#endif
  atomic_min_u32(word, value);
}

// What an edge enters in pass 0, and how: the first word, or the first two as one.
#if ATOMIC64
typedef ulong reservation_word_t;
#define lanes_min_word lanes_min_u64
#define RESERVATION_NONE ULONG_MAX

static inline ulong reservation_first_word(edge_t edge, const global weight_t *weights) {
#if WEIGHT_BITS == 64
  return weight_key(weights[edge.id]);
#else
  return (ulong)edge.key << 32 | edge.id;
#endif
}

static inline void reservation_lower_first(volatile global uint *reservations, uint c,
                                           ulong word) {
  volatile global ulong *held = (volatile global ulong *)reservations + c;
#if ATOMIC_GUARDS
  if (*held <= word) return;
#endif
  atomic_min_u64(held, word);
}
#else
typedef uint reservation_word_t;
#define lanes_min_word lanes_min_u32
#define RESERVATION_NONE UINT_MAX

static inline uint reservation_first_word(edge_t edge, const global weight_t *weights) {
  return edge.key;
}

static inline void reservation_lower_first(volatile global uint *reservations, uint c, uint word) {
  reservation_lower_u32(reservations + c, word);
}
#endif

// Whether c holds an edge whose leading key word is less than that of `edge`. The other words of a
// 64-bit weight then need not be looked up, which takes a trip to memory. The read races with the
// atomics of others, harmlessly for the reason given above: words only fall.
static inline bool reservation_is_beaten(const volatile global uint *reservations, uint c,
                                         edge_t edge) {
#if ATOMIC64
  const volatile global ulong *held = (const volatile global ulong *)reservations + c;
  return (uint)(*held >> 32) < edge.key;
#else
  return reservations[c] < edge.key;
#endif
}

// Pass 0: enter `edge` for both of its components.
static inline void reservation_enter_first(volatile global uint *reservations, edge_t edge,
                                           const global weight_t *weights) {
#if WEIGHT_BITS == 64 && ATOMIC_GUARDS
  if (reservation_is_beaten(reservations, edge.u, edge) &&
      reservation_is_beaten(reservations, edge.v, edge))
    return;
#endif
  const reservation_word_t word = reservation_first_word(edge, weights);
  reservation_lower_first(reservations, edge.u, word);
  reservation_lower_first(reservations, edge.v, word);
}

#if RESERVATION_PASSES > 1
// Pass 1 and later: enter `edge` for component c, if it matches the words before.
static inline void reservation_enter_later(volatile global uint *reservations, uint n, uint c,
                                           edge_t edge, const global weight_t *weights,
                                           uint pass) {
  if (reservation_is_beaten(reservations, c, edge)) return;
#if ATOMIC64
  const volatile global ulong *first = (const volatile global ulong *)reservations + c;
  if (*first == reservation_first_word(edge, weights))
    reservation_lower_u32(&reservations[(size_t)2 * n + c], edge.id);
#else
  volatile global uint *second = reservations + n + c;
#if WEIGHT_BITS == 64
  const uint trailing = weight_key_trailing(weights[edge.id]);
  if (pass == 1) reservation_lower_u32(second, trailing);
  else if (*second == trailing) reservation_lower_u32(second + n, edge.id);
#else
  reservation_lower_u32(second, edge.id);
#endif
#endif
}
#endif

// The id of the edge that component c holds, all passes done; UINT_MAX if it holds none.
static inline uint reservation_id(const global uint *reservations, uint n, uint c) {
#if WEIGHT_BITS == 64
  return reservations[(size_t)2 * n + c];
#elif ATOMIC64
  return (uint)((const global ulong *)reservations)[c];
#else
  return reservations[(size_t)n + c];
#endif
}

// Whether `edge` is what component c holds, all passes done: ids are unique.
static inline bool reservation_holds(const global uint *reservations, uint n, uint c, edge_t edge) {
  return reservation_id(reservations, n, c) == edge.id;
}

// Let component c hold nothing, whatever was there.
static inline void reservation_reset(global uint *reservations, uint n, uint c) {
#if ATOMIC64
  ((global ulong *)reservations)[c] = ULONG_MAX;
#else
  reservations[c] = UINT_MAX;
  reservations[(size_t)n + c] = UINT_MAX;
#endif
#if WEIGHT_BITS == 64
  reservations[(size_t)2 * n + c] = UINT_MAX;
#endif
}

// Forget what component c holds. Looks at the id first: many edges clear the same few components,
// and a store that changes nothing still makes its trip to memory. Work-items that clear the same
// component at once store the same words.
static inline void reservation_clear(global uint *reservations, uint n, uint c) {
  if (reservation_id(reservations, n, c) != UINT_MAX) reservation_reset(reservations, n, c);
}

#endif
