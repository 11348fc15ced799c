// filter-boruvka: the graph's slots, divided into tiles of equal length.
//
// A tile is a run of consecutive slots (CSR entries) that a work-group handles at a time. If each
// work-group handled whole rows, the work would not be balanced. Tiles balance it: the long row of
// a vertex with many edges is divided between tiles, and short rows share a tile.
//
// In the array `tiles`, tiles[t] is the row of the first slot of tile t, and tiles[n_tiles] is n -
// 1, the last row. A row that is divided between tiles has a part in each of them. Two arrays
// follow, with one word for each tile: the lightest slot of a part in the tile. The first array is
// for the row that begins before the tile, and the second one is for the row that begins in the
// tile and goes on in the next one.
#include "algorithms/filter_boruvka/solve.cl"
#include "device/rows.cl"

// Number of consecutive slots of a tile that one work-item handles: 1 to 16, or 256 to 65536 in
// work-groups of one work-item. The number of slots of a whole tile, TILE_SLOTS, must be a multiple
// of 32.
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#define TILE_SLOTS (WG_SIZE * TILE_ITEMS)

// Number of words with one bit for each slot of a tile (run of slots that a work-group handles),
// which says whether a row begins at the slot. Each work-item has one word, for its own slots. In
// work-groups of one work-item the word is not used, because there are more slots than bits.
#define TILE_WORDS (WG_SIZE == 1 ? 1 : WG_SIZE)

// The value of a row that means "no row", for example at a slot where no row begins.
#define NO_ROW 0xffffffffu

// Number of words in local memory for the keys of the lightest slots of a tile's rows. A row may
// begin at every slot of the tile, and one further row may begin before the tile.
#define TILE_KEYS ((WEIGHT_BITS == 64 ? 2 : 1) * (TILE_SLOTS + 1))

// Number of pairs of words in an array of local memory. It first holds the keys and positions of
// the lightest slots of a tile's rows, and in a later step the ends of edges.
#define TILE_PAIRS ((TILE_KEYS + TILE_SLOTS + 2) / 2)

// A tile, which is a run of consecutive slots that a work-group handles, and its local memory. A
// position is a slot's distance from the tile's first slot.
typedef struct {
  local uint *rows;            // [TILE_SLOTS]: the row that begins at each position, or NO_ROW
  local uint *heads;           // [TILE_WORDS]: bits that say where rows begin
  local uint2 *pairs;          // [TILE_PAIRS]
  local uint *scratch;         // [WG_SIZE]
  uint number, first, length;  // the tile's number, its first slot, and its number of slots
  uint first_row, last_row;    // the row of its first slot, and the last row that may have slots
} tile_t;

// A kernel that handles tiles (runs of slots) contains this macro. It declares arrays in local
// memory, and the variable `tile`, which points to these arrays.
#define TILE_MEMORY                                                 \
  local uint2 pairs[TILE_PAIRS];                                    \
  local uint rows[TILE_SLOTS], heads[TILE_WORDS], scratch[WG_SIZE]; \
  tile_t tile = {rows, heads, pairs, scratch, 0, 0, 0, 0, 0}

// A block: the slots of a tile that one work-item handles.
typedef struct {
  uint first;   // the position of the first slot
  uint length;  // the number of slots, which is smaller at the end of the last tile
  uint heads;   // bit k: whether a row begins at slot k of the block
  // The position in the tile at which the row of the slot before this block begins. It is
  // TILE_SLOTS if that row begins before the tile.
  uint row_position;
} block_t;

static inline uint tile_count(const solve_t *solve) {
  return solve->n_slots / TILE_SLOTS + (solve->n_slots % TILE_SLOTS != 0);
}

// Find the row of the first slot of each tile, which is a run of `tile_slots` slots, and store it
// in tiles[].
static inline void tile_find_rows(const solve_t *solve, uint tile_slots) {
  const uint n_tiles = (solve->n_slots - 1) / tile_slots + 1;
  GRID_FOR(t, n_tiles + 1)
    solve->tiles[t] =
        t < n_tiles ? wi_find_row(solve->indptr, 0, solve->n, (uint)t * tile_slots) : solve->n - 1;
}

// Return an array with one word for each tile. If a row begins in an earlier tile and has slots in
// this one, the word is the lightest of these slots. Else it is undefined.
static inline global uint *tile_later_parts(const solve_t *solve) {
  return solve->tiles + tile_count(solve) + 1;
}

// Return an array with one word for each tile. If a row begins in this tile and goes on in the next
// one, the word is the lightest of its slots in this tile. Else it is undefined.
static inline global uint *tile_first_parts(const solve_t *solve) {
  return tile_later_parts(solve) + tile_count(solve);
}

