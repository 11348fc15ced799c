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
// So the slots of all parts, one part after the other, are the slots of the graph. Another kind of
// part has any slots of the graph, in their order.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Compute where the rows of a part begin among its slots, from the row offsets of the graph. A part
// is the share of the edges that one device solves, here the rows from `first_row` to the row
// before `end_row`.
//
// In-out   indptr[n + 1]: before, the offsets of the graph for the rows from `first_row` to
//          `end_row`, both included, and undefined entries for all other rows; the offsets of the
//          part after the launch.
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

// For each edge of a part's forest, list a number and the weight. A part is the share of the
// graph's edges that one device solves. The number is the edge's column, or its slot in the graph.
//
// In       chosen[k]: the slots of the forest's edges in the part, ascending; weights: the weight
//          of each slot of the part; numbers: if `numbered`, the number of each slot of the part.
//          Otherwise the numbers are consecutive, from `first` on.
// Out      listed, words: the numbers and the weights, k entries of each, from `begin` on.
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

// Find where each of `count` consecutive rows, from `first_row` on, begins in a list of edges, such
// as the forest of a part. A part is the share of the graph's edges that one device solves. The
// list is sorted by slot (CSR entry), and so by row.
//
// In       indptr[n + 1]: the row offsets of the part or of the graph; chosen[k]: the edges of the
//          list, by their slots in the part or in the graph, ascending; before: the number of
//          further edges in front of the list.
// Out      starts[at], ..., starts[at + count - 1]: where each row begins, counting the further
//          edges.
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

// In an array that says where each row of a list of k edges begins, make `count` consecutive rows
// from `first_row` on empty: all of them begin after the last edge.
//
// Out      starts[first_row], ..., starts[first_row + count - 1]: where these rows begin.
// Launch   any.
// Needs    nothing.
// Ensures  these entries are all k.
kernel void parts_end_rows(global uint *starts, uint first_row, uint count, uint k) {
  GRID_FOR(i, count) starts[first_row + i] = k;
}

// Write the edges of one list to their places in the union of all lists. Each list has the forest
// of one part of the graph, which one device has solved.
//
// An edge's index in the union is the number of lesser slots in all lists. No slot is in two lists,
// so indices are distinct. The work-item that stores an edge adds up the numbers from all lists.
//
// In       given_slots, given_words: the slots and the weights of the edges of all lists; lists[2
//          n_lists]: the index of the first edge of each list, and its number of edges; indices:
//          the column of each slot of the graph.
// Out      slots, words, columns: the slots, weights and columns of the union's edges, in canonical
//          order.
// Temp     targets[length of the list]: the index of each edge of the list in the union.
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
