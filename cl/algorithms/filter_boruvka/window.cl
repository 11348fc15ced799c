// filter-boruvka: windows. A window is the part of the total order of edges that one phase takes.
//
// Edges are ordered by (key, slot). A window has a first and a last pair, and both belong to it.
// For keys of 32 bits a pair is one number, key << 32 | slot. With n_slots = 9 and two windows that
// are cut behind (key 5, slot 3), the first goes from (0, 0) to (5, 3), the second from (5, 4) on:
// of the edges of weight 5, those in slots 0 to 3 are in the first. Windows cut a total order, so
// the forest of a window's edges, given those of the windows before, is part of the graph's forest.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_WINDOW
#define CLMST_ALGORITHMS_FILTER_BORUVKA_WINDOW

#include "device/weight_key.cl"

// A weight's key in full.
#if WEIGHT_BITS == 64
typedef ulong full_key_t;
#define FULL_KEY_MAX ULONG_MAX
#else
typedef uint full_key_t;
#define FULL_KEY_MAX UINT_MAX
#endif

typedef struct {
  full_key_t low_key, high_key;
  uint low_slot, high_slot;
} window_t;

// Whether an edge belongs to a window. Without branches: few of them could be foreseen.
static inline bool window_has(const window_t *window, full_key_t key, uint slot) {
#if WEIGHT_BITS == 64
  const uint low_ties = (key == window->low_key) & (slot >= window->low_slot);
  const uint high_ties = (key == window->high_key) & (slot <= window->high_slot);
  return ((key > window->low_key) | low_ties) & ((key < window->high_key) | high_ties);
#else
  const ulong low = (ulong)window->low_key << 32 | window->low_slot;
  const ulong high = (ulong)window->high_key << 32 | window->high_slot;
  return ((ulong)key << 32 | slot) - low <= high - low;
#endif
}

#endif
