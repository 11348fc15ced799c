// From the slots of a forest's edges to the edges themselves.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

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
    uint high = low + 1, stride = 1;
    while (high < n && indptr[high] <= slot) {
      low = high;
      stride *= 2;
      high = stride < n - high ? high + stride : n;
    }
#else
    uint low = 0, high = n;
#endif
    low = wi_find_row(indptr, low, high, slot);
    edges[i] = (uint2)(low, indices[slot]);
  }
}

// The same where the row of each slot is known.
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

// Put all that the host needs of the edges into one buffer, which is read at once: weights, from word
// `begin` on slots, and behind them ends.
//
// In       weights[n_slots]; slots[k], edges[k].
// Out      packed[4 * begin + 12 * k bytes].
// Launch   any. O(k).
// Needs    slots are below n_slots; begin is the number of words that k weights take, or more.
// Ensures  the three parts are weights[slots[i]] bit for bit, slots[i] and edges[i].
kernel void forest_pack(const global weight_t *weights, const global uint *slots,
                        const global uint2 *edges, global weight_t *packed, uint begin, uint k) {
  global uint *numbers = (global uint *)packed + begin;
  GRID_FOR(i, k) {
    const uint slot = slots[i];
    const uint2 ends = edges[i];
    packed[i] = weights[slot];
    numbers[i] = slot;
    numbers[k + 2 * i] = ends.x;
    numbers[k + 2 * i + 1] = ends.y;
  }
}
