// Access to the single elements of a scan's input, for loops that take one element at a time.
#include "primitives/scan_kind.cl"

#include "device/monoid.cl"

// Return the element at index i of a scan's input, and store in *head whether a segment begins
// there.
static inline T range_element(const global element_t *in, const global uchar *flags, size_t i,
                              bool *head) {
#if SEGMENTS == SEGMENTS_PACKED
  const T top = (T)1 << (8 * T_BYTES - 1);
  *head = (in[i] & top) != 0;
  return in[i] & ~top;
#else
  *head = SEGMENTS == SEGMENTS_FLAGS && flags[i] != 0;
  return element_load(in, i);
#endif
}
