// Gather and scatter, which move records by an array of indices, and a kernel that fills an array
// with the numbers 0, 1, 2, ...
//
// On GPUs, several work-items move one record. A record is divided into chunks, and each work-item
// moves one chunk. So neighbouring work-items load and store neighbouring words, however large a
// record is.
#include "device/record.cl"
#include "device/work_group.cl"

// Number of chunks that a work-item loads before it waits for any of them, because random loads
// take long. A chunk is the part of a record that one load moves.
#define BATCH 4
#define PERMUTE_TILE ((size_t)BATCH * WG_SIZE)

// Return the index of a chunk in the array that is accessed at random. This is the array that a
// gather reads or a scatter writes. A chunk is the part of a record that one load moves. The chunk
// has the index i in the other array, whose records are accessed in order. Record r of the other
// array belongs to record indices[r] of this one.
static inline size_t permute_far(const global uint *indices, size_t i) {
  return (size_t)indices[i / RECORD_CHUNKS] * RECORD_CHUNKS + i % RECORD_CHUNKS;
}

// Copy record i of an array to record j of another.
static inline void permute_move(const global record_chunk_t *from, size_t i,
                                global record_chunk_t *to, size_t j) {
  record_chunk_t record[RECORD_CHUNKS];
  record_load(from, i, record);
  record_store(to, j, record);
}

// Gather the records at given indices.
//
// In       values: an array of records;
//          indices[n]: for each result, the index in `values` of its record.
// Out      out[n]: the gathered records. It must not be an array that is read.
// Launch   any.
// Needs    indices are below the number of values.
// Ensures  out[i] = values[indices[i]].
kernel void permute_gather(const global record_chunk_t *values, const global uint *indices,
                           global record_chunk_t *out, uint n) {
#if WG_SIZE == 1
  GRID_FOR(i, n) permute_move(values, indices[i], out, i);
#else
  const size_t chunks = (size_t)n * RECORD_CHUNKS;
  TILES_FOR(tile, chunks, PERMUTE_TILE) {
    const size_t first = tile + get_local_id(0);
    size_t far[BATCH];
    record_chunk_t moved[BATCH];
#pragma unroll
    for (uint b = 0; b < BATCH; ++b)
      far[b] = permute_far(indices, min(first + b * WG_SIZE, chunks - 1));
#pragma unroll
    for (uint b = 0; b < BATCH; ++b) moved[b] = values[far[b]];
#pragma unroll
    for (uint b = 0; b < BATCH; ++b)
      if (first + b * WG_SIZE < chunks) out[first + b * WG_SIZE] = moved[b];
  }
#endif
}

// Scatter records to given indices.
//
// In       values[n]: the records;
//          indices[n]: the index in `out` to which each record goes.
// In-out   out: an array of records, of which n are replaced. It must not be an array that is read.
// Launch   any.
// Needs    indices are distinct, and below the number of records in `out`.
// Ensures  out[indices[i]] = values[i]; other records are unchanged.
kernel void permute_scatter(const global record_chunk_t *values, const global uint *indices,
                            global record_chunk_t *out, uint n) {
#if WG_SIZE == 1
  GRID_FOR(i, n) permute_move(values, i, out, indices[i]);
#else
  const size_t chunks = (size_t)n * RECORD_CHUNKS;
  TILES_FOR(tile, chunks, PERMUTE_TILE) {
    const size_t first = tile + get_local_id(0);
    size_t far[BATCH];
    record_chunk_t moved[BATCH];
#pragma unroll
    for (uint b = 0; b < BATCH; ++b) {
      const size_t i = min(first + b * WG_SIZE, chunks - 1);
      far[b] = permute_far(indices, i);
      moved[b] = values[i];
    }
#pragma unroll
    for (uint b = 0; b < BATCH; ++b)
      if (first + b * WG_SIZE < chunks) out[far[b]] = moved[b];
  }
#endif
}

// Fill an array with the numbers 0, 1, 2 and so on.
//
// Out      out[n]: the numbers.
// Launch   any.
// Needs    n < 2**32.
// Ensures  out[i] = i.
kernel void permute_number(global uint *out, uint n) {
  GRID_FOR(i, n) out[i] = (uint)i;
}
