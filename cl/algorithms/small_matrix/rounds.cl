// Borůvka's rounds over a list of edges, by one work-item. Light edges are taken first.
//
// If a list has many edges for each vertex, a key is chosen from a sample of the keys. It is called
// the pivot, and edges up to it are called light. Rounds over the light edges join most vertices.
// After them, only few of the heavy edges lead from one tree to another, and all other heavy edges
// are left out. This is the filter of V. Osipov, P. Sanders and J. Singler, "The filter-Kruskal
// minimum spanning tree algorithm" (ALENEX 2009), section 3. The light edges are called a window.
#include "algorithms/small_matrix/edge_list.cl"
#include "device/union_find.cl"

// Means "no edge" or "no component".
#define SMALL_NONE UINT_MAX

// The choice of a component is its lightest edge so far, stored as the key and the number of the
// edge. This value means that the component has not chosen an edge yet. As a key it is the maximum,
// so any edge replaces it.
#define CHOICE_NONE ULONG_MAX

// If a list has many edges, the light ones are solved before all others. Light edges are those with
// keys up to the pivot, a key that is chosen from a sample of the list's keys.
//   WINDOW_FROM    number of edges for each vertex from which light edges are solved first
//   WINDOW_HALVES  desired number of light edges for each vertex, in halves
//   WINDOW_SAMPLE  number of keys in the sample
//   WINDOW_MORE    added to the pivot's rank in the sample, because a low rank in the sample tells
//                  only roughly how many edges are light
#define WINDOW_FROM 2
#define WINDOW_HALVES 3
#define WINDOW_SAMPLE 256
#define WINDOW_MORE 6

// The state of the components in a round of Borůvka's algorithm. Each array has one element (or two
// ulongs) for each component.
//   choices  the key of the component's lightest edge so far, and the index of this edge: one ulong
//            with the key in the upper half, or two ulongs if keys have 64 bits
//   parents  the component to which this component is hooked, or the component itself if it is a
//            root. Hooked components form trees.
//   labels   the number of the component's tree, written only for the roots of trees
//   numbers  the number of the component's tree, written for all components
typedef struct {
  global ulong *choices;
  global uint *parents, *labels, *numbers;
} components_t;

#if WEIGHT_BITS == 64
#define CHOICE_ULONGS 2
#else
#define CHOICE_ULONGS 1
#endif

// Return the index of the lightest edge of the component `part` so far, or SMALL_NONE if no edge
// has been chosen yet.
static inline uint wi_choice(components_t parts, uint part) {
  return (uint)parts.choices[CHOICE_ULONGS * (size_t)part + CHOICE_ULONGS - 1];
}

// Return whether edge `one` comes before edge `other` in canonical order, which is by lesser end,
// then by greater end.
static inline bool wi_precedes(edges_t all, uint one, uint other) {
  if (all.us[one] != all.us[other]) return all.us[one] < all.us[other];
  if (all.vs[one] != all.vs[other]) return all.vs[one] < all.vs[other];
  return one < other;
}

// If `edge` is lighter than the lightest edge of the component `part` so far, store it in place of
// that edge. Edges of equal weight are compared by canonical order.
static inline void wi_offer(components_t parts, edges_t edges, edges_t all, uint part, uint edge,
                            weight_t key) {
#if WEIGHT_BITS == 64
  global ulong *choice = parts.choices + 2 * (size_t)part;
  const ulong lightest = choice[0], best = choice[1];
  bool wins = (key < lightest) | (best == CHOICE_NONE);
  if (key == lightest && !all.in_order && !wins)
    wins = wi_precedes(all, edges.ids[edge], edges.ids[best]);
  choice[0] = wins ? key : lightest;
  choice[1] = wins ? edge : best;
#else
  const ulong best = parts.choices[part], choice = (ulong)key << 32 | edge;
  bool wins = choice < best;  // edges come in rising order
  if (key == best >> 32 && !all.in_order && (uint)best != SMALL_NONE)
    wins = wi_precedes(all, edges.ids[edge], edges.ids[(uint)best]);
  parts.choices[part] = wins ? choice : best;
#endif
}

// Find the lightest edge that leads out of each of n components, and store it as the component's
// choice.
//
// Scope    one work-item.
static inline void wi_choose_edges(components_t parts, edges_t edges, edges_t all, uint n) {
  for (size_t k = 0; k < CHOICE_ULONGS * (size_t)n; ++k) parts.choices[k] = CHOICE_NONE;
  for (uint edge = 0; edge < edges.count; ++edge) {
    const weight_t key = edges.keys[edge];
    wi_offer(parts, edges, all, edges.us[edge], edge, key);
    wi_offer(parts, edges, all, edges.vs[edge], edge, key);
  }
}

