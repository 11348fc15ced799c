// filter-boruvka: going over the graph's slots in tiles of equal length.
//
// Tiles balance what rows do not: a hub's row is cut up, and short rows share a tile.
//
// tiles[t] is the row of the first slot of tile t; tiles[n_tiles] is n - 1, the last row. Behind
// them stands, for each tile, the lightest slot of the part of a row that began in a tile before.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_TILES
#define CLMST_ALGORITHMS_FILTER_BORUVKA_TILES

#include "algorithms/filter_boruvka_solve.cl"
#include "device/lanes.cl"
#include "device/rows.cl"

// Slots of a tile that fall to a work-item: 1 to 16; to a lone one 256 to 65536.
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#define TILE_SLOTS (WG_SIZE * TILE_ITEMS)

// A row with so many slots in a tile goes to a lane group, where there are lanes: 2 to TILE_SLOTS.
// With 64, the first pass over a graph of degree 86 takes 1.2 times as long on an NVIDIA H200.
#ifndef LONG_ROW
#define LONG_ROW 16
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

// What a work-group knows of a tile.
typedef struct {
  local full_key_t *keys;   // [TILE_PLACES]
  local uint *rows;         // [TILE_PLACES]
  local uint *long_rows;    // [MAX_LONG_ROWS]
  local uint *n_long_rows;
  local uint *scratch;      // [WG_SIZE]
  uint number, first, length;
  uint first_row, last_row;
} tile_t;

// A work-item's own slots of a tile: TILE_ITEMS consecutive ones. Weights of 64 bits are more than
// Intel's registers hold, and are read when they are needed.
#define BLOCK_HAS_WEIGHTS (WEIGHT_BITS < 64)
typedef struct {
  uint columns[TILE_ITEMS], rows[TILE_ITEMS];
#if BLOCK_HAS_WEIGHTS
  weight_t weights[TILE_ITEMS];
#endif
} block_t;

// The weight of slot `k` of a block, which is `slot` of the graph.
static inline weight_t block_weight(const solve_t *solve, const block_t *block, uint k,
                                    uint slot) {
#if BLOCK_HAS_WEIGHTS
  return block->weights[k];
#else
  return solve->weights[slot];
#endif
}

// A vertex's lightest slot so far.
typedef struct {
  full_key_t key;
  uint slot, column;
} lightest_t;

// What stands for the row of a slot that is no edge of the window.
#define NO_ROW 0xffffffffu

static inline void lightest_take(lightest_t *best, full_key_t key, uint slot, uint column) {
  if (best->slot != NO_SLOT && (best->key < key || (best->key == key && best->slot < slot)))
    return;
  best->key = key;
  best->slot = slot;
  best->column = column;
}

static inline uint tile_count(const solve_t *solve) {
  return solve->n_slots / TILE_SLOTS + (solve->n_slots % TILE_SLOTS != 0);
}

// Find the row of each tile's first slot.
static inline void tile_find_rows(const solve_t *solve) {
  const uint n_tiles = tile_count(solve);
  GRID_FOR(t, n_tiles + 1)
    solve->tiles[t] = t < n_tiles
                          ? wi_find_row(solve->indptr, 0, solve->n, (uint)t * TILE_SLOTS)
                          : solve->n - 1;
}

static inline void tile_begin(const solve_t *solve, tile_t *tile, uint number) {
  tile->number = number;
  tile->first = number * TILE_SLOTS;
  tile->length = min((uint)TILE_SLOTS, solve->n_slots - tile->first);
  tile->first_row = number > 0 ? solve->tiles[number] : 0;
  tile->last_row = solve->tiles[number + 1];
}

// ------------------------------------------------------------------ the lightest of each row

// Note a row's lightest slot: for the row if it begins in this tile, else for the tile.
static inline void tile_note(const solve_t *solve, const tile_t *tile, uint row, bool is_parted,
                             const lightest_t *best) {
  if (is_parted) {
    solve->tiles[tile_count(solve) + 1 + tile->number] = best->slot;
  } else {
    solve->chosen[row] = best->slot;
    solve->target[row] = best->column;
  }
}

// Look at one slot: let its row's lightest edge take it in, and put its row in the place of its
// column, or NO_ROW if it is no edge of the window.
static inline void tile_visit_slot(const solve_t *solve, const tile_t *tile, const window_t *window,
                                   uint row, uint slot, lightest_t *best) {
  const uint place = TILE_PLACE(slot - tile->first);
#if WG_SIZE > 1
  const uint column = tile->rows[place];
  const full_key_t key = tile->keys[place];
#else
  const uint column = solve->indices[slot];
  const full_key_t key = weight_key(solve->weights[slot]);
#endif
  if (column != row) lightest_take(best, key, slot, column);
  tile->rows[place] = column > row && window_admits(window, key, slot) ? row : NO_ROW;
}

