// Parts of a graph's rows on several devices, and the union of such parts' forests.
//
// A part has some consecutive rows of a graph that stores each edge once, on all of its vertices:
//
//     rows of the graph     0  1  2 | 3  4
//     indptr                0  2  2   4  7  8
//     part of rows 0 to 2   0  2  2   4  4  4
//     part of rows 3 to 4   0  0  0   0  3  4
//
// So the slots of consecutive parts, one part after the other, are the slots of the graph.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Make where the rows of a part begin from where they begin in the graph.
//
// In-out   indptr[n + 1]: for the rows from `first_row` to `end_row`, both included, those of the
//          graph; of the part after the launch. Others are undefined before.
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

// List the edges of a part's forest.
//
// In       chosen[k]: slots of the part, rising; indices, weights: by slot of the part.
// Out      columns[begin + k], words[begin + k]: from `begin` on.
// Launch   any.
// Needs    chosen slots are in the part.
// Ensures  columns[begin + i], words[begin + i] = the column and the weight of chosen[i].
kernel void parts_list_forest(const global uint *chosen, const global uint *indices,
                              const global weight_t *weights, global uint *columns,
                              global weight_t *words, uint begin, uint k) {
  GRID_FOR(i, k) {
    const uint slot = chosen[i];
    columns[begin + i] = indices[slot];
    words[begin + i] = weights[slot];
  }
}

// Find where some rows begin among the edges of a part's forest, which come after other edges.
//
// In       indptr[n + 1]: of the part; chosen[k]: slots of the part, rising.
// Out      starts[at + count].
// Launch   any. O(count log k) at most; O(count + k) on CPUs.
// Needs    first_row + count <= n + 1.
// Ensures  starts[at + i] = before + the number of edges in rows before first_row + i.
kernel void parts_find_rows(const global uint *indptr, const global uint *chosen,
                            global uint *starts, uint first_row, uint count, uint at, uint before,
                            uint k) {
  uint low = 0;  // a work-item's rows rise
  GRID_FOR(i, count) {
    low = wi_gallop(chosen, low, k, indptr[first_row + i]);
    starts[at + i] = before + low;
  }
}

// Let rows be empty: all from one on begin behind the last edge.
//
// Out      starts[first_row], ..., starts[first_row + count - 1].
// Launch   any.
// Needs    nothing.
// Ensures  they are all k.
kernel void parts_end_rows(global uint *starts, uint first_row, uint count, uint k) {
  GRID_FOR(i, count) starts[first_row + i] = k;
}
