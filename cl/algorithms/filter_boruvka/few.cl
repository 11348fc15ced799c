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

// Edges that a work-item holds at once: 1 to 8, in registers. A work-group takes so many in one
// go, hence fewer work-groups than there are take all, and fewer minima are entered.
#ifndef FEW_EDGES_PER_ITEM
#define FEW_EDGES_PER_ITEM 4
#endif
#define FEW_EDGES (WG_SIZE * FEW_EDGES_PER_ITEM)

// A packed word is settled here a half at a time, by native atomics on local memory; other
// reservations have more words, and are entered as ever.
#define HAS_FEW (ATOMIC64 && WEIGHT_BITS == 32)

// The least (key, id) of a work-group's edges at each supervertex; id UINT_MAX: none.
typedef struct {
  local uint *keys, *ids;  // [FEW_SUPERVERTICES]
} few_t;

#if HAS_FEW
// Whether many edges are to be contracted to few supervertices, and the work-groups of the launch
// can hold all of them.
static inline bool few_applies(uint n_edges, uint n_vertices) {
  return n_vertices <= FEW_SUPERVERTICES && n_vertices * FEW_CROWD <= n_edges &&
         n_edges <= (size_t)get_num_groups(0) * FEW_EDGES;
}

// Contract the worklist of a depth to that of the next, which has so many supervertices, as
// round_contract does. Must be reached by the whole work-group.
static inline void few_contract(const solve_t *solve, uint phase, uint depth, uint n_edges,
                                uint n_vertices, const few_t *few, local uint *scratch,
                                local uint *base) {
  const uint me = get_local_id(0);
  const size_t tile = (size_t)get_group_id(0) * FEW_EDGES;
  if (tile >= n_edges) return;
  for (uint v = me; v < n_vertices; v += WG_SIZE) few->keys[v] = few->ids[v] = UINT_MAX;
  edge_t edges[FEW_EDGES_PER_ITEM];
  uint n_kept = 0, next;
  SOLVE_UNROLL
  for (uint i = 0; i < FEW_EDGES_PER_ITEM; ++i)
    n_kept += round_load_contracted(solve, depth, tile + i * WG_SIZE + me, n_edges, &edges[i]);
  wg_claim(solve_count(solve, phase, depth + 1, COUNT_EDGES), n_kept, &next, scratch, base);
  SOLVE_UNROLL
  for (uint i = 0; i < FEW_EDGES_PER_ITEM; ++i) {
    if (edges[i].u == edges[i].v) continue;
    if (!round_list(solve, depth + 1, next++, edges[i])) {
      edges[i].u = edges[i].v;
      continue;
    }
    atomic_min(&few->keys[edges[i].u], edges[i].key);
    atomic_min(&few->keys[edges[i].v], edges[i].key);
  }
  wg_barrier_local();
  SOLVE_UNROLL
  for (uint i = 0; i < FEW_EDGES_PER_ITEM; ++i) {
    const edge_t edge = edges[i];
    if (edge.u == edge.v) continue;
    if (few->keys[edge.u] == edge.key) atomic_min(&few->ids[edge.u], edge.id);
    if (few->keys[edge.v] == edge.key) atomic_min(&few->ids[edge.v], edge.id);
  }
  wg_barrier_local();
  for (uint v = me; v < n_vertices; v += WG_SIZE)
    if (few->ids[v] != UINT_MAX)
      reservation_lower_first(solve_reserved(solve, depth + 1), v,
                              (ulong)few->keys[v] << 32 | few->ids[v]);
}
#endif

#endif
