// canonical_csr: edges in any order become a CSR in canonical order, on the device.
//
// Every edge gets a key of its two ends, the lesser one first. A stable sort by keys (the host's
// part) brings edges into canonical order, parallel ones by their positions. Self-loops get the
// greatest key, which no edge has, so they come last and are cut off:
//
//     position  0       1       2       3       4          bits: 2
//     edge      (2, 1)  (3, 3)  (0, 1)  (1, 2)  (0, 3)
//     key       01 10   11 11   00 01   01 10   00 11
//     sorted    2: (0, 1)   4: (0, 3)   0: (1, 2)   3: (1, 2)   [1: loop]
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Words of the verdict, all 0 at first.
#define VERDICT_FAULTY 0   // 1: an end is no vertex
#define VERDICT_LOOPS 1    // number of self-loops
#define VERDICT_FALLS 2    // 1: keys are not in order yet
#define VERDICT_DROPPED 3  // number of edges that lighter parallel ones replace
#define VERDICT_LONG 4     // 1: more edges are parallel than a work-item compares

#define NO_VERTEX 0xFFFFFFFFu

// Consecutive slots of a matrix that a work-item takes at once, with others in its work-group or
// alone.
#define SLOTS_OF_ONE 4096
#define SLOTS (WG_SIZE == 1 ? SLOTS_OF_ONE : SLOT_RUN)

// The most parallel edges that are compared with each other.
#define MOST_PARALLEL 1024

static inline ulong pair_key(uint a, uint b, uint bits) {
  if (a == b) return ~0ul >> (64 - 2 * bits);
  return (ulong)min(a, b) << bits | max(a, b);
}

// An end of 32 or 64 bits, signed or not. One that is negative or has more than 32 bits becomes
// NO_VERTEX, which no graph has.
static inline uint end_at(const global uint *ends, size_t i, uint is_wide) {
  return is_wide ? (uint)min(((const global ulong *)ends)[i], (ulong)NO_VERTEX) : ends[i];
}

// Make the keys of a list of edges, and number them.
//
// In       u[m], v[m]: of 64 bits if `is_wide`, else of 32.
// Out      keys[m], numbers[m].
// In-out   verdict: FAULTY, LOOPS and FALLS.
// Launch   any.
// Needs    n is at most 2**bits, and bits at most 32.
// Ensures  numbers[i] = i; if the verdict is not FAULTY, keys[i] = pair_key of u[i] and v[i].
kernel void canonical_csr_pair_edges(const global uint *u, const global uint *v, global ulong *keys,
                                     global uint *numbers, volatile global uint *verdict, uint n,
                                     uint m, uint bits, uint is_wide) {
  uint faulty = 0, loops = 0, falls = 0;
  GRID_FOR(i, m) {
    const uint a = end_at(u, i, is_wide), b = end_at(v, i, is_wide);
    const ulong key = pair_key(a, b, bits);
    const size_t j = i > 0 ? i - 1 : 0;
    falls |= pair_key(end_at(u, j, is_wide), end_at(v, j, is_wide), bits) > key;
    faulty |= a >= n || b >= n;
    loops += a == b;
    keys[i] = key;
    numbers[i] = (uint)i;
  }
  if (faulty) verdict[VERDICT_FAULTY] = 1;  // benign: all write the same
  if (falls) verdict[VERDICT_FALLS] = 1;    // benign, too
  if (loops) atomic_add(verdict + VERDICT_LOOPS, loops);
}

