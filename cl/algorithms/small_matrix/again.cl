// Repeated solves of one graph under new weights, each by a single work-item in one launch. A
// launch takes the new weights, finds the forest, and lists its edges.
//
// A solve is called a round. A slot is the place of an edge in canonical order, which is by lesser
// end and then by greater end. Every slot has a mark, which is kept from round to round and says
// whether the slot's edge is in the forest. If few weights have changed, the new forest is found
// from the forest before (changes.cl). Otherwise it is found from scratch (anew.cl).
#include "algorithms/small_matrix/changes.cl"
#include "device/work_group.cl"

// Indices of the words of the result. After these words come the weights of the forest's edges, and
// then, from the next whole word on, the slots of these edges. A slot is the place of an edge in
// canonical order. A forest has at most n - 1 edges.
#define RESULT_STATUS 0
#define RESULT_EDGES 1
#define RESULT_ROUNDS 2
#define RESULT_NAN 3  // the first edge whose weight is NaN, or its index among changes, or NO_FAULT
#define RESULT_UNKNOWN 4  // the first index of a change of an edge that does not exist, or NO_FAULT
#define RESULT_OPEN 5     // changes that may change the forest; counted up to one more than allowed
#define RESULT_WORDS 8

#define STATUS_SOLVED 1u
#define STATUS_FAULTY 2u
#define STATUS_TAKEN 3u  // the weights are taken, but too many of them have changed

// Bits of the argument `how` of a launch. KNOWN: the forest of the solve before is in memory, and
// the kernel may find the new forest from it. ANEW: the kernel may find the new forest from
// scratch, without using the forest before.
#define KNOWN 1u
#define ANEW 2u

#define NO_FAULT 0xffffffffu
// Means "no slot" (place of an edge in canonical order), for a weight that does not belong to an
// edge of the graph.
#define NO_SLOT 0xffffffffu

// Replace the weight of a slot (the place of an edge in canonical order). The forest may change if
// an edge of the forest became heavier, or if any other edge became lighter. In these cases mark
// the edge as raised or lowered.
//
// In-out   round->opened: the number of edges that have been marked. If `most` edges or more have
//          been counted already, the edge is counted, but not marked.
static inline void wi_replace(round_t *round, uint slot, weight_t weight, uint most) {
  const weight_t before = weight_key(round->weights[slot]), after = weight_key(weight);
  const uchar mark = round->marks[slot];
  round->weights[slot] = weight;
  const bool is_raised = mark == MARK_INSIDE && after > before;
  const bool is_lowered = mark == MARK_OUTSIDE && after < before;
  if (!is_raised && !is_lowered) return;
  if (round->opened < most) {
    round->marks[slot] = is_raised ? MARK_RAISED : MARK_LOWERED;
    if (is_lowered) round->changed[round->n_lowered++] = slot;
    else round->changed[round->n_slots - 1 - (round->opened - round->n_lowered)] = slot;
  }
  ++round->opened;
}

// Find the forest under the new weights and list its edges. If at most `most` changed weights may
// change the forest, find the new forest from the forest before. If there are more, and `how` has
// the bit ANEW, find the forest from scratch. If `how` does not have this bit, only store
// STATUS_TAKEN, which means that the weights are stored, but not solved.
//
// Out      result: the status, the counts, and the weights and slots of the forest's edges.
static inline void wi_finish(round_t round, uint most, uint how, global uint *result) {
  result[RESULT_OPEN] = round.opened;
  result[RESULT_STATUS] = STATUS_TAKEN;
  if (round.opened > most && !(how & ANEW)) return;
  result[RESULT_ROUNDS] = round.opened > most ? wi_solve_anew(round) : wi_solve_changes(round);
  const uint count = wi_list_forest(round);
  global weight_t *weights = (global weight_t *)(result + RESULT_WORDS);
  global uint *slots = result + RESULT_WORDS + ((round.n - 1) * sizeof(weight_t) + 3) / 4;
  for (uint k = 0; k < count; ++k) {
    const uint slot = round.forest[k + 1];
    slots[k] = slot;
    weights[k] = round.weights[slot];
  }
  result[RESULT_EDGES] = count;
  result[RESULT_STATUS] = STATUS_SOLVED;
}

