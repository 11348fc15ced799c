// filter-boruvka: the first round, on graphs that store both directions of every edge.
//
// Before this round, every vertex has found its lightest edge in its own row (minima.cl). So the
// round needs neither a worklist (list of undecided edges) nor atomic operations.
#include "algorithms/filter_boruvka/minima.cl"
#include "algorithms/filter_boruvka/rounds.cl"

// Maximum number of vertices that a work-item takes at once when it numbers the roots, which become
// supervertices.
#define VERTICES_PER_ITEM (WG_SIZE == 1 ? 1024 : 4)

// Every edge has two slots: one in the row of its lesser end, which gives the edge's id, and one in
// the row of its greater end. Given the lightest edge of `vertex`, which leads to a vertex with a
// lower number, return the edge's slot in the row of that other vertex. This row has the slots
// [begin, end). If there are parallel edges between the two vertices, return the slot with the
// minimum (weight, slot), because the lightest edge of `vertex` is the minimum of them.
static inline uint wi_find_mirror(const solve_t *solve, uint begin, uint end, uint vertex) {
  const uint low = wi_find_column(solve->indices, begin, end, vertex);
  if (low + 1 >= end || solve->indices[low + 1] != vertex) return low;
  lightest_t best = {FULL_KEY_MAX, NO_SLOT, vertex};
  for (uint slot = low; slot < end && solve->indices[slot] == vertex; ++slot)
    lightest_take(&best, weight_key(solve->weights[slot]), slot, vertex);
  return best.slot;
}

// Return the number of vertices that a work-item of first_choose_edges takes at once. The loads for
// these vertices are in flight at the same time, but the searches for their mirror slots
// (wi_find_mirror) come one after the other. So in a small graph a work-item takes fewer vertices,
// so that all work-groups of the launch have some.
static inline uint first_spread(const solve_t *solve) {
  const size_t n_items = get_global_size(0);
  return (uint)min((solve->n + n_items - 1) / n_items, (size_t)VERTICES_PER_ITEM);
}

// Complete the choices of the first round. Every vertex's lightest edge belongs to the forest. The
// lightest edges that lead to a vertex with a higher number are already marked as edges of the
// forest. Mark those that lead to a vertex with a lower number, too. An edge that both of its ends
// have chosen is already marked, and the end with the lower number is the root of their tree. The
// roots get numbers and become supervertices. A work-item takes `per_item` vertices at a time, at
// most VERTICES_PER_ITEM.
static inline void first_choose_edges(const solve_t *solve, uint per_item, local uint *scratch,
                                      local uint *base) {
  volatile global uint *count = solve_count(solve, 0, 1, COUNT_VERTICES);
  const size_t n_tile = (size_t)WG_SIZE * per_item;
  TILES_FOR(tile, solve->n, n_tile) {
    uint others[VERTICES_PER_ITEM], backs[VERTICES_PER_ITEM];
    uint begins[VERTICES_PER_ITEM], ends[VERTICES_PER_ITEM];  // of the rows of the other vertices
    uint n_roots = 0, number;
    bool is_root[VERTICES_PER_ITEM];
    // There is one loop per access to memory, so that the loads of all vertices run at the same
    // time.
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_PER_ITEM; ++k) {
      const size_t v = tile + k * WG_SIZE + get_local_id(0);
      others[k] = k < per_item && v < solve->n ? solve->target[v] : (uint)v;
    }
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_PER_ITEM; ++k)
      backs[k] = others[k] < solve->n ? solve->target[others[k]] : 0;
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_PER_ITEM; ++k) {
      const uint v = (uint)(tile + k * WG_SIZE + get_local_id(0));
      const bool is_mutual = backs[k] == v, has_mirror = others[k] < v && !is_mutual;
      is_root[k] = v < others[k] && is_mutual;
      n_roots += is_root[k];
      begins[k] = has_mirror ? solve->indptr[others[k]] : 0;
      ends[k] = has_mirror ? solve->indptr[others[k] + 1] : 0;
    }
    wg_claim(count, n_roots, &number, scratch, base);
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_PER_ITEM; ++k) {
      if (!is_root[k]) continue;
      solve->links[tile + k * WG_SIZE + get_local_id(0)] = LINK_KNOWN | number;
      solve_begin_vertex(solve, 1, number);
      number += 1;
    }
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_PER_ITEM; ++k) {
      const uint v = (uint)(tile + k * WG_SIZE + get_local_id(0));
      if (begins[k] < ends[k]) solve_mark(solve, wi_find_mirror(solve, begins[k], ends[k], v));
    }
  }
}

// Follow the lightest edges from every vertex to the root of its tree, and copy the root's link,
// which has the number of the supervertex, to the link of the vertex. Edges get lighter along the
// path. So the path ends at two vertices that chose the same edge, which are the only possible
// cycle, or at a vertex without an edge. If the path is longer than POINTER_STEPS, the link of the
// vertex leads to the last vertex reached, and round_follow goes on from there.
static inline void first_follow_choices(const solve_t *solve) {
  uint pending = 0;
  TILES_FOR(tile, solve->n, TILE_VERTICES) {
    uint here[VERTICES_AT_ONCE], next[VERTICES_AT_ONCE], over[VERTICES_AT_ONCE];
    bool goes_on = true;
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_AT_ONCE; ++k) {
      const size_t v = tile + k * WG_SIZE + get_local_id(0);
      here[k] = v < solve->n ? (uint)v : 0;
      next[k] = solve->target[here[k]];
    }
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_AT_ONCE; ++k) over[k] = solve->target[next[k]];
    for (uint steps = 0; goes_on && steps < POINTER_STEPS; ++steps) {
      goes_on = false;
      SOLVE_UNROLL
      for (uint k = 0; k < VERTICES_AT_ONCE; ++k) {
        if (over[k] == here[k]) continue;
        here[k] = next[k];
        next[k] = over[k];
        over[k] = solve->target[next[k]];
        goes_on = true;
      }
    }
    // Set over[k] to the new link of the vertex. There are three cases: the path ends at a vertex
    // without an edge; the path ends at two vertices that chose the same edge, and the one with the
    // lower number is the root, whose link is stored already; or the end of the path has not been
    // reached.
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_AT_ONCE; ++k)
      over[k] = here[k] == next[k]   ? LINK_FINISHED
                : over[k] == here[k] ? solve->links[min(here[k], next[k])]
                                     : here[k];
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_AT_ONCE; ++k) {
      const size_t v = tile + k * WG_SIZE + get_local_id(0);
      const bool is_root =
          (over[k] & LINK_KNOWN) && here[k] != next[k] && min(here[k], next[k]) == v;
      if (v >= solve->n || is_root) continue;  // the link of a root is stored already
      solve->links[v] = over[k];
      pending += !(over[k] & LINK_KNOWN);
    }
  }
  if (pending) atomic_add(solve_count(solve, 0, 0, COUNT_PENDING), pending);
}
