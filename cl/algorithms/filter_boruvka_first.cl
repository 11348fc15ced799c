// filter-boruvka: the first round, on graphs that store both directions of every edge.
//
// Every vertex finds its lightest edge in its own row: no worklist, no atomics, and at a vertex the
// order of (weight, slot) is that of (weight, edge id). The edges of the window that stand in upper
// slots are listed on the way, so that the graph need not be read again.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_FIRST
#define CLMST_ALGORITHMS_FILTER_BORUVKA_FIRST

#include "algorithms/filter_boruvka_tiles.cl"

// Vertices that a work-item takes at a time when roots are numbered.
#define VERTICES_PER_ITEM (WG_SIZE == 1 ? 1024 : 4)
#define TILE_VERTICES (WG_SIZE * VERTICES_PER_ITEM)

// Every vertex's lightest slot, but for rows that tiles part; the window's edges as (row, slot).
static inline void first_take_minima(const solve_t *solve, uint n_phases, tile_t *tile,
                                     local uint *base) {
  global uint2 *listed = (global uint2 *)solve->list_even;
  volatile global uint *count = solve_count(solve, 0, 0, COUNT_EDGES);
  const uint n_tiles = tile_count(solve), capacity = 2 * solve->capacity_even;
  window_t window;
  window_open(solve, 0, n_phases, &window);
  for (uint t = get_group_id(0); t < n_tiles; t += get_num_groups(0)) {
    tile_begin(solve, tile, t);
    tile_visit_rows(solve, tile, &window);
    const uint mine = get_local_id(0) * TILE_ITEMS;  // consecutive ones: the list is in slot order
    const uint end = min(mine + TILE_ITEMS, tile->length);
    uint n_kept = 0, at;
    for (uint i = mine; i < end; ++i) n_kept += tile->rows[TILE_PLACE(i)] != NO_ROW;
    wg_claim(count, n_kept, &at, tile->scratch, base);
    if (n_kept > 0 && at + n_kept > capacity) solve->state[STATE_OVERFLOW] = 1;
    for (uint i = mine; i < end; ++i) {
      const uint row = tile->rows[TILE_PLACE(i)];
      if (row == NO_ROW) continue;
      if (at < capacity) listed[at] = (uint2)(row, tile->first + i);
      at += 1;
    }
    wg_barrier_local();
  }
}

// The lightest slots of rows that tiles part, from those of their parts.
static inline void first_join_rows(const solve_t *solve) {
  const uint n_tiles = tile_count(solve);
  const global uint *parts = solve->tiles + n_tiles + 1;
  GRID_FOR(t, n_tiles) {
    if (t + 1 == n_tiles) continue;
    const uint first = (uint)t * TILE_SLOTS, row = solve->tiles[t + 1];
    const uint begin = solve->indptr[row], end = solve->indptr[row + 1];
    // Joined for the tile in which the row begins, if that is this one and the row goes on.
    if (begin < first || begin - first >= TILE_SLOTS) continue;
    lightest_t best = {FULL_KEY_MAX, solve->chosen[row], solve->target[row]};
    if (best.slot != NO_SLOT) best.key = weight_key(solve->weights[best.slot]);
    for (uint next = (uint)t + 1; next < n_tiles && next * TILE_SLOTS < end; ++next) {
      const uint slot = parts[next];
      if (slot != NO_SLOT)
        lightest_take(&best, weight_key(solve->weights[slot]), slot, solve->indices[slot]);
    }
    solve->chosen[row] = best.slot;
    solve->target[row] = best.column;
  }
}

// The upper slot of the edge in a lower slot of `vertex`, which leads to `other` < vertex. Among
// parallel edges it is the least (weight, slot), since the lower one was that in its own row.
static inline uint wi_find_mirror(const solve_t *solve, uint other, uint vertex) {
  const uint end = solve->indptr[other + 1];
  const uint low = wi_find_column(solve->indices, solve->indptr[other], end, vertex);
  if (low + 1 >= end || solve->indices[low + 1] != vertex) return low;
  lightest_t best = {FULL_KEY_MAX, NO_SLOT, vertex};
  for (uint slot = low; slot < end && solve->indices[slot] == vertex; ++slot)
    lightest_take(&best, weight_key(solve->weights[slot]), slot, vertex);
  return best.slot;
}

// Put the lightest edge of a vertex into the forest; returns whether the vertex is the root of its
// tree: of two that chose each other, the lesser is.
static inline bool first_choose_edge(const solve_t *solve, uint vertex) {
  const uint slot = solve->chosen[vertex];
  if (slot == NO_SLOT) return false;
  const uint other = solve->target[vertex];
  const bool is_mutual = solve->target[other] == vertex;
  if (vertex < other) solve_mark(solve, slot);
  else if (!is_mutual) solve_mark(solve, wi_find_mirror(solve, other, vertex));
  return is_mutual && vertex < other;
}

// Every vertex's lightest edge belongs to the forest; the roots become supervertices.
static inline void first_choose_edges(const solve_t *solve, local uint *scratch, local uint *base) {
  volatile global uint *count = solve_count(solve, 0, 1, COUNT_VERTICES);
  for (size_t tile = (size_t)get_group_id(0) * TILE_VERTICES; tile < solve->n;
       tile += (size_t)get_num_groups(0) * TILE_VERTICES) {
    uint n_roots = 0, number;
    bool is_root[VERTICES_PER_ITEM];
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_PER_ITEM; ++k) {
      const size_t v = tile + k * WG_SIZE + get_local_id(0);
      is_root[k] = v < solve->n && first_choose_edge(solve, (uint)v);
      n_roots += is_root[k];
    }
    wg_claim(count, n_roots, &number, scratch, base);
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_PER_ITEM; ++k) {
      if (!is_root[k]) continue;
      solve->links[tile + k * WG_SIZE + get_local_id(0)] = LINK_KNOWN | number;
      solve_begin_vertex(solve, 1, number);
      number += 1;
    }
  }
}

// Follow the choices of every vertex to the root of its tree, which knows its supervertex. Choices
// get lighter on the way, so the way has no cycle but the pair at its end. Ways longer than CHASE
// are left to links_follow.
static inline void first_follow_choices(const solve_t *solve) {
  uint pending = 0;
  GRID_FOR(v, solve->n) {
    if (solve->chosen[v] == NO_SLOT) {
      solve->links[v] = LINK_FINISHED;
      continue;
    }
    uint here = (uint)v, next = solve->target[here], over = solve->target[next];
    for (uint steps = 0; over != here && steps < CHASE; ++steps) {
      here = next;
      next = over;
      over = solve->target[next];
    }
    // Where it ended, links are either a root's, known since the launch before, or still to come.
    const uint root = min(here, next);
    if (over == here) {
      if (root != v) solve->links[v] = solve->links[root];
    } else {
      solve->links[v] = here;
      pending += 1;
    }
  }
  if (pending) atomic_add(solve_count(solve, 0, 0, COUNT_PENDING), pending);
}

#endif
