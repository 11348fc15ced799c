// The forests of a graph's parts put together: a graph of their edges, in canonical order.
#include "device/weight_key.cl"
#include "device/work_group.cl"

// The first of the places [low, high) whose slot is not less than `slot`, or `high`. Slots rise;
// the work grows with how far the place is from `low`.
static inline uint wi_gallop(const global uint *slots, uint low, uint high, uint slot) {
  uint stride = 1;
  while (stride < high - low && slots[low + stride] < slot) {
    low += stride;
    stride *= 2;
  }
  high = min(high - low, stride) + low;
  while (low < high) {
    const uint middle = low + (high - low) / 2;
    if (slots[middle] < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}

// List the edges of a part's forest by their slots in the whole graph.
//
// In       chosen[k]: slots in the part, rising; weights: by slot of the part; numbers: the whole
//          graph's slot of each of the part's, rising, if numbered; else the part's slots are
//          consecutive, from slot `first` on.
// Out      slots[begin .. begin + k), words[begin .. begin + k).
// Launch   any. O(k).
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

// Bring the edges of one list to their places among those of all lists.
//
// An edge's place is the number of lesser slots in every list. No slot is in two lists, so places
// are taken once; those of an edge are added up by the work-item that stores it.
//
// In       given_slots, given_words; lists[2 n_lists]: where each list begins, and its length;
//          slots rise within a list; indices: columns of the whole graph.
// Out      slots, words, columns: the union's, in canonical order; places[length of the list].
// Launch   any, once for each list. O(k log k) at most; O(k) for lone work-items.
kernel void union_merge_list(const global uint *given_slots, const global weight_t *given_words,
                             const global uint *lists, const global uint *indices,
                             global uint *places, global uint *slots, global weight_t *words,
                             global uint *columns, uint list, uint n_lists) {
  const uint begin = lists[2 * list], length = lists[2 * list + 1];
  for (uint other = 0; other < n_lists; ++other) {
    const uint first = lists[2 * other], end = first + lists[2 * other + 1];
    uint low = first;  // the slots that a work-item meets rise
    GRID_FOR(i, length) {
      const uint before = other == 0 ? 0 : places[i];
      if (other == list) {
        places[i] = before + (uint)i;
      } else {
        low = wi_gallop(given_slots, low, end, given_slots[begin + i]);
        places[i] = before + low - first;
      }
    }
  }
  GRID_FOR(i, length) {
    const uint slot = given_slots[begin + i], place = places[i];
    slots[place] = slot;
    words[place] = given_words[begin + i];
    columns[place] = indices[slot];
  }
}

// Find where the rows of the union begin.
//
// In       indptr[n + 1]: of the whole graph; slots[k]: of the union's edges, rising.
// Out      starts[n + 1].
// Launch   any. O(n log k) at most; O(n + k) for lone work-items.
kernel void union_find_rows(const global uint *indptr, const global uint *slots,
                            global uint *starts, uint n, uint k) {
  uint low = 0;  // the rows that a work-item meets rise
  GRID_FOR(row, (size_t)n + 1) {
    low = wi_gallop(slots, low, k, indptr[row]);
    starts[row] = low;
  }
}