// Hook each component to the component at the other end of its lightest edge. If two components
// chose the same edge, the one with the lower number stays a root. Longer cycles of choices cannot
// occur, because all edges are compared by one total order.
//
// Out      chosen: for each edge of the original list, 1 if it is in the forest.
// Scope    one work-item.
static inline void wi_hook(components_t parts, edges_t edges, uint n, global uchar *chosen) {
  for (uint part = 0; part < n; ++part) {
    const uint edge = wi_choice(parts, part);
    if (edge == SMALL_NONE) {  // no edge leaves the component, so it is complete
      parts.parents[part] = part;
      continue;
    }
    const uint other = edges.us[edge] ^ edges.vs[edge] ^ part;
    const bool is_root = (wi_choice(parts, other) == edge) & (part < other);
    parts.parents[part] = is_root ? part : other;
    chosen[edges.ids[edge]] = 1;  // for a root, too: the other component chose the same edge
  }
}

// Number the trees into which the components are hooked by their lightest edges. Return the number
// of trees.
//
// This uses pointer jumping, in which each pass over all components at least halves the paths to
// the roots. If each component followed its path to the root by itself, every such loop would end
// with a branch that a processor cannot predict.
//
// Out      parts.numbers: the number of each component's tree.
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
  for (uint part = 0; part < n; ++part) parts.numbers[part] = parts.labels[parts.parents[part]];
  return count;
}

// Copy the edges of a list whose ends are in different trees, in their order, to the list `to`, and
// replace their ends by the numbers of the trees.
//
// In       parts.numbers: the number of each component's tree.
// Scope    one work-item. `to` may be the list itself.
static inline void wi_contract(components_t parts, edges_t edges, edges_t *to) {
  uint kept = 0;
  for (uint edge = 0; edge < edges.count; ++edge) {
    const uint u = parts.numbers[edges.us[edge]], v = parts.numbers[edges.vs[edge]];
    to->us[kept] = u;
    to->vs[kept] = v;
    to->ids[kept] = edges.ids[edge];
    to->keys[kept] = edges.keys[edge];
    kept += u != v;
  }
  to->count = kept;
}

// Return whether the keys of a list ascend, so that no edge is lighter than the edge before it.
//
// Scope    one work-item.
static inline bool wi_keys_rise(edges_t edges) {
  uint edge = 1;
  while (edge < edges.count && edges.keys[edge - 1] <= edges.keys[edge]) ++edge;
  return edge >= edges.count;
}

// Kruskal's algorithm for a list of edges whose keys ascend already: join the ends of one edge
// after the other, until there is one tree.
//
// Out      chosen: for each edge of the list, 1 if it is in the forest.
// Scope    one work-item.
static inline void wi_join_in_order(global uint *parents, edges_t edges, uint n,
                                    global uchar *chosen) {
  for (uint vertex = 0; vertex < n; ++vertex) parents[vertex] = vertex;
  uint missing = n - 1;
  for (uint edge = 0; edge < edges.count && missing > 0; ++edge) {
    const uint u = wi_find_alone(parents, edges.us[edge]);
    const uint v = wi_find_alone(parents, edges.vs[edge]);
    if (u == v) continue;
    parents[max(u, v)] = min(u, v);
    chosen[edge] = 1;
    --missing;
  }
}

// Return the key of a given rank in a sample, where rank 0 is the smallest key.
//
// The key is found bit by bit, the highest bit first, because a sort would have branches that a
// processor cannot predict.
//
// Scope    one work-item.
static inline weight_t wi_key_of_rank(const global weight_t *sample, uint size, uint rank) {
  weight_t found = 0;
  for (uint bit = WEIGHT_BITS; bit-- > 0;) {
    const weight_t above = found | (weight_t)((weight_t)1 << bit);
    uint below = 0;
    for (uint k = 0; k < size; ++k) below += sample[k] < above;
    found = below <= rank ? above : found;
  }
  return found;
}

