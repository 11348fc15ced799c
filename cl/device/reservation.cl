// Deterministic reservation, also called a priority write: how the lightest edge of each component
// is found. Every component has a reservation, which is a few words. To enter an edge, atomic
// minima lower these words to the words of the edge. At the end they hold the minimum (weight key,
// edge id) of all edges that were entered, whatever the order of the work-items. This edge is the
// component's winner.
//
// Source: deterministic reservations (Blelloch, Fineman, Gibbons, Shun 2012) with the 64-bit
// minimum of ECL-MST (Fallin, Gonzalez, Seo, Burtscher 2023, section 3.2).
//
// If the key and the id do not fit into one word, all edges are entered in several passes. In pass
// k, an edge enters its k-th word, but only if its earlier words are equal to the earlier words of
// the component's reservation. So a pass begins only after the pass before it has ended.
//
// The reservations of n components are one array of RESERVATION_WORDS planes. A plane has a 32-bit
// word for each component:
//
//     weights      64-bit atomics    planes 0 and 1 of component c               plane 2
//     <= 32 bits   yes               one ulong: key << 32 | id     (pass 0)
//     <= 32 bits   no                key (pass 0), id (pass 1)
//     64 bits      by leading word   one ulong: leading << 32 | id (pass 0)
//     64 bits      yes               one ulong: the key            (pass 0)      id (pass 1)
//     64 bits      no                leading word (0), trailing word (1)         id (pass 2)
//
// "By leading word" means that RESERVATION_BY_LEADING is 1. The leading word is the upper half of a
// 64-bit key. If two edges have equal leading words, the atomic minimum may replace the lighter
// edge by the heavier one. The work-item that causes this looks up both complete keys and puts the
// lighter edge back.
//
// All ones means "no edge yet", since ids are below 2**32 - 1.
//
// Example: edges 7, 4 and 9 with keys 50, 20 and 20 enter for one component, with 64-bit atomics:
//
//     FFFFFFFF FFFFFFFF  ->  00000032 00000007  ->  00000014 00000004  ->  unchanged: 20, 9 > 20, 4
#include "device/atomics.cl"
#include "device/weight_key.cl"
#include "device/worklist.cl"

// A reservation is a few words in which the lightest edge of a component is found by atomic minima.
// 1: read a word before each atomic minimum, and leave the operation out if it would not change the
// word. Most edges would not change it. 0: always do the atomic operation.
#ifndef ATOMIC_GUARDS
#define ATOMIC_GUARDS 1
#endif

// How edges with 64-bit weights are compared to find the lightest edge of a component. 1: in one
// pass, by the leading words (upper 32 bits) of their keys. Only if the leading words are equal,
// the trailing words (lower 32 bits) are compared, too. This needs 64-bit atomics. 0: complete keys
// are compared, which takes more passes.
#ifndef RESERVATION_BY_LEADING
#define RESERVATION_BY_LEADING 0
#endif

// RESERVATION_HAS_TIES is 1 if edges are compared by the leading words (upper halves) of their
// 64-bit keys, which may be equal for edges of different weights. RESERVATION_HAS_KEYS is 1 if a
// reservation has complete 64-bit keys.
#define RESERVATION_HAS_TIES (ATOMIC64 && WEIGHT_BITS == 64 && RESERVATION_BY_LEADING)
#define RESERVATION_HAS_KEYS (WEIGHT_BITS == 64 && !RESERVATION_HAS_TIES)

#define RESERVATION_WORDS (2 + RESERVATION_HAS_KEYS)
#define RESERVATION_PASSES (RESERVATION_WORDS - ATOMIC64)

// Replace *word, a word of a component's reservation, by the minimum of *word and `value`. The word
// is read first, because most edges would not change it and then need no atomic operation. Other
// work-items may lower it at the same time. This does no harm: the word only falls, so an old value
// is too large and causes at most one needless atomic operation. (An aligned word is always read as
// a whole.)
//
// Scope    one work-item.
static inline void reservation_lower_u32(volatile global uint *word, uint value) {
#if ATOMIC_GUARDS
  if (*word <= value) return;
#endif
  atomic_min_u32(word, value);
}

// The type of the first word of a component's reservation, which an edge enters in pass 0. The word
// has 64 bits on devices with 64-bit atomics, else 32 bits.
#if ATOMIC64
typedef ulong reservation_word_t;
#define lanes_min_word lanes_min_u64
#define atomic_min_word atomic_min_u64
#define RESERVATION_NONE ULONG_MAX
#else
typedef uint reservation_word_t;
#define lanes_min_word lanes_min_u32
#define atomic_min_word atomic_min_u32
#define RESERVATION_NONE UINT_MAX
#endif

