// filter-boruvka: the steps between two phases, each of which solves a window (a range of the order
// of edges). First, the component of every vertex is found. Then the edges of the next window are
// read from the graph. Only those that join two components are listed, which are few.
#include "algorithms/filter_boruvka/rounds.cl"
#include "algorithms/filter_boruvka/tiles.cl"

// Copy the numbers of supervertices of each depth of a phase to local memory. A phase solves one
// range of the order of edges. The depth of a supervertex is the number of contractions that have
// made it.
//
// Out      counts[MAX_DEPTHS]: the number of supervertices of each depth. Entries before the
//          phase's first depth are undefined.
// Scope    the whole work-group; ends with a barrier.
static inline void filter_load_counts(const solve_t *solve, uint phase, local uint *counts) {
  for (uint d = get_local_id(0); d < MAX_DEPTHS; d += WG_SIZE)
    counts[d] = round_vertices(solve, phase, d);
  wg_barrier_local();
}

// Return the address of link number i of a phase. The first numbers are for the supervertices of
// `depth`, the next ones for the supervertices of depth + 1, and so on, where the depth is the
// number of contractions. A link leads to another supervertex of the same depth, or has the number
// of the supervertex of the next depth. `counts` has the number of supervertices of each depth.
static inline volatile global uint *filter_link(const solve_t *solve, const local uint *counts,
                                                uint depth, uint i) {
  volatile global uint *links = solve_links(solve, depth);
  for (; i >= counts[depth]; ++depth) {
    i -= counts[depth];
    links += solve_capacity(solve, depth);
  }
  return links + i;
}

// Give numbers to the components at the end of a phase, which solves a window (one range of the
// order of edges). A component is a supervertex, of `depth` or a later depth, that no edge of the
// window leaves. In the next phase, the components are the supervertices of depth 1.
static inline void filter_number_components(const solve_t *solve, uint phase, uint depth,
                                            local uint *counts, local uint *scratch,
                                            local uint *base) {
  volatile global uint *count = solve_count(solve, phase + 1, 1, COUNT_VERTICES);
  uint n_vertices = 0;
  filter_load_counts(solve, phase, counts);
  for (uint d = depth; d < MAX_DEPTHS && counts[d] > 0; ++d) n_vertices += counts[d];
  TILES_FOR(tile, n_vertices, GRID_TILE) {
    const size_t end = min(tile + GRID_TILE, (size_t)n_vertices);
    uint n_ends = 0, number;
    for (size_t i = tile + get_local_id(0); i < end; i += WG_SIZE)
      n_ends += *filter_link(solve, counts, depth, (uint)i) == LINK_FINISHED;
    wg_claim(count, n_ends, &number, scratch, base);
    for (size_t i = tile + get_local_id(0); n_ends > 0 && i < end; i += WG_SIZE) {
      volatile global uint *link = filter_link(solve, counts, depth, (uint)i);
      if (*link == LINK_FINISHED) *link = LINK_KNOWN | LINK_FINAL | number++;
    }
  }
}

// Find, for every vertex of a depth, its component at the end of a phase (the solve of one range of
// edges), and store it in the vertex's link. A depth is a number of contractions. The vertex
// follows its links through all later depths. If these depths have been processed before, from the
// last one back, the component is already in the link of the next depth. Another work-item may
// replace a link on the way by the component at the same time. That does no harm, since the old and
// the new link lead to the same component.
static inline void filter_find_components(const solve_t *solve, uint phase, uint depth) {
  const uint n_vertices = round_vertices(solve, phase, depth);
  GRID_FOR(v, n_vertices) {
    global uint *links = (global uint *)solve_links(solve, depth);
    const uint own = links[v];
    uint link = link_of(links, (uint)v);
    if (link == LINK_FINISHED) continue;
    // In all phases but the first, the link of a vertex of the graph still has its component at the
    // end of the phase before. This is not final any more.
    if (depth == 0 && phase > 0) link &= ~LINK_FINAL;
    for (uint below = depth; !(link & LINK_FINAL); ++below) {
      links += solve_capacity(solve, below);
      link = link_of(links, link & LINK_NUMBER);
    }
    if (link != own) solve_links(solve, depth)[v] = link;
  }
}

// Reset the reservations of the supervertices of depth 1, which are the components at the end of
// the phase before. A reservation holds the lightest edge of a supervertex so far. Other
// work-groups may still be searching for the components of vertices. This does no harm, because
// that search does not read reservations.
static inline void filter_begin_reservations(const solve_t *solve, uint phase) {
  GRID_FOR(c, round_vertices(solve, phase, 1))
    reservation_reset((global uint *)solve_reserved(solve, 1), solve_stride(solve, 1), (uint)c);
}

// Reset the links of the supervertices of depth 1, which will lead to their supervertices of depth
// 2. This must wait until the component of every vertex has been found, because until then the
// memory has links of the phase before.
static inline void filter_begin_links(const solve_t *solve, uint phase) {
  volatile global uint *links = solve_links(solve, 1);
  GRID_FOR(c, round_vertices(solve, phase, 1)) links[c] = LINK_FINISHED;
}

