// Selection of records in a single pass, which reads flags or records once. Unlike compact.cl, it
// cannot compute a partition, in which the records that are not kept follow the kept ones. Their
// place in the result depends on the number of all kept records, which is not known before the end.
//
// Source: Merrill, Garland 2016; Smith, Levien, Owens 2025. look_back.cl explains the method.
//
// A tile is a run of consecutive records that one work-group handles. Work-groups take tiles in the
// order in which they start. A tile is divided into sections, one for each lane group (lanes that
// work together). A section consists of rows as in compact_rows.cl.
#include "device/look_back.cl"
#include "primitives/compact_rule.cl"
#include "primitives/compact_rows.cl"

#define LANE_GROUPS (WG_SIZE / LANE_GROUP)

// Number of parts of a section, which is the share of a tile that one lane group handles. For each
// part, a lane keeps a word with one bit for each of its records. The bit says whether the record
// is kept.
#ifndef SECTION_PARTS
#define SECTION_PARTS 4
#endif

#if KEEP == KEEP_FLAGGED
#define PART TILE
#else
#define PART FULL_BATCH
#endif
#define SECTION (SECTION_PARTS * PART)
#define CHAIN_TILE ((size_t)LANE_GROUPS * SECTION)

// Count the kept records of a tile that another work-group handles. This is done if that work-group
// has not published its count in time.
//
// Scope    all look-back lanes, which are the lanes that read the counts of earlier tiles; the
//          result is the same in each of them.
static inline uint look_back_count(const selection_t *of, uint tile, uint n) {
  const size_t begin = tile * CHAIN_TILE, end = min(begin + CHAIN_TILE, (size_t)n);
  uint count = 0;
#pragma unroll 1
  for (size_t i = begin + get_local_id(0); i < end; i += LOOK_BACK_LANES) {
#if KEEP == KEEP_FLAGGED
    count += of->flags[i] != 0;
#else
    record_chunk_t record[RECORD_CHUNKS], previous[RECORD_CHUNKS];
    record_load(of->records, i, record);
    record_load(of->records, i - (i > 0), previous);
    count += (KEEP == KEEP_HEADS && i == 0) || rule_keeps(of, i, record, previous);
#endif
  }
  return look_back_combine(count);
}

// Return the number of records that all tiles before `tile` keep, from the counts that their
// work-groups have published.
//
// In-out   states: the words in which work-groups publish the counts of their tiles.
// Scope    all look-back lanes, which are the lanes that read these counts; the result is the same
//          in each of them.
static inline uint look_back_prefix(const selection_t *of, volatile global uint *states, uint tile,
                                    uint n) {
  look_t at = {0, tile, tile == 0};
#pragma unroll 1
  while (!look_back_find(states, &at)) {
    const uint count = look_back_count(of, at.next - 1, n);
    look_back_take(states, &at, count, false);
  }
  return at.after;
}

// Publish `own`, the number of records that `tile` keeps. Return the number of records that all
// tiles before it keep.
//
// In-out   states: the words in which work-groups publish the counts of their tiles.
// Out      count[1]: the number of all kept records, written by the last tile.
// Temp     *before: one word of local memory.
// Scope    the whole work-group; the result is the same in each work-item. Ends with a barrier.
static inline uint wg_kept_before(const selection_t *of, volatile global uint *states, uint tile,
                                  uint own, uint n, global uint *count, local uint *before) {
  if (is_look_back_lane()) {
    const bool speaks = get_local_id(0) == 0 && !state_is_starved(tile);
    if (speaks) look_publish(states, tile, tile == 0 ? STATE_PREFIX : STATE_TOTAL, own);
    const uint kept = look_back_prefix(of, states, tile, n);
    if (speaks && tile > 0) look_publish(states, tile, STATE_PREFIX, kept + own);
    if (get_local_id(0) == 0) {
      *before = kept;
      if ((tile + 1) * CHAIN_TILE >= n) *count = kept + own;
    }
  }
  wg_barrier_local();
  return *before;
}

