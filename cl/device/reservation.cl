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
#define RESERVATION_PASSES (ATOMIC64 ? 2 : 3)
#else
#define RESERVATION_WORDS 2
#define RESERVATION_PASSES (ATOMIC64 ? 1 : 2)
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

#if ATOMIC64
static inline void reservation_lower_u64(volatile global ulong *word, ulong value) {
#if ATOMIC_GUARDS
  if (*word <= value) return;
#endif
  atomic_min_u64(word, value);
}

// The two words that are compared first, as one.
static inline ulong reservation_pair(edge_t edge, const global weight_t *weights) {
#if WEIGHT_BITS == 64
  return weight_key(weights[edge.id]);
#else
  return (ulong)edge.key << 32 | edge.id;
#endif
}
#endif

// Enter `edge` for component c in pass `pass`; pass 0 may run before anything else has.
static inline void reservation_enter(volatile global uint *reservations, uint n, uint c,
                                     edge_t edge, const global weight_t *weights, uint pass) {
#if ATOMIC64
  volatile global ulong *pairs = (volatile global ulong *)reservations;
#if WEIGHT_BITS == 64
  const ulong pair = reservation_pair(edge, weights);
  if (pass == 0) reservation_lower_u64(&pairs[c], pair);
  else if (pairs[c] == pair) reservation_lower_u32(&reservations[(size_t)2 * n + c], edge.id);
#else
  reservation_lower_u64(&pairs[c], reservation_pair(edge, weights));
#endif
#else
  volatile global uint *first = reservations + c;
  volatile global uint *second = first + n;
  if (pass == 0) {
    reservation_lower_u32(first, edge.key);
    return;
  }
  if (*first != edge.key) return;
#if WEIGHT_BITS == 64
  const uint trailing = weight_key_trailing(weights[edge.id]);
  if (pass == 1) reservation_lower_u32(second, trailing);
  else if (*second == trailing) reservation_lower_u32(second + n, edge.id);
#else
  reservation_lower_u32(second, edge.id);
#endif
#endif
}

// Whether `edge` is what component c holds, all passes done. Ids are unique, so where an id is
// held next to words that the edge matches, it alone decides.
static inline bool reservation_holds(const global uint *reservations, uint n, uint c, edge_t edge) {
#if WEIGHT_BITS == 64
  return reservations[(size_t)2 * n + c] == edge.id;
#elif ATOMIC64
  return ((const global ulong *)reservations)[c] == ((ulong)edge.key << 32 | edge.id);
#else
  return reservations[(size_t)n + c] == edge.id;
#endif
}

// Forget what component c holds.
static inline void reservation_clear(global uint *reservations, uint n, uint c) {
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

#endif