// Choose the pivot from a sample of the keys. Edges whose keys are at most the pivot are called
// light, and they are solved first.
//
// Out      least: the smallest key of the sample.
// Temp     sample[WINDOW_SAMPLE]: the keys of edges at about equal distances in the list.
// Scope    one work-item.
static inline weight_t wi_pivot(edges_t all, uint n, global weight_t *sample, weight_t *least) {
  const uint stride = all.count / WINDOW_SAMPLE;
  for (uint k = 0; k < WINDOW_SAMPLE; ++k) sample[k] = all.keys[k * stride + k % stride];
  *least = sample[0];
  for (uint k = 1; k < WINDOW_SAMPLE; ++k) *least = min(*least, sample[k]);
  const ulong wanted = (ulong)WINDOW_SAMPLE * WINDOW_HALVES * n / (2 * (ulong)all.count);
  return wi_key_of_rank(sample, WINDOW_SAMPLE, wanted + WINDOW_MORE);
}

// Return whether a list has so many edges for each vertex that its light edges (those with keys up
// to a pivot) are solved before all others.
static inline bool wi_has_window(edges_t all, uint n) {
  return all.count >= WINDOW_FROM * n && all.count >= WINDOW_SAMPLE;
}

// Copy the light edges, whose keys are at most `pivot`, to the list `light`.
//
// Scope    one work-item.
static inline void wi_list_light(edges_t all, weight_t pivot, edges_t *light) {
  uint count = 0;
  for (uint edge = 0; edge < all.count; ++edge) {
    light->us[count] = all.us[edge];
    light->vs[count] = all.vs[edge];
    light->ids[count] = edge;
    light->keys[count] = all.keys[edge];
    count += all.keys[edge] <= pivot;
  }
  light->count = count;
}

// Copy the heavy edges, whose keys are above `pivot`, to the list `heavy` if they lead from one
// tree to another.
//
// In       trees: the tree of each vertex.
// Scope    one work-item.
static inline void wi_list_heavy(edges_t all, weight_t pivot, const global uint *trees,
                                 edges_t *heavy) {
  uint count = 0;
  for (uint edge = 0; edge < all.count; ++edge) {
    const uint u = trees[all.us[edge]], v = trees[all.vs[edge]];
    heavy->us[count] = u;
    heavy->vs[count] = v;
    heavy->ids[count] = edge;
    heavy->keys[count] = all.keys[edge];
    count += (u != v) & (all.keys[edge] > pivot);
  }
  heavy->count = count;
}

// Join components in rounds of Borůvka's algorithm, until no edge of a list leads from one
// component to another. Return the number of rounds.
//
// In-out   trees[n]: the component of each vertex. If the caller does not need this, n is 0.
//          components: the number of components.
// Scope    one work-item. O(m log n), because each round at least halves the number of components
//          that have edges. `fewer` gets the contracted list of each round, and may be the list
//          `edges`.
static inline uint wi_rounds(components_t parts, edges_t edges, edges_t all, edges_t fewer,
                             global uint *trees, uint n, uint *components, global uchar *chosen) {
  uint rounds = 0;
  for (; edges.count > 0; edges = fewer, ++rounds) {
    wi_choose_edges(parts, edges, all, *components);
    wi_hook(parts, edges, *components, chosen);
    *components = wi_number_trees(parts, *components);
    wi_contract(parts, edges, &fewer);
    for (uint vertex = 0; vertex < n; ++vertex) trees[vertex] = parts.numbers[trees[vertex]];
  }
  return rounds;
}

// Find the minimum spanning forest of the edges of a list. Return the number of rounds of Borůvka's
// algorithm.
//
// In       pivot: the key up to which edges are light. It is used only if light edges are solved
//          first (wi_has_window).
// Out      chosen[all.count]: 1 for the edges of the forest, else 0.
// Temp     fewer: a second edge list;
//          parts: the state of each component;
//          trees[n]: the tree of each vertex.
// Scope    one work-item.
static inline uint wi_solve_edges(edges_t all, edges_t fewer, components_t parts,
                                  global uint *trees, uint n, weight_t pivot,
                                  global uchar *chosen) {
  for (uint edge = 0; edge < all.count; ++edge) chosen[edge] = 0;
  if (all.in_order && wi_keys_rise(all)) {
    wi_join_in_order(parts.parents, all, n, chosen);
    return 1;
  }
  uint components = n;
  if (!wi_has_window(all, n))
    return wi_rounds(parts, all, all, fewer, trees, 0, &components, chosen);
  for (uint vertex = 0; vertex < n; ++vertex) trees[vertex] = vertex;
  wi_list_light(all, pivot, &fewer);
  const uint rounds = wi_rounds(parts, fewer, all, fewer, trees, n, &components, chosen);
  wi_list_heavy(all, pivot, trees, &fewer);
  return rounds + wi_rounds(parts, fewer, all, fewer, trees, 0, &components, chosen);
}
