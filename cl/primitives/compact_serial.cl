// How one work-item selects records from its range of the array. Its loops have no branches that
// depend on whether a record is kept, because a CPU would often predict them wrongly.
#include "device/quirks.cl"
#include "primitives/compact_rule.cl"

// Number of consecutive records that are skipped together if none of them is kept. Each record has
// a flag, a byte that says whether it is kept.
#define FLAGS_AT_ONCE 32

#if KEEP == KEEP_FLAGGED
// Load 16 flags, each a byte, as four words. Their address may have any alignment.
static inline uint4 serial_flags(const global uchar *flags) {
  return BYTES_AS_UINT4(flags);
}
#endif

// Return whether the selection keeps record i. With KEEP_HEADS, a record is kept if it differs from
// the record before it, so i must be greater than 0.
static inline bool serial_keeps(const selection_t *of, size_t i) {
#if KEEP == KEEP_FLAGGED
  return of->flags[i] != 0;
#else
  record_chunk_t record[RECORD_CHUNKS], previous[RECORD_CHUNKS];
  record_load(of->records, i, record);
  if (KEEP == KEEP_HEADS) record_load(of->records, i - 1, previous);
  return rule_keeps(of, i, record, previous);
#endif
}

// Return how many of the records [begin, end) the selection keeps.
static inline uint range_count(const selection_t *of, size_t begin, size_t end) {
  uint count = KEEP == KEEP_HEADS && begin == 0 && end > 0;
  size_t i = begin + count;
#if KEEP == KEEP_FLAGGED
  while (end - i >= 16) {
    const size_t stop = i + 16 * min((end - i) / 16, (size_t)255);  // a byte counts up to 255
    uint4 counts = 0;                                               // 16 counts of one byte each
    for (; i < stop; i += 16) counts += flags_set(serial_flags(of->flags + i)) >> 7;
    const uint4 pairs = (counts & 0x00FF00FFu) + (counts >> 8 & 0x00FF00FFu);
    count += ((pairs.x + pairs.y + pairs.z + pairs.w) * 0x00010001u) >> 16;
  }
#endif
  for (; i < end; ++i) count += serial_keeps(of, i);
  return count;
}

// Write record i to index `to` of the result. With WRITE_POSITIONS, write the number i instead. If
// records have values, write the value of record i to the same index of the array of values.
static inline void serial_move(const selection_t *of, size_t i, size_t to) {
#if WRITE == WRITE_POSITIONS
  of->out[to] = (uint)i;
#else
  record_chunk_t record[RECORD_CHUNKS];
  record_load(of->records, i, record);
  record_store(of->out, to, record);
#endif
#if VALUE_WORDS > 0
  value_chunk_t value[VALUE_CHUNKS];
  value_load(of->values, i, value);
  value_store(of->values_out, to, value);
#endif
}

// Write the kept records of [begin, end) to the indices [at, next) of the result, one after the
// other.
//
// With WRITE_ALL, the records that are not kept follow the `total` kept records of all ranges.
// Otherwise every record is written to the next free index, and the index is increased only if the
// record is kept. So a record that is not kept is overwritten by the next one. The loop ends when
// the kept record of index next - 1 is written, so nothing is written from `next` on.
static inline void range_write(const selection_t *of, size_t begin, size_t end, uint at, uint next,
                               uint total) {
  size_t i = begin, k = at;
#if KEEP == KEEP_HEADS
  if (begin == 0 && min(next, of->bound) > 0) {
    serial_move(of, 0, 0);
    i = k = 1;
  }
#endif
#if WRITE == WRITE_ALL
  for (; i < end; ++i) {
    const bool keep = serial_keeps(of, i);
    serial_move(of, i, keep ? k : total + (i - k));
    k += keep;
  }
#else
  const size_t stop = min(next, of->bound);
#if KEEP == KEEP_FLAGGED
  while (k + FLAGS_AT_ONCE <= stop) {  // at least this many kept records, and so records, remain
    const uint4 flags = serial_flags(of->flags + i) | serial_flags(of->flags + i + 16);
    const size_t run = (flags.x | flags.y | flags.z | flags.w) != 0 ? FLAGS_AT_ONCE : 0;
    for (size_t j = i; j < i + run; ++j) {
      serial_move(of, j, k);
      k += of->flags[j] != 0;
    }
    i += FLAGS_AT_ONCE;
  }
#endif
  for (; k < stop; ++i) {
    const bool keep = serial_keeps(of, i);
    serial_move(of, i, k);
    k += keep;
  }
#endif
}
