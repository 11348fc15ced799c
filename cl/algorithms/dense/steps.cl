// dense: the steps of Borůvka's algorithm on a matrix, one function for each step. A step has a
// launch of its own (dense.cl), or is a part of a launch (one_group.cl).
#include "algorithms/dense/rows.cl"
#include "device/winners.cl"

// A work-group takes a tile of TILE_BLOCKS blocks at a time, where a block is a range of cells of
// one row of the matrix. Each lane group of the work-group takes GROUP_BLOCKS of these blocks, and
// its lanes read each block together.
#define GROUP_BLOCKS (WG_SIZE == 1 ? 64u : 1u)
#define TILE_BLOCKS (GROUP_BLOCKS * WG_LANE_GROUPS)
// Maximum number of jumps along parent pointers that a vertex makes in one launch of pointer
// jumping.
#define DENSE_JUMPS 32

// Return the index at which a block's lightest cell is recorded. A block is a range of cells of one
// row. The order of the entries depends on the kind of device, so that entries that are read at the
// same time are adjacent.
static inline size_t entry_at(uint vertex, uint block, uint n, uint n_blocks) {
  return WG_SIZE == 1 ? (size_t)vertex * n_blocks + block : (size_t)block * n + vertex;
}

// Enter *best, the lightest cell of a vertex's row, in the reservation of the vertex's component,
// which holds the component's lightest edge so far. Only the first words are compared (winners.cl).
static inline void reserve_candidate(volatile global uint *winners, uint n, uint own, uint vertex,
                                     const candidate_t *best, uint short_ids) {
  claim_t claim;
  claim_make(&claim, best->key, vertex, best->to);
  reserve_first(winners, n, own, &claim, short_ids);
}

// Begin a solve: make every vertex a component, clear the reservation of each component (the words
// of its lightest edge so far), and clear the forest.
//
// Scope    the whole launch. The arrays are as in dense_begin.
static inline void grid_dense_begin(global uint *component, volatile global uint *winners,
                                    global ulong *edges, global uint *state, uint n, uint short_ids,
                                    ulong no_edge, uint n_state) {
  GRID_FOR(u, n) {
    component[u] = (uint)u;
    winner_clear(winners, n, (uint)u, short_ids);
    edges[u] = no_edge;
  }
  GRID_FOR(i, n_state) state[i] = 0;
}

// Find the lightest cell of every block of some rows of the matrix, leaving out the diagonal. A
// block is a range of `width` cells of one row.
//
// Scope    the whole launch. The arrays are as in dense_scan_blocks.
static inline void grid_dense_scan_blocks(const global cell_t *cells, global dense_key_t *keys,
                                          global uint *columns, uint first_row, uint n_rows, uint n,
                                          uint dimensions, uint width, uint n_blocks,
                                          local dense_key_t *lane_keys, local uint *lane_columns) {
  const uint n_tasks = n_rows * n_blocks;
  TILES_FOR(tile, n_tasks, TILE_BLOCKS) {
    for (uint turn = 0; turn < GROUP_BLOCKS; ++turn) {
      const uint k = turn * WG_LANE_GROUPS + get_local_id(0) / LANES;
      const bool is_due = tile + k < n_tasks;
      const uint task = is_due ? (uint)tile + k : 0;
      const uint vertex = first_row + task / n_blocks, block = task % n_blocks;
      row_t row;
      candidate_t best;
      candidate_clear(&best);
      row_open(&row, cells, n, first_row, vertex, dimensions);
      const uint begin = block * width, end = is_due ? min(begin + width, n) : begin;
      row_scan(&row, begin, end, 0, vertex, &best);
      lanes_take_lightest(&best, lane_keys, lane_columns);
      if (is_due && lanes_id() == 0) {
        const size_t at = entry_at(vertex, block, n, n_blocks);
        keys[at] = best.key;
        columns[at] = best.to;
      }
    }
  }
}

// Begin the search for the lightest edge of each component. Each row has recorded the lightest cell
// of each of its blocks. Among the cells of a row that lead to another component, enter the
// lightest one in the reservation of the row's component, which holds the component's lightest edge
// so far.
//
// Scope    the whole launch. The arrays are as in dense_bound_rows.
static inline void grid_dense_bound_rows(const global dense_key_t *keys, const global uint *columns,
                                         const global uint *component,
                                         volatile global uint *winners, uint n, uint n_blocks,
                                         uint short_ids) {
  GRID_FOR(u, n) {
    const uint own = component[u];
    candidate_t best;
    candidate_clear(&best);
    for (uint block = 0; block < n_blocks; ++block) {
      const size_t at = entry_at((uint)u, block, n, n_blocks);
      const uint column = columns[at];
      if (column == NO_VERTEX || component[column] == own) continue;
      if (best.to == NO_VERTEX || keys[at] < best.key) {
        best.key = keys[at];
        best.to = column;
      }
    }
    if (best.to != NO_VERTEX) reserve_candidate(winners, n, own, (uint)u, &best, short_ids);
  }
}

// List the blocks that have to be read again. A block is listed if two things are true. Its
// recorded lightest cell now lies within a component, and this cell is not heavier than the
// lightest edge of the component found so far.
//
// Scope    the whole launch. The arrays are as in dense_list_blocks.
static inline void grid_dense_list_blocks(const global dense_key_t *keys,
                                          const global uint *columns, const global uint *component,
                                          const volatile global uint *winners, global uint *list,
                                          volatile global uint *state, uint count, uint n,
                                          uint n_blocks) {
  GRID_FOR(u, n) {
    const uint own = component[u];
    const dense_key_t bound = winner_bound(winners, n, own);
    uint n_stale = 0;
    for (uint block = 0; block < n_blocks; ++block) {
      const size_t at = entry_at((uint)u, block, n, n_blocks);
      n_stale += columns[at] != NO_VERTEX && keys[at] <= bound && component[columns[at]] == own;
    }
    if (n_stale == 0) continue;
    uint next = atomic_add(state + count, n_stale);
    for (uint block = 0; block < n_blocks; ++block) {
      const size_t at = entry_at((uint)u, block, n, n_blocks);
      if (columns[at] != NO_VERTEX && keys[at] <= bound && component[columns[at]] == own)
        list[next++] = (uint)u * n_blocks + block;
    }
  }
}

