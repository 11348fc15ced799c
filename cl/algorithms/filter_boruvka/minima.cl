// filter-boruvka: find every vertex's lightest slot (CSR entry), on graphs that store both
// directions of every edge.
//
// The id of an edge is its slot in the row of its lesser end. The edges of one vertex have the same
// order by (weight, slot) as by (weight, id). So the lightest edge of a vertex is found in its own
// row. If edges are solved in several windows (ranges of their order), the edges of the first
// window are listed in the same pass over the graph. These edges are few, so few columns have to be
// read. If there is only one window, no edges are listed here, because it takes less time to read
// the graph once more later (filter_admit_edges).
#include "algorithms/filter_boruvka/rounds.cl"
#include "algorithms/filter_boruvka/tiles.cl"

// The lightest slot (CSR entry) of a vertex so far, with its key and its column.
typedef struct {
  full_key_t key;
  uint slot, column;
} lightest_t;

// Replace *best by the edge in `slot`, with the given key and column, if this edge is lighter in
// the order of (key, slot).
static inline void lightest_take(lightest_t *best, full_key_t key, uint slot, uint column) {
  if (best->slot != NO_SLOT && (best->key < key || (best->key == key && best->slot < slot))) return;
  best->key = key;
  best->slot = slot;
  best->column = column;
}

// The lightest slot of a part of a row, which is a run of consecutive slots of the row. The slot is
// stored as its position in the tile, the run of slots that the work-group handles.
typedef struct {
  full_key_t key;
  uint position;
} part_t;

#if WG_SIZE > 1
// Combine the lightest slot of a part of a row with the lightest slot of the whole row so far,
// which is in local memory. Slots are compared by the words of their keys, and then by their
// positions in the tile. An atomic minimum compares only one word, so each word has a call of its
// own, with a barrier after it. This call is for word number `word`, and all words before it are
// final. `row_position` is the position in the tile of the row's first slot.
static inline void part_enter(const tile_t *tile, uint row_position, part_t part, uint word) {
  local uint *keys = tile_least_keys(tile) + row_position;
  const uint leading = (uint)(part.key >> (WEIGHT_BITS == 64 ? 32 : 0));
  if (word == 0) {
    atomic_min(keys, leading);
    return;
  }
  if (*keys != leading) return;
#if WEIGHT_BITS == 64
  keys += TILE_SLOTS + 1;
  if (word == 1) atomic_min(keys, (uint)part.key);
  if (word == 1 || *keys != (uint)part.key) return;
#endif
  atomic_min(&tile_least_positions(tile)[row_position], part.position);
}
#define PART_WORDS (WEIGHT_BITS == 64 ? 3 : 2)
#endif

// Find the lightest slot of every row in a tile, the run of slots that the work-group handles, and
// store its position in tile_least_positions. The whole work-group must call the function. It ends
// with a barrier, so the positions may be read.
//
// A block is a work-item's share of the tile. The slots that a row has in one block are compared in
// registers. If a row has slots in several blocks, the results of the blocks are compared in local
// memory. light[] gets a bit for each slot of the block, set if the edge belongs to the first
// window. A window is a range of the order of edges, and the edges of the first one are listed
// later.
static inline void tile_find_lightest(const solve_t *solve, const tile_t *tile,
                                      const window_t *window, const block_t *block,
                                      const weight_t *weights, uint *light) {
  part_t leading = {FULL_KEY_MAX, NO_SLOT}, part = {FULL_KEY_MAX, NO_SLOT};
  local uint *least_positions = tile_least_positions(tile);
  uint row_position = block->row_position;
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (k % 32 == 0) light[k / 32] = 0;
    if (k >= block->length) continue;
    const uint position = block->first + k, slot = tile->first + position;
    const full_key_t key = weight_key(BLOCK_LOADS_WEIGHTS ? weights[k] : solve->weights[slot]);
    const bool begins = block_begins_row(tile, block, k);
    if (begins) {
      if (row_position >= block->first && row_position != TILE_SLOTS)
        least_positions[row_position] = part.position;  // the block contains the whole row
      else leading = part;
      row_position = position;
    }
    if (begins || k == 0 || key < part.key) {
      part.key = key;
      part.position = position;
    }
    light[k / 32] |= (uint)(window->has_high && window_has(window, key, slot)) << k % 32;
  }
