// Parts of a graph on several devices, and the union of their forests.
//
// A part of rows has some consecutive rows of a graph that stores each edge once. The part has all
// vertices of the graph:
//
//     rows of the graph     0  1  2 | 3  4
//     indptr                0  2  2   4  7  8
//     part of rows 0 to 2   0  2  2   4  4  4
//     part of rows 3 to 4   0  0  0   0  3  4
//
// So the slots (CSR entries) of all parts, one part after the other, are the slots of the graph.
// There is a second kind of part: it has any slots of the graph, in ascending order.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Compute the row offsets of a part from the row offsets of the graph. A part is the share of the
// edges that one device solves. Here it has the rows from first_row to end_row - 1, and all
// vertices of the graph.
//
// In-out   indptr[n + 1]: before the launch, elements first_row to end_row are offsets of the
//          graph, and all others are undefined. Afterwards it has the offsets of the part.
// Launch   any.
// Needs    first_row <= end_row <= n; first_slot = indptr[first_row].
// Ensures  rows outside of the part are empty.
kernel void parts_begin_rows(global uint *indptr, uint first_row, uint end_row, uint first_slot,
                             uint n_slots, uint n) {
  GRID_FOR(row, (size_t)n + 1) {
    uint start = 0;
    if (row >= first_row) start = row <= end_row ? indptr[row] - first_slot : n_slots;
    indptr[row] = start;
  }
}

// List a number and the weight of each edge of a part's forest. A part is the share of the graph's
// edges that one device solves. The number of an edge is its column, or its slot in the graph (CSR
// entry).
//
// In       chosen[k]: the slot of each edge of the forest, counted within the part, ascending;
//          weights: the weight of each slot of the part;
//          numbers: the number of each slot of the part, read if `numbered`. Otherwise slot i has
//            the number first + i.
// Out      listed, words: the number and the weight of each edge, in the elements from `begin` to
//          begin + k - 1.
// Launch   any. O(k).
// Needs    chosen slots are in the part.
// Ensures  listed[begin + i], words[begin + i] = the number and the weight of chosen[i].
kernel void parts_list_forest(const global uint *chosen, const global weight_t *weights,
                              const global uint *numbers, global uint *listed,
                              global weight_t *words, uint numbered, uint first, uint begin,
                              uint k) {
  GRID_FOR(i, k) {
    const uint slot = chosen[i];
    listed[begin + i] = numbered ? numbers[slot] : first + slot;
    words[begin + i] = weights[slot];
  }
}

// Find where each row begins in a list of edges, such as the forest of a part. A part is the share
// of the graph's edges that one device solves. The list is sorted by slot (CSR entry), and so by
// row. This is done for the rows from first_row to first_row + count - 1.
//
// In       indptr[n + 1]: the row offsets of the part or of the graph;
//          chosen[k]: the slot of each edge of the list, in the part or in the graph, ascending;
//          before: the number of edges that come before this list in the result.
// Out      starts[at .. at + count - 1]: the index of the first edge of each row in the result, in
//          which `before` edges precede the list.
// Launch   any. O(count log k) at most; O(count + k) on CPUs.
// Needs    first_row + count <= n + 1.
// Ensures  starts[at + i] = before + the number of edges in rows before first_row + i.
kernel void parts_find_rows(const global uint *indptr, const global uint *chosen,
                            global uint *starts, uint first_row, uint count, uint at, uint before,
                            uint k) {
  uint low = 0;  // the rows of a work-item ascend
  GRID_FOR(i, count) {
    low = wi_gallop(chosen, low, k, indptr[first_row + i]);
    starts[at + i] = before + low;
  }
}

// Make the rows from first_row to first_row + count - 1 of a list of k edges empty, by storing that
// all of them begin after the last edge.
//
// Out      starts[first_row .. first_row + count - 1]: the index in the list at which each of these
//          rows begins.
// Launch   any.
// Needs    nothing.
// Ensures  these entries are all k.
kernel void parts_end_rows(global uint *starts, uint first_row, uint count, uint k) {
  GRID_FOR(i, count) starts[first_row + i] = k;
}

// Merge sorted lists of edges into their union, by one launch for each list. Each list has the
// forest of one part of the graph, which one device has solved.
//
// The index of an edge in the union is the number of edges with lesser slots (CSR entries) in all
// lists. A work-item finds this number for its edge by a search in each of the other lists. No slot
// is in two lists, so indices are distinct.
//
// In       given_slots, given_words: the slot and the weight of each edge of all lists;
//          lists[2 n_lists]: the index of the first edge of each list, and its number of edges;
//          indices: the column of each slot of the graph.
// Out      slots, words, columns: the slot, the weight and the column of each edge of the union, in
//          canonical order.
// Temp     targets[length of the list]: the index in the union of each edge of the list.
// Launch   any, once for each list. O(k log k) at most; O(k) on CPUs.
// Needs    slots ascend within a list.
// Ensures  every edge of the list is at its index in the canonical order.
kernel void parts_merge_list(const global uint *given_slots, const global weight_t *given_words,
                             const global uint *lists, const global uint *indices,
                             global uint *targets, global uint *slots, global weight_t *words,
                             global uint *columns, uint list, uint n_lists) {
  const uint begin = lists[2 * list], length = lists[2 * list + 1];
  for (uint other = 0; other < n_lists; ++other) {
    const uint first = lists[2 * other], end = first + lists[2 * other + 1];
    uint low = first;  // the slots of a work-item ascend
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
