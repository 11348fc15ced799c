// What kind of scan a program is for: segmented or not, exclusive or not.
#ifndef CLMST_PRIMITIVES_SCAN_KIND
#define CLMST_PRIMITIVES_SCAN_KIND

#define SEGMENTS_NONE 0
#define SEGMENTS_FLAGS 1
#define SEGMENTS_PACKED 2

// Where segments start: SEGMENTS_NONE (0); where a byte flag is not 0: SEGMENTS_FLAGS (1); where the
// top bit of the value, an unsigned integer, is set, which is no part of it: SEGMENTS_PACKED (2).
#ifndef SEGMENTS
#define SEGMENTS SEGMENTS_NONE
#endif
#define SEGMENTED (SEGMENTS != SEGMENTS_NONE)

// 1: an element's own value takes no part in its result. 0: it does.
#ifndef EXCLUSIVE
#define EXCLUSIVE 1
#endif

#endif
