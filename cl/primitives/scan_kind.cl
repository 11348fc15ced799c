// The kind of scan that a program computes: segmented or not, exclusive or inclusive.

#define SEGMENTS_NONE 0
#define SEGMENTS_FLAGS 1
#define SEGMENTS_PACKED 2

// How segments are given:
//   SEGMENTS_NONE (0)    there are no segments;
//   SEGMENTS_FLAGS (1)   a nonzero byte flag marks the first element of a segment;
//   SEGMENTS_PACKED (2)  the top bit of an element, which is an unsigned integer, marks the first
//                        element of a segment, and is not part of the value.
#ifndef SEGMENTS
#define SEGMENTS SEGMENTS_NONE
#endif
#define SEGMENTED (SEGMENTS != SEGMENTS_NONE)

// 1: the scan is exclusive, so the result for an element leaves out the element itself. 0: it is
// inclusive.
#ifndef EXCLUSIVE
#define EXCLUSIVE 1
#endif
