// How a lane group, a group of lanes that work together, selects records from its range of the
// array. It goes over the range in tiles of ROWS rows. Every lane has one record of each row, so
// that loads and stores are coalesced. Some consecutive rows of a tile form a batch: all of its
// rows are loaded before any of them is used.
#include "primitives/compact_masks.cl"

#define FULL_BATCH (BATCH * LANE_GROUP)

// Attribute of functions that must be inlined. Without it, compilers would keep two things in
// memory instead of registers: the records of a lane, and the struct selection_t, which has the
// arrays that the selection reads and writes.
#define IN_REGISTERS __attribute__((always_inline))

// The records that one lane has of a batch, which is BATCH rows that are loaded together. The
// lane's record in row b begins at records[b * RECORD_CHUNKS], and its value at
// values[b * VALUE_CHUNKS].
typedef struct {
  record_chunk_t records[BATCH * RECORD_CHUNKS];
#if VALUE_WORDS > 0
  value_chunk_t values[BATCH * VALUE_CHUNKS];
#endif
} lane_batch_t;

// Return how many records a batch of rows has, if its first record has the index `batch` and the
// range of the lane group ends before index `end`.
static inline uint batch_filled(size_t batch, size_t end) {
  return batch < end ? (uint)min(end - batch, (size_t)FULL_BATCH) : 0;
}

#if KEEP != KEEP_FLAGGED
// Load the records that this lane has of a batch of rows. Return a word in which bit b is 1 if the
// selection keeps this lane's record in row b.
IN_REGISTERS
static inline uint batch_look(const selection_t *of, size_t batch, uint filled, lane_batch_t *own) {
#pragma unroll
  for (uint b = 0; b < BATCH; ++b) {
    const uint offset = b * LANE_GROUP + lane_group_lane();
    if (offset < filled) record_load(of->records, batch + offset, own->records + b * RECORD_CHUNKS);
  }
  uint bits = 0;
#pragma unroll
  for (uint b = 0; b < BATCH; ++b) {
    const uint offset = b * LANE_GROUP + lane_group_lane();
    const record_chunk_t *record = own->records + b * RECORD_CHUNKS;
    if (offset < filled) {
#if KEEP == KEEP_HEADS
      const size_t i = batch + offset;
      record_chunk_t previous[RECORD_CHUNKS];
      record_load(of->records, i - (i > 0), previous);
      bits |= (uint)(i == 0 || rule_keeps(of, i, record, previous)) << b;
#else
      bits |= (uint)rule_keeps(of, batch + offset, record, 0) << b;
#endif
    }
  }
  return bits;
}

// Do what batch_look does: load the records of a batch of rows, and return which of this lane's
// records are kept. On NVIDIA's devices, full batches take a separate path, in which the compiler
// loads records without conditions. On other GPUs this gains nothing, and registers may run out.
IN_REGISTERS
static inline uint batch_look_quickly(const selection_t *of, size_t batch, uint filled,
                                      lane_batch_t *own) {
#if LANES_IMPL == LANES_PTX
  if (filled == FULL_BATCH) return batch_look(of, batch, FULL_BATCH, own);
#endif
  return batch_look(of, batch, filled, own);
}
#endif

// Load the values that will be written from a batch of rows. Load the records, too, unless `own`
// has them already. masks[b] has one bit for each lane, which says whether its record in row b is
// kept.
IN_REGISTERS
static inline void batch_load(const selection_t *of, size_t batch, uint filled, const uint *masks,
                              bool has_records, lane_batch_t *own) {
#pragma unroll
  for (uint b = 0; b < BATCH; ++b) {
    const uint offset = b * LANE_GROUP + lane_group_lane();
    if (WRITE == WRITE_ALL ? offset < filled : mask_has_own(masks[b])) {
#if WRITE != WRITE_POSITIONS
      if (!has_records) record_load(of->records, batch + offset, own->records + b * RECORD_CHUNKS);
#endif
#if VALUE_WORDS > 0
      value_load(of->values, batch + offset, own->values + b * VALUE_CHUNKS);
#endif
    }
  }
}

// Write this lane's record in row b of a batch to index `to` of the result. With WRITE_POSITIONS,
// write `i` instead, the record's position in the input.
IN_REGISTERS
static inline void row_write(const selection_t *of, size_t i, uint to, uint b,
                             const lane_batch_t *own) {
#if WRITE == WRITE_POSITIONS
  of->out[to] = (uint)i;
#else
  record_store(of->out, to, own->records + b * RECORD_CHUNKS);
#endif
#if VALUE_WORDS > 0
  value_store(of->values_out, to, own->values + b * VALUE_CHUNKS);
#endif
}

