// How ECL-MST finds the disjoint set that contains a vertex, with and without implicit path
// compression.
//
// Source: SC '23, section 5.3, item 4.
#include "device/union_find.cl"

// Which vertices a worklist, the list of undecided edges, stores as the two ends of an edge. If
// IMPLICIT_COMPRESSION is 1, it stores the roots of the sets that contain the two ends. The next
// search for a root starts from there, so it is short although no path is compressed. If it is 0,
// the worklist stores the two ends themselves, and each search for a root halves the path that it
// follows.
#ifndef IMPLICIT_COMPRESSION
#define IMPLICIT_COMPRESSION 1
#endif

#if IMPLICIT_COMPRESSION
#define wi_find_set wi_find
typedef const global uint *parents_t;
#else
#define wi_find_set wi_find_halving
typedef volatile global uint *parents_t;
#endif