#if SHARES_LONG_ROWS
// Whether this lane has the lightest over the lanes of a group; if there is none, the first has.
static inline bool lanes_have_lightest(const lightest_t *best) {
  const bool is_none = best->slot == NO_SLOT;
#if WEIGHT_BITS == 64
  const ulong least = lanes_min_u64(best->key | -(ulong)is_none);
  const uint slot = lanes_min_u32(best->key == least ? best->slot : NO_SLOT);
#else
  const ulong word = (ulong)best->key << 32 | best->slot;
  const uint slot = (uint)lanes_min_u64(word | -(ulong)is_none);
#endif
  return best->slot == slot && (!is_none || lanes_id() == 0);
}
#endif

// Go over the rows of a tile, and note the lightest slot of each, self-loops left out. tile->rows
// gets the row of each slot that is an edge of the window. Keys and columns come in whole cache
// lines to local memory first, where short rows are gone through by a work-item each and long ones
// by a lane group each. Must be reached by the whole work-group; ends with a barrier.
static inline void tile_visit_rows(const solve_t *solve, const tile_t *tile,
                                   const window_t *window) {
  const uint me = get_local_id(0), first = tile->first, last = first + tile->length;
#if WG_SIZE > 1
#pragma unroll
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    const uint i = k * WG_SIZE + me;
    if (i < tile->length) {
      tile->keys[TILE_PLACE(i)] = weight_key(solve->weights[first + i]);
      tile->rows[TILE_PLACE(i)] = solve->indices[first + i];
    }
  }
  if (me == 0) *tile->n_long_rows = 0;
#endif
  wg_barrier_local();
  for (uint row = tile->first_row + me; row <= tile->last_row; row += WG_SIZE) {
    lightest_t best = {FULL_KEY_MAX, NO_SLOT, NO_ROW};
    const uint row_begin = solve->indptr[row], row_end = solve->indptr[row + 1];
    const uint begin = max(row_begin, first), end = min(row_end, last);
    if (row_begin == row_end) solve->chosen[row] = NO_SLOT;
    if (begin >= end) continue;
#if SHARES_LONG_ROWS
    if (end - begin >= LONG_ROW) {
      tile->long_rows[atomic_inc(tile->n_long_rows)] = row;
      continue;
    }
#endif
    for (uint slot = begin; slot < end; ++slot)
      tile_visit_slot(solve, tile, window, row, slot, &best);
    tile_note(solve, tile, row, row_begin < first, &best);
  }
  wg_barrier_local();
#if SHARES_LONG_ROWS
  const uint n_long_rows = *tile->n_long_rows;
  for (uint k = me / LANES; k < n_long_rows; k += WG_LANE_GROUPS) {
    lightest_t best = {FULL_KEY_MAX, NO_SLOT, NO_ROW};
    const uint row = tile->long_rows[k], row_begin = solve->indptr[row];
    const uint begin = max(row_begin, first), end = min(solve->indptr[row + 1], last);
    for (uint slot = begin + lanes_id(); slot < end; slot += LANES)
      tile_visit_slot(solve, tile, window, row, slot, &best);
    if (lanes_have_lightest(&best)) tile_note(solve, tile, row, row_begin < first, &best);
  }
  wg_barrier_local();
#endif
}

// ---------------------------------------------------------------------- the row of each slot

// Bring every work-item's slots to registers, with their rows: the rows mark where they begin, and
// the last mark before a slot is its row's. Behind the tile's end stand self-loops, which are no
// edges. Must be reached by the whole work-group.
static inline void tile_load(const solve_t *solve, const tile_t *tile, block_t *block) {
  const uint me = get_local_id(0), mine = me * TILE_ITEMS;
  const size_t from = (size_t)tile->first + mine;
  // On their way while rows are found.
#if WG_SIZE > 1 && TILE_ITEMS % 4 == 0 && WEIGHT_BITS == 32
  if (mine + TILE_ITEMS <= tile->length) {
#pragma unroll
    for (uint k = 0; k < TILE_ITEMS; k += 4) {
      vstore4(((const global uint4 *)solve->indices)[(from + k) / 4], 0, block->columns + k);
      vstore4(((const global uint4 *)solve->weights)[(from + k) / 4], 0, block->weights + k);
    }
  } else
#endif
  {
    SOLVE_UNROLL
    for (uint k = 0; k < TILE_ITEMS; ++k) {
      const size_t slot = mine + k < tile->length ? from + k : tile->first;
      block->columns[k] = solve->indices[slot];
#if BLOCK_HAS_WEIGHTS
      block->weights[k] = solve->weights[slot];
#endif
    }
  }
  for (uint i = me; i < TILE_PLACES; i += WG_SIZE) tile->rows[i] = 0;
  wg_barrier_local();
  for (uint row = tile->first_row + me; row <= tile->last_row; row += WG_SIZE) {
    const uint begin = max(solve->indptr[row], tile->first);
    const uint end = min(solve->indptr[row + 1], tile->first + tile->length);
    if (begin < end) tile->rows[TILE_PLACE(begin - tile->first)] = row;
  }
  wg_barrier_local();
  uint last = 0;
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k)
    block->rows[k] = last = max(last, tile->rows[TILE_PLACE(mine + k)]);
  last = wg_exclusive_max_u32(last, tile->scratch);
  SOLVE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    block->rows[k] = max(last, block->rows[k]);
    if (mine + k >= tile->length) block->columns[k] = block->rows[k];
  }
}

#endif