// If depth is not 0, replace the ends of a block's edges by the components that contain them. A
// block is a work-item's share of a tile (run of CSR entries, called slots). own[k] and other[k]
// are the two ends of the edge in the block's k-th slot. They are equal if the slot is left out.
// The loads for all slots of the block are in flight at the same time.
static inline void filter_find_ends(const solve_t *solve, uint depth, uint *own, uint *other) {
  if (depth == 0) return;
  global uint *links = (global uint *)solve->links;
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (own[k] == other[k]) continue;
    own[k] = links[own[k]];
    other[k] = links[other[k]];
  }
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (own[k] == other[k]) continue;
    own[k] = link_supervertex(links, own[k]);
    other[k] = link_supervertex(links, other[k]);
  }
}

// Find the edges of a phase's window, the range of the order of edges that the phase solves, in a
// block of slots (CSR entries). own[] and other[] become the two ends of the edge in each slot, as
// components if `depth` is not 0. For all other slots, and for edges within a component, own[] and
// other[] become equal. Return the number of edges that join two components.
//
// An edge of an earlier window lies within a component. So only the upper end of the window must be
// checked, and no weights are read for the last window.
static inline uint filter_find_edges(const solve_t *solve, const tile_t *tile,
                                     const window_t *window, const block_t *block, uint depth,
                                     const uint *columns, const weight_t *weights, uint *own,
                                     uint *other) {
  uint row = block_row_before(tile, block), n_kept = 0;
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    own[k] = other[k] = 0;  // equal ends mean that the slot is left out
    if (k >= block->length) continue;
    if (block_begins_row(tile, block, k)) row = tile->rows[block->first + k];
    const uint slot = tile->first + block->first + k;
    const uint column = BLOCK_LOADS ? columns[k] : solve->indices[slot];
    if (column <= row) continue;
    if (window->has_high) {
      const weight_t weight = BLOCK_LOADS_WEIGHTS ? weights[k] : solve->weights[slot];
      if (!window_has(window, weight_key(weight), slot)) continue;
    }
    own[k] = row;
    other[k] = column;
  }
  filter_find_ends(solve, depth, own, other);
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) n_kept += own[k] != other[k];
  return n_kept;
}

// Append the edges that a work-group has found in a tile (run of slots) to the worklist of `depth`,
// and enter them in the reservations of both ends. A reservation holds the lightest edge of a
// component so far. own[k] and other[k] are the ends of the edge in the k-th slot of this
// work-item. If they are equal, the slot is left out.
//
// The edges go to `n_all` positions from *base on. The first `before` of these positions are for
// edges of work-items with lower ids. Most of the time is spent on the reservations. So the edges
// are first collected in local memory. Then they are divided equally among all work-items, however
// many edges each has found itself.
//
// Scope    the whole work-group; ends with a barrier.
static inline void filter_put_edges(const solve_t *solve, uint depth, const tile_t *tile,
                                    const uint *own, const uint *other, uint before, uint n_all,
                                    const local uint *base) {
  const uint me = get_local_id(0);
  local uint *slots = tile->rows;  // the tile's rows are not needed any more
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (own[k] == other[k]) continue;
    tile->pairs[before] = (uint2)(own[k], other[k]);
    slots[before++] = tile->first + me * TILE_ITEMS + k;
  }
  wg_barrier_local();
  for (uint i = me; i < n_all; i += WG_SIZE) {
    const uint2 pair = tile->pairs[i];
    const edge_t edge = {pair.x, pair.y, weight_key_leading(solve->weights[slots[i]]), slots[i]};
    round_put(solve, depth, *base + i, edge);
  }
  wg_barrier_local();
}

// Append the edges of a phase's window, the range of the order of edges that the phase solves, to
// the worklist of `depth`. Enter each edge in the reservations of both ends, by an atomic minimum
// of its first word (pass 0 of reservation.cl). A reservation holds the lightest edge of a
// component so far.
static inline void filter_admit_edges(const solve_t *solve, uint phase, uint n_phases, uint depth,
                                      tile_t *tile, local uint *base) {
  const uint n_tiles = tile_count(solve);
  window_t window;
  window_open(solve, phase, n_phases, &window);
  for (uint t = get_group_id(0); t < n_tiles; t += get_num_groups(0)) {
    block_t block;
    uint columns[BLOCK_WORDS], own[TILE_ITEMS], other[TILE_ITEMS];
    weight_t weights[BLOCK_WORDS];
    tile_begin(solve, tile, t);
    block_begin(tile, &block);
    if (BLOCK_LOADS) block_load_words(tile, &block, solve->indices, columns);
    if (BLOCK_LOADS_WEIGHTS && window.has_high) block_load_weights(solve, tile, &block, weights);
    tile_mark_rows(solve, tile, false, &block);
    const uint n_kept =
        filter_find_edges(solve, tile, &window, &block, depth, columns, weights, own, other);
    uint n_all;
    const uint before = wg_claim_ahead(solve_count(solve, phase, depth, COUNT_EDGES), n_kept,
                                       &n_all, tile->scratch, base);
    filter_put_edges(solve, depth, tile, own, other, before, n_all, base);
  }
}