// Read the listed blocks again, each a range of cells of one row. In each block, find the lightest
// cell that leaves the component of the block's row. Enter this cell in the component's
// reservation, which holds the component's lightest edge so far.
//
// Scope    the whole launch. The arrays are as in dense_rescan_blocks.
static inline void grid_dense_rescan_blocks(const global cell_t *cells, global dense_key_t *keys,
                                            global uint *columns, const global uint *component,
                                            volatile global uint *winners, const global uint *list,
                                            const global uint *state, uint count, uint first_row,
                                            uint n_rows, uint n, uint dimensions, uint width,
                                            uint n_blocks, uint short_ids,
                                            local dense_key_t *lane_keys,
                                            local uint *lane_columns) {
  const uint n_tasks = state[count];
  TILES_FOR(tile, n_tasks, TILE_BLOCKS) {
    for (uint turn = 0; turn < GROUP_BLOCKS; ++turn) {
      const uint k = turn * WG_LANE_GROUPS + get_local_id(0) / LANES;
      const uint task = tile + k < n_tasks ? list[tile + k] : 0;
      const uint listed = task / n_blocks, block = task % n_blocks;
      const bool is_due = tile + k < n_tasks && listed - first_row < n_rows;
      const uint vertex = is_due ? listed : first_row, own = component[vertex];
      row_t row;
      candidate_t best;
      candidate_clear(&best);
      row_open(&row, cells, n, first_row, vertex, dimensions);
      const uint begin = block * width, end = is_due ? min(begin + width, n) : begin;
      row_scan(&row, begin, end, component, own, &best);
      lanes_take_lightest(&best, lane_keys, lane_columns);
      if (is_due && lanes_id() == 0) {
        const size_t at = entry_at(vertex, block, n, n_blocks);
        keys[at] = best.key;
        columns[at] = best.to;
        if (best.to != NO_VERTEX) reserve_candidate(winners, n, own, vertex, &best, short_ids);
      }
    }
  }
}

// Find one more word of the lightest edge of each component. A reservation holds the words of a
// component's lightest edge, and each pass finds one of them. Among the recorded cells of the
// component (the lightest of each block), this pass looks at those that agree with the words found
// so far, and stores the minimum of their next words.
//
// Scope    the whole launch. The arrays are as in dense_reserve_word.
static inline void grid_dense_reserve_word(const global dense_key_t *keys,
                                           const global uint *columns, const global uint *component,
                                           volatile global uint *winners, uint n, uint n_blocks,
                                           uint short_ids, uint word) {
  GRID_FOR(u, n) {
    const uint own = component[u], leading = winner_word(winners, n, own, 0);
    for (uint block = 0; block < n_blocks; ++block) {
      const size_t at = entry_at((uint)u, block, n, n_blocks);
      const uint column = columns[at];
      if (column == NO_VERTEX) continue;
      claim_t claim;
      claim_make(&claim, keys[at], (uint)u, column);
      if (claim_word(&claim, 0, short_ids) != leading || component[column] == own) continue;
      reserve_later(winners, n, own, &claim, word, short_ids);
    }
  }
}

// Hook every component to the component at the other end of its winner, which is its lightest edge,
// and put the winner into the forest. Return how many components this work-item has hooked.
//
// Scope    the whole launch. The arrays are as in dense_hook_components.
static inline uint grid_dense_hook_components(const volatile global uint *winners,
                                              const global uint *component, global uint *parents,
                                              global ulong *edges, volatile global uint *state,
                                              uint count, uint n, uint short_ids, uint bits) {
  uint n_hooked = 0;
  GRID_FOR(u, n) {
    const uint own = component[u];
    uint2 edge, of_other;
    parents[u] = own;
    if (own != u || !winner_edge(winners, n, own, short_ids, &edge)) continue;
    const uint other = component[component[edge.x] == own ? edge.y : edge.x];
    const bool is_mutual = winner_edge(winners, n, other, short_ids, &of_other) &&
                           of_other.x == edge.x && of_other.y == edge.y;
    if (is_mutual && own < other) continue;
    parents[u] = other;
    edges[u] = (ulong)edge.x << bits | edge.y;
    n_hooked += 1;
  }
  if (n_hooked > 0) atomic_add(state + count, n_hooked);
  return n_hooked;
}

// Pointer jumping after components were hooked: let every vertex point to its root, if DENSE_JUMPS
// jumps along parents lead there. Otherwise let it point to the vertex that these jumps reach.
//
// Scope    the whole launch. The arrays are as in dense_jump_pointers.
static inline void grid_dense_jump_pointers(volatile global uint *parents,
                                            volatile global uint *winners,
                                            volatile global uint *state, uint count, uint n,
                                            uint short_ids) {
  uint n_pending = 0;
  GRID_FOR(u, n) {
    uint next = parents[u], over = parents[next];
    for (uint jump = 0; over != next && jump < DENSE_JUMPS; ++jump) {
      next = over;
      over = parents[next];
    }
    parents[u] = next;
    n_pending += over != next;
    winner_clear(winners, n, (uint)u, short_ids);
  }
  if (n_pending > 0) atomic_add(state + count, n_pending);
}