static inline reservation_word_t reservation_first_word(edge_t edge,
                                                        const global weight_t *weights) {
#if !ATOMIC64
  return edge.key;
#elif RESERVATION_HAS_KEYS
  return weight_key(weights[edge.id]);
#else
  return (ulong)edge.key << 32 | edge.id;
#endif
}

// Return the first word of component c's reservation, which holds the component's lightest edge so
// far. Other work-items may lower it at the same time, which does no harm (reservation_lower_u32).
static inline reservation_word_t reservation_first(const volatile global uint *reservations,
                                                   uint c) {
  return ((const volatile global reservation_word_t *)reservations)[c];
}

static inline void reservation_min_first(volatile global uint *reservations, uint c,
                                         reservation_word_t word) {
  atomic_min_word((volatile global reservation_word_t *)reservations + c, word);
}

// Replace the first word of component c's reservation by the minimum of it and `word`, the first
// word of an edge. The reservation holds the component's lightest edge so far.
//
// Scope    one work-item.
static inline void reservation_lower_first(volatile global uint *reservations, uint c,
                                           reservation_word_t word) {
  if (!ATOMIC_GUARDS || reservation_first(reservations, c) > word)
    reservation_min_first(reservations, c, word);
}

#if RESERVATION_HAS_TIES
// Return whether the edge of `word` is lighter than the edge of `other`. Both are words
// leading << 32 | id, with equal leading words, the upper halves of the 64-bit weight keys. So the
// complete keys are looked up in `weights`. Edges with equal keys are ordered by id.
static inline bool reservation_is_lighter(ulong word, ulong other, const global weight_t *weights) {
  const ulong key = weight_key(weights[(uint)word]), other_key = weight_key(weights[(uint)other]);
  return key < other_key || (key == other_key && word < other);
}

static inline bool reservation_is_tied(ulong word, ulong other) {
  return (word ^ other) >> 32 == 0 && word != other && other != RESERVATION_NONE;
}

// Replace *address by `word`, if the edge of `word` is lighter than the edge of *address. Both are
// words leading << 32 | id of edges of one component, and *address holds its lightest edge so far.
// `seen` is an earlier value of *address.
//
// The atomic minimum may replace a lighter edge by a heavier one with the same leading word. The
// atomic returns the word that it replaced, so the work-item that caused this puts the lighter edge
// back. No other write replaces an edge by a heavier one. So the word of the lightest edge is left
// when all work-items have entered their edges.
//
// Scope    one work-item. `space` is the address space of *address: global or local.
#define RESERVATION_LOWER_TIED(space)                                                            \
  static inline void reservation_lower_##space(volatile space ulong *address, ulong word,        \
                                               ulong seen, const global weight_t *weights) {     \
    const ulong other = seen > word ? atom_min(address, word) : seen;                            \
    if (!reservation_is_tied(word, other)) return;                                               \
    const ulong lighter = reservation_is_lighter(other, word, weights) ? other : word;           \
    ulong now = *address;                                                                        \
    while (reservation_is_tied(lighter, now) && reservation_is_lighter(lighter, now, weights)) { \
      const ulong before = atom_cmpxchg(address, now, lighter);                                  \
      if (before == now) return;                                                                 \
      now = before;                                                                              \
    }                                                                                            \
  }
RESERVATION_LOWER_TIED(global)
RESERVATION_LOWER_TIED(local)
#elif ATOMIC64
// Replace *address, the first word of a component's reservation, by the minimum of *address and
// `word`, the first word of an edge. Here a lighter edge never has a greater first word than a
// heavier edge. `seen` is an earlier value of *address.
static inline void reservation_lower_global(volatile global ulong *address, ulong word, ulong seen,
                                            const global weight_t *weights) {
  if (seen > word) atomic_min_u64(address, word);
}

static inline void reservation_lower_local(volatile local ulong *address, ulong word, ulong seen,
                                           const global weight_t *weights) {
  if (seen > word) atom_min(address, word);
}
#endif

// Return whether a component's lightest edge so far has a smaller leading key word than `edge`.
// `first` is the first word of the component's reservation, which holds that lightest edge. If the
// result is true, `edge` cannot be lighter, and the trailing word of its weight is not needed.
static inline bool reservation_is_beaten(reservation_word_t first, edge_t edge) {
  return (uint)(first >> (ATOMIC64 ? 32 : 0)) < edge.key;
}

