// The forest of a small matrix by a single work-item, in one launch: the list of a caller's CSR,
// Boruvka's algorithm on its edges, and the list of the forest's edges.
//
// Source: O. Boruvka, "O jistem problemu minimalnim", Prace Moravske prirodovedecke spolecnosti 3
// (1926). Each round every component takes its lightest edge, and the components that edges join
// become one; edges within a component are dropped. A few thousand edges fit the caches of a core,
// and a second launch would take longer than a round.
#include "algorithms/small_matrix/edge_list.cl"
#include "device/work_group.cl"

// Words of the result: how it ended, edges of the forest, rounds. Then comes the list of edges: their
// slots, in n - 1 words at most, and behind n - 1 words their ends, two words each.
#define RESULT_STATUS 0
#define RESULT_EDGES 1
#define RESULT_ROUNDS 2
#define RESULT_WORDS 3

#define STATUS_SOLVED 1u
#define STATUS_UNSOUND 2u  // the host has to name the fault, or to rearrange the matrix

// No edge, or no component.
#define SMALL_NONE UINT_MAX

// Words a slot and words a vertex that a solve takes beside the keys: a slot has 8 words and a byte.
#define WORDS_A_SLOT 9
#define WORDS_A_VERTEX 5

// What rounds know of the components: the lightest edge, its key, the parent, a root's number.
typedef struct {
  global uint *best, *parents, *labels;
  global weight_t *lightest;
} components_t;

// Let an edge be the lightest of a component if it is. Of equal edges the first one stays.
static inline void wi_offer(components_t parts, uint part, uint edge, weight_t key) {
  const uint best = parts.best[part];
  const weight_t lightest = parts.lightest[part];
  const bool wins = (best == SMALL_NONE) | (key < lightest);
  parts.best[part] = wins ? edge : best;
  parts.lightest[part] = wins ? key : lightest;
}

// Find the lightest edge of each of n components.
//
// Scope    one work-item.
static inline void wi_choose_edges(components_t parts, edges_t edges, uint n) {
  for (uint part = 0; part < n; ++part) parts.best[part] = SMALL_NONE;
  for (uint edge = 0; edge < edges.count; ++edge) {
    const weight_t key = edges.keys[edge];
    wi_offer(parts, edges.us[edge], edge, key);
    wi_offer(parts, edges.vs[edge], edge, key);
  }
}

// Hook each component to the other end of its lightest edge; of two that chose the same edge the
// lesser stays a root. Edges are in one total order, so there are no longer rings.
//
// Out      chosen: 1 for the edges of the forest.
// Scope    one work-item.
static inline void wi_hook(components_t parts, edges_t edges, uint n, global uchar *chosen) {
  for (uint part = 0; part < n; ++part) {
    const uint edge = parts.best[part];
    if (edge == SMALL_NONE) {  // the component is complete
      parts.parents[part] = part;
      continue;
    }
    const uint other = edges.us[edge] ^ edges.vs[edge] ^ part;
    const bool is_root = (parts.best[other] == edge) & (part < other);
    parts.parents[part] = is_root ? part : other;
    chosen[edges.ids[edge]] = 1;  // of a root, too: the other one has chosen the same edge
  }
}

// Number the trees; return how many there are.
//
// Out      parts.best: the number of each component's tree.
//
// Pointer jumping: a pass halves the ways at least. A search for each root would end at a branch
// that no processor foresees.
//
// Scope    one work-item. O(n log n) at most.
static inline uint wi_number_trees(components_t parts, uint n) {
  uint count = 0;
  for (uint part = 0; part < n; ++part) {
    parts.labels[part] = count;
    count += parts.parents[part] == part;
  }
  for (uint moved = 1; moved != 0;) {
    moved = 0;
    for (uint part = 0; part < n; ++part) {
      const uint parent = parts.parents[part], next = parts.parents[parent];
      parts.parents[part] = next;
      moved |= parent ^ next;
    }
  }
  for (uint part = 0; part < n; ++part) parts.best[part] = parts.labels[parts.parents[part]];
  return count;
}

// Copy the edges between different trees, in their order.
//
// In       parts.best: the number of each component's tree.
// Scope    one work-item. `to` may be the list itself.
static inline void wi_contract(components_t parts, edges_t edges, edges_t *to) {
  uint kept = 0;
  for (uint edge = 0; edge < edges.count; ++edge) {
    const uint u = parts.best[edges.us[edge]], v = parts.best[edges.vs[edge]];
    to->us[kept] = u;
    to->vs[kept] = v;
    to->ids[kept] = edges.ids[edge];
    to->keys[kept] = edges.keys[edge];
    kept += u != v;
  }
  to->count = kept;
}

// Return whether no edge of a list is lighter than the one before it.
//
// Scope    one work-item.
static inline bool wi_keys_rise(edges_t edges) {
  uint edge = 1;
  while (edge < edges.count && edges.keys[edge - 1] <= edges.keys[edge]) ++edge;
  return edge >= edges.count;
}

