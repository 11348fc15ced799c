// How one work-item scans its range of an array: by plain loops over the elements. CPU devices use
// this file. It is also the sequential counterpart of scan_range.cl.
#include "device/line.cl"
#include "primitives/scan_element.cl"
#include "primitives/scan_kind.cl"

#include "device/lane_group.cl"

// Number of independent partial results into which the elements of a range are combined in turn, so
// that the compiler can vectorise the loop. The partial results take 256 bytes together.
#define COLUMNS (T_BYTES < 64 ? 256 / T_BYTES : 4)
#define LINE_ITEMS (LINE_BYTES / T_BYTES)
// Number of consecutive elements that are tested together for a head, which is the first element of
// a segment.
#define HEADS_AT_ONCE 64
// If the results of a range take at least this number of bytes, they are stored directly to memory,
// past the caches. Fewer results may fit into the caches.
#define STREAM_BYTES (1 << 20)

// Return whether any of the elements i to i + HEADS_AT_ONCE - 1 is a head, which is the first
// element of a segment.
static inline bool serial_any_head(const global element_t *in, const global uchar *flags,
                                   size_t i) {
  uint any = 0;
#if SEGMENTS == SEGMENTS_FLAGS
  for (uint k = 0; k < HEADS_AT_ONCE; ++k) any |= flags[i + k];
#else
  for (uint k = 0; k < HEADS_AT_ONCE; ++k) {
    bool head;
    range_element(in, flags, i + k, &head);
    any |= head;
  }
#endif
  return any != 0;
}

// Return the scan's result for element i. Before the call, *sum is the combination of the elements
// before i. Afterwards, it is the combination of the elements of i's segment up to and including i.
static inline T serial_scan(const global element_t *in, const global uchar *flags, size_t i,
                            T *sum) {
  bool head;
  const T item = range_element(in, flags, i, &head);
  const T before = SEGMENTED ? choose(head, IDENTITY, *sum) : *sum;
  *sum = combine(before, item);
  return EXCLUSIVE ? before : *sum;
}

// Combine the elements of in[begin, end) into *total. In a segmented scan, only the elements from
// the last beginning of a segment on are combined, and total->head says whether a segment begins in
// the range.
static inline void range_reduce(const global element_t *in, const global uchar *flags, size_t begin,
                                size_t end, partial_t *total, local T *sums, local uint *heads) {
  partial_clear(total);
  size_t i = begin;
#if SEGMENTED
  // Only the elements from the last head on contribute to the result, because the last segment
  // begins there. So search backwards from the end of the range for the last head. Behind it there
  // are no other heads, so the loops below need not test for them.
  size_t last = end;
  while (last >= begin + HEADS_AT_ONCE && !serial_any_head(in, flags, last - HEADS_AT_ONCE))
    last -= HEADS_AT_ONCE;
  for (; last > begin && !total->head; --last) range_element(in, flags, last - 1, &total->head);
  i = last;
#endif
#if COMMUTATIVE
  // The elements can be combined in any order. So there are COLUMNS independent partial results,
  // and the compiler can vectorise the loop.
  T columns[COLUMNS];
  bool head;
  for (uint k = 0; k < COLUMNS; ++k) columns[k] = IDENTITY;
  for (; i + COLUMNS <= end; i += COLUMNS)
    for (uint k = 0; k < COLUMNS; ++k)
      columns[k] = combine(columns[k], range_element(in, flags, i + k, &head));
  for (uint k = 0; k < COLUMNS; ++k) total->sum = combine(total->sum, columns[k]);
#endif
  for (; i < end; ++i) {
    bool any;
    total->sum = combine(total->sum, range_element(in, flags, i, &any));
  }
}

// Scan in[begin, end) into the same indices of `out`. *carry is the combination of all elements
// before `begin` on entry, and of all elements before `end` on return. The flag carry->head, which
// says whether a segment has begun, is not updated, because no caller reads it.
static inline void range_scan(const global element_t *in, const global uchar *flags,
                              global element_t *out, size_t begin, size_t end, partial_t *carry,
                              local T *sums, local uint *heads) {
  size_t i = begin;
#if ELEMENT_IS_T
  if ((end - begin) * T_BYTES >= STREAM_BYTES)
    for (; i + LINE_ITEMS <= end; i += LINE_ITEMS) {
      T line[LINE_ITEMS] __attribute__((aligned(LINE_BYTES)));
      for (uint k = 0; k < LINE_ITEMS; ++k) line[k] = serial_scan(in, flags, i + k, &carry->sum);
      wi_store_line((global uint *)(out + i), (const uint *)line);
    }
#endif
  for (; i < end; ++i) element_store(out, i, serial_scan(in, flags, i, &carry->sum));
}