// Find the minimum spanning forest after all edges have got new weights.
//
// In       us[n_slots], vs[n_slots]: the two ends of each edge, the lesser first, in canonical
//            order. A slot is the place of an edge in this order.
//          order[n_slots]: the caller's edge of each slot, or null if edges are slots;
//          given: the new weight of each of the caller's edges;
//          how: the bits KNOWN (the arrays hold the forest of an earlier solve) and ANEW (after
//            many changes, the forest may be found from scratch).
// In-out   weights[n_slots]: the weight of each slot;
//          marks[n_slots]: whether each slot is in the forest;
//          forest[n + 1]: the number of the forest's edges, and then their slots. If `how` has
//            KNOWN, these three arrays are as the solve before left them.
// Out      result: the status, the counts, and the weights and slots of the forest's edges.
// Temp     choices: the memory that wi_lay_out_round divides.
// Launch   one work-item. O(n_slots log n); O(n + n_slots) with few changes.
// Needs    n > 0, n_slots > 0; `weights` is not `given`.
// Ensures  the status is STATUS_SOLVED, and the forest is in canonical order; or STATUS_FAULTY if a
//          weight is NaN; or STATUS_TAKEN if more than `most` changes may change the forest, and
//          `how` does not have ANEW.
kernel void small_matrix_again_solve(const global uint *us, const global uint *vs,
                                     const global uint *order, global weight_t *weights,
                                     global uchar *marks, global uint *forest,
                                     global ulong *choices, uint n, uint n_slots, uint most,
                                     uint how, global uint *result, const global weight_t *given) {
  if (get_global_id(0) > 0) return;
  round_t round = wi_lay_out_round(us, vs, weights, marks, forest, choices, n, n_slots);
  uint nan = NO_FAULT, slot = 0;
  round.opened = how & KNOWN ? 0 : most + 1;
  for (; slot < n_slots && round.opened <= most; ++slot) {
    const uint edge = order ? order[slot] : slot;
    const weight_t weight = given[edge];
    if (weight == weights[slot]) continue;
    if (weight_is_nan(weight)) nan = min(nan, edge);
    wi_replace(&round, slot, weight, most);
  }
  for (; slot < n_slots; ++slot) {
    const uint edge = order ? order[slot] : slot;
    const weight_t weight = given[edge];
    weights[slot] = weight;
    nan = min(nan, weight_is_nan(weight) ? edge : NO_FAULT);
  }
  result[RESULT_NAN] = nan;
  result[RESULT_UNKNOWN] = NO_FAULT;
  result[RESULT_STATUS] = STATUS_FAULTY;
  if (nan == NO_FAULT) wi_finish(round, most, how, result);
}

// Find the minimum spanning forest after some edges have got new weights. If an edge is named
// several times, its last weight counts.
//
// In       us[n_slots], vs[n_slots]: the two ends of each edge, in canonical order. A slot is the
//            place of an edge in this order.
//          slots[n_edges]: the slot of each of the caller's edges, or NO_SLOT for edges that the
//            graph does not keep, or null if edges are slots;
//          named[n_named]: the edges whose weights change;
//          given[n_named]: their new weights;
//          how: the bits KNOWN (the arrays hold the forest of an earlier solve) and ANEW (after
//            many changes, the forest may be found from scratch).
// In-out   weights[n_slots]: the weight of each slot;
//          marks[n_slots]: whether each slot is in the forest;
//          forest[n + 1]: the number of the forest's edges, and then their slots. If `how` has
//            KNOWN, these three arrays are as the solve before left them.
// Out      result: the status, the counts, and the weights and slots of the forest's edges.
// Temp     choices: the memory that wi_lay_out_round divides.
// Launch   one work-item. O(n_slots log n); O(n + n_slots) with few changes.
// Needs    n > 0, n_slots > 0; `weights` is not `given`, and holds the weights of an earlier solve.
// Ensures  the status is STATUS_SOLVED, and the forest is in canonical order; or STATUS_FAULTY, and
//          nothing is changed, if a weight is NaN or an edge does not exist; or STATUS_TAKEN if
//          more than `most` changes may change the forest, and `how` does not have ANEW.
kernel void small_matrix_again_update(const global uint *us, const global uint *vs,
                                      const global uint *slots, global weight_t *weights,
                                      global uchar *marks, global uint *forest,
                                      global ulong *choices, uint n, uint n_slots, uint most,
                                      uint how, global uint *result, const global weight_t *given,
                                      const global uint *named, uint n_named, uint n_edges) {
  if (get_global_id(0) > 0) return;
  uint nan = NO_FAULT, unknown = NO_FAULT;
  for (uint k = n_named; k-- > 0;) {
    if (weight_is_nan(given[k])) nan = k;
    if (named[k] >= n_edges) unknown = k;
  }
  result[RESULT_NAN] = nan;
  result[RESULT_UNKNOWN] = unknown;
  result[RESULT_STATUS] = STATUS_FAULTY;
  if (nan != NO_FAULT || unknown != NO_FAULT) return;
  round_t round = wi_lay_out_round(us, vs, weights, marks, forest, choices, n, n_slots);
  round.opened = how & KNOWN ? 0 : most + 1;
  for (uint k = 0; k < n_named; ++k) {
    const uint slot = slots ? slots[named[k]] : named[k];
    if (slot != NO_SLOT) wi_replace(&round, slot, given[k], most);
  }
  wi_finish(round, most, how, result);
}

// Take over a forest that other kernels have found, so that the next solve can begin from it.
//
// In       slots[count]: the slots of the forest's edges, ascending. A slot is the place of an edge
//          in canonical order.
// Out      marks[n_slots]: whether each slot is in the forest;
//          forest[n + 1]: the number of the forest's edges, followed by their slots.
// Launch   one work-item. O(n_slots).
// Needs    count < n.
// Ensures  marks and forest are as small_matrix_again_solve leaves them.
kernel void small_matrix_again_adopt(const global uint *slots, global uchar *marks,
                                     global uint *forest, uint count, uint n_slots) {
  if (get_global_id(0) > 0) return;
  for (uint slot = 0; slot < n_slots; ++slot) marks[slot] = MARK_OUTSIDE;
  for (uint k = 0; k < count; ++k) {
    forest[k + 1] = slots[k];
    marks[slots[k]] = MARK_INSIDE;
  }
  forest[0] = count;
}
