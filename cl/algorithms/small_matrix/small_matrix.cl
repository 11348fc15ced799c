// Find the forest of a small matrix, or of a small list of edges, by one work-item in one launch.
// The launch lists the edges of the caller's arrays, runs Borůvka's algorithm, and lists the edges
// of the forest.
//
// Source: O. Borůvka, "O jistém problému minimálním", Práce Moravské přírodovědecké společnosti 3
// (1926). In each round every component takes its lightest edge. The components that these edges
// join become one, and edges within a component are dropped. A few thousand edges fit the caches of
// a core, and a second launch would take longer than a round.
#include "algorithms/small_matrix/rounds.cl"
#include "device/work_group.cl"

// Indices of the words of the result: the status, the number of the forest's edges, and the number
// of rounds. After these come n - 1 words for the slots (CSR entries) of the forest's edges, and
// then two words for the ends of each edge.
#define RESULT_STATUS 0
#define RESULT_EDGES 1
#define RESULT_ROUNDS 2
#define RESULT_WORDS 3

#define STATUS_SOLVED 1u
#define STATUS_UNSOUND 2u  // the host has to name the fault, or to put the matrix in order

// Numbers of words of memory that a solve takes for each slot (CSR entry) and for each vertex,
// without the weight keys. Of the ninth word of a slot, only a byte is needed.
#define WORDS_A_SLOT 9
#define WORDS_A_VERTEX 5

// The memory of a solve: two edge lists, the state of components, and further arrays.
typedef struct {
  edges_t all, fewer;
  components_t parts;
  global uint *slots;             // the slot of each edge
  global uint *counts;            // one word for each vertex
  global uint *starts, *columns;  // the row offsets and columns of a matrix, in words of 32 bits
  global uchar *chosen;           // one byte for each edge: 1 if it is in the forest
} work_t;

// Divide the memory of a solve, which begins at `choices`, among its arrays.
//
// Temp     choices: CHOICE_ULONGS * n ulongs, followed by 2 * n_slots weight keys, and then by
//          WORDS_A_SLOT * n_slots + WORDS_A_VERTEX * n + 2 words of 32 bits.
static inline work_t wi_lay_out(global ulong *choices, uint n, uint n_slots) {
  const size_t m = n_slots, key_bytes = 2 * m * sizeof(weight_t);
  global weight_t *keys = (global weight_t *)(choices + CHOICE_ULONGS * (size_t)n);
  global uint *words = (global uint *)keys + (key_bytes + 3) / 4, *of_vertices = words + 7 * m;
  work_t work;
  work.all = (edges_t){words, words + m, words + 2 * m, keys, 0, 1};
  work.fewer = (edges_t){words + 3 * m, words + 4 * m, words + 5 * m, keys + m, 0, 1};
  work.slots = words + 6 * m;
  work.parts = (components_t){choices, of_vertices, of_vertices + n, of_vertices + 2 * (size_t)n};
  work.counts = of_vertices + 3 * (size_t)n;
  work.starts = of_vertices + 4 * (size_t)n;
  work.columns = work.starts + n + 1;
  work.chosen = (global uchar *)(work.columns + m);
  return work;
}

// Copy the lower words of `count` 64-bit numbers to the array `narrow`. Return whether all upper
// words are 0.
//
// Scope    one work-item.
static inline bool wi_narrow(const global uint *pairs, uint count, global uint *narrow) {
  uint upper = 0;
  for (uint k = 0; k < count; ++k) {
    narrow[k] = pairs[2 * (size_t)k];
    upper |= pairs[2 * (size_t)k + 1];
  }
  return upper == 0;
}

// Bring the edges of a solve (work->all) into canonical order, which is by lesser end and then by
// greater end.
//
// In       work->all.ids: the numbers of the edges, which are 0, 1, 2 and so on.
// Scope    one work-item. O(n + all.count).
static inline void wi_arrange(work_t *work, uint n) {
  const edges_t given = work->all;
  edges_t to = work->fewer;
  wi_sort_by_end(given.vs, given.ids, to.ids, given.count, work->counts, n);
  wi_sort_by_end(given.us, to.ids, given.ids, given.count, work->counts, n);
  for (uint edge = 0; edge < given.count; ++edge) {
    const uint id = given.ids[edge];
    to.us[edge] = given.us[id];
    to.vs[edge] = given.vs[id];
    to.keys[edge] = given.keys[id];
    to.ids[edge] = work->slots[id];
  }
  for (uint edge = 0; edge < given.count; ++edge) {
    work->slots[edge] = to.ids[edge];
    to.ids[edge] = edge;
  }
  to.count = given.count;
  to.in_order = 1;
  work->all = to;
  work->fewer = given;
}

