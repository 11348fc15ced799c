// proof: check the claim before a tree is built from its edges (state.cl). The claim is a list of
// slots (CSR entries) that is said to be the forest.
#include "algorithms/proof/records.cl"
#include "device/weight_key.cl"

// The claim is a list of slots (CSR entries) that is said to be the forest. Return whether its
// element `i` is wrong: the slot does not have the edge ends[i], or it is not greater than the slot
// before it.
static inline bool claim_is_wrong(const global uint *indptr, const global uint *indices,
                                  const global uint *slots, const global uint2 *ends, uint i,
                                  uint n, uint n_slots) {
  const uint slot = slots[i];
  const uint2 edge = ends[i];
  if (slot >= n_slots || (i > 0 && slots[i - 1] >= slot)) return true;
  if (edge.x >= edge.y || edge.y >= n) return true;
  return slot < indptr[edge.x] || slot >= indptr[edge.x + 1] || indices[slot] != edge.y;
}

// Look up the weight keys of the claimed edges, which are said to be the forest. This is done for
// 64-bit weights, for which the keys are then sorted to find the ranks of the edges.
//
// In       weights[n_slots]: the weight of each slot (CSR entry) of the graph;
//          slots[k]: the slot of each claimed edge.
// Out      keys[k]: the key of each claimed edge;
//          numbers[k]: the number i of each claimed edge, which is sorted with its key.
// Launch   any.
// Needs    nothing; slots may be wrong.
// Ensures  keys[i] = the key of claimed edge i, 0 if its slot does not exist; numbers[i] = i.
kernel void proof_claim_list_keys(const global weight_t *weights, const global uint *slots,
                                  global weight_t *keys, global uint *numbers, uint n_slots,
                                  uint k) {
  GRID_FOR(i, k) {
    keys[i] = slots[i] < n_slots ? weight_key(weights[slots[i]]) : 0;
    numbers[i] = (uint)i;
  }
}

// Check the claim, a list of slots (CSR entries) that is said to be the forest. List its edges, and
// store the first edge of each vertex in the order (key, slot). Later kernels join trees by these
// edges.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph;
//          slots[k], ends[k]: the slot and the two ends of each claimed edge;
//          ranks[k]: only for 64-bit weights, the rank of each claimed edge among the claimed
//          edges;
//          words[k]: the weight that the caller claims for each edge, as its bits. It is read if
//          has_words.
// Out      records[work-groups * stride]: the listed edges, in a segment of `stride` elements for
//            each work-group;
//          lengths[work-groups]: the number of edges in each segment.
// In-out   state[STATE_CLAIM]: becomes the index of the first wrong element of the claim;
//          least[n]: the first edge of each vertex so far, in the order (key, slot).
// Launch   a work-group for each segment.
// Needs    proof_tree_begin.
// Ensures  if no entry is wrong, slots strictly ascend, and each is an edge.
kernel void proof_claim_list(const global uint *indptr, const global uint *indices,
                             const global weight_t *weights, const global uint *slots,
                             const global uint2 *ends, const global uint *ranks,
                             const global weight_t *words, volatile global uint *least,
                             global record_t *records, global uint *lengths,
                             volatile global uint *state, uint n, uint n_slots, uint k, uint stride,
                             uint has_words) {
  local uint lowering[2 * PROOF_TILE];
  const uint first = (uint)min((ulong)get_group_id(0) * stride, (ulong)k);
  const uint last = first + min(stride, k - first);
  for (uint tile = first; tile < last; tile += min(last - tile, (uint)PROOF_TILE)) {
    const uint end = tile + min(last - tile, (uint)PROOF_TILE);
    for (uint i = tile + get_local_id(0); i < end; i += WG_SIZE) {
      record_t record = (record_t)(0, 0, UINT_MAX, 0);
      bool is_wrong = claim_is_wrong(indptr, indices, slots, ends, i, n, n_slots);
      if (!is_wrong) {
        const uint slot = slots[i];
        record.x = ends[i].x;
        record.y = ends[i].y;
        record.z = WEIGHT_BITS == 64 ? ranks[i] : weight_key_leading(weights[slot]);
        record.w = slot;
        if (has_words && words[i] != weights[slot]) is_wrong = true;
      }
      if (is_wrong) atomic_min_u32(state + STATE_CLAIM, i);
      records[i] = record;
    }
    // records_offer compares the listed edges with the first edges of their vertices so far. No
    // barrier is needed before this call, because each work-item only offers edges that it has
    // listed itself.
    records_offer(records, tile, end, least, 0, lowering);
  }
  if (get_local_id(0) == 0) lengths[get_group_id(0)] = last - first;
}
