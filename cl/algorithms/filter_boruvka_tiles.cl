// filter-boruvka: going over the graph's slots in tiles of equal length.
//
// Tiles balance what rows do not: a hub's row is cut up, short rows share a tile. A tile's keys and
// columns come in whole cache lines to local memory; its rows are then gone through there, short
// ones by a work-item each, long ones by a lane group each.
//
// tiles[t] is the row of the first slot of tile t; tiles[n_tiles] is n - 1, the last row. Behind
// them stands, for each tile, the lightest slot of the part of a row that began in a tile before.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_TILES
#define CLMST_ALGORITHMS_FILTER_BORUVKA_TILES

#include "algorithms/filter_boruvka_solve.cl"
#include "device/lanes.cl"

// Slots of a tile that fall to a work-item: 1 to 16; to a lone one 256 to 65536.
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#define TILE_SLOTS (WG_SIZE * TILE_ITEMS)

// A row with so many slots in a tile goes to a lane group. Without lanes, none does.
#ifndef LONG_ROW
#define LONG_ROW 64
#endif
#if LANES_IMPL == LANES_LOCAL
#define SHARES_LONG_ROWS 0
#else
#define SHARES_LONG_ROWS 1
#endif
#define MAX_LONG_ROWS (TILE_SLOTS / LONG_ROW + 1)

// Where a slot of the tile is in local memory: a word is left out after every TILE_ITEMS where
// those are even, so that work-items with consecutive slots meet all banks.
#define TILE_PLACE(i) ((i) + (TILE_ITEMS % 2 == 0 ? (i) / TILE_ITEMS : 0))
#define TILE_PLACES (TILE_SLOTS + (TILE_ITEMS % 2 == 0 ? WG_SIZE : 0))

// What a work-group holds of a tile.
typedef struct {
  local full_key_t *keys;  // [TILE_PLACES]
  local uint *columns;     // [TILE_PLACES]; then rows, see tile_visit_slot
  local uint *long_rows;   // [MAX_LONG_ROWS]
  local uint *n_long_rows;
} tile_t;

#define NO_ROW 0xffffffffu

// A vertex's lightest slot so far.
typedef struct {
  full_key_t key;
  uint slot, column;
} lightest_t;

static inline uint tile_count(const solve_t *solve) {
  return solve->n_slots / TILE_SLOTS + (solve->n_slots % TILE_SLOTS != 0);
}

