// From one way of giving segments to another, and from scans of segments to their results.
#include "device/monoid.cl"
#include "device/work_group.cl"

// Mark the first element of every segment that has one.
//
// In       offsets[n_segments + 1]: rising, the CSR way.
// In-out   flags[n]: 0 before.
// Launch   any.
// Ensures  flags[i] = 1 where a segment begins that is not empty, by one writer.
kernel void segments_mark_heads(const global uint *offsets, global uchar *flags, uint n_segments,
                                uint n) {
  GRID_FOR(s, n_segments) {
    const uint begin = offsets[s];
    if (begin < offsets[s + 1] && begin < n) flags[begin] = 1;
  }
}

// Mark the last element of every segment.
//
// In       heads[n]: not 0 where a segment begins.
// Out      ends[n]: 1 where one ends, else 0.
// Launch   any.
kernel void segments_mark_ends(const global uchar *heads, global uchar *ends, uint n) {
  GRID_FOR(i, n) ends[i] = i + 1 == n || heads[i + 1] != 0;
}

// Take the result of each segment from an inclusive scan.
//
// In       offsets[n_segments + 1]; scanned[n].
// Out      out[n_segments]: IDENTITY for empty segments.
// Launch   any.
kernel void segments_take_last(const global uint *offsets, const global T *scanned, global T *out,
                               uint n_segments, uint n) {
  GRID_FOR(s, n_segments) {
    const uint end = min(offsets[s + 1], n);
    out[s] = offsets[s] < end ? scanned[end - 1] : IDENTITY;
  }
}
