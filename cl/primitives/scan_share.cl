// How a lane group works through its share of an array: a run of tiles, one after the other.
//
// In a tile every work-item has CHUNKS chunks of CHUNK_ITEMS consecutive elements, which are one
// vector load each; the chunks of a lane group's work-items interleave, so that loads are coalesced.
#ifndef CLMST_PRIMITIVES_SCAN_SHARE
#define CLMST_PRIMITIVES_SCAN_SHARE

// Bytes that a work-item loads from each tile: a multiple of 16 up to 128.
#ifndef BYTES_PER_ITEM
#define BYTES_PER_ITEM 64
#endif

#include "primitives/scan_kind.cl"

#include "device/lane_group.cl"

#if T_BYTES < 16
#define CHUNK_ITEMS (16 / T_BYTES)
typedef uint4 chunk_t;
#else
#define CHUNK_ITEMS 1
typedef T chunk_t;
#endif
// The byte flags of a chunk as one word.
#if CHUNK_ITEMS == 4
typedef uint flag_chunk_t;
#elif CHUNK_ITEMS == 2
typedef ushort flag_chunk_t;
#else
typedef uchar flag_chunk_t;
#endif
#define CHUNKS (BYTES_PER_ITEM > T_BYTES * CHUNK_ITEMS ? BYTES_PER_ITEM / (T_BYTES * CHUNK_ITEMS) : 1)
#define ITEMS (CHUNKS * CHUNK_ITEMS)
#define SHARE_TILE ((size_t)ITEMS * LANE_GROUP)

// What a work-item holds of a tile; bit i of `heads` tells whether items[i] is a head.
typedef struct {
  T items[ITEMS] __attribute__((aligned(sizeof(chunk_t))));
  uint heads;
} tile_t;

// Where chunk j of this work-item begins in the tile at `tile`.
static inline size_t share_chunk(size_t tile, uint j) {
  return tile + ((size_t)j * LANE_GROUP + lane_group_item()) * CHUNK_ITEMS;
}

static inline bool share_is_head(const tile_t *held, uint i) {
  return SEGMENTED && (held->heads >> i & 1) != 0;
}

// Take the head flag out of items[i], where it is packed.
static inline void share_unpack(tile_t *held, uint i) {
#if SEGMENTS == SEGMENTS_PACKED
  const T top = (T)1 << (8 * T_BYTES - 1);
  held->heads |= (uint)(held->items[i] >> (8 * T_BYTES - 1)) << i;
  held->items[i] &= ~top;
#endif
}

// Load the tile at `tile`; what is at or behind `end` counts as IDENTITY.
static inline void share_load(const global T *in, const global uchar *flags, size_t tile,
                              size_t end, tile_t *held) {
  held->heads = 0;
  if (tile + SHARE_TILE <= end) {
    for (uint j = 0; j < CHUNKS; ++j)
      *(chunk_t *)(held->items + j * CHUNK_ITEMS) =
          *(const global chunk_t *)(in + share_chunk(tile, j));
  } else {
    for (uint j = 0; j < CHUNKS; ++j)
      for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        const size_t i = share_chunk(tile, j) + k;
        held->items[j * CHUNK_ITEMS + k] = i < end ? in[i] : IDENTITY;
      }
  }
#if SEGMENTS == SEGMENTS_FLAGS
  for (uint j = 0; j < CHUNKS; ++j) {
    const size_t at = share_chunk(tile, j);
    uint bytes = 0;
    if (tile + SHARE_TILE <= end)
      bytes = *(const global flag_chunk_t *)(flags + at);
    else
      for (uint k = 0; k < CHUNK_ITEMS; ++k)
        if (at + k < end) bytes |= (uint)flags[at + k] << (8 * k);
    for (uint k = 0; k < CHUNK_ITEMS; ++k)
      held->heads |= (uint)((bytes >> (8 * k) & 0xff) != 0) << (j * CHUNK_ITEMS + k);
  }
#endif
  for (uint i = 0; i < ITEMS; ++i) share_unpack(held, i);
}

static inline void share_store(global T *out, size_t tile, size_t end, const tile_t *held) {
  if (tile + SHARE_TILE <= end) {
    for (uint j = 0; j < CHUNKS; ++j)
      *(global chunk_t *)(out + share_chunk(tile, j)) =
          *(const chunk_t *)(held->items + j * CHUNK_ITEMS);
  } else {
    for (uint j = 0; j < CHUNKS; ++j)
      for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        const size_t i = share_chunk(tile, j) + k;
        if (i < end) out[i] = held->items[j * CHUNK_ITEMS + k];
      }
  }
}

// The run that chunk j of a tile is.
static inline void share_chunk_run(const tile_t *held, uint j, partial_t *run) {
  partial_clear(run);
  for (uint k = 0; k < CHUNK_ITEMS; ++k) {
    const uint i = j * CHUNK_ITEMS + k;
    const partial_t one = {held->items[i], share_is_head(held, i)};
    partial_append(run, one);
  }
}

#if LANE_GROUP == 1
#include "primitives/scan_serial.cl"
#else
// The run that in[begin] to in[end - 1] are.
static inline void share_reduce(const global T *in, const global uchar *flags, size_t begin,
                                size_t end, partial_t *total, local T *sums, local uint *heads) {
  tile_t held;
#if COMMUTATIVE && !SEGMENTED
  // Order is free, so each place of a tile is summed up by itself, without exchange; backwards, so
  // that what the downsweep reads first is what was read last.
  T columns[ITEMS];
  for (uint i = 0; i < ITEMS; ++i) columns[i] = IDENTITY;
  for (size_t tiles = begin < end ? (end - begin - 1) / SHARE_TILE + 1 : 0; tiles > 0; --tiles) {
    share_load(in, flags, begin + (tiles - 1) * SHARE_TILE, end, &held);
    for (uint i = 0; i < ITEMS; ++i) columns[i] = combine(columns[i], held.items[i]);
  }
  partial_t run;
  partial_clear(&run);
  for (uint i = 0; i < ITEMS; ++i) run.sum = combine(run.sum, columns[i]);
  lane_group_scan(&run, total, sums, heads);
#else
  partial_clear(total);
  for (size_t tile = begin; tile < end; tile += SHARE_TILE) {
    share_load(in, flags, tile, end, &held);
    for (uint j = 0; j < CHUNKS; ++j) {
      partial_t run, row;
      share_chunk_run(&held, j, &run);
      lane_group_scan(&run, &row, sums, heads);
      partial_append(total, row);
    }
  }
#endif
}

// Scan in[begin] to in[end - 1] into out, `carry` being what comes before; leaves the run of both.
static inline void share_scan(const global T *in, const global uchar *flags, global T *out,
                              size_t begin, size_t end, partial_t *carry, local T *sums,
                              local uint *heads) {
  tile_t held;
  for (size_t tile = begin; tile < end; tile += SHARE_TILE) {
    share_load(in, flags, tile, end, &held);
    for (uint j = 0; j < CHUNKS; ++j) {
      partial_t run, row;
      share_chunk_run(&held, j, &run);
      lane_group_scan(&run, &row, sums, heads);
      partial_prepend(&run, *carry);
      partial_append(carry, row);
      for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        const uint i = j * CHUNK_ITEMS + k;
        if (share_is_head(&held, i)) run.sum = IDENTITY;
        const T item = held.items[i];
        held.items[i] = EXCLUSIVE ? run.sum : combine(run.sum, item);
        run.sum = combine(run.sum, item);
      }
    }
    share_store(out, tile, end, &held);
  }
}
#endif

#endif
