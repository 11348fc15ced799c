// Give new weights to a graph whose edges stay the same: bring all weights into the order of slots
// (CSR entries), search them for NaN, or change the weights of some edges.
#include "device/atomics.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Indices of the two words of faults[], which have the first fault of each kind. Both are NO_FAULT
// at first. A change is a list of edges with new weights. A kernel that finds faults lowers the
// word to the minimum number or index of a fault.
#define FAULT_NAN 0      // a weight that is NaN: the number of its edge, or its index in a change
#define FAULT_UNKNOWN 1  // the index in a change of an edge that does not exist
#define NO_FAULT 0xffffffffu

// The value that means "no slot" (CSR entry). A caller's edge that is not stored in the graph has
// no slot, and its weight is ignored.
#define NO_SLOT 0xffffffffu

static inline void lower_fault(volatile global uint *fault, uint first) {
  if (first != NO_FAULT) atomic_min_u32(fault, first);
}

// Search new weights for a NaN.
//
// In       weights[n]: the new weight of each slot (CSR entry).
// In-out   faults[2]: the first fault of each kind; only FAULT_NAN may change.
// Launch   any. O(n).
// Needs    nothing.
// Ensures  faults[FAULT_NAN] is at most the least slot whose weight is NaN.
kernel void repeated_check_weights(const global weight_t *weights, volatile global uint *faults,
                                   uint n) {
  uint first = NO_FAULT;
  GRID_FOR(i, n) {
    if (weight_is_nan(weights[i])) first = min(first, (uint)i);
  }
  lower_fault(faults + FAULT_NAN, first);
}

// Copy new weights that are in the order of slots (CSR entries) already, and check them.
//
// In       given[n]: the new weights.
// Out      weights[n]: their copy.
// In-out   faults[2]: the first fault of each kind; only FAULT_NAN may change.
// Launch   any. O(n).
// Needs    `weights` is not `given`.
// Ensures  weights[i] = given[i]; faults[FAULT_NAN] is at most the least slot whose weight is NaN.
kernel void repeated_copy_weights(const global weight_t *given, global weight_t *weights,
                                  volatile global uint *faults, uint n) {
  uint first = NO_FAULT;
  GRID_FOR(i, n) {
    const weight_t weight = given[i];
    weights[i] = weight;
    if (weight_is_nan(weight)) first = min(first, (uint)i);
  }
  lower_fault(faults + FAULT_NAN, first);
}

// Bring new weights, which are in the order of the caller's edges, into the order of slots (CSR
// entries), and check them.
//
// In       given: the new weight of each of the caller's edges;
//          edges[n]: the caller's edge of each slot.
// Out      weights[n]: the weight of each slot.
// In-out   faults[2]: the first fault of each kind; only FAULT_NAN may change.
// Launch   any. O(n).
// Needs    edges are below the number of given weights.
// Ensures  weights[i] = given[edges[i]]; faults[FAULT_NAN] is at most the least edge whose weight
//          is NaN.
kernel void repeated_order_weights(const global weight_t *given, const global uint *edges,
                                   global weight_t *weights, volatile global uint *faults, uint n) {
  uint first = NO_FAULT;
  GRID_FOR(i, n) {
    const uint edge = edges[i];
    const weight_t weight = given[edge];
    weights[i] = weight;
    if (weight_is_nan(weight)) first = min(first, edge);
  }
  lower_fault(faults + FAULT_NAN, first);
}

// A change is a list of entries, each of which names an edge and gives its new weight. For each
// edge that the change names, store the last entry that names it. So each edge has one writer when
// the new weights are stored later.
//
// In       named[k]: the edge that each entry of the change names;
//          given[k]: the new weight of each entry.
// In-out   claims[n_edges]: for each edge, base + the index of the last entry that names it. Before
//            the launch, all values are less than `base`.
//          faults[2]: the first fault of each kind.
// Launch   any. O(k).
// Needs    base + k < 2**32.
// Ensures  claims[edge] = base + the index of its last entry. faults[] has the first entry whose
//          edge does not exist, and the first entry whose weight is NaN, unless an earlier fault is
//          less.
kernel void repeated_claim_edges(const global uint *named, const global weight_t *given,
                                 volatile global uint *claims, volatile global uint *faults,
                                 uint base, uint k, uint n_edges) {
  uint unknown = NO_FAULT, nan = NO_FAULT;
  GRID_FOR(i, k) {
    const uint edge = named[i];
    if (edge < n_edges) atomic_max(claims + edge, base + (uint)i);
    else unknown = min(unknown, (uint)i);
    if (weight_is_nan(given[i])) nan = min(nan, (uint)i);
  }
  lower_fault(faults + FAULT_NAN, nan);
  lower_fault(faults + FAULT_UNKNOWN, unknown);
}

// A change is a list of entries, each of which names an edge and gives its new weight. Store the
// new weights of the named edges, unless the change has a fault: a weight that is NaN, or an edge
// that does not exist.
//
// In       named[k], given[k]: the edge and the new weight of each entry of the change;
//          claims[n_edges]: for each edge, base + the index of the last entry that names it
//            (repeated_claim_edges);
//          faults[2]: the first fault of each kind, or NO_FAULT;
//          slots[n_edges]: the slot (CSR entry) of each edge, or NO_SLOT, read if `ordered`.
//            Otherwise the number of an edge is its slot.
// In-out   weights[n_slots]: the weight of each slot. Each changed weight has one writer.
// Launch   any. O(k).
// Needs    repeated_claim_edges with the same `base`.
// Ensures  without a fault, each named edge has the weight of its last entry. With a fault, no
//          weight changes.
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
