// How ECL-MST finds the sets of vertices, with and without implicit path compression.
//
// Source: SC '23, section 5.3, item 4.
#include "device/union_find.cl"

// 1: worklists, the lists of undecided edges, hold the representatives of endpoints, which are
// roots of the sets. This compresses paths implicitly. 0: worklists hold the vertices themselves,
// and the search for a root halves the paths that it follows.
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