// Find the root of a vertex; ways are halved.
static inline uint wi_root(global uint *parents, uint vertex) {
  while (parents[vertex] != vertex) {
    parents[vertex] = parents[parents[vertex]];
    vertex = parents[vertex];
  }
  return vertex;
}

// Join the ends of edges whose keys rise, in their order, up to one tree: Kruskal's algorithm.
//
// Out      chosen: 1 for the edges of the forest.
// Scope    one work-item.
static inline void wi_join_in_order(global uint *parents, edges_t edges, uint n,
                                    global uchar *chosen) {
  for (uint vertex = 0; vertex < n; ++vertex) parents[vertex] = vertex;
  uint missing = n - 1;
  for (uint edge = 0; edge < edges.count && missing > 0; ++edge) {
    const uint u = wi_root(parents, edges.us[edge]), v = wi_root(parents, edges.vs[edge]);
    if (u == v) continue;
    parents[max(u, v)] = min(u, v);
    chosen[edge] = 1;
    --missing;
  }
}

// Copy the lower words of numbers of 64 bits; return whether the upper ones are all 0.
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

// Solve a small matrix.
//
// In       indptr[n + 1], indices[n_slots]: of one word each, or of two, the lower one first, if
//          `wide`; weights[n_slots]. Nothing is known of their values. `by_slot`: whether equal
//          weights are in the order of their slots, and not of their ends.
// Out      result[RESULT_WORDS + 3 * (n - 1)]: see above.
// Temp     keys[2 * n_slots + n], and behind them WORDS_A_SLOT * n_slots + WORDS_A_VERTEX * n + 2
//          words.
// Launch   one work-item. O(n_slots log n).
// Needs    n > 0, n_slots > 0; keys begin at a multiple of 8 bytes.
// Ensures  STATUS_SOLVED, and the forest's edges in canonical order, or in that of slots, if the
//          matrix is that of a graph; else STATUS_UNSOUND. So, too, without `by_slot`, for a
//          maximum forest of a matrix that is not canonical.
kernel void small_matrix_solve(const global uint *indptr, const global uint *indices,
                               const global weight_t *weights, global uint *result,
                               global weight_t *keys, uint n, uint n_slots, uint wide,
                               uint by_slot) {
  if (get_global_id(0) > 0) return;
  const size_t m = n_slots, key_bytes = (2 * m + n) * sizeof(weight_t);
  global uint *words = (global uint *)keys + (key_bytes + 3) / 4;
  global uint *of_vertices = words + 7 * m, *slots = words + 6 * m;
  global uint *starts = of_vertices + 4 * (size_t)n, *columns = starts + n + 1;
  global uchar *chosen = (global uchar *)(columns + m);
  edges_t all = {words, words + m, words + 2 * m, keys, 0};
  edges_t fewer = {words + 3 * m, words + 4 * m, words + 5 * m, keys + m, 0};
  const components_t parts = {of_vertices, of_vertices + n, of_vertices + 2 * (size_t)n,
                              keys + 2 * m};
  result[RESULT_STATUS] = STATUS_UNSOUND;
  if (wide) {
    if (!wi_narrow(indptr, n + 1, starts) || !wi_narrow(indices, n_slots, columns)) return;
    indptr = starts;
    indices = columns;
  }
  global uint *greater = of_vertices + 3 * (size_t)n;
  if (!wi_list_edges(indptr, indices, weights, n, n_slots, slots, &all, greater)) {
    if (!wi_count_ends(indptr, indices, weights, n, n_slots, of_vertices, greater)) return;
    // Which of parallel entries are edges of a maximum forest depends on the form of the matrix.
    if (WEIGHT_DESCENDING && !by_slot) return;
    if (by_slot) wi_list_slots(indptr, indices, weights, n, slots, &all);
    else
      wi_list_pairs(indptr, indices, weights, n, slots, &all, words, words + 3 * m, of_vertices,
                    greater);
  }
  for (uint edge = 0; edge < all.count; ++edge) chosen[edge] = 0;
  edges_t edges = all;
  uint rounds = 0, components = n;
  if (wi_keys_rise(all)) {
    wi_join_in_order(parts.parents, all, n, chosen);
    edges.count = 0;
    rounds = 1;
  }
  for (uint part = 0; part < n; ++part) parts.lightest[part] = 0;  // read before the first offer
  for (; edges.count > 0; edges = fewer, ++rounds) {               // components halve at least
    wi_choose_edges(parts, edges, components);
    wi_hook(parts, edges, components, chosen);
    components = wi_number_trees(parts, components);
    wi_contract(parts, edges, &fewer);
  }
  uint count = 0;
  global uint *of_slots = result + RESULT_WORDS, *of_ends = of_slots + (n - 1);
  for (uint edge = 0; edge < all.count && count < n - 1; ++edge) {
    of_slots[count] = slots[edge];
    of_ends[2 * count] = all.us[edge];
    of_ends[2 * count + 1] = all.vs[edge];
    count += chosen[edge];
  }
  result[RESULT_EDGES] = count;
  result[RESULT_ROUNDS] = rounds;
  result[RESULT_STATUS] = STATUS_SOLVED;
}
