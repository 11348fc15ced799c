// Cache lines written by a single work-item on a CPU.
//
// A store to a line that is not in the cache reads it first. Of an array that is written from end to
// end and larger than the caches, that is a third read for nothing: lines go past them instead.
#ifndef CLMST_DEVICE_LINE
#define CLMST_DEVICE_LINE

#define LINE_BYTES 64
#define LINE_WORDS 16

#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define LINE_PAST_CACHES
#endif
#endif

// Store a full line, past the caches where the compiler knows how and the address is a line's. The
// end of a kernel, being a locked instruction, makes it visible. `line` is aligned as a line.
static inline void wi_store_line(global uint *to, const uint *line) {
#ifdef LINE_PAST_CACHES
  if ((size_t)to % LINE_BYTES == 0) {
    for (uint w = 0; w < LINE_WORDS; w += 8)
      __builtin_nontemporal_store(*(const uint8 *)(line + w), (global uint8 *)(to + w));
    return;
  }
#endif
  // By vectors as well: elements of any type may be read as such, which words may not.
  for (uint w = 0; w < LINE_WORDS; w += 8) vstore8(*(const uint8 *)(line + w), 0, to + w);
}

#endif
