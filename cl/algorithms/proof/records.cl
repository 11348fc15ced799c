// proof: the list of forest edges, and the least edge of each node (state.cl).
#ifndef CLMST_ALGORITHMS_PROOF_RECORDS
#define CLMST_ALGORITHMS_PROOF_RECORDS

#include "algorithms/proof/state.cl"

// Items that a work-group goes through at a time, so that what is touched twice is in the nearest
// cache.
#define PROOF_TILE (WG_SIZE == 1 ? 1024 : WG_SIZE)

// Of a node without an edge.
#define NO_PLACE 0xffffffffu

// The least edge of each node: the first half of its order word, and its place in the list. Places
// rise with slots, so the pair orders edges. One 64-bit word; without 64-bit atomics two planes of
// `stride` words, the second of which takes another pass.
static inline void least_reset(global uint *least, uint stride, size_t node) {
#if ATOMIC64
  ((global ulong *)least)[node] = ULONG_MAX;
#else
  least[node] = UINT_MAX;
  least[stride + node] = NO_PLACE;
#endif
}

// Whether an edge may be less than the least so far. The read races with atomics of others; words
// only fall, so an edge that is not less now never will be.
static inline bool least_is_lowered(const volatile global uint *least, uint node, uint first,
                                    uint place) {
#if ATOMIC64
  return ((const volatile global ulong *)least)[node] > order_word(first, place);
#else
  return least[node] > first;
#endif
}

static inline void least_lower(volatile global uint *least, uint node, uint first, uint place) {
#if ATOMIC64
  atomic_min_u64((volatile global ulong *)least + node, order_word(first, place));
#else
  atomic_min_u32(least + node, first);
#endif
}

static inline uint least_place(const global uint *least, uint stride, uint node) {
#if ATOMIC64
  return (uint)((const global ulong *)least)[node];
#else
  return least[stride + node];
#endif
}

// A forest edge of the list: the nodes it joins, the first half of its order word, its slot.
typedef uint4 record_t;

// Offer the edges in the places [from, to), at most PROOF_TILE, to the nodes that they join. Lone
// work-items first find those nodes whose least edge they lower: loads alone, many under way at
// once.
static inline void records_offer(const global record_t *records, uint from, uint to,
                                 volatile global uint *least, uint base, local uint *lowering) {
#if WG_SIZE == 1
  uint n_lowering = 0;
  for (uint place = from; place < to; ++place) {
    const record_t record = records[place];
    lowering[n_lowering] = 2 * (place - from);
    n_lowering += least_is_lowered(least, record.x - base, record.z, place);
    lowering[n_lowering] = 2 * (place - from) + 1;
    n_lowering += least_is_lowered(least, record.y - base, record.z, place);
  }
  for (uint k = 0; k < n_lowering; ++k) {
    const uint place = from + lowering[k] / 2;
    const record_t record = records[place];
    least_lower(least, (lowering[k] % 2 ? record.y : record.x) - base, record.z, place);
  }
#else
  const uint place = from + get_local_id(0);
  if (place >= to) return;
  const record_t record = records[place];
  if (least_is_lowered(least, record.x - base, record.z, place))
    least_lower(least, record.x - base, record.z, place);
  if (least_is_lowered(least, record.y - base, record.z, place))
    least_lower(least, record.y - base, record.z, place);
#endif
}

#endif