// The row of a slot: the last one that begins at or before it.
static inline uint wi_find_row(const solve_t *solve, uint slot) {
  uint low = 0, high = solve->n;
  while (high - low > 1) {
    const uint middle = low + (high - low) / 2;
    if (solve->indptr[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}

// Find the row of each tile's first slot.
static inline void tile_find_rows(const solve_t *solve) {
  const uint n_tiles = tile_count(solve);
  GRID_FOR(t, n_tiles + 1)
    solve->tiles[t] = t < n_tiles ? wi_find_row(solve, (uint)t * TILE_SLOTS) : solve->n - 1;
}

// Note a row's lightest slot: for the row if it begins in this tile, else for the tile.
static inline void tile_note_lightest(const solve_t *solve, uint tile, uint row, bool is_parted,
                                      const lightest_t *best) {
  if (is_parted) {
    solve->tiles[tile_count(solve) + 1 + tile] = best->slot;
  } else {
    solve->chosen[row] = best->slot;
    solve->target[row] = best->column;
  }
}

static inline void lightest_take(lightest_t *best, full_key_t key, uint slot, uint column) {
  if (best->slot != NO_SLOT && best->key <= key) return;
  best->key = key;
  best->slot = slot;
  best->column = column;
}

// Bring a tile's keys and columns to local memory, where work-groups share it. Ends with a barrier.
static inline void tile_load(const solve_t *solve, const tile_t *tile, uint first, uint length) {
#if WG_SIZE > 1
  const uint me = get_local_id(0);
#pragma unroll
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    const uint i = k * WG_SIZE + me;
    if (i < length) {
      tile->keys[TILE_PLACE(i)] = weight_key(solve->weights[first + i]);
      tile->columns[TILE_PLACE(i)] = solve->indices[first + i];
    }
  }
  if (me == 0) *tile->n_long_rows = 0;
  wg_barrier_local();
#endif
}

// Look at one slot: let its row's lightest edge take it in, and put its row in the place of its
// column, or NO_ROW if it is no edge of the window.
static inline void tile_visit_slot(const solve_t *solve, const tile_t *tile, const window_t *window,
                                   uint row, uint slot, uint first, lightest_t *best) {
  const uint place = TILE_PLACE(slot - first);
#if WG_SIZE > 1
  const uint column = tile->columns[place];
  const full_key_t key = tile->keys[place];
#else
  const uint column = solve->indices[slot];
  const full_key_t key = weight_key(solve->weights[slot]);
#endif
  if (column != row) lightest_take(best, key, slot, column);
  tile->columns[place] = column > row && window_admits(window, key, slot) ? row : NO_ROW;
}

#if SHARES_LONG_ROWS
// Whether this lane has the lightest over the lanes of a group; if there is none, the first has.
static inline bool lanes_have_lightest(const lightest_t *best) {
#if WEIGHT_BITS == 64
  const ulong least = lanes_min_u64(best->slot == NO_SLOT ? ULONG_MAX : best->key);
  const uint slot = lanes_min_u32(best->key == least ? best->slot : NO_SLOT);
#else
  const ulong word = best->slot == NO_SLOT ? ULONG_MAX : (ulong)best->key << 32 | best->slot;
  const uint slot = (uint)lanes_min_u64(word);
#endif
  return best->slot == slot && (slot != NO_SLOT || lanes_id() == 0);
}
#endif

// Go over the rows of a loaded tile: see tile_visit_slot. With `notes`, note their lightest slots.
// Must be reached by the whole work-group; ends with a barrier.
static inline void tile_visit_rows(const solve_t *solve, const tile_t *tile, uint number,
                                   uint length, const window_t *window, bool notes) {
  const uint first = number * TILE_SLOTS, last = first + length;
  const uint first_row = number > 0 ? solve->tiles[number] : 0;
  const uint last_row = solve->tiles[number + 1];
  uint begin, end;
  for (uint row = first_row + get_local_id(0); row <= last_row; row += WG_SIZE) {
    lightest_t best = {FULL_KEY_MAX, NO_SLOT, NO_ROW};
    const uint row_begin = solve->indptr[row], row_end = solve->indptr[row + 1];
    begin = max(row_begin, first);
    end = min(row_end, last);
    if (notes && row_begin == row_end) solve->chosen[row] = NO_SLOT;
    if (begin >= end) continue;
#if SHARES_LONG_ROWS
    if (end - begin >= LONG_ROW) {
      tile->long_rows[atomic_inc(tile->n_long_rows)] = row;
      continue;
    }
#endif
    for (uint slot = begin; slot < end; ++slot)
      tile_visit_slot(solve, tile, window, row, slot, first, &best);
    if (notes) tile_note_lightest(solve, number, row, row_begin < first, &best);
  }
  wg_barrier_local();
#if SHARES_LONG_ROWS
  const uint n_long_rows = *tile->n_long_rows;
  for (uint k = get_local_id(0) / LANES; k < n_long_rows; k += WG_LANE_GROUPS) {
    lightest_t best = {FULL_KEY_MAX, NO_SLOT, NO_ROW};
    const uint row = tile->long_rows[k], row_begin = solve->indptr[row];
    begin = max(row_begin, first);
    end = min(solve->indptr[row + 1], last);
    for (uint slot = begin + lanes_id(); slot < end; slot += LANES)
      tile_visit_slot(solve, tile, window, row, slot, first, &best);
    if (notes && lanes_have_lightest(&best))
      tile_note_lightest(solve, number, row, row_begin < first, &best);
  }
  wg_barrier_local();
#endif
}

#endif
