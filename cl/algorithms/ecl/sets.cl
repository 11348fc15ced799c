// How ECL-MST finds the sets of vertices, with and without implicit path compression.
//
// Source: SC '23, section 5.3, item 4.
#include "device/union_find.cl"

// What worklists, the lists of undecided edges, hold as the ends of an edge. 1: the representatives
// of the sets that contain its two vertices. The next search then starts there instead of at the
// vertices, so it is short although no path is compressed. 0: the two vertices. Then the search for
// a representative halves the path that it follows.
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
