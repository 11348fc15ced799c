// A round of a graph whose edges stay, by a single work-item, in one launch: take the new weights, find
// the forest, and list its edges.
//
// Every slot has a mark, from round to round: whether its edge is in the forest. If few weights have
// changed, the new forest is found from the old one (changes.cl), else from nothing (rounds.cl).
#include "algorithms/small_matrix/changes.cl"
#include "device/work_group.cl"

// Words of the result. Behind them are the weights of the forest's edges, and behind these, from the next
// whole word on, their slots: n - 1 at most.
#define RESULT_STATUS 0
#define RESULT_EDGES 1
#define RESULT_ROUNDS 2
#define RESULT_NAN 3  // the least edge whose weight is NaN, or its index among changes, or NO_FAULT
#define RESULT_UNKNOWN 4  // the least index of a change of an edge that does not exist, or NO_FAULT
#define RESULT_OPEN 5     // changes that may change the forest; counted up to one more than allowed
#define RESULT_WORDS 8

#define STATUS_SOLVED 1u
#define STATUS_FAULTY 2u
#define STATUS_TAKEN 3u  // the weights are taken, but too many of them have changed

// What a round may start from.
#define KNOWN 1u
#define ANEW 2u

#define NO_FAULT 0xffffffffu
// The slot of a weight that belongs to no edge.
#define NO_SLOT 0xffffffffu

// Replace the weight of a slot, and note whether that may change the forest.
//
// In-out   opened: the number of such changes. If it is `most`, further ones are counted only.
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

// Solve, unless the change is too large and may not be solved anew. Then list the forest.
//
// Out      result.
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

// Solve with new weights of all edges.
//
// In       us[n_slots], vs[n_slots]: edges in canonical order, the lesser end first. order[n_slots]: the
//          edge of each slot, or null if slots are edges. given: weights by edge. how: KNOWN if there is a
//          round before; ANEW if the graph may be solved anew after many changes.
// In-out   weights[n_slots], marks[n_slots], forest[n + 1]: of the round before, if KNOWN; after it, of this
//          round. forest[0] is the number of edges, whose slots follow.
// Out      result: see above.
// Temp     choices: as of wi_lay_out_round.
// Launch   one work-item. O(n_slots log n); O(n + n_slots) with few changes.
// Needs    n > 0, n_slots > 0; `weights` is not `given`.
// Ensures  STATUS_SOLVED, and the forest in canonical order; STATUS_FAULTY if a weight is NaN;
//          STATUS_TAKEN if more than `most` changes may change the forest, and not ANEW.
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

// Solve with new weights of some edges. Of several for one edge, the last one counts.
//
// In       us[n_slots], vs[n_slots], how: as of small_matrix_again_solve. slots[n_edges]: the slot of
//          each edge or NO_SLOT, or null if edges are slots. named[n_named]: edges; given[n_named]:
//          their new weights.
// In-out   weights, marks, forest: as of small_matrix_again_solve; weights are always known.
// Out      result: see above.
// Temp     choices: as of wi_lay_out_round.
// Launch   one work-item. O(n_slots log n); O(n + n_slots) with few changes.
// Needs    as small_matrix_again_solve.
// Ensures  as small_matrix_again_solve, but STATUS_FAULTY, with nothing changed, if a weight is NaN or an
//          edge does not exist.
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

// Take over a forest that other kernels have found.
//
// In       slots[count]: of its edges, rising.
// Out      marks[n_slots], forest[n + 1].
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
