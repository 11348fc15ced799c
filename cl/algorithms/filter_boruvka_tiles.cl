// filter-boruvka: going over the graph's slots in tiles of equal length.
//
// Tiles balance what rows do not: a hub's row is cut up, short rows share a tile, and every
// work-item has as many consecutive slots. Which row a slot is in comes of marking where rows begin
// and taking the last mark before it.
//
// tiles[t] is the row of the first slot of tile t; tiles[n_tiles] is n - 1, the last row. Behind
// them stands, for each tile, the lightest slot of the part of a row that began in a tile before.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_TILES
#define CLMST_ALGORITHMS_FILTER_BORUVKA_TILES

#include "algorithms/filter_boruvka_solve.cl"
#include "device/lanes.cl"

// Consecutive slots of a tile that fall to a work-item: 1 to 16; to a lone one 256 to 65536.
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#define TILE_SLOTS (WG_SIZE * TILE_ITEMS)

// Where a slot of the tile is in local memory: a word is left out after every TILE_ITEMS where
// those are even, so that work-items with consecutive slots meet all banks.
#define TILE_PLACE(i) ((i) + (TILE_ITEMS % 2 == 0 ? (i) / TILE_ITEMS : 0))
#define TILE_PLACES (TILE_SLOTS + (TILE_ITEMS % 2 == 0 ? WG_SIZE : 0))

// What a work-group knows of a tile.
typedef struct {
  local uint *rows;         // [TILE_PLACES]: of each slot
  local full_key_t *keys;   // [WG_SIZE]: the lightest slot of each work-item's first row
  local uint *slots;        // [WG_SIZE]
  local uint *scratch;      // [WG_SIZE]
  uint number, first, length;
} tile_t;

// A vertex's lightest slot so far.
typedef struct {
  full_key_t key;
  uint slot;
} lightest_t;

static inline void lightest_take(lightest_t *best, full_key_t key, uint slot) {
  if (best->slot != NO_SLOT && (best->key < key || (best->key == key && best->slot < slot)))
    return;
  best->key = key;
  best->slot = slot;
}

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
static inline void tile_note(const solve_t *solve, const tile_t *tile, uint row, uint slot) {
  if (tile->number > 0 && row == solve->tiles[tile->number] &&
      solve->indptr[row] < tile->first) {
    solve->tiles[tile_count(solve) + 1 + tile->number] = slot;
  } else {
    solve->chosen[row] = slot;
    if (slot != NO_SLOT) solve->target[row] = solve->indices[slot];
  }
}

// Begin with tile `number`: find the row of each of its slots. With `notes`, note that rows without
// slots have no lightest one. Must be reached by the whole work-group; ends with a barrier.
static inline void tile_open(const solve_t *solve, tile_t *tile, uint number, bool notes) {
  const uint me = get_local_id(0);
  tile->number = number;
  tile->first = number * TILE_SLOTS;
  tile->length = min((uint)TILE_SLOTS, solve->n_slots - tile->first);
  for (uint i = me; i < TILE_PLACES; i += WG_SIZE) tile->rows[i] = 0;
  wg_barrier_local();
  const uint first_row = number > 0 ? solve->tiles[number] : 0;
  const uint last_row = solve->tiles[number + 1];
  for (uint row = first_row + me; row <= last_row; row += WG_SIZE) {
    const uint row_begin = solve->indptr[row], row_end = solve->indptr[row + 1];
    const uint begin = max(row_begin, tile->first);
    if (notes && row_begin == row_end) solve->chosen[row] = NO_SLOT;
    if (begin < min(row_end, tile->first + tile->length))
      tile->rows[TILE_PLACE(begin - tile->first)] = row;
  }
  wg_barrier_local();
  const uint mine = me * TILE_ITEMS;
  uint last = 0;
  for (uint i = mine; i < mine + TILE_ITEMS; ++i) last = max(last, tile->rows[TILE_PLACE(i)]);
  last = wg_exclusive_max_u32(last, tile->scratch);
  for (uint i = mine; i < mine + TILE_ITEMS; ++i)
    tile->rows[TILE_PLACE(i)] = last = max(last, tile->rows[TILE_PLACE(i)]);
  wg_barrier_local();
}

// Let every row of an open tile note its lightest slot, self-loops left out. Must be reached by the
// whole work-group.
//
// A work-item goes through its own slots, row after row. The last row goes on with the work-items
// after it: each of them has left what it found of the row that it began in.
static inline void tile_note_lightest(const solve_t *solve, const tile_t *tile) {
  const uint me = get_local_id(0), mine = me * TILE_ITEMS;
  const uint end = min(mine + TILE_ITEMS, tile->length);
  lightest_t best = {FULL_KEY_MAX, NO_SLOT};
  uint row = tile->rows[TILE_PLACE(mine)];
  bool is_first = me > 0 && mine < end && tile->rows[TILE_PLACE(mine - 1)] == row;
  tile->slots[me] = NO_SLOT;
  for (uint i = mine; i < end; ++i) {
    const uint next_row = tile->rows[TILE_PLACE(i)], slot = tile->first + i;
    if (next_row != row) {
      if (is_first) {
        tile->keys[me] = best.key;
        tile->slots[me] = best.slot;
      } else {
        tile_note(solve, tile, row, best.slot);
      }
      is_first = false;
      row = next_row;
      best.slot = NO_SLOT;
    }
    if (solve->indices[slot] != row) lightest_take(&best, weight_key(solve->weights[slot]), slot);
  }
  if (is_first) {
    tile->keys[me] = best.key;
    tile->slots[me] = best.slot;
  }
  wg_barrier_local();
  if (!is_first && mine < end) {
    for (uint next = me + 1; next < WG_SIZE && next * TILE_ITEMS < tile->length &&
                             tile->rows[TILE_PLACE(next * TILE_ITEMS)] == row;
         ++next)
      if (tile->slots[next] != NO_SLOT) lightest_take(&best, tile->keys[next], tile->slots[next]);
    tile_note(solve, tile, row, best.slot);
  }
  wg_barrier_local();
}

#endif