// Write the kept records of a batch of rows to the result from index `at` on. Return the next free
// index. With WRITE_ALL, also write the records that are not kept. They go behind the `total` kept
// records of the whole array.
IN_REGISTERS
static inline uint batch_write(const selection_t *of, size_t batch, uint filled, uint at,
                               uint total, const uint *masks, const lane_batch_t *own) {
#pragma unroll
  for (uint b = 0; b < BATCH; ++b) {
    const uint offset = b * LANE_GROUP + lane_group_lane();
    const uint before = at + mask_rank(masks[b]);
#if WRITE == WRITE_ALL
    const uint after = total + ((uint)batch + offset - before);
    if (offset < filled)
      row_write(of, batch + offset, mask_has_own(masks[b]) ? before : after, b, own);
#else
    if (mask_has_own(masks[b]) & (before < of->bound))  // one condition, so one predicated store
      row_write(of, batch + offset, before, b, own);
#endif
    at += popcount(masks[b]);
  }
  return at;
}

// Find the kept records of a batch of rows, and write them to the result from index `at` on. The
// first row of the batch is row number `row` of the tile. Return the next free index of the result.
IN_REGISTERS
static inline uint batch_select(const selection_t *of, size_t batch, uint filled, uint row,
                                uint published, uint at, uint total, local uint *words) {
  lane_batch_t own;
  uint masks[BATCH];
#if KEEP == KEEP_FLAGGED
  flags_masks(published, row, masks, words);
#else
  const uint bits = batch_look_quickly(of, batch, filled, &own);
  ballot_masks(bits, masks, words);
#endif
  batch_load(of, batch, filled, masks, KEEP != KEEP_FLAGGED, &own);
  return batch_write(of, batch, filled, at, total, masks, &own);
}

// Return how many of the records [begin, end) this lane counts as kept. The lanes of a lane group
// divide the records among them, so the sum of their results is the number of kept records.
IN_REGISTERS
static inline uint range_count(const selection_t *of, size_t begin, size_t end) {
  uint count = 0;
#if KEEP == KEEP_FLAGGED
  const size_t mine = 16 * lane_group_lane(), full = begin + (end - begin) / TILE * TILE;
#pragma unroll 4
  for (size_t tile = begin; tile < full; tile += TILE)
    count += flags_count(*(const global uint4 *)(of->flags + tile + mine));
  count += flags_count(flags_load(of->flags, full + mine, end));
#else
  // This loop runs backwards. The later launch that writes the records runs forwards. So it begins
  // with the records that were read last here, which are in the cache.
  const size_t n_full = (end - begin) / FULL_BATCH, rest = begin + n_full * FULL_BATCH;
  lane_batch_t own;
  if (rest < end) count = popcount(batch_look(of, rest, batch_filled(rest, end), &own));
  for (size_t batch = rest; batch > begin; batch -= FULL_BATCH)
    count += popcount(batch_look(of, batch - FULL_BATCH, FULL_BATCH, &own));
#endif
  return count;
}

// Write the kept records of [begin, end), the range of a lane group, to the result from index `at`
// on. `range` is the length of every range but the last. `words` is local memory of WG_SIZE
// entries.
IN_REGISTERS
static inline void range_write(const selection_t *of, size_t begin, size_t end, size_t range,
                               uint at, uint total, local uint *words) {
#if KEEP == KEEP_FLAGGED
  const size_t mine = 16 * lane_group_lane();
  uint4 next = flags_load(of->flags, begin + mine, end);
  for (size_t done = 0; done < range; done += TILE) {  // equally many rounds in all lane groups
    const size_t tile = begin + done;
    const uint published = flags_publish(flags_pack(next), words);
    next = flags_load(of->flags, tile + TILE + mine, end);
    for (uint row = 0; row < ROWS; row += BATCH) {
      const size_t batch = tile + row * LANE_GROUP;
      const uint filled = batch_filled(batch, end);
      at = batch_select(of, batch, filled, row, published, at, total, words);
    }
  }
#else
  for (size_t done = 0; done < range; done += FULL_BATCH) {
    const size_t batch = begin + done;
    const uint filled = batch_filled(batch, end);
    at = batch_select(of, batch, filled, 0, 0, at, total, words);
  }
#endif
}
