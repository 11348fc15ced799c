// How ECL-MST finds the sets of vertices, with and without implicit path compression.
//
// Source: SC '23, section 5.3, item 4.
#ifndef CLMST_ALGORITHMS_ECL_SETS
#define CLMST_ALGORITHMS_ECL_SETS

#include "device/union_find.cl"

// 1: worklists hold the representatives of endpoints, which compresses paths implicitly, and
// vertices in them are roots. 0: they hold vertices, and finds halve the paths they walk.
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

#endif
