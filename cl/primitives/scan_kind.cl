// Which kind of scan a program is for: segmented or not, exclusive or inclusive.

#define SEGMENTS_NONE 0
#define SEGMENTS_FLAGS 1
#define SEGMENTS_PACKED 2

// Where segments begin. SEGMENTS_NONE (0): there are none. SEGMENTS_FLAGS (1): where a byte flag is
// not 0. SEGMENTS_PACKED (2): where the top bit of the element, an unsigned integer, is set; that
// bit is no part of the value.
#ifndef SEGMENTS
#define SEGMENTS SEGMENTS_NONE
#endif
#define SEGMENTED (SEGMENTS != SEGMENTS_NONE)

// 1: exclusive, without the element's own value. 0: inclusive.
#ifndef EXCLUSIVE
#define EXCLUSIVE 1
#endif