// Pass 0: enter `edge` in the reservations of the components edge.u and edge.v at its two ends, by
// atomic minima of their first words. A reservation holds the lightest edge of a component so far.
// The first words of both reservations are loaded at the same time. Atomic operations that would
// not change a word are left out.
//
// Scope    one work-item.
// Needs    the reservations of both components have been reset.
static inline void reservation_enter_first(volatile global uint *reservations, edge_t edge,
                                           const global weight_t *weights) {
  const reservation_word_t first_u =
      ATOMIC_GUARDS ? reservation_first(reservations, edge.u) : RESERVATION_NONE;
  const reservation_word_t first_v =
      ATOMIC_GUARDS ? reservation_first(reservations, edge.v) : RESERVATION_NONE;
#if RESERVATION_HAS_KEYS
  if (reservation_is_beaten(first_u, edge) && reservation_is_beaten(first_v, edge)) return;
#endif
  const reservation_word_t word = reservation_first_word(edge, weights);
#if ATOMIC64
  volatile global ulong *words = (volatile global ulong *)reservations;
  reservation_lower_global(words + edge.u, word, first_u, weights);
  reservation_lower_global(words + edge.v, word, first_v, weights);
#else
  if (first_u > word) reservation_min_first(reservations, edge.u, word);
  if (first_v > word) reservation_min_first(reservations, edge.v, word);
#endif
}

#if RESERVATION_PASSES > 1
// Pass 1 or a later pass: enter word number `pass` of `edge` in the reservation of component c, by
// an atomic minimum. The component's lightest edge is found word by word. So nothing is done if an
// earlier word of the edge differs from the same word of the reservation.
//
// Scope    one work-item.
// Needs    all earlier passes are complete, in earlier launches.
static inline void reservation_enter_later(volatile global uint *reservations, uint n, uint c,
                                           edge_t edge, const global weight_t *weights, uint pass) {
  if (reservation_is_beaten(reservation_first(reservations, c), edge)) return;
#if ATOMIC64
  if (reservation_first(reservations, c) == reservation_first_word(edge, weights))
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

// Enter word number `pass` of `edge` in the reservations of the components edge.u and edge.v at its
// two ends, as reservation_enter_first and reservation_enter_later do.
//
// Scope    one work-item.
// Needs    pass < RESERVATION_PASSES. All earlier passes are complete, in earlier launches.
static inline void reservation_enter(volatile global uint *reservations, uint n, edge_t edge,
                                     const global weight_t *weights, uint pass) {
  if (pass == 0) {
    reservation_enter_first(reservations, edge, weights);
    return;
  }
#if RESERVATION_PASSES > 1
  reservation_enter_later(reservations, n, edge.u, edge, weights, pass);
  reservation_enter_later(reservations, n, edge.v, edge, weights, pass);
#endif
}

// Return the id of component c's winner, which is its lightest edge, or UINT_MAX if no edge was
// entered.
//
// Scope    one work-item.
// Needs    all passes are complete, in earlier launches or before a barrier of all writers.
static inline uint reservation_id(const global uint *reservations, uint n, uint c) {
#if RESERVATION_HAS_KEYS
  return reservations[(size_t)2 * n + c];
#elif ATOMIC64
  return (uint)((const global ulong *)reservations)[c];
#else
  return reservations[(size_t)n + c];
#endif
}

// Return whether `edge` is component c's winner, which is its lightest edge. Edge ids are unique,
// so it is enough to compare the ids.
//
// Scope    one work-item.
// Needs    all passes are complete, in earlier launches or before a barrier of all writers.
static inline bool reservation_holds(const global uint *reservations, uint n, uint c, edge_t edge) {
  return reservation_id(reservations, n, c) == edge.id;
}

// Set component c's reservation, the words in which its lightest edge is found, to "no edge yet".
//
// Scope    one work-item. No other work-item writes these words, unless it stores the same values.
static inline void reservation_reset(global uint *reservations, uint n, uint c) {
#if ATOMIC64
  ((global ulong *)reservations)[c] = ULONG_MAX;
#else
  reservations[c] = UINT_MAX;
  reservations[(size_t)n + c] = UINT_MAX;
#endif
#if RESERVATION_HAS_KEYS
  reservations[(size_t)2 * n + c] = UINT_MAX;
#endif
}

// Reset component c's reservation, the words in which its lightest edge is found, if it holds an
// edge. Otherwise nothing is stored, because many edges reset the same few components, and stores
// that change nothing take time. Work-items that reset a component at the same time store the same
// words.
//
// Scope    one work-item.
static inline void reservation_clear(global uint *reservations, uint n, uint c) {
  if (reservation_id(reservations, n, c) != UINT_MAX) reservation_reset(reservations, n, c);
}
