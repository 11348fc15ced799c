// Segments are consecutive ranges of an array. They are given by offsets, by flags at their first
// elements (heads), or by flags at their last elements (ends). These kernels compute heads from
// offsets, and ends from heads. They also take the results of segments from a segmented scan.
//
//     offsets      0  2  2  5       three segments of lengths 2, 0, 3
//     heads        1  0  1  0  0    the empty segment does not have a head
//     ends         0  1  0  0  1
#include "device/monoid.cl"
#include "device/work_group.cl"

// Mark the first element of every segment that is not empty, and check the offsets.
//
// In       offsets[n_segments + 1]: where each segment begins in an array of n elements, and n.
// In-out   flags[n]: a flag for each element, 0 before the launch;
//          fault[1]: becomes the number of the first segment with faulty offsets. Before the
//            launch, it is a number that no segment has.
// Launch   any.
// Needs    n < 2**32.
// Ensures  flags[i] = 1 where a non-empty segment begins; every flag has one writer. fault[0] = the
//          first segment whose end is before its beginning or beyond n, if there is such a segment.
kernel void segments_mark_heads(const global uint *offsets, global uchar *flags,
                                volatile global uint *fault, uint n_segments, uint n) {
  GRID_FOR(s, n_segments) {
    const uint begin = offsets[s], end = offsets[s + 1];
    if (begin < end && begin < n) flags[begin] = 1;
    if (end < begin || end > n) atomic_min(fault, (uint)s);
  }
}

// Mark the last element of every segment.
//
// In       heads[n]: for each element, not 0 if a segment begins there.
// Out      ends[n]: a flag for each element.
// Launch   any.
// Needs    `ends` is not `heads`.
// Ensures  ends[i] = 1 where element i is the last of its segment, else 0.
kernel void segments_mark_ends(const global uchar *heads, global uchar *ends, uint n) {
  GRID_FOR(i, n) ends[i] = i + 1 == n || heads[i + 1] != 0;
}

// Take the result of each segment from an inclusive segmented scan. It is the scan's result for the
// last element of the segment.
//
// In       offsets[n_segments + 1]: where each segment begins in `scanned`, and n;
//          scanned[n]: the results of an inclusive segmented scan.
// Out      out[n_segments]: the result of each segment.
// Launch   any.
// Needs    nothing. If offsets have a fault, results are undefined, but no other memory is read.
// Ensures  out[s] = `scanned` at the last element of segment s, or IDENTITY if the segment is
//          empty.
kernel void segments_take_last(const global uint *offsets, const global element_t *scanned,
                               global element_t *out, uint n_segments, uint n) {
  GRID_FOR(s, n_segments) {
    const uint end = min(offsets[s + 1], n);
    element_store(out, s, offsets[s] < end ? element_load(scanned, end - 1) : IDENTITY);
  }
}
