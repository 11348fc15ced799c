// canonical_csr: sort edges, which are given in any order, into a CSR in canonical order.
//
// Every edge gets a key, which consists of its two ends, the lesser one first. A stable sort by
// these keys, which the host enqueues, brings the edges into canonical order, and parallel edges
// into the order of their positions in the input. Self-loops get a key that is greater than the
// keys of all edges, so they come last and are cut off:
//
//     position  0       1       2       3       4          bits: 2
//     edge      (2, 1)  (3, 3)  (0, 1)  (1, 2)  (0, 3)
//     key       01 10   11 11   00 01   01 10   00 11
//     sorted    2: (0, 1)   4: (0, 3)   0: (1, 2)   3: (1, 2)   [1: loop]
//
// If there is space, the position of an edge is stored with its key, in the last `number_bits` bits
// of one word. Then the sort moves 8 bytes for each edge. Otherwise number_bits is 0, the positions
// are in an array of their own, and the sort moves 12 bytes for each edge.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Indices of the words of the array `verdict`, in which the kernels store what they find out about
// the edges. All words are 0 at first.
#define VERDICT_FAULTY 0    // 1: an end is not a vertex
#define VERDICT_LOOPS 1     // number of self-loops
#define VERDICT_FALLS 2     // 1: the keys of the input are not in order
#define VERDICT_DROPPED 3   // number of edges that lighter parallel edges replace
#define VERDICT_LONG 4      // 1: more edges are parallel than a work-item compares
#define VERDICT_DISORDER 5  // 1: the ids of some parallel edges do not ascend

#define NO_VERTEX 0xFFFFFFFFu

// Number of consecutive slots (CSR entries) that a work-item processes at a time: SLOTS_OF_ONE in
// work-groups of one work-item, otherwise SLOT_RUN.
#define SLOTS_OF_ONE 4096
#define SLOTS (WG_SIZE == 1 ? SLOTS_OF_ONE : SLOT_RUN)

// Maximum number of parallel edges (edges that join the same two vertices) that one work-item
// compares to find the lightest.
#define MOST_PARALLEL 1024

static inline ulong pair_key(uint a, uint b, uint bits) {
  if (a == b) return ~0ul >> (64 - 2 * bits);
  return (ulong)min(a, b) << bits | max(a, b);
}

// Return the word by which an edge is sorted: its key, which consists of its two ends, and in the
// last number_bits bits its position `i`. If number_bits is 0, the word is the key alone.
static inline ulong key_word(ulong key, size_t i, uint number_bits) {
  return number_bits ? key << number_bits | i : key;
}

// Return the position in the input of the edge to which words[i], the i-th of the sorted words,
// belongs. `numbers` has the positions. It is null if the words contain them in their last
// number_bits bits.
static inline uint number_at(const global ulong *words, const global uint *numbers, size_t i,
                             uint number_bits) {
  return number_bits ? (uint)(words[i] & (((ulong)1 << number_bits) - 1)) : numbers[i];
}

// Return one end of an edge. Ends in the array have 32 or 64 bits, and may be signed. An end that
// is negative or needs more than 32 bits becomes NO_VERTEX, which is not a vertex of any graph.
static inline uint end_at(const global uint *ends, size_t i, uint is_wide) {
  return is_wide ? (uint)min(((const global ulong *)ends)[i], (ulong)NO_VERTEX) : ends[i];
}

