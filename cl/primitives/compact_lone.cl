// How a lone work-item goes through its share: sequential loops without branches on the data.
#ifndef CLMST_PRIMITIVES_COMPACT_LONE
#define CLMST_PRIMITIVES_COMPACT_LONE

#include "primitives/compact_rule.cl"

// Records that are moved without a look at how many there are left.
#define LONE_RUN 8

// Record i where the rule looks at records; flags are looked at alone.
static inline record_t lone_record(const global record_t *records, size_t i) {
  return records[i];
}

#if KEEP == KEEP_FLAGGED
// How many of flags[begin] to flags[end - 1] are set.
static inline uint lone_count_flags(const global uchar *flags, size_t begin, size_t end) {
  uint count = 0;
  size_t i = begin;
  while (end - i >= 16) {
    const size_t stop = i + 16 * min((end - i) / 16, (size_t)255);  // as far as a byte counts
    uchar16 counts = 0;
    for (; i < stop; i += 16) counts -= as_uchar16(vload16(0, flags + i) != (uchar16)(0));
    const uint4 words = as_uint4(counts);
    const uint4 pairs = (words & 0x00FF00FFu) + (words >> 8 & 0x00FF00FFu);
    count += ((pairs.x + pairs.y + pairs.z + pairs.w) * 0x00010001u) >> 16;
  }
  for (; i < end; ++i) count += flags[i] != 0;
  return count;
}
#endif

// How many records of a share, records[begin] to records[end - 1], are kept.
static inline uint share_count(const global record_t *records, const global uchar *flags,
                               size_t begin, size_t end, size_t share) {
#if KEEP == KEEP_FLAGGED
  return lone_count_flags(flags, begin, end);
#else
  uint count = 0;
  for (size_t i = begin; i < end; ++i) count += rule_keeps(records, flags, i, records[i]);
  return count;
#endif
}

#endif