static inline void tile_begin(const solve_t *solve, tile_t *tile, uint number) {
  tile->number = number;
  tile->first = number * TILE_SLOTS;
  tile->length = min((uint)TILE_SLOTS, solve->n_slots - tile->first);
  tile->first_row = number > 0 ? solve->tiles[number] : 0;
  tile->last_row = solve->tiles[number + 1];
}

// Return whether a row has slots in a tile, a run of slots that a work-group handles. The positions
// of these slots in the tile are [*begin, *end). *parted says whether the row begins in an earlier
// tile.
static inline bool tile_has_row(const solve_t *solve, const tile_t *tile, uint row, uint *begin,
                                uint *end, bool *parted) {
  const uint from = solve->indptr[row], to = solve->indptr[row + 1];
  *parted = from < tile->first;
  *begin = max(from, tile->first) - tile->first;
  *end = min(to, tile->first + tile->length) - min(tile->first, to);
  return from < to && *begin < *end;
}

// Set the first slot and the length of a work-item's block, its share of the slots of a tile. The
// other fields, which say where rows begin, are set by tile_mark_rows.
static inline void block_begin(const tile_t *tile, block_t *block) {
  block->first = get_local_id(0) * TILE_ITEMS;
  block->length = min((uint)TILE_ITEMS, max(tile->length, block->first) - block->first);
}

// The next two functions return arrays in local memory: the key of the lightest slot of each row of
// a tile, and the position of this slot in the tile. The index of a row in these arrays is the
// position at which it begins in the tile. A row that begins before the tile has the index
// TILE_SLOTS. Of 64-bit keys, the upper words of all rows come first, and then the lower words.
static inline local uint *tile_least_keys(const tile_t *tile) {
  return (local uint *)tile->pairs;
}

static inline local uint *tile_least_positions(const tile_t *tile) {
  return (local uint *)tile->pairs + TILE_KEYS;
}

// Reset the lightest slot (its key and its position) of the row that begins at `position` of the
// tile.
static inline void tile_clear_least(const tile_t *tile, uint position) {
  tile_least_keys(tile)[position] = UINT_MAX;
#if WEIGHT_BITS == 64
  tile_least_keys(tile)[TILE_SLOTS + 1 + position] = UINT_MAX;
#endif
  tile_least_positions(tile)[position] = NO_SLOT;
}

// Return whether a tile has so many rows that it takes longer to go through all of them than to
// search for the row of each slot. Most rows of such a tile are empty, for example because most
// vertices of the graph have no edges.
static inline bool tile_has_many_rows(const tile_t *tile) {
  return tile->last_row - tile->first_row >= 16 * TILE_SLOTS;
}

// Return how many indices the function tile_row takes: the number of rows of a tile. If the tile
// has many rows, most of which are empty, it is the number of slots (CSR entries), because tile_row
// then returns the row of each slot.
static inline uint tile_row_count(const tile_t *tile) {
  return tile_has_many_rows(tile) ? tile->length : tile->last_row - tile->first_row + 1;
}

// Return the i-th row of a tile. If the tile has many rows, most of which are empty, return the row
// of its i-th slot (CSR entry) instead.
static inline uint tile_row(const solve_t *solve, const tile_t *tile, uint i) {
  if (!tile_has_many_rows(tile)) return tile->first_row + i;
  return wi_find_row(solve->indptr, tile->first_row, tile->last_row + 1, tile->first + i);
}

// Store in the tile's local memory at which of its slots rows begin, and in *block the information
// that the work-item needs about its own slots. With `clears_least`, also reset the lightest slots
// of the rows. The whole work-group must call the function. It takes O(TILE_SLOTS log n) steps,
// however many empty rows there are.
static inline void tile_mark_rows(const solve_t *solve, const tile_t *tile, bool clears_least,
                                  block_t *block) {
  const uint me = get_local_id(0), n_rows = tile_row_count(tile);
#if WG_SIZE > 1
  tile->heads[me] = 0;
#else
  for (uint i = 0; i < TILE_SLOTS; ++i) tile->rows[i] = NO_ROW;
#endif
  wg_barrier_local();
  for (uint i = me; i < n_rows; i += WG_SIZE) {
    const uint row = tile_row(solve, tile, i);
    uint begin, end;
    bool parted;
    if (!tile_has_row(solve, tile, row, &begin, &end, &parted)) continue;
    if (tile_has_many_rows(tile) && i > begin) continue;  // the row's first slot here stands for it
    if (parted) begin = TILE_SLOTS;
    if (clears_least) tile_clear_least(tile, begin);
    if (parted) continue;
    tile->rows[begin] = row;
#if WG_SIZE > 1
    atomic_or(&tile->heads[begin / TILE_ITEMS], 1u << begin % TILE_ITEMS);
#endif
  }
  wg_barrier_local();
#if WG_SIZE > 1
  block->heads = tile->heads[me];
  const uint last_head = block->heads ? block->first + 32 - clz(block->heads) : 0;
  const uint before = wg_exclusive_max_u32(last_head, tile->scratch);
  block->row_position = before > 0 ? before - 1 : TILE_SLOTS;
#else
  block->heads = 0;
  block->row_position = TILE_SLOTS;
#endif
}