#if WG_SIZE > 1
  for (uint word = 0; word < PART_WORDS; ++word) {
    if (leading.position != NO_SLOT) part_enter(tile, block->row_position, leading, word);
    if (part.position != NO_SLOT) part_enter(tile, row_position, part, word);
    wg_barrier();
  }
#else
  if (leading.position != NO_SLOT) least_positions[TILE_SLOTS] = leading.position;
  least_positions[row_position] = part.position;
#endif
}

// Find the lightest slot among the slots [begin, end) of a row, and store it in *best. Self-loops
// are left out. Before the call, *best is empty.
static inline void wi_find_lightest(const solve_t *solve, uint row, uint begin, uint end,
                                    lightest_t *best) {
  for (uint slot = begin; slot < end; ++slot) {
    const uint column = solve->indices[slot];
    if (column != row) lightest_take(best, weight_key(solve->weights[slot]), slot, column);
  }
}

// Record that a row does not have slots (CSR entries): store the vertex itself in place of the
// other end of its lightest edge.
static inline void minima_note_empty(const solve_t *solve, uint row) {
  solve->target[row] = row;
}

// If a tile (the run of slots that the work-group handles) has many rows, most of them are empty.
// Then record all of its rows as empty, without looking at them. After a barrier,
// tile_note_lightest corrects this for the rows that have slots. So the empty rows need only
// stores, for which a work-item does not wait.
static inline void tile_note_empty(const solve_t *solve, const tile_t *tile) {
  if (!tile_has_many_rows(tile)) return;
  // Leave out the first row if it begins in an earlier tile, and the last row, which may go on in
  // the next tile.
  const uint begin = tile->first_row + (tile->number > 0);
  const uint end = tile->last_row + (tile->number + 1 == tile_count(solve));
  for (uint row = begin + get_local_id(0); row < end; row += WG_SIZE) minima_note_empty(solve, row);
}

// Store the other ends of the lightest edges of a tile's rows. All of these edges belong to the
// forest; mark those that lead to a vertex with a higher number. If a row is divided between tiles,
// mark nothing, and store the lightest slot of its part in this tile. tile_note_empty and a barrier
// must come before.
static inline void tile_note_lightest(const solve_t *solve, const tile_t *tile) {
  const uint n_rows = tile_row_count(tile), t = tile->number;
  const uint row_going_on = t + 1 < tile_count(solve) ? tile->last_row : NO_ROW;
  for (uint i = get_local_id(0); i < n_rows; i += WG_SIZE) {
    const uint row = tile_row(solve, tile, i);
    uint begin, end;
    bool parted;
    if (!tile_has_row(solve, tile, row, &begin, &end, &parted)) {
      if (solve->indptr[row] == solve->indptr[row + 1]) minima_note_empty(solve, row);
      continue;
    }
    if (tile_has_many_rows(tile) && i > begin) continue;  // the row's first slot here stands for it
    lightest_t best = {FULL_KEY_MAX, NO_SLOT, row};
    best.slot = tile->first + tile_least_positions(tile)[parted ? TILE_SLOTS : begin];
    best.column = solve->indices[best.slot];
    if (best.column == row) {  // a self-loop, which few graphs have
      best.slot = NO_SLOT;
      wi_find_lightest(solve, row, tile->first + begin, tile->first + end, &best);
    }
    if (parted) {
      tile_later_parts(solve)[t] = best.slot;
      continue;
    }
    solve->target[row] = best.column;
    if (row == row_going_on) tile_first_parts(solve)[t] = best.slot;
    else if (best.column > row) tile_mark(solve, tile, best.slot);
  }
}

// Put the edges of the first window (the first range of the order of edges) that are in a block on
// the worklist. A block is a work-item's share of the slots of a tile. Bit k of light[] says
// whether the edge in the block's k-th slot belongs to the window. Slots whose column is less than
// their row are left out, so each edge is listed once. The whole work-group must call the function.
static inline void tile_list_light(const solve_t *solve, const tile_t *tile, const block_t *block,
                                   const weight_t *weights, uint *light, local uint *base) {
  const uint first = tile->first + block->first, row_before = block_row_before(tile, block);
  uint n_kept = 0, row = row_before, at;
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (block_begins_row(tile, block, k)) row = tile->rows[block->first + k];
    if (!(light[k / 32] >> k % 32 & 1)) continue;
    const bool is_upper = solve->indices[first + k] > row;
    n_kept += is_upper;
    light[k / 32] ^= (uint)!is_upper << k % 32;
  }
  wg_claim(solve_count(solve, 0, 0, COUNT_EDGES), n_kept, &at, tile->scratch, base);
  if (n_kept == 0) return;
  row = row_before;
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (block_begins_row(tile, block, k)) row = tile->rows[block->first + k];
    if (!(light[k / 32] >> k % 32 & 1)) continue;
    const uint slot = first + k;
    const weight_t weight = BLOCK_LOADS_WEIGHTS ? weights[k] : solve->weights[slot];
    const edge_t edge = {row, solve->indices[slot], weight_key_leading(weight), slot};
    round_list(solve, 0, at++, edge);
  }
}

