// filter-boruvka: windows and links, which are stored in the same way for CPUs and for GPUs. A link
// leads from a vertex towards its supervertex.
//
// A window is the range of the total order of edges that one phase solves.
//
// Edges are ordered by the pair (key, slot). The key is an unsigned integer that sorts as the
// weight does, and slots make equal weights distinct. A window has a first and a last pair, which
// both belong to the window. For keys of 32 bits, a pair is one number, key << 32 | slot. Suppose
// that there are 9 slots and two windows, which are divided after (key 5, slot 3). Then the first
// window goes from (0, 0) to (5, 3), and the second one begins at (5, 4). Of the edges with key 5,
// those in slots 0 to 3 are in the first window, and all others in the second one. Windows divide a
// total order. So the forest of the graph is built up window by window: first the forest of the
// edges of the first window, then the edges that the second window adds to it, and so on.
#include "device/weight_key.cl"
#include "device/work_group.cl"

// The complete key of a weight, an unsigned integer that sorts as the weight does.
#if WEIGHT_BITS == 64
typedef ulong full_key_t;
#define FULL_KEY_MAX ULONG_MAX
#else
typedef uint full_key_t;
#define FULL_KEY_MAX UINT_MAX
#endif

// A window, which is a range of edges in the order (key, slot). has_low and has_high say whether it
// has a lower and an upper bound. Without a lower bound, the window begins with the smallest
// possible pair. Without an upper bound, it ends with the greatest possible pair.
typedef struct {
  full_key_t low_key, high_key;
  uint low_slot, high_slot;
  bool has_low, has_high;
} window_t;

// Return whether an edge with a given key and slot belongs to a window, a range of edges in the
// order (key, slot).
static inline bool window_has(const window_t *window, full_key_t key, uint slot) {
#if WG_SIZE > 1
  // has_low and has_high are the same in all work-items, so all of them take the same branches.
  // Without bounds, the key is not even loaded.
  const bool is_above = !window->has_low || key > window->low_key ||
                        (key == window->low_key && slot >= window->low_slot);
  const bool is_below = !window->has_high || key < window->high_key ||
                        (key == window->high_key && slot <= window->high_slot);
  return is_above && is_below;
#elif WEIGHT_BITS == 64
  // On a CPU this is computed without branches, because most of them would be predicted wrongly.
  const uint low_ties = (key == window->low_key) & (slot >= window->low_slot);
  const uint high_ties = (key == window->high_key) & (slot <= window->high_slot);
  return ((key > window->low_key) | low_ties) & ((key < window->high_key) | high_ties);
#else
  const ulong low = (ulong)window->low_key << 32 | window->low_slot;
  const ulong high = (ulong)window->high_key << 32 | window->high_slot;
  return ((ulong)key << 32 | slot) - low <= high - low;
#endif
}

// ------------------------------------------------------------------------------------- links
//
// A link is a word that leads from a vertex towards its supervertex:
//
//     bit 31      bit 30      bits 29 .. 0
//     KNOWN       FINAL       NUMBER
//     1           0           the number of the supervertex, at the next depth
//     1           1           the number of the vertex's component at the end of the phase
//     0           0           the number of another vertex of the same depth, nearer to the root
//
// LINK_FINISHED is a further value, with all bits set. It means that no edge of the phase's window
// leaves the vertex.

#define LINK_KNOWN 0x80000000u
#define LINK_FINAL 0x40000000u
#define LINK_NUMBER 0x3fffffffu
#define LINK_FINISHED 0xffffffffu