// Make the keys of a matrix's slots, and number them.
//
// In       indptr[n + 1], indices[m].
// Out      keys[m], numbers[m].
// In-out   verdict: LOOPS.
// Launch   any. O(m), and a search for a row each SLOTS slots.
// Needs    row offsets do not fall, and go from 0 to m; n is at most 2**bits, and bits at most 32.
// Ensures  numbers[i] = i, keys[i] = pair_key of row and column of slot i.
kernel void canonical_csr_pair_slots(const global uint *indptr, const global uint *indices,
                                     global ulong *keys, global uint *numbers,
                                     volatile global uint *verdict, uint n, uint m, uint bits) {
  uint loops = 0;
  for (size_t number = get_global_id(0); number < SLOT_RUNS(m, SLOTS);
       number += get_global_size(0)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, m, SLOTS, (uint)number);
    for (uint slot = run.begin; slot < run.end; ++slot) {
      const uint row = slot_run_row(&run, indptr, slot), column = indices[slot];
      loops += row == column;
      keys[slot] = pair_key(row, column, bits);
      numbers[slot] = slot;
    }
  }
  if (loops) atomic_add(verdict + VERDICT_LOOPS, loops);
}

// Mark the lightest of parallel edges, the first one on a tie.
//
// In       keys[m]: sorted; numbers[m]: of the edges in that order; weights: before sorting.
// Out      stays[m]: 1 or 0.
// In-out   verdict: DROPPED and LONG.
// Launch   any.
// Needs    a stable sort; no weight is NaN.
// Ensures  if the verdict is not LONG, one edge stays of those with equal keys, and the other ones
//          are counted; no loop stays, and none is counted.
kernel void canonical_csr_mark_lightest(const global ulong *keys, const global uint *numbers,
                                        const global weight_t *weights, global uchar *stays,
                                        volatile global uint *verdict, uint m, uint bits) {
  const ulong loop = pair_key(0, 0, bits);
  uint dropped = 0, is_long = 0;
  GRID_FOR(i, m) {
    const ulong key = keys[i];
    if (key == loop || (i > 0 && keys[i - 1] == key)) {
      if (key == loop) stays[i] = 0;
      continue;  // the first of parallel edges writes for all
    }
    stays[i] = 1;
    size_t lightest = i, j = i + 1;
    if (j == m || keys[j] != key) continue;
    weight_t least = weight_key(weights[numbers[i]]);
    for (; j < m && keys[j] == key && j - i < MOST_PARALLEL; ++j) {
      const weight_t other = weight_key(weights[numbers[j]]);
      stays[j] = other < least;
      if (other >= least) continue;
      stays[lightest] = 0;
      lightest = j;
      least = other;
    }
    dropped += (uint)(j - i) - 1;
    is_long |= j < m && keys[j] == key;
  }
  if (dropped) atomic_add(verdict + VERDICT_DROPPED, dropped);
  if (is_long) verdict[VERDICT_LONG] = 1;  // benign: all write the same
}

// List the edges in canonical order.
//
// In       keys: sorted; numbers: of the edges in that order; weights: before sorting; places[m]:
//          of those among the sorted ones that are listed, rising, or null for the first m.
// Out      indices[m], sorted_weights[m]; ids[m], unless null.
// In-out   ends[n + 1]: 0 before.
// Launch   any.
// Needs    a stable sort; places are those of edges.
// Ensures  slot i is of the edge ids[i]; ends[row + 1] = the end of the row, of rows with edges. So
//          the running maximum of `ends` is the index pointer.
kernel void canonical_csr_list(const global ulong *keys, const global uint *numbers,
                               const global weight_t *weights, const global uint *places,
                               global uint *indices, global weight_t *sorted_weights,
                               global uint *ids, global uint *ends, uint m, uint bits) {
  GRID_FOR(i, m) {
    const size_t at = places ? places[i] : i;
    const ulong key = keys[at];
    const uint row = (uint)(key >> bits), number = numbers[at];
    indices[i] = (uint)(key & (((ulong)1 << bits) - 1));
    sorted_weights[i] = weights[number];
    if (ids) ids[i] = number;
    const size_t next = i + 1 == m || !places ? at + 1 : places[i + 1];
    if (i + 1 == m || (uint)(keys[next] >> bits) != row) ends[row + 1] = (uint)i + 1;
  }
}