// Find the other end of every vertex's lightest edge, except for rows that are divided between
// tiles. If `lists` is set, also list the edges of the first window, the first of several ranges of
// the order of edges that are solved one after the other. Some devices miscompile barriers inside
// the condition `lists`. In the kernels for these devices, `lists` is a constant.
static inline void minima_take(const solve_t *solve, bool lists, tile_t *tile, local uint *base) {
  const uint n_tiles = tile_count(solve);
  window_t window;
  window_open(solve, 0, lists ? 2 : 1, &window);
  for (uint t = get_group_id(0); t < n_tiles; t += get_num_groups(0)) {
    block_t block;
    weight_t weights[BLOCK_WORDS];
    uint light[(TILE_ITEMS + 31) / 32];
    tile_begin(solve, tile, t);
    block_begin(tile, &block);
    if (BLOCK_LOADS_WEIGHTS) block_load_weights(solve, tile, &block, weights);
    tile_mark_rows(solve, tile, true, &block);
    tile_begin_marks(solve, tile);
    tile_note_empty(solve, tile);
    tile_find_lightest(solve, tile, &window, &block, weights, light);
    tile_note_lightest(solve, tile);
    if (lists) tile_list_light(solve, tile, &block, weights, light, base);
    wg_barrier_local();  // from here on the tile's local memory may be reused, except the marks
    tile_store_marks(solve, tile);
  }
}

// Number of rows whose parts a work-item loads at once. A row that is divided between tiles (runs
// of slots) has one part in each of these tiles.
#define PARTS_AT_ONCE 4

// Find the lightest slots of rows that are divided between tiles (runs of slots that work-groups
// handle), from the lightest slot of each part of a row.
static inline void minima_join_rows(const solve_t *solve) {
  const uint n_tiles = tile_count(solve);
  const global uint *parts = tile_later_parts(solve);
  GRID_FOR(t, n_tiles) {
    if (t + 1 == n_tiles) continue;
    const uint first = (uint)t * TILE_SLOTS, row = solve->tiles[t + 1];
    const uint begin = solve->indptr[row], end = solve->indptr[row + 1];
    // Each divided row is joined once: for the tile in which it begins. Skip the row if it begins
    // in another tile.
    if (begin < first || begin - first >= TILE_SLOTS) continue;
    lightest_t best = {FULL_KEY_MAX, tile_first_parts(solve)[t], solve->target[row]};
    if (best.slot != NO_SLOT) best.key = weight_key(solve->weights[best.slot]);
    const uint last = min(n_tiles, (uint)((end - 1) / TILE_SLOTS + 1));
    for (uint next = (uint)t + 1; next < last; next += PARTS_AT_ONCE) {
      uint slots[PARTS_AT_ONCE], columns[PARTS_AT_ONCE];
      weight_t weights[PARTS_AT_ONCE];
      SOLVE_UNROLL
      for (uint p = 0; p < PARTS_AT_ONCE; ++p)
        slots[p] = next + p < last ? parts[next + p] : NO_SLOT;
      SOLVE_UNROLL
      for (uint p = 0; p < PARTS_AT_ONCE; ++p) {
        weights[p] = slots[p] != NO_SLOT ? solve->weights[slots[p]] : 0;
        columns[p] = slots[p] != NO_SLOT ? solve->indices[slots[p]] : 0;
      }
      SOLVE_UNROLL
      for (uint p = 0; p < PARTS_AT_ONCE; ++p)
        if (slots[p] != NO_SLOT) lightest_take(&best, weight_key(weights[p]), slots[p], columns[p]);
    }
    solve->target[row] = best.column;
    if (best.column > row) solve_mark(solve, best.slot);
  }
}