// Make the sort key of each edge of a list. The key consists of the edge's two ends, the lesser one
// first. Also number the edges by their positions in the list.
//
// In       u[m], v[m]: the two ends of each edge, integers of 64 bits if `is_wide`, else of 32
//          bits.
// Out      words[m]: the key of each edge, followed by the edge's position in the last number_bits
//          bits of the word.
// In-out   numbers[m]: with has_numbers, the caller has stored the index in `u` and `v` of the edge
//          of each word. Otherwise the kernel stores the indices 0 to m - 1 if number_bits is 0.
//          verdict: the words VERDICT_FAULTY (1 if an end is not a vertex), VERDICT_LOOPS (number
//            of self-loops) and VERDICT_FALLS (1 if the keys are not in order).
// Launch   any.
// Needs    n is at most 2**bits, bits at most 32, 2 * bits + number_bits at most 64. With
//          has_numbers, number_bits is 0.
// Ensures  unless VERDICT_FAULTY is set, words[i] belongs to the edge (u[i], v[i]), or with
//          has_numbers to the edge with the index numbers[i].
kernel void canonical_csr_pair_edges(const global uint *u, const global uint *v,
                                     global ulong *words, global uint *numbers,
                                     volatile global uint *verdict, uint n, uint m, uint bits,
                                     uint number_bits, uint is_wide, uint has_numbers) {
  uint faulty = 0, loops = 0, falls = 0;
  GRID_FOR(i, m) {
    const size_t j = i > 0 ? i - 1 : 0;
    const size_t edge = has_numbers ? numbers[i] : i, before = has_numbers ? numbers[j] : j;
    const uint a = end_at(u, edge, is_wide), b = end_at(v, edge, is_wide);
    const ulong key = pair_key(a, b, bits);
    falls |= pair_key(end_at(u, before, is_wide), end_at(v, before, is_wide), bits) > key;
    faulty |= a >= n || b >= n;
    loops += a == b;
    words[i] = key_word(key, i, number_bits);
    if (!number_bits && !has_numbers) numbers[i] = (uint)i;
  }
  if (faulty) verdict[VERDICT_FAULTY] = 1;  // benign race: all work-items write 1
  if (falls) verdict[VERDICT_FALLS] = 1;    // benign race, too
  if (loops) atomic_add(verdict + VERDICT_LOOPS, loops);
}

// Make the sort key of each slot (CSR entry) of a sparse matrix. The key consists of the row and
// the column of the slot, the lesser one first. Also number the slots.
//
// In       indptr[n + 1]: the row offsets;
//          indices[m]: the column of each slot.
// Out      words[m]: the key of each slot, followed by the slot in the last number_bits bits of the
//            word;
//          numbers[m]: the slots 0 to m - 1, stored only if number_bits is 0.
// In-out   verdict: the word VERDICT_LOOPS, the number of self-loops.
// Launch   any. O(m), with one search for a row per SLOTS slots.
// Needs    row offsets do not fall, and go from 0 to m. n is at most 2**bits, bits is at most 32,
//          and 2 * bits + number_bits is at most 64.
// Ensures  words and numbers belong to the rows and columns of the slots.
kernel void canonical_csr_pair_slots(const global uint *indptr, const global uint *indices,
                                     global ulong *words, global uint *numbers,
                                     volatile global uint *verdict, uint n, uint m, uint bits,
                                     uint number_bits) {
  uint loops = 0;
  for (size_t number = get_global_id(0); number < SLOT_RUNS(m, SLOTS);
       number += get_global_size(0)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, m, SLOTS, (uint)number);
    for (uint slot = run.begin; slot < run.end; ++slot) {
      const uint row = slot_run_row(&run, indptr, slot), column = indices[slot];
      loops += row == column;
      words[slot] = key_word(pair_key(row, column, bits), slot, number_bits);
      if (!number_bits) numbers[slot] = slot;
    }
  }
  if (loops) atomic_add(verdict + VERDICT_LOOPS, loops);
}

// Find out whether the ids of parallel edges ascend. Parallel edges join the same two vertices.
//
// In       words[m]: the sorted keys of the edges, each followed by the edge's number in the last
//            number_bits bits of the word;
//          numbers[m]: the number of the edge of each word, or null if the words contain the
//            numbers;
//          ids[m]: the id of each edge, by its number.
// In-out   verdict: the word VERDICT_DISORDER, 0 before the launch.
// Launch   any.
// Needs    the sort of the words was stable.
// Ensures  VERDICT_DISORDER is 1 if an edge has the key of the edge before it, but a lesser id.
kernel void canonical_csr_find_disorder(const global ulong *words, const global uint *numbers,
                                        const global ulong *ids, volatile global uint *verdict,
                                        uint m, uint number_bits) {
  GRID_FOR(i, m) {
    if (i == 0 || words[i] >> number_bits != words[i - 1] >> number_bits) continue;
    if (ids[number_at(words, numbers, i, number_bits)] >=
        ids[number_at(words, numbers, i - 1, number_bits)])
      continue;
    verdict[VERDICT_DISORDER] = 1;  // benign race: all work-items write 1
    return;                         // one such pair is enough
  }
}

