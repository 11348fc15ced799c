// filter-boruvka: the first round, on graphs that store both directions of every edge.
//
// Every vertex finds its lightest edge in its own row: no worklist, no atomics, and at a vertex the
// order of (weight, slot) is that of (weight, edge id). The edges of the window that stand in upper
// slots are listed on the way, so that the graph need not be read again.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_FIRST
#define CLMST_ALGORITHMS_FILTER_BORUVKA_FIRST

#include "algorithms/filter_boruvka_tiles.cl"

// Vertices that a vertex follows in one go on the way to its supervertex: 2 to 1024.
#ifndef CHASE
#define CHASE 32
#endif

// Every vertex's lightest slot, but for rows that tiles part; the window's edges as (row, slot).
static inline void first_take_minima(const solve_t *solve, uint n_phases, tile_t *tile,
                                     local uint *base) {
  global uint2 *listed = (global uint2 *)solve->list_even;
  volatile global uint *count = solve_count(solve, 0, 0, COUNT_EDGES);
  const uint n_tiles = tile_count(solve), capacity = 2 * solve->capacity_even;
  window_t window;
  window_open(solve, 0, n_phases, &window);
  for (uint t = get_group_id(0); t < n_tiles; t += get_num_groups(0)) {
    block_t block;
    tile_open(solve, tile, t, &block);
    tile_note_lightest(solve, tile, &block);
    const uint mine = tile->first + get_local_id(0) * TILE_ITEMS;
    uint n_kept = 0;
    TILE_UNROLL
    for (uint k = 0; k < TILE_ITEMS; ++k) {
      const bool keep = block.columns[k] > block.rows[k] &&
                        window_admits(&window, weight_key(block.weights[k]), mine + k);
      if (!keep) block.rows[k] = NO_SLOT;
      n_kept += keep;
    }
    uint at;
    wg_claim(count, n_kept, &at, tile->scratch, base);
    if (n_kept > 0 && at + n_kept > capacity) solve->state[STATE_OVERFLOW] = 1;
    TILE_UNROLL
    for (uint k = 0; k < TILE_ITEMS; ++k) {
      if (block.rows[k] == NO_SLOT) continue;
      if (at < capacity) listed[at] = (uint2)(block.rows[k], mine + k);
      at += 1;
    }
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
    lightest_t best = {FULL_KEY_MAX, solve->chosen[row]};
    if (best.slot != NO_SLOT) best.key = weight_key(solve->weights[best.slot]);
    for (uint next = (uint)t + 1; next < n_tiles && next * TILE_SLOTS < end; ++next) {
      const uint slot = parts[next];
      if (slot != NO_SLOT) lightest_take(&best, weight_key(solve->weights[slot]), slot);
    }
    solve->chosen[row] = best.slot;
    if (best.slot != NO_SLOT) solve->target[row] = solve->indices[best.slot];
  }
}

// The upper slot of the edge in a lower slot of `vertex`, which leads to `other` < vertex. Among
// parallel edges it is the least (weight, slot), since the lower one was that in its own row.
static inline uint wi_find_mirror(const solve_t *solve, uint other, uint vertex) {
  uint low = solve->indptr[other];
  const uint end = solve->indptr[other + 1];
  for (uint length = end - low; length > 0;) {
    const uint half_length = length / 2;
    if (solve->indices[low + half_length] < vertex) {
      low += half_length + 1;
      length -= half_length + 1;
    } else {
      length = half_length;
    }
  }
  if (low + 1 >= end || solve->indices[low + 1] != vertex) return low;
  lightest_t best = {FULL_KEY_MAX, NO_SLOT};
  for (uint slot = low; slot < end && solve->indices[slot] == vertex; ++slot)
    lightest_take(&best, weight_key(solve->weights[slot]), slot);
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
  for (size_t tile = (size_t)get_group_id(0) * GRID_TILE; tile < solve->n;
       tile += (size_t)get_num_groups(0) * GRID_TILE) {
#if WG_SIZE == 1
    uint roots[GRID_TILE], n_roots = 0;
    for (uint v = (uint)tile; v < min(tile + GRID_TILE, (size_t)solve->n); ++v) {
      roots[n_roots] = v;
      n_roots += first_choose_edge(solve, v);
    }
#else
    const uint roots[1] = {(uint)tile + get_local_id(0)};
    const uint n_roots = tile + get_local_id(0) < solve->n && first_choose_edge(solve, roots[0]);
#endif
    uint number;
    wg_claim(count, n_roots, &number, scratch, base);
    for (uint k = 0; k < n_roots; ++k) {
      solve->links[roots[k]] = LINK_KNOWN | (number + k);
      solve_begin_vertex(solve, 1, number + k);
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
