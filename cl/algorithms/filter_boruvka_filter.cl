// filter-boruvka: filtering. Between phases, every vertex learns its component; the edges of the
// next window are then read from the graph, and hardly any joins two components.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_FILTER
#define CLMST_ALGORITHMS_FILTER_BORUVKA_FILTER

#include "algorithms/filter_boruvka_rounds.cl"
#include "algorithms/filter_boruvka_tiles.cl"

// Slots in the sample that sets the ends of windows: a multiple of WG_SIZE up to 2048.
#ifndef SAMPLES
#define SAMPLES 1024
#endif

// A random slot of the i-th of SAMPLES equal parts of all slots.
static inline uint sample_slot(uint n_slots, uint i, uint seed) {
  uint hash = (seed * SAMPLES + i) * 0x9e3779b9u;
  hash = (hash ^ hash >> 16) * 0x7feb352du;
  hash = (hash ^ hash >> 15) * 0x846ca68bu;
  return (uint)(((ulong)i * n_slots + mul_hi(hash ^ hash >> 16, n_slots)) / SAMPLES);
}

// Set the upper ends of the first windows to the edges of given ranks in a sample; a rank of
// SAMPLES or more is none. Every work-group ranks WG_SIZE of the samples, SAMPLES at least in all.
static inline void filter_set_windows(const solve_t *solve, uint seed, uint rank_a, uint rank_b,
                                      uint rank_c, local full_key_t *keys) {
  const uint n_parts = (SAMPLES + WG_SIZE - 1) / WG_SIZE;
  for (uint i = get_local_id(0); i < SAMPLES && get_group_id(0) < n_parts; i += WG_SIZE)
    keys[i] = weight_key(solve->weights[sample_slot(solve->n_slots, i, seed)]);
  wg_barrier_local();
  for (uint part = get_group_id(0); part < n_parts; part += get_num_groups(0)) {
    const uint i = min(part * WG_SIZE + (uint)get_local_id(0), (uint)SAMPLES - 1);
    const full_key_t key = keys[i];
    // Slots rise with i, so these ranks are those of (key, slot), and no two are equal.
    uint rank = 0;
#pragma unroll 8
    for (uint k = 0; k < SAMPLES; ++k) rank += keys[k] < key || (keys[k] == key && k < i);
    const uint end = rank == rank_a ? 0 : rank == rank_b ? 1 : rank == rank_c ? 2 : MAX_PHASES;
    if (end < MAX_PHASES) {
      volatile global uint *words = solve->state + STATE_WINDOWS + 3 * end;
      words[0] = (uint)key;
#if WEIGHT_BITS == 64
      words[1] = (uint)(key >> 32);
#endif
      words[2] = sample_slot(solve->n_slots, i, seed);
    }
  }
  wg_barrier_local();  // the keys' memory is free from here on
}

// Number the components that a phase leaves: the supervertices of a depth that no edge of the phase
// leads out of. They are to be those of depth 1 in the next phase.
static inline void filter_number_components(const solve_t *solve, uint phase, uint depth,
                                            local uint *scratch, local uint *base) {
  volatile global uint *count = solve_count(solve, phase + 1, 1, COUNT_VERTICES);
  volatile global uint *links = solve_links(solve, depth);
  uint n_vertices = depth == 0 ? solve->n : *solve_count(solve, phase, depth, COUNT_VERTICES);
  while (n_vertices > 0) {
    for (size_t tile = (size_t)get_group_id(0) * GRID_TILE; tile < n_vertices;
         tile += (size_t)get_num_groups(0) * GRID_TILE) {
      uint n_ends = 0;
      for (size_t v = tile + get_local_id(0); v < min(tile + GRID_TILE, (size_t)n_vertices);
           v += WG_SIZE)
        n_ends += links[v] == LINK_FINISHED;
      uint number;
      wg_claim(count, n_ends, &number, scratch, base);
      for (size_t v = tile + get_local_id(0); v < min(tile + GRID_TILE, (size_t)n_vertices);
           v += WG_SIZE)
        if (links[v] == LINK_FINISHED) links[v] = LINK_KNOWN | LINK_FINAL | number++;
    }
    links += solve_capacity(solve, depth);
    depth += 1;
    n_vertices = *solve_count(solve, phase, depth, COUNT_VERTICES);
  }
}

// Let every vertex of a depth know the component that a phase leaves it in. Done from the deepest
// up, each finds it in one step. A final link that is met on the way may be what another work-item
// has just found, which is as good.
static inline void filter_find_components(const solve_t *solve, uint phase, uint depth) {
  const uint n_vertices =
      depth == 0 ? solve->n : *solve_count(solve, phase, depth, COUNT_VERTICES);
  GRID_FOR(v, n_vertices) {
    volatile global uint *links = solve_links(solve, depth);
    const uint own = links[v];
    uint link = link_of(links, (uint)v);
    if (link == LINK_FINISHED) continue;
    // In later phases the graph's vertices begin at the component that the phase before left.
    if (depth == 0 && phase > 0) link &= ~LINK_FINAL;
    for (uint below = depth; !(link & LINK_FINAL); ++below) {
      links += solve_capacity(solve, below);
      link = link_of(links, link & LINK_NUMBER);
    }
    if (link != own) solve_links(solve, depth)[v] = link;
  }
}

// Let the supervertices of depth 1 begin, which are the components that the phase before left.
static inline void filter_begin_components(const solve_t *solve, uint phase) {
  GRID_FOR(c, *solve_count(solve, phase, 1, COUNT_VERTICES)) solve_begin_vertex(solve, 1, (uint)c);
}

// The component of a vertex: itself in a phase without one before.
static inline uint filter_component(const solve_t *solve, uint vertex, uint phase) {
  return phase == 0 ? vertex : solve->links[vertex] & LINK_NUMBER;
}

// Put the edges of a phase's window on the worklist of `depth`, with their pass-0 reservations.
static inline void filter_admit_edges(const solve_t *solve, uint phase, uint n_phases, uint depth,
                                      tile_t *tile, local uint *base) {
  const uint n_tiles = tile_count(solve);
  window_t window;
  window_open(solve, phase, n_phases, &window);
  for (uint t = get_group_id(0); t < n_tiles; t += get_num_groups(0)) {
    block_t block;
    tile_begin(solve, tile, t);
    tile_load(solve, tile, &block);
    const uint mine = tile->first + get_local_id(0) * TILE_ITEMS;
    uint n_kept = 0, at;
    SOLVE_UNROLL
    for (uint k = 0; k < TILE_ITEMS; ++k) {  // from vertices to components; 0 and 0 if left out
      const uint row = block.rows[k], column = block.columns[k];
      const bool is_edge =
          column > row &&
          window_admits(&window, weight_key(block_weight(solve, &block, k, mine + k)), mine + k);
      block.rows[k] = is_edge ? filter_component(solve, row, phase) : 0;
      block.columns[k] = is_edge ? filter_component(solve, column, phase) : 0;
      n_kept += block.rows[k] != block.columns[k];
    }
    wg_claim(solve_count(solve, phase, depth, COUNT_EDGES), n_kept, &at, tile->scratch, base);
    SOLVE_UNROLL
    for (uint k = 0; k < TILE_ITEMS; ++k) {
      if (block.rows[k] == block.columns[k]) continue;
      const weight_t weight = block_weight(solve, &block, k, mine + k);
      const edge_t edge = {block.rows[k], block.columns[k], weight_key_leading(weight), mine + k};
      round_put(solve, depth, at++, edge);
    }
  }
}

#endif
