// Dense Borůvka: minimum spanning forests of graphs whose edges are nearly all pairs of vertices.
//
// Source: Ma and Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning Tree
// Computation", section 3.1.2 (CU): adjacency matrix on the device, lanes a row, lightest edge of
// each component, merge, relabel. CU reads the matrix again in every round. Here every row is cut
// into blocks, and the first round leaves the lightest cell of each block behind (a tournament).
// Later rounds read a block again only if its lightest cell has come to lie within a component, and
// only if it may still hold the lightest edge of that component: what leaves a component gets less
// and less, so a stale entry bounds what is left from below. Most of the matrix is read once. CU's
// own way is there too, for comparison: every round lists all blocks.
// Hooking takes no compare-and-swap: a component is one work-item's.
#include "algorithms/dense/reservation.cl"

// Blocks that a lane group takes of each tile, one after the other, and blocks of a tile.
#define GROUP_BLOCKS (WG_SIZE == 1 ? 64u : 1u)
#define TILE_BLOCKS (GROUP_BLOCKS * WG_LANE_GROUPS)
// Links that a vertex follows in one launch.
#define DENSE_JUMPS 32

// Where the entry of a block is: entries that neighbours read together stand together.
static inline size_t entry_at(uint vertex, uint block, uint n, uint n_blocks) {
  return WG_SIZE == 1 ? (size_t)vertex * n_blocks + block : (size_t)block * n + vertex;
}

// Let the component of a vertex hold a cell of its row, if it is lighter than what it has.
static inline void reserve_candidate(volatile global uint *winners, uint own, uint vertex,
                                        const candidate_t *best, uint short_ids) {
  claim_t claim;
  claim_make(&claim, best->key, vertex, best->to);
  reserve_first(winners, own, &claim, short_ids);
}

// Begin: every vertex is a component that holds nothing, and the forest is empty.
//
// Out  component[n]; winners[n] of up to 4 words; edges[n]; state[n_state].  Launch  any.
kernel void dense_begin(global uint *component, volatile global uint *winners, global ulong *edges,
                        global uint *state, uint n, uint short_ids, ulong no_edge, uint n_state) {
  GRID_FOR(u, n) {
    component[u] = (uint)u;
    winner_clear(winners, n, (uint)u, short_ids);
    edges[u] = no_edge;
  }
  GRID_FOR(i, n_state) state[i] = 0;
}

