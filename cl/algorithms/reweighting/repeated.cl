// New weights for a graph whose edges stay: brought into the order of slots, checked, changed.
#include "device/atomics.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Words of faults, NO_FAULT at first; the least of what is found stays.
#define FAULT_NAN 0      // a weight that is NaN: the number of its edge, or its place in a change
#define FAULT_UNKNOWN 1  // the place in a change of an edge that there is not
#define NO_FAULT 0xffffffffu

// The slot of a weight that belongs to no edge.
#define NO_SLOT 0xffffffffu

static inline void note_first(volatile global uint *fault, uint first) {
  if (first != NO_FAULT) atomic_min_u32(fault, first);
}

// Look for weights that are NaN.
//
// In       weights[n].
// In-out   faults: the least edge whose weight is NaN.
// Launch   any. O(n).
kernel void repeated_check_weights(const global weight_t *weights, volatile global uint *faults,
                                   uint n) {
  uint first = NO_FAULT;
  GRID_FOR(i, n) {
    if (weight_is_nan(weights[i])) first = min(first, (uint)i);
  }
  note_first(faults + FAULT_NAN, first);
}

// Copy weights whose order is that of slots.
//
// In       given[n].
// Out      weights[n].
// In-out   faults: the least edge whose weight is NaN.
// Launch   any. O(n).
kernel void repeated_copy_weights(const global weight_t *given, global weight_t *weights,
                                  volatile global uint *faults, uint n) {
  uint first = NO_FAULT;
  GRID_FOR(i, n) {
    const weight_t weight = given[i];
    weights[i] = weight;
    if (weight_is_nan(weight)) first = min(first, (uint)i);
  }
  note_first(faults + FAULT_NAN, first);
}

// Bring weights into the order of slots.
//
// In       given: the weights by edge; edges[n]: the edge of each slot.
// Out      weights[n].
// In-out   faults: the least edge whose weight is NaN.
// Launch   any. O(n).
kernel void repeated_order_weights(const global weight_t *given, const global uint *edges,
                                   global weight_t *weights, volatile global uint *faults,
                                   uint n) {
  uint first = NO_FAULT;
  GRID_FOR(i, n) {
    const uint edge = edges[i];
    const weight_t weight = given[edge];
    weights[i] = weight;
    if (weight_is_nan(weight)) first = min(first, edge);
  }
  note_first(faults + FAULT_NAN, first);
}

// Claim the edges that a change names, each for the last of its places.
//
// In       named[k]: edges; given[k]: their new weights.
// In-out   claims[n_edges]: base + place of the last claim; of changes before, less than base.
//          faults: the first place of an edge that there is not, and of a weight that is NaN.
// Launch   any. O(k).
kernel void repeated_claim_edges(const global uint *named, const global weight_t *given,
                                 volatile global uint *claims, volatile global uint *faults,
                                 uint base, uint k, uint n_edges) {
  uint unknown = NO_FAULT, nan = NO_FAULT;
  GRID_FOR(i, k) {
    const uint edge = named[i];
    if (edge < n_edges)
      atomic_max(claims + edge, base + (uint)i);
    else
      unknown = min(unknown, (uint)i);
    if (weight_is_nan(given[i])) nan = min(nan, (uint)i);
  }
  note_first(faults + FAULT_NAN, nan);
  note_first(faults + FAULT_UNKNOWN, unknown);
}

// Change the weights of claimed edges, unless the change has a fault.
//
// In       named[k], given[k], claims, faults, base: as repeated_claim_edges left them;
//          slots[n_edges]: the slot of each edge or NO_SLOT, if ordered; else edges are slots.
// In-out   weights. An edge is stored to by the one place that claimed it.
// Launch   any. O(k).
kernel void repeated_change_weights(const global uint *named, const global weight_t *given,
                                    const global uint *claims, const global uint *faults,
                                    const global uint *slots, global weight_t *weights, uint base,
                                    uint k, uint ordered) {
  if (faults[FAULT_NAN] != NO_FAULT || faults[FAULT_UNKNOWN] != NO_FAULT) return;
  GRID_FOR(i, k) {
    const uint edge = named[i];
    if (claims[edge] != base + (uint)i) continue;
    const uint slot = ordered ? slots[edge] : edge;
    if (slot != NO_SLOT) weights[slot] = given[i];
  }
}
