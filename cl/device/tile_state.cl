// Tile states: how work-groups that have one tile each pass on what comes before a tile.
//
// Source: Merrill, Garland 2016 (decoupled look-back); Smith, Levien, Owens 2025 (decoupled
// fallback: no work-group relies on the progress of another one).
//
// A work-group publishes the total of its tile as soon as it knows it. Then it looks back, tile by
// tile, and adds up totals until it finds a prefix: the sum of a tile and of all before it. Then it
// publishes its own prefix. Here tile 5 adds 7 + 1 + 40, and publishes 48 + its own 2:
//
//     tile          2           3          4          5
//     state         prefix 40   total 1    total 7    total 2
//
// A state that does not come within LOOK_PATIENCE looks is not waited for: who needs it computes
// that tile's total from the input, and publishes it, too.
//
// Every word of a state has two bits that say what its other bits are part of. So a word needs no
// fence, and no state needs atomics of more than 32 bits: words of one state that agree on these
// bits belong together. Words only rise, and who publishes the total of a tile publishes the
// same. That takes an operator whose result does not depend on the grouping.
#include "device/lanes.cl"

// Looks for a state before its tile's total is computed in its place: at least 1. A look takes
// about a microsecond, a tile a few.
#ifndef LOOK_PATIENCE
#define LOOK_PATIENCE 64
#endif

// For tests: work-groups publish nothing of tiles whose numbers are multiples of this. 0: of none.
#ifndef STARVED
#define STARVED 0
#endif

// What the top bits of a word say; all bits are 0 before the launch.
#define STATE_BITS (3u << 30)
#define STATE_NONE 0u
#define STATE_TOTAL (1u << 30)
#define STATE_PREFIX (2u << 30)
// The bits of a word that are part of a value.
#define STATE_VALUE (~STATE_BITS)

// Publish a word: `kind` and part of a value, below 2**30. A prefix stays one.
static inline void state_publish(volatile global uint *word, uint kind, uint part) {
  atomic_max(word, kind | part);
}

// A word as it is now.
static inline uint state_look(volatile global uint *word) {
#if LANES_IMPL == LANES_PTX
  return *word;
#else
  return atomic_or(word, 0);
#endif
}

// The LOOK_WORDS words from `from` on, each as it is now; `from` is aligned to as many words.
#define LOOK_WORDS 8
static inline void states_look(volatile global uint *from, uint *words) {
#if LANES_IMPL == LANES_PTX
  const uint4 low = *(volatile global uint4 *)from, high = *(volatile global uint4 *)(from + 4);
  words[0] = low.x, words[1] = low.y, words[2] = low.z, words[3] = low.w;
  words[4] = high.x, words[5] = high.y, words[6] = high.z, words[7] = high.w;
#else
  for (uint w = 0; w < LOOK_WORDS; ++w) words[w] = state_look(from + w);
#endif
}

// Whether a test keeps the work-group of a tile from publishing.
static inline bool state_is_starved(uint tile) {
#if STARVED > 0
  return tile % STARVED == 0;
#else
  return false;
#endif
}
