// The edges of a caller's CSR as a list, and the checks of its arrays; for one work-item.
//
// A symmetric or upper triangular matrix with rising rows lists its edges in canonical order as it
// is. For any other one, two counting sorts bring the slots into that order. Where ties go to slots,
// every slot is an edge.
#ifndef CLMST_ALGORITHMS_SMALL_MATRIX_EDGE_LIST
#define CLMST_ALGORITHMS_SMALL_MATRIX_EDGE_LIST

#include "device/weight_key.cl"

// An edge list: components of both ends, keys, and the number of each edge among all edges.
typedef struct {
  global uint *us, *vs, *ids;
  global weight_t *keys;
  uint count;
} edges_t;

// List the slots above the diagonal, and check all of them; return whether the matrix is canonical.
//
// Slots below the diagonal come in the order of their columns' slots above it: a cursor a row finds
// their mirror slots.
//
// Out      slots, edges: of all edges, in canonical order.
// Temp     cursors[n].
// Scope    one work-item.
static inline bool wi_list_edges(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint n, uint n_slots,
                                 global uint *slots, edges_t *edges, global uint *cursors) {
  uint count = 0, below = 0, end = indptr[0];
  bool sound = end == 0;
  for (uint row = 0; row < n && sound; ++row) {
    uint slot = end, next = 0;  // the least column that may come
    end = indptr[row + 1];
    sound = slot <= end && end <= n_slots;
    if (!sound) break;
    for (; slot < end && indices[slot] < row; ++slot) {
      const uint column = indices[slot], mirror = cursors[column]++;
      const weight_t key = weight_key(weights[slot]);
      sound &= (column >= next) & (mirror < indptr[column + 1]);
      if (!sound) return false;
      sound = indices[mirror] == row && weight_key(weights[mirror]) == key;
      next = column + 1;
      ++below;
    }
    if (slot < end && indices[slot] == row) sound &= !weight_is_nan(weights[slot++]);
    cursors[row] = slot;
    next = row + 1;
    for (; slot < end; ++slot) {
      const uint column = indices[slot];
      const weight_t weight = weights[slot];
      sound &= (column >= next) & (column < n) & !weight_is_nan(weight);
      next = column + 1;
      slots[count] = slot;
      edges->us[count] = row;
      edges->vs[count] = column;
      edges->ids[count] = count;
      edges->keys[count++] = weight_key(weight);
    }
  }
  edges->count = count;
  if (!sound || end != n_slots) return false;
  for (uint row = 0; row < n && below > 0; ++row) sound &= cursors[row] == indptr[row + 1];
  return sound;
}

// Return whether the weight of one key is less than that of another; where the order of keys is that
// of falling weights, too.
static inline bool weight_is_lesser(weight_t key, weight_t other) {
  return WEIGHT_DESCENDING ? key > other : key < other;
}

// Check all slots; return whether they are those of a graph.
//
// Out      counts[n]: how many slots that are no loops have each vertex as their greater end.
// Scope    one work-item.
static inline bool wi_count_greater_ends(const global uint *indptr, const global uint *indices,
                                         const global weight_t *weights, uint n, uint n_slots,
                                         global uint *counts) {
  for (uint vertex = 0; vertex < n; ++vertex) counts[vertex] = 0;
  uint end = indptr[0];
  bool sound = end == 0;
  for (uint row = 0; row < n; ++row) {
    uint slot = end;
    end = indptr[row + 1];
    if (!sound || slot > end || end > n_slots) return false;
    for (; slot < end; ++slot) {
      const uint column = indices[slot];
      if (column >= n) return false;
      sound &= !weight_is_nan(weights[slot]);
      counts[max(row, column)] += column != row;
    }
  }
  return sound && end == n_slots;
}

// Turn counts into places: the first one of each.
//
// Scope    one work-item.
static inline void wi_places_of_counts(global uint *counts, uint n) {
  uint place = 0;
  for (uint k = 0; k < n; ++k) {
    const uint count = counts[k];
    counts[k] = place;
    place += count;
  }
}

// List every slot of checked arrays that is no loop, in the order of slots.
//
// Out      slots, edges.
// Scope    one work-item.
static inline void wi_list_slots(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint n, global uint *slots,
                                 edges_t *edges) {
  uint count = 0;
  for (uint row = 0; row < n; ++row) {
    for (uint slot = indptr[row]; slot < indptr[row + 1]; ++slot) {
      slots[count] = slot;
      edges->us[count] = row;
      edges->vs[count] = indices[slot];
      edges->ids[count] = count;
      edges->keys[count] = weight_key(weights[slot]);
      count += indices[slot] != row;
    }
  }
  edges->count = count;
}

// List the edges of checked arrays in canonical order: by the lesser end, the greater end, the slot.
// Of slots with the same ends the lightest one stays, the first of several.
//
// Out      slots, edges.
// Temp     sorted: us, vs and ids for every slot; counts[n], as wi_count_greater_ends left them.
// Scope    one work-item. O(n + n_slots): slots move to the places of their greater ends, then of
//          their lesser ones.
static inline void wi_list_pairs(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint n, global uint *slots,
                                 edges_t *edges, edges_t sorted, global uint *counts) {
  uint total = 0;
  wi_places_of_counts(counts, n);
  for (uint row = 0; row < n; ++row) {
    for (uint slot = indptr[row]; slot < indptr[row + 1]; ++slot) {
      const uint column = indices[slot];
      if (column == row) continue;
      const uint place = counts[max(row, column)]++;
      sorted.us[place] = min(row, column);
      sorted.vs[place] = max(row, column);
      sorted.ids[place] = slot;
      ++total;
    }
  }
  for (uint vertex = 0; vertex < n; ++vertex) counts[vertex] = 0;
  for (uint k = 0; k < total; ++k) ++counts[sorted.us[k]];
  wi_places_of_counts(counts, n);
  for (uint k = 0; k < total; ++k) {
    const uint place = counts[sorted.us[k]]++;
    edges->us[place] = sorted.us[k];
    edges->vs[place] = sorted.vs[k];
    slots[place] = sorted.ids[k];
  }
  uint count = 0;
  for (uint k = 0; k < total; ++k) {
    const uint u = edges->us[k], v = edges->vs[k], slot = slots[k];
    const weight_t key = weight_key(weights[slot]);
    const bool is_same = count > 0 && edges->us[count - 1] == u && edges->vs[count - 1] == v;
    if (is_same) {
      if (!weight_is_lesser(key, edges->keys[count - 1])) continue;
      --count;
    }
    edges->us[count] = u;
    edges->vs[count] = v;
    edges->ids[count] = count;
    edges->keys[count] = key;
    slots[count++] = slot;
  }
  edges->count = count;
}

#endif
