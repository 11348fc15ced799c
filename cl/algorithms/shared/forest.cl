// Look up the endpoints, the weights and the ids of the edges of a forest from their slots (CSR
// entries).
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

#if WG_SIZE == 1
// Return the row that contains a slot (CSR entry). The search begins at `row`, which must not be
// greater than the slot's row, and goes upwards by strides that double (galloping search).
static inline uint wi_row_from(const global uint *indptr, uint row, uint n, uint slot) {
  uint high = row + 1, stride = 1;
  while (high < n && indptr[high] <= slot) {
    row = high;
    stride *= 2;
    high = stride < n - high ? high + stride : n;
  }
  return wi_find_row(indptr, row, high, slot);
}
#endif

// Look up the endpoints of each edge of a forest from its slot (CSR entry).
//
// In       indptr[n + 1], indices[n_slots]: the graph;
//          slots[k]: the slots of the forest's edges, ascending.
// Out      edges[k]: the endpoints.
// Launch   any. O(k log n). On CPUs O(k + n), because a work-item handles consecutive slots of the
//          list, and searches from the row of one slot to the row of the next by strides that
//          double.
// Needs    slots ascend, and their columns are greater than their rows.
// Ensures  edges[i] = (row, column) of slots[i], the lesser first.
kernel void forest_gather_edges(const global uint *indptr, const global uint *indices,
                                const global uint *slots, global uint2 *edges, uint n, uint k) {
#if WG_SIZE == 1
  uint low = 0;  // the slots of a work-item ascend, so their rows do, too
#endif
  GRID_FOR(i, k) {
    const uint slot = slots[i];
#if WG_SIZE == 1
    low = wi_row_from(indptr, low, n, slot);
#else
    const uint low = wi_find_row(indptr, 0, n, slot);
#endif
    edges[i] = (uint2)(low, indices[slot]);
  }
}

// Look up the endpoints of each edge of a forest from its slot (CSR entry), for graphs that store
// the row of each slot.
//
// In       rows[n_slots], indices[n_slots]: the row and the column of each slot;
//          slots[k]: the slots of the forest's edges.
// Out      edges[k]: the endpoints.
// Launch   any. O(k).
// Needs    the columns of these slots are greater than their rows.
// Ensures  edges[i] = (row, column) of slots[i], the lesser first.
kernel void forest_look_up_edges(const global uint *rows, const global uint *indices,
                                 const global uint *slots, global uint2 *edges, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[i];
    edges[i] = (uint2)(rows[slot], indices[slot]);
  }
}

// Look up the weight of each edge of a forest from its slot (CSR entry).
//
// In       weights[n_slots]: the weight of each slot;
//          slots[k]: the slots of the forest's edges.
// Out      forest_weights[k]: the weights of these edges.
// Launch   any.
// Needs    slots are below n_slots.
// Ensures  forest_weights[i] = weights[slots[i]], bit for bit.
kernel void forest_gather_weights(const global weight_t *weights, const global uint *slots,
                                  global weight_t *forest_weights, uint k) {
  GRID_FOR(i, k) forest_weights[i] = weights[slots[i]];
}

#if WG_SIZE == 1
// Look up the ids, the endpoints and the weights of a forest's edges from their slots (CSR entries)
// in one launch, and write them to arrays that the host can read.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph;
//          slots[k]: the slots of the forest's edges, ascending;
//          edge_ids[n_slots]: the id of each slot's edge, or null if ids are slots.
// Out      ids[k]: the id of each edge of the forest;
//          edges[k]: the two ends of each edge;
//          forest_weights[k]: the weight of each edge, written if `weighted`.
// Launch   any. O(k + n), because a work-item handles consecutive slots of the list, and searches
//          from the row of one slot to the row of the next by strides that double.
// Needs    slots ascend, and their columns are greater than their rows.
// Ensures  ids[i] = edge_ids[slots[i]]; edges[i] = (row, column) of slots[i]; forest_weights[i] =
//          weights[slots[i]].
kernel void forest_write_out(const global uint *indptr, const global uint *indices,
                             const global weight_t *weights, const global uint *slots,
                             const global uint *edge_ids, global uint *ids, global uint2 *edges,
                             global weight_t *forest_weights, uint n, uint k, uint weighted) {
  const uint begin = (uint)((ulong)k * get_group_id(0) / get_num_groups(0));
  const uint end = (uint)((ulong)k * (get_group_id(0) + 1) / get_num_groups(0));
  uint row = 0;
  for (uint i = begin; i < end; ++i) {
    const uint slot = slots[i];
    row = wi_row_from(indptr, row, n, slot);
    ids[i] = edge_ids ? edge_ids[slot] : slot;
    edges[i] = (uint2)(row, indices[slot]);
    if (weighted) forest_weights[i] = weights[slot];
  }
}
#endif

// Number of words before the weights in a packed forest, the single buffer that forest_pack writes.
// They are the number of edges, and an unused word.
#define PACKED_HEAD 2

// Copy the number, weights, ids and ends of a forest's edges into one buffer, so that the host
// reads it at once.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph;
//          slots[k]: the slot (CSR entry) of each edge of the forest, ascending;
//          edge_ids[n_slots]: the id of each slot's edge, or null if ids are slots;
//          count[1]: k, or null if k is `bound`, the maximum number of edges;
//          report[n_report]: further words for the host, which the kernels of the solve have
//          written.
// Out      packed[begin + 3 * bound + n_report]: word 0 is k. The k weights begin at word
//          PACKED_HEAD, and the k ids at word `begin`. The edges begin `bound` words after the ids,
//          two words each. The report follows.
// Launch   any. O(k log n + n_report).
// Needs    slots ascend, and their columns are greater than their rows; begin is PACKED_HEAD plus
//          the number of words that `bound` weights take.
// Ensures  the weights are weights[slots[i]] bit for bit, the ids are edge_ids[slots[i]], and the
//          edges are (row, column) of slots[i], the lesser first.
kernel void forest_pack(const global uint *indptr, const global uint *indices,
                        const global weight_t *weights, const global uint *slots,
                        const global uint *edge_ids, const global uint *count, global uint *packed,
                        const global uint *report, uint n, uint begin, uint bound, uint n_report) {
  // The minimum is needed if a solve has given up (its report says so), because then *count may
  // have any value.
  const uint k = count ? min(*count, bound) : bound;
  global weight_t *own_weights = (global weight_t *)(packed + PACKED_HEAD);
  global uint *ids = packed + begin, *ends = ids + bound;
  if (get_global_id(0) == 0) packed[0] = k;
  GRID_FOR(i, n_report) ends[2 * (size_t)bound + i] = report[i];
  GRID_FOR(i, k) {
    const uint slot = slots[i];
    own_weights[i] = weights[slot];
    ids[i] = edge_ids ? edge_ids[slot] : slot;
    ends[2 * i] = wi_find_row(indptr, 0, n, slot);
    ends[2 * i + 1] = indices[slot];
  }
}