// Return whether a row begins at the k-th slot of a block, a work-item's share of a tile.
static inline bool block_begins_row(const tile_t *tile, const block_t *block, uint k) {
#if WG_SIZE > 1
  return block->heads >> k & 1;
#else
  return tile->rows[k] != NO_ROW;
#endif
}

// Return the row of the slot before the first slot of a block, a work-item's share of a tile. At
// the beginning of the tile, return the tile's first row.
static inline uint block_row_before(const tile_t *tile, const block_t *block) {
  return block->row_position == TILE_SLOTS ? tile->first_row : tile->rows[block->row_position];
}

// BLOCK_LOADS is 1 if a work-item loads all columns of its block into registers at once, as vectors
// if possible. A block is a work-item's share of a tile's slots. This is done in work-groups of
// several work-items, as on GPUs. BLOCK_LOADS_WEIGHTS is 1 if the work-item loads the weights at
// once, too, which is not done for weights of 64 bits.
#if WG_SIZE > 1
#define BLOCK_LOADS 1
#define BLOCK_WORDS TILE_ITEMS
#else
#define BLOCK_LOADS 0
#define BLOCK_WORDS 1
#endif
#define BLOCK_LOADS_WEIGHTS (BLOCK_LOADS && WEIGHT_BITS < 64)

static inline void block_load_words(const tile_t *tile, const block_t *block,
                                    const global uint *from, uint *words) {
  const size_t slot = (size_t)tile->first + block->first;
#if TILE_ITEMS % 4 == 0
  if (block->length == TILE_ITEMS) {
    SOLVE_UNROLL
    for (uint k = 0; k < BLOCK_WORDS; k += 4)
      vstore4(((const global uint4 *)from)[(slot + k) / 4], 0, words + k);
    return;
  }
#endif
  SOLVE_UNROLL
  for (uint k = 0; k < BLOCK_WORDS; ++k) words[k] = k < block->length ? from[slot + k] : 0;
}

static inline void block_load_weights(const solve_t *solve, const tile_t *tile,
                                      const block_t *block, weight_t *weights) {
#if WEIGHT_BITS == 32
  block_load_words(tile, block, solve->weights, weights);
#else
  const size_t slot = (size_t)tile->first + block->first;
  SOLVE_UNROLL
  for (uint k = 0; k < BLOCK_WORDS; ++k)
    weights[k] = k < block->length ? solve->weights[slot + k] : 0;
#endif
}

// ------------------------------------------------------------------ marks of a tile's own slots
//
// A mark is a bit that says whether the edge of a slot is in the forest. Each edge is marked at its
// slot in the row of its lesser end. The lightest edge of every vertex is in the forest. If this
// edge leads to a vertex with a higher number, its slot is in the vertex's own row, and the
// work-group that handles this slot marks it. The marks of a tile are whole words. On GPUs they are
// put together in local memory, and then each work-item stores one word. So the marks in global
// memory need neither atomics nor clearing.

#if TILE_SLOTS % 32 != 0
#error "a tile must have whole words of marks"
#endif

// Clear the marks of a tile's slots in local memory. A mark is a bit that says whether the slot's
// edge is in the forest. On GPUs the marks are in the same memory as the words that say where rows
// begin (tile->heads). This is possible because each work-item has already copied what it needs of
// these words to its block.
//
// Scope    the whole work-group.
// Needs    tile_mark_rows.
// Ensures  tile_mark may be called after a barrier.
static inline void tile_begin_marks(const solve_t *solve, const tile_t *tile) {
#if WG_SIZE > 1
  tile->heads[get_local_id(0)] = 0;
#else
  for (uint i = 0; i < tile->length; i += 32) solve->marks[(tile->first + i) / 32] = 0;
#endif
}

// Mark a slot of a tile: its edge is in the forest.
//
// Scope    one work-item.
static inline void tile_mark(const solve_t *solve, const tile_t *tile, uint slot) {
#if WG_SIZE > 1
  const uint position = slot - tile->first;
  atomic_or(&tile->heads[position / 32], 1u << position % 32);
#else
  solve->marks[slot / 32] |= 1u << slot % 32;
#endif
}

// Store the marks of a tile, which say whether the edges of its slots are in the forest, in global
// memory.
//
// Scope    the whole work-group.
// Needs    a barrier after the last tile_mark.
// Ensures  a work-item has read only its own word of tile->heads, so it may clear this word for the
//          next tile without a barrier.
static inline void tile_store_marks(const solve_t *solve, const tile_t *tile) {
#if WG_SIZE > 1
  const uint me = get_local_id(0);
  if (me * 32 < tile->length) solve->marks[tile->first / 32 + me] = tile->heads[me];
#endif
}
