// How a lane group, a group of lanes that work together, scans its range of an array: one tile
// after the other.
//
// A tile has CHUNKS chunks for every work-item of the lane group. A chunk is CHUNK_ITEMS
// consecutive elements, which one vector load reads. The chunks of different work-items alternate,
// so that loads are coalesced. With 4 lanes, 2 chunks and 4 elements per chunk:
//
//     element    0 .. 3   4 .. 7   8 .. 11   12 .. 15   16 .. 19   20 .. 23   24 .. 27   28 .. 31
//     lane         0        1         2          3          0          1          2          3
//     chunk        0        0         0          0          1          1          1          1

// Number of bytes that a work-item loads from each tile, where an element of fewer than 4 bytes
// counts as 4: a multiple of 16 up to 128. A tile is a run of elements that a lane group handles at
// a time.
#ifndef BYTES_PER_ITEM
#define BYTES_PER_ITEM 64
#endif

#include "primitives/scan_element.cl"
#include "primitives/scan_kind.cl"

#include "device/lane_group.cl"

// CHUNK_ITEMS is the number of elements in a chunk, a run of consecutive elements that a work-item
// loads together. chunk_t is the type of a chunk. A work-item takes no more elements of 1 or 2
// bytes than of 4 bytes, which is at most 32. So one word has a bit for each of its elements, which
// says whether a segment begins at the element (a head).
#if T_BYTES < 4
#define CHUNK_ITEMS 4
typedef T chunk_t;
#elif T_BYTES < 16
#define CHUNK_ITEMS (16 / T_BYTES)
typedef uint4 chunk_t;
#else
#define CHUNK_ITEMS 1
typedef T chunk_t;
#endif
// The unsigned integer type as which one load reads the head flags of a chunk, one byte for each
// element. The flag of an element says whether a segment begins there.
#if CHUNK_ITEMS == 4
typedef uint flag_chunk_t;
#elif CHUNK_ITEMS == 2
typedef ushort flag_chunk_t;
#else
typedef uchar flag_chunk_t;
#endif
#define CHUNK_BYTES (4 * T_WORDS * CHUNK_ITEMS)
#define CHUNKS (BYTES_PER_ITEM > CHUNK_BYTES ? BYTES_PER_ITEM / CHUNK_BYTES : 1)
#define ITEMS (CHUNKS * CHUNK_ITEMS)
#define RANGE_TILE ((size_t)ITEMS * LANE_GROUP)

// The elements of a tile that one work-item has. Bit i of `heads` says whether items[i] is a head,
// which is the first element of a segment.
typedef struct {
  T items[ITEMS] __attribute__((aligned(sizeof(chunk_t))));
  uint heads;
} tile_t;

// Return the index in the array of chunk j of this work-item, for the tile that begins at index
// `tile`. A chunk is a run of consecutive elements that one vector load reads.
static inline size_t range_chunk(size_t tile, uint j) {
  return tile + ((size_t)j * LANE_GROUP + lane_group_item()) * CHUNK_ITEMS;
}

static inline bool range_is_head(const tile_t *own, uint i) {
  return SEGMENTED && (own->heads >> i & 1) != 0;
}

// If the top bit of an element says whether a segment begins there, move this bit from items[i] to
// bit i of own->heads.
static inline void range_unpack(tile_t *own, uint i) {
#if SEGMENTS == SEGMENTS_PACKED
  const T top = (T)1 << (8 * T_BYTES - 1);
  own->heads |= (uint)(own->items[i] >> (8 * T_BYTES - 1)) << i;
  own->items[i] &= ~top;
#endif
}

// Load a chunk, which is a run of consecutive elements. This is one vector load, with two
// exceptions, in which elements are loaded one by one. The first is elements of 1 or 2 bytes: to
// take a vector of them apart, compilers would store it to memory. The second is elements that take
// fewer bytes in global memory than in registers.
static inline void chunk_load(const global element_t *in, T *items) {
#if T_BYTES < 4 || !ELEMENT_IS_T
#pragma unroll
  for (uint k = 0; k < CHUNK_ITEMS; ++k) items[k] = element_load(in, k);
#else
  *(chunk_t *)items = *(const global chunk_t *)in;
#endif
}

static inline void chunk_store(global element_t *out, const T *items) {
#if T_BYTES < 4 || !ELEMENT_IS_T
#pragma unroll
  for (uint k = 0; k < CHUNK_ITEMS; ++k) element_store(out, k, items[k]);
#else
  *(global chunk_t *)out = *(const chunk_t *)items;
#endif
}

// Load this work-item's elements of the tile that begins at index `tile`. Elements at index `end`
// and after it become IDENTITY, which changes no combination.
static inline void range_load(const global element_t *in, const global uchar *flags, size_t tile,
                              size_t end, tile_t *own) {
  own->heads = 0;
  if (tile + RANGE_TILE <= end) {
    for (uint j = 0; j < CHUNKS; ++j)
      chunk_load(in + range_chunk(tile, j), own->items + j * CHUNK_ITEMS);
  } else {
    for (uint j = 0; j < CHUNKS; ++j)
      for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        const size_t i = range_chunk(tile, j) + k;
        own->items[j * CHUNK_ITEMS + k] = i < end ? element_load(in, i) : IDENTITY;
      }
  }