// Bring weights into the order of the sorted edges. With `places`, only the edges at these
// positions of the order get a weight.
//
// In       words: the sorted keys of the edges, each followed by the edge's number in the last
//            number_bits bits of the word;
//          numbers: the number of the edge of each word, or null if the words contain the numbers;
//          places[m]: the positions in `words` of the edges to take, or null to take the first m;
//          weights: the weight of each edge, by its number, or by its position in `words` if there
//            are places.
// Out      sorted_weights[m]: the weights in the new order.
// Launch   any. This is a kernel of its own, because on CPUs the loads of weights take twice as
//          long in a loop that also stores other results.
// Needs    numbers and places are less than the number of weights.
// Ensures  sorted_weights[i] is the weight of the edge of words[i], or of words[places[i]].
kernel void canonical_csr_gather(const global ulong *words, const global uint *numbers,
                                 const global uint *places, const global weight_t *weights,
                                 global weight_t *sorted_weights, uint m, uint number_bits) {
  GRID_FOR(i, m) {
    sorted_weights[i] = weights[places ? places[i] : number_at(words, numbers, i, number_bits)];
  }
}

// Mark the lightest edge of each group of parallel edges. If several are lightest, mark the first.
//
// In       words[m]: the sorted keys of the edges, each in the bits above the last number_bits
//            bits. Parallel edges have equal keys, so they are side by side.
//          weights[m]: the weight of each edge, in the order of the words.
// Out      stays[m]: for each edge, in the order of the words, 1 if it is marked, else 0.
// In-out   verdict: the words VERDICT_DROPPED, the number of edges that lighter parallel edges
//          replace, and VERDICT_LONG, 1 if a group has more than MOST_PARALLEL edges.
// Launch   any.
// Needs    the sort was stable; no weight is NaN.
// Ensures  unless VERDICT_LONG is set, `stays` is 1 for one edge of each group with equal keys, and
//          VERDICT_DROPPED is the number of the other edges. For self-loops, `stays` is 0. They are
//          not counted.
kernel void canonical_csr_mark_lightest(const global ulong *words, const global weight_t *weights,
                                        global uchar *stays, volatile global uint *verdict, uint m,
                                        uint bits, uint number_bits) {
  const ulong loop = pair_key(0, 0, bits);
  uint dropped = 0, is_long = 0;
  GRID_FOR(i, m) {
    const ulong key = words[i] >> number_bits;
    if (key == loop || (i > 0 && words[i - 1] >> number_bits == key)) {
      if (key == loop) stays[i] = 0;
      continue;  // the work-item of the first parallel edge writes for all of them
    }
    stays[i] = 1;
    size_t lightest = i, j = i + 1;
    if (j == m || words[j] >> number_bits != key) continue;
    weight_t least = weight_key(weights[i]);
    for (; j < m && words[j] >> number_bits == key && j - i < MOST_PARALLEL; ++j) {
      const weight_t other = weight_key(weights[j]);
      stays[j] = other < least;
      if (other >= least) continue;
      stays[lightest] = 0;
      lightest = j;
      least = other;
    }
    dropped += (uint)(j - i) - 1;
    is_long |= j < m && words[j] >> number_bits == key;
  }
  if (dropped) atomic_add(verdict + VERDICT_DROPPED, dropped);
  if (is_long) verdict[VERDICT_LONG] = 1;  // benign race: all work-items write 1
}

// Write the sorted edges as a CSR: the column and the edge id of each entry, and where each row
// ends.
//
// In       words: the sorted keys of the edges, each followed by the edge's number in the last
//            number_bits bits of the word;
//          numbers: the number of the edge of each word, or null if the words contain the numbers;
//          places[m]: the positions in `words` of the edges to write, ascending, or null for the
//            first m.
// Out      indices[m]: the column of each entry of the CSR;
//          ids[m]: the edge id of each entry, or null if the ids are 0 .. m - 1.
// In-out   ends[n + 1]: for each row that has entries, ends[row + 1] is the index after the row's
//          last entry. All elements are 0 before the launch.
// Launch   any.
// Needs    the sort was stable; places are positions of edges, not of self-loops.
// Ensures  entry i belongs to the edge ids[i]. The running maximum of `ends` is the CSR's indptr.
kernel void canonical_csr_list(const global ulong *words, const global uint *numbers,
                               const global uint *places, global uint *indices, global uint *ids,
                               global uint *ends, uint m, uint bits, uint number_bits) {
  GRID_FOR(i, m) {
    const size_t at = places ? places[i] : i;
    const ulong key = words[at] >> number_bits;
    const uint row = (uint)(key >> bits);
    indices[i] = (uint)(key & (((ulong)1 << bits) - 1));
    if (ids) ids[i] = number_at(words, numbers, at, number_bits);
    const size_t next = i + 1 == m || !places ? at + 1 : places[i + 1];
    if (i + 1 == m || (uint)(words[next] >> number_bits >> bits) != row)
      ends[row + 1] = (uint)i + 1;
  }
}
