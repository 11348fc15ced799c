// proof: the list of forest edges, and the least edge of each node, which is a vertex or a
// component of forest edges (state.cl).
#include "algorithms/proof/state.cl"

// Number of edges of a list that a work-group takes at once. They are read twice, and are so few
// that they are still in the nearest cache the second time.
#define PROOF_TILE (WG_SIZE == 1 ? 1024 : WG_SIZE)

// Stands for the least edge of a node that does not have an edge.
#define NO_RECORD 0xffffffffu

// The least edge of each node is stored as the pair (first half of the edge's order word, index of
// the edge in the list). A node is a vertex or a component of forest edges. The first half of an
// order word is the edge's key, or for 64-bit weights its rank among forest edges. Indices ascend
// with slots, so comparing these pairs compares edges. A pair is one word of 64 bits. Without
// 64-bit atomics there are two arrays of `stride` words instead, one for each half, and another
// pass writes the second one.
static inline void least_reset(global uint *least, uint stride, size_t node) {
#if ATOMIC64
  ((global ulong *)least)[node] = ULONG_MAX;
#else
  least[node] = UINT_MAX;
  least[stride + node] = NO_RECORD;
#endif
}

// Return whether an edge may be less than the least edge of a node so far. `first` is the first
// half of the edge's order word, and `index` is its index in the list. Other work-items may lower
// the stored words at the same time. This does no harm: an edge that is not less now will never be
// less.
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

// A forest edge of the list: the two nodes that it joins, the key of its weight or, for 64-bit
// weights, its rank (the first half of its order word), and its slot.
typedef uint4 record_t;

// Compare each of the edges at the indices [from, to) of the list, at most PROOF_TILE, with the
// least edge so far of both of its nodes, and store it there if it is less. In work-groups of one
// work-item, first find the nodes for which this is so. This needs only loads, many of which are
// under way at the same time.
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
