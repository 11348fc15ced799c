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

// Registers are indexed by what the compiler knows; a lone work-item's slots are in memory.
#if WG_SIZE > 1
#define TILE_UNROLL _Pragma("unroll")
#else
#define TILE_UNROLL
#endif

// What a work-group knows of a tile.
typedef struct {
  local uint *rows;         // [TILE_PLACES]: of each slot
  local uint *lightest;     // [TILE_PLACES]: where a row begins in the tile, its lightest slot there
  local uint *begins, *ends;  // [WG_SIZE]: the rows of each work-item's first and last slot
  local full_key_t *keys;   // [WG_SIZE]: the lightest slot of each work-item's first row
  local uint *slots;        // [WG_SIZE]
  local uint *scratch;      // [WG_SIZE]
  uint number, first, length;
} tile_t;

// A work-item's own slots of a tile: from the first to before `end` in the tile.
typedef struct {
  uint columns[TILE_ITEMS], rows[TILE_ITEMS];
  weight_t weights[TILE_ITEMS];
} block_t;

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

// Note the lightest slots of the rows in a tile, each for its row if that begins in the tile, else
// for the tile; rows without slots have none.
static inline void tile_note_rows(const solve_t *solve, const tile_t *tile) {
  const uint first_row = tile->number > 0 ? solve->tiles[tile->number] : 0;
  const uint last_row = solve->tiles[tile->number + 1], end = tile->first + tile->length;
  for (uint row = first_row + get_local_id(0); row <= last_row; row += WG_SIZE) {
    const uint row_begin = solve->indptr[row], row_end = solve->indptr[row + 1];
    const uint begin = max(row_begin, tile->first);
    if (row_begin == row_end) solve->chosen[row] = NO_SLOT;
    if (begin >= min(row_end, end)) continue;
    const uint slot = tile->lightest[TILE_PLACE(begin - tile->first)];
    if (row_begin < tile->first) {
      solve->tiles[tile_count(solve) + 1 + tile->number] = slot;
    } else {
      solve->chosen[row] = slot;
      if (slot != NO_SLOT) solve->target[row] = solve->indices[slot];
    }
  }
}

// Bring a work-item's own slots of a tile to registers, but for their rows.
static inline void tile_load(const solve_t *solve, const tile_t *tile, block_t *block) {
  const uint mine = get_local_id(0) * TILE_ITEMS;
  const size_t from = (size_t)tile->first + mine;
#if WG_SIZE > 1 && TILE_ITEMS % 4 == 0 && WEIGHT_BITS == 32
  if (mine + TILE_ITEMS <= tile->length) {
#pragma unroll
    for (uint k = 0; k < TILE_ITEMS; k += 4) {
      vstore4(((const global uint4 *)solve->indices)[(from + k) / 4], 0, block->columns + k);
      vstore4(((const global uint4 *)solve->weights)[(from + k) / 4], 0, block->weights + k);
    }
    return;
  }
#endif
  TILE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (mine + k >= tile->length) break;
    block->columns[k] = solve->indices[from + k];
    block->weights[k] = solve->weights[from + k];
  }
}

// Begin with tile `number`: bring every work-item's slots to registers, and find their rows. Behind
// the tile's end stand self-loops, which are no edges. Must be reached by the whole work-group.
static inline void tile_open(const solve_t *solve, tile_t *tile, uint number, block_t *block) {
  const uint me = get_local_id(0), mine = me * TILE_ITEMS;
  tile->number = number;
  tile->first = number * TILE_SLOTS;
  tile->length = min((uint)TILE_SLOTS, solve->n_slots - tile->first);
  tile_load(solve, tile, block);  // on its way while rows are found
  for (uint i = me; i < TILE_PLACES; i += WG_SIZE) tile->rows[i] = 0;
  wg_barrier_local();
  const uint first_row = number > 0 ? solve->tiles[number] : 0;
  const uint last_row = solve->tiles[number + 1], end = tile->first + tile->length;
  for (uint row = first_row + me; row <= last_row; row += WG_SIZE) {
    const uint begin = max(solve->indptr[row], tile->first);
    if (begin < min(solve->indptr[row + 1], end)) tile->rows[TILE_PLACE(begin - tile->first)] = row;
  }
  wg_barrier_local();
  uint last = 0;
  TILE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k)
    block->rows[k] = last = max(last, tile->rows[TILE_PLACE(mine + k)]);
  last = wg_exclusive_max_u32(last, tile->scratch);
  TILE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    block->rows[k] = max(last, block->rows[k]);
    if (mine + k >= tile->length) block->columns[k] = block->rows[k];
  }
}