// Solve a list of edges, and write the forest to `result`. The edges of the forest are written in
// canonical order (by lesser end, then by greater end), or in the order of the list.
//
// In       work.all.in_order: 1 if the list is in the order by which equal weights are compared.
//          The forest is then written in the order of the list.
// Scope    one work-item.
static inline void wi_solve(work_t work, uint n, global uint *result) {
  weight_t pivot = 0, least = 0;
  if (wi_has_window(work.all, n)) {
    pivot = wi_pivot(work.all, n, work.fewer.keys, &least);
    // If all light edges have equal weights, sorting the list once takes less time than comparing
    // the ends of edges in every round.
    if (!work.all.in_order && pivot == least) wi_arrange(&work, n);
  }
  const edges_t all = work.all;
  const uint rounds =
      wi_solve_edges(all, work.fewer, work.parts, work.counts, n, pivot, work.chosen);
  global uint *found = work.fewer.us, *sorted = work.fewer.vs;
  uint count = 0;
  for (uint edge = 0; edge < all.count && count < n - 1; ++edge) {
    found[count] = edge;
    count += work.chosen[edge];
  }
  if (!all.in_order) {
    wi_sort_by_end(all.vs, found, sorted, count, work.counts, n);
    wi_sort_by_end(all.us, sorted, found, count, work.counts, n);
  }
  global uint *of_slots = result + RESULT_WORDS, *of_ends = of_slots + (n - 1);
  for (uint k = 0; k < count; ++k) {
    of_slots[k] = work.slots[found[k]];
    of_ends[2 * (size_t)k] = all.us[found[k]];
    of_ends[2 * (size_t)k + 1] = all.vs[found[k]];
  }
  result[RESULT_EDGES] = count;
  result[RESULT_ROUNDS] = rounds;
  result[RESULT_STATUS] = STATUS_SOLVED;
}

// Solve a small matrix.
//
// In       indptr[n + 1], indices[n_slots]: the arrays of a CSR, with one word for each element,
//            or, if `wide`, two words, the lower first;
//          weights[n_slots]: the weight of each slot (CSR entry). All arrays may have any values,
//            because the kernel checks them.
//          by_slot: whether equal weights are ordered by their slots instead of their ends.
// Out      result[RESULT_WORDS + 3 * (n - 1)]: the status, the counts, the slots of the forest's
//          edges, and their ends.
// Temp     choices: the memory that wi_lay_out divides.
// Launch   one work-item. O(n_slots log n).
// Needs    n > 0, n_slots > 0; choices begin at a multiple of 8 bytes.
// Ensures  the status is STATUS_SOLVED or STATUS_UNSOUND. If it is STATUS_SOLVED, the result has
//          the forest's edges in canonical order, or with `by_slot` in the order of slots. It is
//          STATUS_UNSOUND if the matrix is invalid, and also for a maximum forest, without
//          `by_slot`, of a matrix that is not canonical.
kernel void small_matrix_solve(const global uint *indptr, const global uint *indices,
                               const global weight_t *weights, global uint *result,
                               global ulong *choices, uint n, uint n_slots, uint wide,
                               uint by_slot) {
  if (get_global_id(0) > 0) return;
  work_t work = wi_lay_out(choices, n, n_slots);
  result[RESULT_STATUS] = STATUS_UNSOUND;
  if (wide) {
    if (!wi_narrow(indptr, n + 1, work.starts)) return;
    if (!wi_narrow(indices, n_slots, work.columns)) return;
    indptr = work.starts;
    indices = work.columns;
  }
  if (!wi_list_edges(indptr, indices, weights, n, n_slots, work.slots, &work.all, work.counts)) {
    global uint *lesser = work.parts.numbers;
    if (!wi_count_ends(indptr, indices, weights, n, n_slots, lesser, work.counts)) return;
    // A matrix that is not canonical may have several entries for one edge. Which of them a maximum
    // forest may use depends on the form of the matrix (symmetric or not). So this kernel does not
    // find maximum forests of such matrices.
    if (WEIGHT_DESCENDING && !by_slot) return;
    work.all.in_order = by_slot || wi_has_mirrors(indptr, indices, n);
    if (by_slot || !work.all.in_order)
      wi_list_slots(indptr, indices, weights, n, work.slots, &work.all);
    else
      wi_list_pairs(indptr, indices, weights, n, work.slots, &work.all, work.all.us, work.fewer.us,
                    lesser, work.counts);
  }
  wi_solve(work, n, result);
}

// Solve a small list of edges.
//
// In       us[n_given], vs[n_given]: the two ends of each edge, as one word, or, if `wide`, as two
//            words, the lower first;
//          weights[n_given]: the weight of each edge. All arrays may have any values, because the
//            kernel checks them.
// Out      result[RESULT_WORDS + 3 * (n - 1)]: the status, the counts, the indices in the list of
//          the forest's edges, and their ends.
// Temp     choices: the memory that wi_lay_out divides.
// Launch   one work-item. O(n_given log n).
// Needs    n > 0, n_given > 0; choices begin at a multiple of 8 bytes.
// Ensures  STATUS_SOLVED, and the forest's edges in canonical order, by which equal weights are
//          compared; or STATUS_UNSOUND if an end is not a vertex or a weight is NaN.
kernel void small_matrix_solve_list(const global uint *us, const global uint *vs,
                                    const global weight_t *weights, global uint *result,
                                    global ulong *choices, uint n, uint n_given, uint wide) {
  if (get_global_id(0) > 0) return;
  work_t work = wi_lay_out(choices, n, n_given);
  result[RESULT_STATUS] = STATUS_UNSOUND;
  work.all.in_order = 0;
  if (wi_list_given(us, vs, weights, n, n_given, wide, work.slots, &work.all))
    wi_solve(work, n, result);
}
