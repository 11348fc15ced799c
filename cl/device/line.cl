// Stores of whole cache lines by one work-item on a CPU.
//
// When a CPU stores to a cache line that is not in the cache, it first reads the line from memory.
// If all of the line is overwritten, this read is useless. In a kernel that reads one array and
// writes another, both larger than the caches, such reads are a third of the memory traffic. So
// full lines are stored to memory directly, past the caches, if the compiler supports that.

#define LINE_BYTES 64
#define LINE_WORDS 16

#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define LINE_PAST_CACHES
#endif
#endif

// Store one cache line of LINE_BYTES bytes. The store goes past the caches if the compiler supports
// that and `to` is aligned to a line.
//
// Scope    one work-item.
// Needs    `line` is aligned to LINE_BYTES.
// Ensures  the line is visible to all threads after the kernel, because a kernel ends with a locked
//          instruction, which completes stores past the caches.
static inline void wi_store_line(global uint *to, const uint *line) {
#ifdef LINE_PAST_CACHES
  if ((size_t)to % LINE_BYTES == 0) {
    for (uint w = 0; w < LINE_WORDS; w += 8)
      __builtin_nontemporal_store(*(const uint8 *)(line + w), (global uint8 *)(to + w));
    return;
  }
#endif
  // The line may contain elements of any type, but is read as vectors of 8 words. This is safe,
  // because compilers let a vector type access objects of any type.
  for (uint w = 0; w < LINE_WORDS; w += 8) vstore8(*(const uint8 *)(line + w), 0, to + w);
}