// Find the lightest cell of every block of some rows, the diagonal left out.
//
// In       cells: of the rows from first_row on; of points, all.
// Out      keys, columns: an entry a block; NO_VERTEX where it has no edge.
// Launch   any; a lane group a block.
// Needs    n rows times blocks below 2**32.
LANES_ATTRIBUTE
kernel void dense_scan_blocks(const global cell_t *cells, global dense_key_t *keys,
                              global uint *columns, uint first_row, uint n_rows, uint n,
                              uint width, uint n_blocks) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  const uint n_tasks = n_rows * n_blocks;
  for (size_t tile = (size_t)get_group_id(0) * TILE_BLOCKS; tile < n_tasks;
       tile += (size_t)get_num_groups(0) * TILE_BLOCKS) {
    for (uint turn = 0; turn < GROUP_BLOCKS; ++turn) {
      const uint k = turn * WG_LANE_GROUPS + get_local_id(0) / LANES;
      const bool is_due = tile + k < n_tasks;
      const uint task = is_due ? (uint)tile + k : 0;
      const uint vertex = first_row + task / n_blocks, block = task % n_blocks;
      row_t row;
      candidate_t best;
      candidate_clear(&best);
      row_open(&row, cells, n, first_row, vertex);
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

// Let every component hold the lightest of its edges that entries know of, as far as the first pass
// tells them apart.
//
// In  keys, columns; component[n].  In-out  winners[n].  Launch  any.
kernel void dense_bound_rows(const global dense_key_t *keys, const global uint *columns,
                             const global uint *component, volatile global uint *winners, uint n,
                             uint n_blocks, uint short_ids) {
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
    if (best.to != NO_VERTEX) reserve_candidate(winners, own, (uint)u, &best, short_ids);
  }
}

// List the blocks whose entry has become stale, and which may have something lighter than what the
// component holds. Their order is that of arrival, which shows in nothing.
//
// In       keys, columns; component[n]; winners[n].
// Out      list: vertex * n_blocks + block.  In-out  count: 0 before.
// Launch   any.
kernel void dense_list_blocks(const global dense_key_t *keys, const global uint *columns,
                              const global uint *component, const volatile global uint *winners,
                              global uint *list, volatile global uint *state, uint count, uint n,
                              uint n_blocks) {
  GRID_FOR(u, n) {
    const uint own = component[u];
    const dense_key_t bound = winner_bound(winners, n, own);
    uint n_stale = 0;
    for (uint block = 0; block < n_blocks; ++block) {
      const size_t at = entry_at((uint)u, block, n, n_blocks);
      n_stale +=
          columns[at] != NO_VERTEX && keys[at] <= bound && component[columns[at]] == own;
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

// List all blocks: what every round reads where nothing that was found before is to serve it.
//
// Out  list; state[count]: its length.  Launch  any.
kernel void dense_list_all_blocks(global uint *list, global uint *state, uint count, uint n_tasks) {
  GRID_FOR(i, n_tasks) list[i] = (uint)i;
  if (get_global_id(0) == 0) state[count] = n_tasks;
}

// Find the lightest cell of every block listed that leaves the component of its row, and enter it.
//
// In       cells: of n_rows rows from first_row on; list; state[count]: its length; component[n].
// In-out   keys, columns: the entries listed, each by one lane group; winners[n].
// Launch   any; a lane group a block.
LANES_ATTRIBUTE
kernel void dense_rescan_blocks(const global cell_t *cells, global dense_key_t *keys,
                                global uint *columns, const global uint *component,
                                volatile global uint *winners, const global uint *list,
                                const global uint *state, uint count, uint first_row, uint n_rows,
                                uint n, uint width, uint n_blocks, uint short_ids) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  const uint n_tasks = state[count];
  for (size_t tile = (size_t)get_group_id(0) * TILE_BLOCKS; tile < n_tasks;
       tile += (size_t)get_num_groups(0) * TILE_BLOCKS) {
    for (uint turn = 0; turn < GROUP_BLOCKS; ++turn) {
      const uint k = turn * WG_LANE_GROUPS + get_local_id(0) / LANES;
      const uint task = tile + k < n_tasks ? list[tile + k] : 0;
      const uint listed = task / n_blocks, block = task % n_blocks;
      const bool is_due = tile + k < n_tasks && listed - first_row < n_rows;
      const uint vertex = is_due ? listed : first_row, own = component[vertex];
      row_t row;
      candidate_t best;
      candidate_clear(&best);
      row_open(&row, cells, n, first_row, vertex);
      const uint begin = block * width, end = is_due ? min(begin + width, n) : begin;
      row_scan(&row, begin, end, component, own, &best);
      lanes_take_lightest(&best, lane_keys, lane_columns);
      if (is_due && lanes_id() == 0) {
        const size_t at = entry_at(vertex, block, n, n_blocks);
        keys[at] = best.key;
        columns[at] = best.to;
        if (best.to != NO_VERTEX) reserve_candidate(winners, own, vertex, &best, short_ids);
      }
    }
  }
}

// Settle a further word of what components hold, among the edges that match the words before it.
//
// In  keys, columns; component[n].  In-out  winners[n].  Launch  any, once a word, in order.
kernel void dense_reserve_word(const global dense_key_t *keys, const global uint *columns,
                              const global uint *component, volatile global uint *winners, uint n,
                              uint n_blocks, uint short_ids, uint word) {
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

// Put the edge of every component into the forest, and link the component over it; of two that hold
// the same edge the lesser stays a root. Edges winners get lighter along parents, so they make no other
// cycle. A vertex is the root of a component that is linked once at most: the index of an edge.
//
// In       winners[n]; component[n]: the root of each vertex, which is its own.
// Out      parents[n]: what the component is linked to; of roots, themselves.
// In-out   edges[n]: lesser << bits | greater; state[count]: how many were linked.
// Launch   any.
kernel void dense_hook_components(const volatile global uint *winners, const global uint *component,
                                  global uint *parents, global ulong *edges,
                                  volatile global uint *state, uint count, uint n,
                                  uint short_ids, uint bits) {
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
}

// Let every vertex point to its root, if DENSE_JUMPS steps lead there; else as far ahead as they
// do, so that the next launch takes steps so many times as long. Others follow and store at once: a
// link read is the old one or the new one, and both lead to the same root. Components hold nothing
// then.
//
// In-out  parents[n]; state[count]: how many are still on their way.  Out  winners[n].  Launch  any.
kernel void dense_jump_pointers(volatile global uint *parents, volatile global uint *winners,
                               volatile global uint *state, uint count, uint n, uint short_ids) {
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

// Take the ends of edges apart.
//
// In  edges[k]: lesser << bits | greater.  Out  ends[k].  Launch  any.
kernel void dense_unpack_edges(const global ulong *edges, global uint2 *ends, uint k, uint bits) {
  const ulong mask = (1ul << bits) - 1;
  GRID_FOR(i, k) ends[i] = (uint2)((uint)(edges[i] >> bits), (uint)(edges[i] & mask));
}
