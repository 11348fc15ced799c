// Repeated solves of one graph, which are called rounds: the memory of a round, and how a single
// work-item finds the forest from scratch, without using the forest before.
#include "algorithms/small_matrix/rounds.cl"

// Marks of slots (places of edges in canonical order), a byte each. OUTSIDE and INSIDE say whether
// the slot's edge is in the forest. RAISED and LOWERED exist only during a round, for edges whose
// changed weights may change the forest.
#define MARK_OUTSIDE 0
#define MARK_INSIDE 1
#define MARK_RAISED 2
#define MARK_LOWERED 3

// The memory of a round, which is one solve under new weights.
//
//   us, vs, weights  the two ends and the weight of each slot's edge. A slot is the place of an
//                    edge in canonical order.
//   marks, forest    the mark of each slot, and the slots of the forest's edges
//   changed          from its beginning on, the slots of edges that became lighter (lowered); from
//                    its end on, the slots of edges that became heavier (raised)
//
// If few weights have changed, the forest is divided into pieces, trees of forest edges that stay:
//   incident         for each vertex the number of its edges in pieces, the exclusive or of their
//                    other ends, and the exclusive or of their slots
//   order            the vertices of pieces except roots, children first, each with its parent and
//                    the slot of the edge between them
//   pieces           the piece of each vertex
//   reps, last, last_keys   for each vertex: a vertex below it, the heaviest edge on the path
//                           between the two, and this edge's key (wi_list_paths)
typedef struct {
  const global uint *us, *vs;
  global weight_t *weights;
  global uchar *marks;
  global uint *forest;
  uint n, n_slots, opened, n_lowered;
  edges_t all, fewer;
  components_t parts;
  global uint *slots, *changed, *trees, *incident, *order, *pieces, *reps, *last;
  global weight_t *last_keys;
  global uchar *chosen;
} round_t;

// Number of words of memory that a round (one solve) takes for each slot (edge), and for each
// vertex, without the weight keys. A slot needs 8 words and a byte, which is rounded up to 9 words.
#define ROUND_WORDS_A_SLOT 9
#define ROUND_WORDS_A_VERTEX 14

// Divide the memory of a round (one solve), which begins at `choices`, among its arrays.
//
// Temp     choices: CHOICE_ULONGS * n ulongs, followed by 2 * n_slots + n weight keys, and then by
//          ROUND_WORDS_A_SLOT * n_slots + ROUND_WORDS_A_VERTEX * n + 2 words of 32 bits.
static inline round_t wi_lay_out_round(const global uint *us, const global uint *vs,
                                       global weight_t *weights, global uchar *marks,
                                       global uint *forest, global ulong *choices, uint n,
                                       uint n_slots) {
  const size_t m = n_slots, k = n, key_bytes = (2 * m + k) * sizeof(weight_t);
  global weight_t *keys = (global weight_t *)(choices + CHOICE_ULONGS * k);
  global uint *words = (global uint *)keys + (key_bytes + 3) / 4, *of_vertices = words + 8 * m;
  round_t round;
  round.us = us;
  round.vs = vs;
  round.weights = weights;
  round.marks = marks;
  round.forest = forest;
  round.n = n;
  round.n_slots = n_slots;
  round.opened = round.n_lowered = 0;
  round.all = (edges_t){words, words + m, words + 2 * m, keys, 0, 1};
  round.fewer = (edges_t){words + 3 * m, words + 4 * m, words + 5 * m, keys + m, 0, 1};
  round.slots = words + 6 * m;
  round.changed = words + 7 * m;
  round.parts = (components_t){choices, of_vertices, of_vertices + k, of_vertices + 2 * k};
  round.trees = of_vertices + 3 * k;
  round.incident = of_vertices + 4 * k;
  round.order = of_vertices + 8 * k;
  round.pieces = of_vertices + 11 * k;
  round.reps = of_vertices + 12 * k;
  round.last = of_vertices + 13 * k;
  round.last_keys = keys + 2 * m;
  round.chosen = (global uchar *)(of_vertices + 14 * k);
  return round;
}

// Find the forest from scratch, without using the forest before. Return the number of rounds of
// Borůvka's algorithm that this took.
//
// Out      marks: MARK_INSIDE for the slots of the forest's edges, MARK_OUTSIDE for all other
//          slots.
// Scope    one work-item. O(n_slots log n).
static inline uint wi_solve_anew(round_t round) {
  const uint n = round.n;
  // The cast from const is safe: wi_rounds does not write to the ends `us` and `vs` of this list,
  // because it stores contracted edges in another list (round.fewer).
  edges_t edges = {(global uint *)round.us, (global uint *)round.vs, round.all.ids,
                   round.all.keys,          round.n_slots,           1};
  for (uint slot = 0; slot < round.n_slots; ++slot) round.marks[slot] = MARK_OUTSIDE;
  uint components = n;
  if (!wi_has_window(edges, n)) {
    for (uint slot = 0; slot < round.n_slots; ++slot) {
      edges.keys[slot] = weight_key(round.weights[slot]);
      edges.ids[slot] = slot;
    }
    return wi_rounds(round.parts, edges, edges, round.fewer, round.trees, 0, &components,
                     round.marks);
  }
  for (uint k = 0; k < WINDOW_SAMPLE; ++k) {
    const uint stride = round.n_slots / WINDOW_SAMPLE;
    edges.keys[k * stride + k % stride] = weight_key(round.weights[k * stride + k % stride]);
  }
  weight_t least;
  const weight_t pivot = wi_pivot(edges, n, round.fewer.keys, &least);
  for (uint vertex = 0; vertex < n; ++vertex) round.trees[vertex] = vertex;
  edges = round.all;
  uint count = 0;
  for (uint slot = 0; slot < round.n_slots; ++slot) {
    const weight_t key = weight_key(round.weights[slot]);
    edges.us[count] = round.us[slot];
    edges.vs[count] = round.vs[slot];
    edges.ids[count] = slot;
    edges.keys[count] = key;
    count += key <= pivot;
  }
  edges.count = count;
  const uint rounds =
      wi_rounds(round.parts, edges, edges, round.fewer, round.trees, n, &components, round.marks);
  count = 0;
  for (uint slot = 0; slot < round.n_slots; ++slot) {
    const weight_t key = weight_key(round.weights[slot]);
    const uint u = round.trees[round.us[slot]], v = round.trees[round.vs[slot]];
    edges.us[count] = u;
    edges.vs[count] = v;
    edges.ids[count] = slot;
    edges.keys[count] = key;
    count += (u != v) & (key > pivot);
  }
  edges.count = count;
  return rounds + wi_rounds(round.parts, edges, edges, round.fewer, round.trees, 0, &components,
                            round.marks);
}

// List the slots of the edges that are in the forest, as their marks say. Return their number.
//
// Out      forest: this number, followed by the slots.
// Scope    one work-item. O(n_slots).
static inline uint wi_list_forest(round_t round) {
  global uint *slots = round.forest + 1;
  uint count = 0;
  for (uint slot = 0; slot < round.n_slots && count < round.n - 1; ++slot) {
    slots[count] = slot;
    count += round.marks[slot] == MARK_INSIDE;
  }
  round.forest[0] = count;
  return count;
}