// Whether the slots of all lanes of a work-item's group are in one row.
static inline bool tile_lanes_share_row(const tile_t *tile, uint item) {
#if LANES_IMPL == LANES_LOCAL
  return false;
#else
  const uint first = item / LANES * LANES;
  return tile->begins[first] == tile->ends[first + LANES - 1];
#endif
}

// The lightest over the lanes of a group, in every lane. Must be reached by all of them together.
static inline void lanes_take_lightest(lightest_t *best) {
#if LANES_IMPL != LANES_LOCAL
#if WEIGHT_BITS == 64
  const ulong least = lanes_min_u64(best->slot == NO_SLOT ? ULONG_MAX : best->key);
  best->slot = lanes_min_u32(best->key == least ? best->slot : NO_SLOT);
  best->key = least;
#else
  const ulong is_none = (ulong)(best->slot == NO_SLOT);
  const ulong least = lanes_min_u64(((ulong)best->key << 32 | best->slot) | -is_none);
  best->key = (uint)(least >> 32);
  best->slot = (uint)least;
#endif
#endif
}

// Let every row of an open tile note its lightest slot, self-loops left out. Must be reached by the
// whole work-group.
//
// A work-item goes through its own slots, row after row. Its last row may go on with the work-items
// after it: each of them has left what it found of the row that it began in, or, where all lanes of
// a group are in one row, the first lane what all have found.
static inline void tile_note_lightest(const solve_t *solve, const tile_t *tile,
                                      const block_t *block) {
  const uint me = get_local_id(0), mine = me * TILE_ITEMS;
  tile->begins[me] = block->rows[0];
  tile->ends[me] = block->rows[TILE_ITEMS - 1];
  tile->slots[me] = NO_SLOT;
  wg_barrier_local();
  lightest_t best = {FULL_KEY_MAX, NO_SLOT};
  uint row = block->rows[0], place = TILE_PLACE(mine);
  bool is_first = me > 0 && tile->ends[me - (me > 0)] == row;
  TILE_UNROLL
  for (uint k = 0; k < TILE_ITEMS; ++k) {
    if (block->rows[k] != row) {
      if (is_first) {
        tile->keys[me] = best.key;
        tile->slots[me] = best.slot;
      } else {
        tile->lightest[place] = best.slot;
      }
      is_first = false;
      row = block->rows[k];
      place = TILE_PLACE(mine) + k;
      best.slot = NO_SLOT;
    }
    if (block->columns[k] != row)
      lightest_take(&best, weight_key(block->weights[k]), tile->first + mine + k);
  }
#if LANES_IMPL == LANES_LOCAL
  const bool shares = false;
#else
  const bool shares = tile_lanes_share_row(tile, me);
  if (shares) lanes_take_lightest(&best);
#endif
  if (is_first && (!shares || lanes_id() == 0)) {
    tile->keys[me] = best.key;
    tile->slots[me] = best.slot;
  }
  wg_barrier_local();
  if (!is_first) {
    uint next = shares ? me + LANES : me + 1;  // only a group's first lane has a row that all share
    while (next < WG_SIZE && tile->begins[next] == row) {
      if (tile->slots[next] != NO_SLOT) lightest_take(&best, tile->keys[next], tile->slots[next]);
      next += tile_lanes_share_row(tile, next) ? LANES : 1;
    }
    tile->lightest[place] = best.slot;
  }
  wg_barrier_local();
  tile_note_rows(solve, tile);
}

#endif
