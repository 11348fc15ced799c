// filter-boruvka: contraction to few supervertices, where work-groups wait for one another.
//
// Late rounds have many edges between few supervertices. Were every edge entered for both of its
// own, all would meet at the same few addresses, one atomic after the other. Here a work-group
// settles in local memory what its own edges come to, and enters that.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_FEW
#define CLMST_ALGORITHMS_FILTER_BORUVKA_FEW

#include "algorithms/filter_boruvka/rounds.cl"

// Supervertices that are few: a work-group has 8 bytes of local memory for each; at least 1.
#ifndef FEW_SUPERVERTICES
#define FEW_SUPERVERTICES 512
#endif

// Edges for each supervertex from which on they crowd: fewer are entered sooner one by one.
#ifndef FEW_CROWD
#define FEW_CROWD 128
#endif

// Edges that a work-item holds at once: 1 to 8, in registers.
#ifndef FEW_EDGES_PER_ITEM
#define FEW_EDGES_PER_ITEM 4
#endif

// Only reservations of one 64-bit word are settled here; others are entered as ever.
#define HAS_FEW (ATOMIC64 && WEIGHT_BITS == 32)

#if HAS_FEW
typedef ulong few_word_t;

// Whether many edges are to be contracted to few supervertices.
static inline bool few_applies(uint n_edges, uint n_vertices) {
  return n_vertices <= FEW_SUPERVERTICES && n_vertices * FEW_CROWD <= n_edges;
}

// Lower a word of local memory. Hardly any edge is lighter than all before it, so hardly any needs
// the atomic.
static inline void few_lower(volatile local ulong *word, ulong value) {
  if (*word > value) atom_min(word, value);
}

// Contract the worklist of a depth to that of the next, which has so many supervertices, as
// round_contract does. least[FEW_SUPERVERTICES] is scratch. Must be reached by the whole work-group.
static inline void few_contract(const solve_t *solve, uint phase, uint depth, uint n_edges,
                                uint n_vertices, local few_word_t *least, local uint *scratch,
                                local uint *base) {
  volatile global uint *count = solve_count(solve, phase, depth + 1, COUNT_EDGES);
  const uint me = get_local_id(0);
  // Few edges are spread over all work-groups.
  const size_t n_items = get_global_size(0);
  const uint per_item = (uint)min((n_edges + n_items - 1) / n_items, (size_t)FEW_EDGES_PER_ITEM);
  const size_t stride = (size_t)WG_SIZE * per_item;
  if (get_group_id(0) * stride >= n_edges) return;
  for (uint v = me; v < n_vertices; v += WG_SIZE) least[v] = RESERVATION_NONE;
  for (size_t tile = get_group_id(0) * stride; tile < n_edges; tile += get_num_groups(0) * stride) {
    edge_t edges[FEW_EDGES_PER_ITEM];
    uint next;
    const uint end = (uint)min(tile + stride, (size_t)n_edges);
    const uint n_kept =
        round_load_contracted(solve, depth, tile + me, end, FEW_EDGES_PER_ITEM, edges);
    wg_claim(count, n_kept, &next, scratch, base);
    SOLVE_UNROLL
    for (uint i = 0; i < FEW_EDGES_PER_ITEM; ++i) {
      if (edges[i].u == edges[i].v || !round_list(solve, depth + 1, next++, edges[i])) continue;
      const ulong word = reservation_first_word(edges[i], solve->weights);
      few_lower(&least[edges[i].u], word);
      few_lower(&least[edges[i].v], word);
    }
  }
  wg_barrier_local();
  for (uint v = me; v < n_vertices; v += WG_SIZE)
    if (least[v] != RESERVATION_NONE)
      reservation_lower_first(solve_reserved(solve, depth + 1), v, least[v]);
}
#else
typedef uint few_word_t;  // of no use
#endif

#endif
