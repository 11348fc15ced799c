// Tile states: how each work-group finds the sum of all tiles before its own, in a scan that reads
// the array once. A tile is a run of elements of the array that one work-group handles.
//
// Source: Merrill, Garland 2016 (decoupled look-back); Smith, Levien, Owens 2025 (decoupled
// fallback, in which no work-group relies on the progress of another one).
//
// A work-group publishes the total of its tile as soon as it has computed it. Then it looks back,
// tile by tile, and adds up totals until it finds a prefix, which is the sum of a tile and all
// tiles before it. Then it publishes its own prefix. In the example, the work-group of tile 5 adds
// 7 + 1 + 40, and publishes this sum, 48, plus its own total 2:
//
//     tile          2           3          4          5
//     state         prefix 40   total 1    total 7    total 2
//
// If a state has not been published after LOOK_PATIENCE looks, the work-group that needs it
// computes the total of that tile from the input, and publishes that total, too.
//
// In every word of a state, two bits name the kind of the state (nothing, total or prefix). If all
// words of a state name the same kind, they belong together. So no fence is needed between the
// words, and no atomics of more than 32 bits. A word is published by an atomic maximum, and all
// work-groups that publish the total of one tile must publish equal words. So the result of the
// operator must not depend on how the elements are grouped. This excludes floating-point sums.
#include "device/lanes.cl"

// The number of times that a work-group looks at the state of an earlier tile, which another
// work-group is to publish, before it computes the total of that tile itself: at least 1. A look
// takes about a microsecond, and computing a total takes a few.
#ifndef LOOK_PATIENCE
#define LOOK_PATIENCE 64
#endif

// Only for tests of the case that a work-group does not publish the sum of its tile in time. If
// STARVED is not 0, the sums of tiles whose numbers are multiples of STARVED are never published,
// and other work-groups have to compute them.
#ifndef STARVED
#define STARVED 0
#endif

// The two top bits of each word of a tile's state name the kind of the state: STATE_NONE (nothing
// is published yet), STATE_TOTAL (the total of the tile) or STATE_PREFIX (the sum of all tiles up
// to this one). All words are 0 before the launch.
#define STATE_BITS (3u << 30)
#define STATE_NONE 0u
#define STATE_TOTAL (1u << 30)
#define STATE_PREFIX (2u << 30)
// Mask of the lower 30 bits of a word of a tile's state, which hold a part of the tile's sum.
#define STATE_VALUE (~STATE_BITS)

// Publish a word of a tile's state for other work-groups: its kind (STATE_TOTAL or STATE_PREFIX),
// and a part of the sum, which is below 2**30. Because of the maximum, a total never replaces a
// prefix.
static inline void state_publish(volatile global uint *word, uint kind, uint part) {
  atomic_max(word, kind | part);
}

// Return the present value of a word of a tile's state, which other work-groups may change.
static inline uint state_look(volatile global uint *word) {
#if LANES_IMPL == LANES_PTX
  return *word;
#else
  return atomic_or(word, 0);
#endif
}

// Read the present values of LOOK_WORDS consecutive words of the states of tiles. `from` is aligned
// to LOOK_WORDS words.
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

// Return whether the work-group of a tile is not to publish its sums, so that other work-groups
// have to compute them. This happens only in tests of clmst, which set STARVED.
static inline bool state_is_starved(uint tile) {
#if STARVED > 0
  return tile % STARVED == 0;
#else
  return false;
#endif
}
