// filter-boruvka for CPUs: how a block of consecutive slots (CSR entries) is searched for the edges
// of a window, the range of the order of edges that the present phase solves.
//
// Each step keeps only some of the slots that the step before has kept, and moves them to the front
// of local arrays. No step has a branch that depends on a single slot. So many loads are in flight
// at the same time, and no branch is predicted wrongly.
//
// Example: a block with the slots 64 .. 71 in rows 5 and 6. All edges except the one in slot 65 are
// light enough to belong to the window. The last two lines have the positions in the block of the
// slots that the steps keep: first those with light edges (wi_pick_light), and of these the ones
// whose column is greater than their row (wi_keep_upper).
//
//     slots             64   65   66   67   68   69   70   71
//     rows               5    5    5    5    5    6    6    6
//     columns            2    4    7    8    9    5    8    9
//     light              0         2    3    4    5    6    7
//     column > row                 2    3    4         6    7
#include "algorithms/filter_boruvka/window.cl"
#include "device/row_fill.cl"
#include "device/weight_key_vector.cl"

// Number of slots (CSR entries) of a block, whose edges are processed together. A block is so small
// that its data stay in the nearest cache from one step to the next.
#define BLOCK 1024

// Find the slots (CSR entries) of a block whose edges are light enough for the window, the range of
// edges that the present phase solves. These edges are at most (high_key, high_slot) in the order
// of (key, slot).
//
// In       weights: the weight of each slot of the graph;
//          begin, length: the first slot of the block, and its number of slots.
// Out      picked: the positions in the block of the slots found, ascending.
// Scope    one work-item.
// Ensures  returns the number of slots found.
static inline uint wi_pick_light(local uint *picked, const global weight_t *weights, uint begin,
                                 uint length, full_key_t high_key, uint high_slot) {
  uint n_picked = 0, i = 0;
  const keys_t lanes = KEYS_LANES;
  for (; i + KEYS_AT_ONCE <= length; i += KEYS_AT_ONCE) {
    const keys_t keys = weight_keys(weights + begin + i);
    const keys_mask_t light =
        (keys < high_key) |
        ((keys == high_key) & ((full_key_t)(begin + i) + lanes <= (full_key_t)high_slot));
    if (!any(light)) continue;
    mask_t is_light[KEYS_AT_ONCE];
    KEYS_STORE(light, 0, is_light);
    for (uint k = 0; k < KEYS_AT_ONCE; ++k) {
      picked[n_picked] = i + k;
      n_picked -= (uint)is_light[k];
    }
  }
  for (; i < length; ++i) {
    const full_key_t key = weight_key(weights[begin + i]);
    picked[n_picked] = i;
    n_picked += (key < high_key) | ((key == high_key) & (begin + i <= high_slot));
  }
  return n_picked;
}

// Of the slots picked from a block, keep only those above the diagonal, whose columns are greater
// than their rows.
//
// In       indices: the column of each slot (CSR entry) of the graph;
//          begin, length: the first slot of the block, and its number of slots.
// In-out   picked[n_picked]: the positions in the block of the picked slots. If n_picked equals
//            `length`, all slots of the block count as picked, and the contents of `picked` are
//            ignored.
//          rows: before the call the row of each slot of the block, afterwards the rows of the kept
//            slots.
// Out      columns: the columns of the kept slots.
// Scope    one work-item.
// Ensures  returns the number of slots that are kept.
static inline uint wi_keep_upper(local uint *picked, local uint *rows, local uint *columns,
                                 const global uint *indices, uint begin, uint length,
                                 uint n_picked) {
  uint n_kept = 0;
  if (n_picked == length) {
    for (uint i = 0; i < length; ++i) {
      const uint row = rows[i], column = indices[begin + i];
      picked[n_kept] = i;
      rows[n_kept] = row;
      columns[n_kept] = column;
      n_kept += column > row;
    }
    return n_kept;
  }
  for (uint k = 0; k < n_picked; ++k) {  // stores come after loads, since n_kept <= k <= picked[k]
    const uint i = picked[k], row = rows[i], column = indices[begin + i];
    picked[n_kept] = i;
    rows[n_kept] = row;
    columns[n_kept] = column;
    n_kept += column > row;
  }
  return n_kept;
}

// Remove the edges of a block whose two ends are both in the largest component. Most edges within a
// component are of this kind. One bit for each vertex says whether it is in the largest component.
// These bits fit in a cache near the core. The links of all vertices would not fit.
//
// In       in_largest: a bit for each vertex, 1 if it is in the largest component.
// In-out   picked[n_picked]: the positions in the block of the edges' slots (CSR entries);
//          rows[n_picked], columns[n_picked]: the two ends of the edges.
// Scope    one work-item.
// Ensures  returns the number of edges that are kept.
static inline uint wi_leave_largest(local uint *picked, local uint *rows, local uint *columns,
                                    const global uint *in_largest, uint n_picked) {
  uint n_kept = 0;
  for (uint k = 0; k < n_picked; ++k) {
    const uint i = picked[k], row = rows[k], column = columns[k];
    const uint has_row = in_largest[row / 32] >> row % 32;
    const uint has_column = in_largest[column / 32] >> column % 32;
    picked[n_kept] = i;
    rows[n_kept] = row;
    columns[n_kept] = column;
    n_kept += ~(has_row & has_column) & 1;
  }
  return n_kept;
}

// Replace the ends of a block's edges by the components that contain them, and keep the edges that
// join two components.
//
// In       links: the component of each vertex.
// In-out   picked[n_picked]: the positions in the block of the edges' slots (CSR entries);
//          rows[n_picked], columns[n_picked]: the two ends of the edges.
// Scope    one work-item.
// Ensures  returns the number of edges that are kept.
static inline uint wi_keep_joining(local uint *picked, local uint *rows, local uint *columns,
                                   const global uint *links, uint n_picked) {
  uint n_kept = 0;
  for (uint k = 0; k < n_picked; ++k) {
    const uint i = picked[k];
    const uint u = links[rows[k]] & LINK_NUMBER, v = links[columns[k]] & LINK_NUMBER;
    picked[n_kept] = i;
    rows[n_kept] = u;
    columns[n_kept] = v;
    n_kept += u != v;
  }
  return n_kept;
}