#if SEGMENTS == SEGMENTS_FLAGS
  for (uint j = 0; j < CHUNKS; ++j) {
    const size_t at = range_chunk(tile, j);
    uint bytes = 0;
    if (tile + RANGE_TILE <= end) bytes = *(const global flag_chunk_t *)(flags + at);
    else
      for (uint k = 0; k < CHUNK_ITEMS; ++k)
        if (at + k < end) bytes |= (uint)flags[at + k] << (8 * k);
    for (uint k = 0; k < CHUNK_ITEMS; ++k)
      own->heads |= (uint)((bytes >> (8 * k) & 0xff) != 0) << (j * CHUNK_ITEMS + k);
  }
#endif
  for (uint i = 0; i < ITEMS; ++i) range_unpack(own, i);
}

static inline void range_store(global element_t *out, size_t tile, size_t end, const tile_t *own) {
  if (tile + RANGE_TILE <= end) {
    for (uint j = 0; j < CHUNKS; ++j)
      chunk_store(out + range_chunk(tile, j), own->items + j * CHUNK_ITEMS);
  } else {
    for (uint j = 0; j < CHUNKS; ++j)
      for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        const size_t i = range_chunk(tile, j) + k;
        if (i < end) element_store(out, i, own->items[j * CHUNK_ITEMS + k]);
      }
  }
}

// Combine the elements of chunk j of a tile, a run of consecutive elements, into *run. If a segment
// begins in the chunk, set run->head, and combine only the elements from its beginning on.
static inline void range_chunk_run(const tile_t *own, uint j, partial_t *run) {
  partial_clear(run);
  for (uint k = 0; k < CHUNK_ITEMS; ++k) {
    const uint i = j * CHUNK_ITEMS + k;
    const partial_t one = {own->items[i], range_is_head(own, i)};
    partial_append(run, one);
  }
}

#if LANE_GROUP == 1
#include "primitives/scan_serial.cl"
#else
// Combine the elements of in[begin, end) into *total. In a segmented scan, only the elements from
// the last beginning of a segment on are combined, and total->head says whether a segment begins in
// the range.
//
// Scope    a whole lane group; *total is the same in all of its work-items.
static inline void range_reduce(const global element_t *in, const global uchar *flags, size_t begin,
                                size_t end, partial_t *total, local T *sums, local uint *heads) {
  tile_t own;
#if COMMUTATIVE && !SEGMENTED
  // The operator is commutative. So columns[i] combines element number i of this work-item from
  // every tile, and lanes exchange results only at the end. The loop runs backwards, while the
  // later launch that writes the scan runs forwards. So that launch begins with the elements that
  // were read last here, which are in the cache.
  T columns[ITEMS];
  for (uint i = 0; i < ITEMS; ++i) columns[i] = IDENTITY;
  for (size_t tiles = begin < end ? (end - begin - 1) / RANGE_TILE + 1 : 0; tiles > 0; --tiles) {
    range_load(in, flags, begin + (tiles - 1) * RANGE_TILE, end, &own);
    for (uint i = 0; i < ITEMS; ++i) columns[i] = combine(columns[i], own.items[i]);
  }
  partial_t run;
  partial_clear(&run);
  for (uint i = 0; i < ITEMS; ++i) run.sum = combine(run.sum, columns[i]);
  lane_group_scan(&run, total, sums, heads);
#else
  partial_clear(total);
  for (size_t tile = begin; tile < end; tile += RANGE_TILE) {
    range_load(in, flags, tile, end, &own);
    for (uint j = 0; j < CHUNKS; ++j) {
      partial_t run, row;
      range_chunk_run(&own, j, &run);
      lane_group_scan(&run, &row, sums, heads);
      partial_append(total, row);
    }
  }
#endif
}

// Scan chunk j of a tile, a run of consecutive elements, in place. `before` is the combination of
// all elements before the chunk.
static inline void chunk_scan(tile_t *own, uint j, T before) {
  for (uint k = 0; k < CHUNK_ITEMS; ++k) {
    const uint i = j * CHUNK_ITEMS + k;
    if (range_is_head(own, i)) before = IDENTITY;
    const T item = own->items[i];
    own->items[i] = EXCLUSIVE ? before : combine(before, item);
    before = combine(before, item);
  }
}

// Scan in[begin, end) into the same indices of `out`. *carry is the combination of all elements
// before `begin` on entry, and of all elements before `end` on return.
//
// Scope    a whole lane group; *carry is the same in all of its work-items.
static inline void range_scan(const global element_t *in, const global uchar *flags,
                              global element_t *out, size_t begin, size_t end, partial_t *carry,
                              local T *sums, local uint *heads) {
  tile_t own;
  for (size_t tile = begin; tile < end; tile += RANGE_TILE) {
    range_load(in, flags, tile, end, &own);
    for (uint j = 0; j < CHUNKS; ++j) {
      partial_t run, row;
      range_chunk_run(&own, j, &run);
      lane_group_scan(&run, &row, sums, heads);
      partial_prepend(&run, *carry);
      partial_append(carry, row);
      chunk_scan(&own, j, run.sum);
    }
    range_store(out, tile, end, &own);
  }
}
#endif
