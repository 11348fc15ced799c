// proof: the list of forest edges, and the first of these edges at each node of the tree, in the
// order of edges. A node is a vertex or a component of forest edges (state.cl).
#include "algorithms/proof/state.cl"

// Number of edges of a list that a work-group takes at a time. They are read twice. Their number is
// so small that they are still in the nearest cache when they are read the second time.
#define PROOF_TILE (WG_SIZE == 1 ? 1024 : WG_SIZE)

// The value that stands for the least edge of a node that does not have an edge. A node is a vertex
// or a component of forest edges.
#define NO_RECORD 0xffffffffu

// Reset the least edge of a node, which is a vertex or a component of forest edges. Least means the
// first in the order of edges. The least edge is stored as a pair of words. The first word is the
// edge's weight key, or for 64-bit weights its rank among forest edges. The second word is the
// edge's index in the list. Indices ascend with slots (CSR entries), so comparing these pairs
// compares edges. A pair is one word of 64 bits. Without 64-bit atomics there are two arrays of
// `stride` words instead, one for the first and one for the second words, and a later kernel writes
// the second words.
static inline void least_reset(global uint *least, uint stride, size_t node) {
#if ATOMIC64
  ((global ulong *)least)[node] = ULONG_MAX;
#else
  least[node] = UINT_MAX;
  least[stride + node] = NO_RECORD;
#endif
}

// Return whether an edge may come before the least edge of a node so far. `first` is the edge's
// weight key, or for 64-bit weights its rank, and `index` is its index in the list. Other
// work-items may lower the stored words at the same time. This does no harm: stored words only
// fall, so an edge that is not less now will never be less.
static inline bool least_is_lowered(const volatile global uint *least, uint node, uint first,
                                    uint index) {
#if ATOMIC64
  return ((const volatile global ulong *)least)[node] > order_word(first, index);
#else
  return least[node] > first;
#endif
}

static inline void least_lower(volatile global uint *least, uint node, uint first, uint index) {
#if ATOMIC64
  atomic_min_u64((volatile global ulong *)least + node, order_word(first, index));
#else
  atomic_min_u32(least + node, first);
#endif
}

static inline uint least_index(const global uint *least, uint stride, uint node) {
#if ATOMIC64
  return (uint)((const global ulong *)least)[node];
#else
  return least[stride + node];
#endif
}

// A forest edge of the list, as four words: the two nodes that it joins, the key of its weight or,
// for 64-bit weights, its rank among forest edges, and its slot (CSR entry).
typedef uint4 record_t;

// Compare each of the edges at the indices from `from` to to - 1 of the list with the least edges
// so far of its two nodes. If it comes before one of them in the order of edges, store it there.
// There are at most PROOF_TILE edges. In work-groups of one work-item, all comparisons come first.
// They need only loads, many of which are under way at the same time.
//
// Scope    the whole work-group; work-item i offers the edge at from + i.
static inline void records_offer(const global record_t *records, uint from, uint to,
                                 volatile global uint *least, uint base, local uint *lowering) {
#if WG_SIZE == 1
  uint n_lowering = 0;
  for (uint index = from; index < to; ++index) {
    const record_t record = records[index];
    lowering[n_lowering] = 2 * (index - from);
    n_lowering += least_is_lowered(least, record.x - base, record.z, index);
    lowering[n_lowering] = 2 * (index - from) + 1;
    n_lowering += least_is_lowered(least, record.y - base, record.z, index);
  }
  for (uint k = 0; k < n_lowering; ++k) {
    const uint index = from + lowering[k] / 2;
    const record_t record = records[index];
    least_lower(least, (lowering[k] % 2 ? record.y : record.x) - base, record.z, index);
  }
#else
  const uint index = from + get_local_id(0);
  if (index >= to) return;
  const record_t record = records[index];
  if (least_is_lowered(least, record.x - base, record.z, index))
    least_lower(least, record.x - base, record.z, index);
  if (least_is_lowered(least, record.y - base, record.z, index))
    least_lower(least, record.y - base, record.z, index);
#endif
}
