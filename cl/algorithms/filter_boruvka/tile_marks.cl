// filter-boruvka: marks of a tile's own slots.
//
// Every vertex's lightest edge is in the forest. If it leads up, its slot is the edge's id, and the
// tile that has it marks it at once. A tile's marks are whole words: on GPUs they are put together in
// local memory, then each work-item stores one of them. So marks need neither atomics nor clearing.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_TILE_MARKS
#define CLMST_ALGORITHMS_FILTER_BORUVKA_TILE_MARKS

#include "algorithms/filter_boruvka/tiles.cl"

#if TILE_SLOTS % 32 != 0
#error "a tile must have whole words of marks"
#endif

// Let no slot of a tile be marked. The words that tell where rows begin become marks: work-items
// have what they need of them in registers.
//
// Scope    the whole work-group.
// Needs    tile_mark_rows.
// Ensures  tile_mark may follow after a barrier.
static inline void tile_begin_marks(const solve_t *solve, const tile_t *tile) {
#if WG_SIZE > 1
  tile->heads[get_local_id(0)] = 0;
#else
  for (uint i = 0; i < tile->length; i += 32) solve->marks[(tile->first + i) / 32] = 0;
#endif
}

// Mark a slot of a tile.
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

// Store the marks of a tile.
//
// Scope    the whole work-group.
// Needs    a barrier after the last tile_mark. A work-item reads one word, of its own number, so the
//          next tile needs no barrier before it clears its own.
static inline void tile_store_marks(const solve_t *solve, const tile_t *tile) {
#if WG_SIZE > 1
  const uint me = get_local_id(0);
  if (me * 32 < tile->length) solve->marks[tile->first / 32 + me] = tile->heads[me];
#endif
}

#endif
