// The union of the forests of a graph's parts: a graph of their edges, in canonical order.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// List the edges of a part's forest by their slots in the whole graph.
//
// In       chosen[k]: slots in the part, rising; weights: by slot of the part; numbers: if
//          `numbered`, the whole graph's slot of each slot of the part, rising; else the part's
//          slots are consecutive, from slot `first` on.
// Out      slots[begin + k], words[begin + k]: from `begin` on.
// Launch   any. O(k).
// Needs    chosen slots are in the part.
// Ensures  slots[begin + i], words[begin + i] = the whole graph's slot and the weight of edge i.
kernel void union_list_forest(const global uint *chosen, const global weight_t *weights,
                              const global uint *numbers, global uint *slots,
                              global weight_t *words, uint numbered, uint first, uint begin,
                              uint k) {
  GRID_FOR(i, k) {
    const uint slot = chosen[i];
    slots[begin + i] = numbered ? numbers[slot] : first + slot;
    words[begin + i] = weights[slot];
  }
}

// Write the edges of one list to their indices among those of all lists.
//
// An edge's index is the number of lesser slots in all lists. No slot is in two lists, so indices
// are distinct. The work-item that stores an edge adds up its numbers.
//
// In       given_slots, given_words; lists[2 n_lists]: the begin and the length of each list;
//          indices: columns of the whole graph.
// Out      slots, words, columns: of the union, in canonical order.
// Temp     targets[length of the list].
// Launch   any, once for each list. O(k log k) at most; O(k) on CPUs.
// Needs    slots rise within a list.
// Ensures  every edge of the list is at its index in the canonical order.
kernel void union_merge_list(const global uint *given_slots, const global weight_t *given_words,
                             const global uint *lists, const global uint *indices,
                             global uint *targets, global uint *slots, global weight_t *words,
                             global uint *columns, uint list, uint n_lists) {
  const uint begin = lists[2 * list], length = lists[2 * list + 1];
  for (uint other = 0; other < n_lists; ++other) {
    const uint first = lists[2 * other], end = first + lists[2 * other + 1];
    uint low = first;  // a work-item's slots rise
    GRID_FOR(i, length) {
      const uint before = other == 0 ? 0 : targets[i];
      if (other == list) {
        targets[i] = before + (uint)i;
      } else {
        low = wi_gallop(given_slots, low, end, given_slots[begin + i]);
        targets[i] = before + low - first;
      }
    }
  }
  GRID_FOR(i, length) {
    const uint slot = given_slots[begin + i], index = targets[i];
    slots[index] = slot;
    words[index] = given_words[begin + i];
    columns[index] = indices[slot];
  }
}

// Find where the rows of the union begin.
//
// In       indptr[n + 1]: of the whole graph; slots[k]: of the union's edges, rising.
// Out      starts[n + 1].
// Launch   any. O(n log k) at most; O(n + k) on CPUs.
// Needs    slots rise.
// Ensures  starts[v] = the number of edges of the union in rows before v.
kernel void union_find_rows(const global uint *indptr, const global uint *slots,
                            global uint *starts, uint n, uint k) {
  uint low = 0;  // a work-item's rows rise
  GRID_FOR(row, (size_t)n + 1) {
    low = wi_gallop(slots, low, k, indptr[row]);
    starts[row] = low;
  }
}