// Find out which records of a section are kept, and return how many of this lane's records are
// kept. A section is the share of a tile that one lane group handles.
//
// The records that are read here are not kept in registers until they are written, because
// registers are too few for all of them. With smaller tiles they would be enough, but work-groups
// would have to look back more often. So records are loaded again later, from the cache.
//
// Out      bits[SECTION_PARTS]: for each part of the section a word, with a bit for each of this
//          lane's records, which is 1 if the record is kept.
IN_REGISTERS
static inline uint section_look(const selection_t *of, size_t begin, size_t end, uint *bits) {
#pragma unroll
  for (uint p = 0; p < SECTION_PARTS; ++p) {
    const size_t part = begin + p * PART;
#if KEEP == KEEP_FLAGGED
    bits[p] = flags_pack(flags_load(of->flags, part + 16 * lane_group_lane(), end));
#else
    lane_batch_t looked_at;
    bits[p] = batch_look_quickly(of, part, batch_filled(part, end), &looked_at);
#endif
  }
  uint count = 0;
#pragma unroll
  for (uint p = 0; p < SECTION_PARTS; ++p) count += popcount(bits[p]);
  return count;
}

// Write the kept records of a section, which is a lane group's share of a tile, to the result from
// index `at` on.
//
// Scope    the whole work-group. `words` is local memory of WG_SIZE entries.
IN_REGISTERS
static inline void section_write(const selection_t *of, size_t begin, size_t end, const uint *bits,
                                 uint at, local uint *words) {
#pragma unroll
  for (uint p = 0; p < SECTION_PARTS; ++p) {
    const size_t part = begin + p * PART;
#if KEEP == KEEP_FLAGGED
    const uint published = flags_publish(bits[p], words);
    for (uint row = 0; row < ROWS; row += BATCH) {
      const size_t first = part + row * LANE_GROUP;
      at = batch_select(of, first, batch_filled(first, end), row, published, at, 0, words);
    }
#else
    lane_batch_t own;
    uint masks[BATCH];
    const uint filled = batch_filled(part, end);
    ballot_masks(bits[p], masks, words);
    batch_load(of, part, filled, masks, false, &own);
    at = batch_write(of, part, filled, at, 0, masks, &own);
#endif
  }
}

// Select the records to keep in a single pass. Each work-group takes one tile, a run of consecutive
// records. From the counts that earlier work-groups have published, it learns how many kept records
// come before its tile.
//
// In       records[n]: the records, not read with WRITE_POSITIONS;
//          flags[n]: a byte for each record, not 0 if the record is kept, read only with
//            KEEP_FLAGGED;
//          values[n]: a value for each record, read only if VALUE_WORDS > 0;
//          bound: the capacity of the result.
// In-out   states[LOOK_WORDS + 2 * number of tiles]: the words in which work-groups publish the
//          counts of their tiles, all 0 before the launch.
// Out      out[bound]: the kept records, or with WRITE_POSITIONS their positions in the input;
//          values_out[bound]: the values of the kept records. `out` and `values_out` must not be
//            arrays that are read.
//          count[1]: the number of all kept records.
// Launch   one work-group for each tile; n > 0.
// Needs    n < 2**32; WRITE is not WRITE_ALL.
// Ensures  out[k] = kept record k, or its position, for k < bound. Nothing else is written.
LANES_ATTRIBUTE
kernel void compact_chain_select(const global record_chunk_t *records, const global uchar *flags,
                                 const global value_chunk_t *values, volatile global uint *states,
                                 global record_chunk_t *out, global value_chunk_t *values_out,
                                 global uint *count, uint n, uint bound GIVEN_PARAMETERS) {
  local uint scratch[WG_SIZE], taken[1], before_tile;
  const selection_t of = {records, flags, values, out, values_out, bound, GIVEN};
  if (get_local_id(0) == 0) *taken = wi_take_tile(states);
  wg_barrier_local();
  const uint tile = *taken, group = get_local_id(0) / LANE_GROUP;
  const size_t begin = min(tile * CHAIN_TILE + group * SECTION, (size_t)n);
  const size_t end = min(begin + SECTION, (size_t)n);
  uint bits[SECTION_PARTS], all;
  const uint own = section_look(&of, begin, end, bits);
  const uint before = wg_exclusive_sum_u32(own, &all, scratch);
  if (lane_group_lane() == 0) scratch[group] = before;
  const uint at = wg_kept_before(&of, states, tile, all, n, count, &before_tile) + scratch[group];
  section_write(&of, begin, end, bits, at, scratch);
}
