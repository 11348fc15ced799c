// From the slots of a forest's edges to the edges themselves.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

#if WG_SIZE == 1
// Return the row of a slot like wi_find_row. The search begins at a row that is not after it, and
// goes on by strides that double.
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

// Look up the endpoints of each edge.
//
// In       indptr[n + 1], indices[n_slots]: the graph; slots[k]: rising.
// Out      edges[k].
// Launch   any. O(k log n); on CPUs O(k + n), since a work-item's slots are neighbours, and it
//          gallops from one row to the next.
// Needs    slots rise, and are upper slots.
// Ensures  edges[i] = (row, column) of slots[i], the lesser first.
kernel void forest_gather_edges(const global uint *indptr, const global uint *indices,
                                const global uint *slots, global uint2 *edges, uint n, uint k) {
#if WG_SIZE == 1
  uint low = 0;  // a work-item's slots rise, so its rows do
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

// Look up the endpoints of each edge if the row of each slot is known.
//
// In       rows[n_slots], indices[n_slots]: the graph; slots[k].
// Out      edges[k].
// Launch   any. O(k).
// Needs    slots are upper slots.
// Ensures  edges[i] = (row, column) of slots[i], the lesser first.
kernel void forest_look_up_edges(const global uint *rows, const global uint *indices,
                                 const global uint *slots, global uint2 *edges, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[i];
    edges[i] = (uint2)(rows[slot], indices[slot]);
  }
}

// Look up the weight of each edge.
//
// In       weights[n_slots]; slots[k].
// Out      forest_weights[k].
// Launch   any.
// Needs    slots are below n_slots.
// Ensures  forest_weights[i] = weights[slots[i]], bit for bit.
kernel void forest_gather_weights(const global weight_t *weights, const global uint *slots,
                                  global weight_t *forest_weights, uint k) {
  GRID_FOR(i, k) forest_weights[i] = weights[slots[i]];
}

#if WG_SIZE == 1
// Look up slots, endpoints and weights of all edges at once, into arrays of the host.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph; slots[k]: rising;
//          edge_ids[n_slots]: of the slots, or null: the slots themselves.
// Out      ids[k], edges[k]; forest_weights[k] if `weighted`.
// Launch   any. O(k + n): a work-item's slots are neighbours, and it gallops from row to row.
// Needs    slots rise, and are upper slots.
// Ensures  ids[i] = edge_ids[slots[i]]; edges and weights as the kernels above write them.
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

// Words of a packed forest before its weights: the number of edges, and an unused word.
#define PACKED_HEAD 2

// Put all that the host needs of a forest into one buffer, which is read at once.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph; slots[k]: rising;
//          edge_ids[n_slots]: of the slots, or null: the slots themselves; count[1]: k, or null: k
//          is `bound`; report[n_report]: what else the host needs.
// Out      packed[begin + 3 * bound + n_report]: k; from word PACKED_HEAD on weights[k], from word
//          `begin` on the ids, `bound` words behind them the edges, two words each; then the report.
// Launch   any. O(k log n + n_report).
// Needs    slots rise, and are upper slots; begin is PACKED_HEAD and the words that `bound` weights
//          take.
// Ensures  the three parts are weights[slots[i]] bit for bit, edge_ids[slots[i]], and (row,
//          column) of slots[i], the lesser first.
kernel void forest_pack(const global uint *indptr, const global uint *indices,
                        const global weight_t *weights, const global uint *slots,
                        const global uint *edge_ids, const global uint *count, global uint *packed,
                        const global uint *report, uint n, uint begin, uint bound, uint n_report) {
  // A solve that gave up, as its report says, leaves arbitrary flags, perhaps for too many slots.
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
