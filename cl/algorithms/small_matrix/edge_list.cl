// Check a caller's CSR, or arrays of ends, and list its edges, by one work-item.
//
// Edges in canonical order are sorted by lesser end, then by greater end. If a matrix is symmetric
// or upper triangular, and its rows are sorted, its entries above the diagonal already are in this
// order. For any other matrix that has mirror slots (the same edges in the other direction), two
// counting sorts bring the slots into this order. If there are no mirror slots, or if equal weights
// are ordered by slots, every slot is listed as an edge.
#include "device/weight_key.cl"

// Means "no vertex".
#define NO_VERTEX UINT_MAX

// Number of rows in a sample that shows whether the matrix has both directions of its edges. One
// slot (CSR entry) of each row is taken, and its mirror slot is searched for, which is the same
// edge in the other direction.
#define SAMPLED_ROWS 128

// A list of edges. For each edge it has the components of its two ends (us, vs), its number among
// all edges (ids) and the key of its weight (keys). `count` is the length of the list. `in_order`
// says whether the edges are in canonical order, which is by lesser end and then by greater end.
typedef struct {
  global uint *us, *vs, *ids;
  global weight_t *keys;
  uint count, in_order;
} edges_t;

// List the slots (CSR entries) above the diagonal as edges, and check all slots. Return whether the
// matrix is canonical: its rows are sorted, and the slots below the diagonal are the mirror slots
// (other directions) of those above it.
//
// In a canonical matrix, slots below the diagonal come in the order of their mirror slots. So one
// cursor for each row finds all mirror slots.
//
// Out      slots: the slot of each edge;
//          edges: the two ends, the key and the number of each edge, in canonical order.
// Temp     cursors[n]: for each row, the next slot above the diagonal whose mirror slot is
//          expected.
// Scope    one work-item.
static inline bool wi_list_edges(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint n, uint n_slots,
                                 global uint *slots, edges_t *edges, global uint *cursors) {
  uint count = 0, below = 0, end = indptr[0];
  bool sound = end == 0;
  for (uint row = 0; row < n && sound; ++row) {
    uint slot = end, next = 0;  // next: the minimum column that may follow
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

// Check all slots (CSR entries), and return whether they are edges of a graph. For each vertex,
// make two counts, without self-loops: how many slots have the vertex as their lesser end, and how
// many have it as their greater end.
//
// Out      lesser[n], greater[n]: the two counts of each vertex.
// Scope    one work-item.
static inline bool wi_count_ends(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint n, uint n_slots,
                                 global uint *lesser, global uint *greater) {
  for (uint vertex = 0; vertex < n; ++vertex) lesser[vertex] = greater[vertex] = 0;
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
      lesser[min(row, column)] += column != row;
      greater[max(row, column)] += column != row;
    }
  }
  return sound && end == n_slots;
}

// Replace, for each vertex, the number of its entries by the index at which its entries begin in a
// list that is sorted by vertex. These are exclusive prefix sums.
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

// Return whether more than an eighth of a sample of slots (CSR entries) have mirror slots, which
// are the same edges in the other direction. A slot and its mirror slot usually have equal weights.
// If both were listed as edges, there would be many ties, for which a processor predicts branches
// wrongly.
//
// Scope    one work-item.
static inline bool wi_has_mirrors(const global uint *indptr, const global uint *indices, uint n) {
  uint tried = 0, found = 0;
  for (uint row = 0; row < n; row += n / SAMPLED_ROWS + 1) {
    if (indptr[row] == indptr[row + 1]) continue;
    const uint column = indices[indptr[row]], begin = indptr[column], end = indptr[column + 1];
    uint slot = begin;
    while (slot < end && indices[slot] != row && slot - begin < SAMPLED_ROWS) ++slot;
    found += column != row && slot < end && indices[slot] == row;
    ++tried;
  }
  return found > tried / 8;
}

// List every slot (CSR entry) of a matrix as an edge, except self-loops, in the order of slots. The
// matrix has been checked.
//
// Out      slots: the slot of each edge;
//          edges: the two ends, the weight key and the number of each edge.
// Scope    one work-item.
static inline void wi_list_slots(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint n, global uint *slots,
                                 edges_t *edges) {
  uint count = 0;
  for (uint row = 0; row < n; ++row) {
    for (uint slot = indptr[row]; slot < indptr[row + 1]; ++slot) {
      const uint column = indices[slot];
      slots[count] = slot;
      edges->us[count] = min(row, column);
      edges->vs[count] = max(row, column);
      edges->ids[count] = count;
      edges->keys[count] = weight_key(weights[slot]);
      count += column != row;
    }
  }
  edges->count = count;
}

// List the edges of a matrix in canonical order, which is by the lesser end, the greater end and
// the slot (CSR entry). The matrix has been checked. Of slots with the same ends, only the lightest
// is listed, and among equal weights the first.
//
// Out      slots: the slot of each edge;
//          edges: the two ends, the weight key and the number of each edge.
// Temp     lesser[n], greater[n]: the counts of wi_count_ends;
//          by_greater[2 * n_slots]: the pairs (lesser end, slot), sorted by the greater end. It may
//            be the memory of `edges`.
//          by_lesser[2 * n_slots]: the pairs (greater end, slot), sorted by the lesser end.
// Scope    one work-item. O(n + n_slots): a counting sort by the greater end, then a counting sort
//          by the lesser end.
static inline void wi_list_pairs(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint n, global uint *slots,
                                 edges_t *edges, global uint *by_greater, global uint *by_lesser,
                                 global uint *lesser, global uint *greater) {
  wi_places_of_counts(lesser, n);
  wi_places_of_counts(greater, n);
  for (uint row = 0; row < n; ++row) {
    for (uint slot = indptr[row]; slot < indptr[row + 1]; ++slot) {
      const uint column = indices[slot];
      if (column == row) continue;
      const uint place = greater[max(row, column)]++;
      vstore2((uint2)(min(row, column), slot), place, by_greater);
    }
  }
  uint place = 0;  // each count is now the position after the last counted entry
  for (uint v = 0; v < n; ++v) {
    for (; place < greater[v]; ++place) {
      const uint2 end = vload2(place, by_greater);
      vstore2((uint2)(v, end.y), lesser[end.x]++, by_lesser);
    }
  }
  uint count = 0;
  place = 0;
  for (uint u = 0; u < n; ++u) {
    for (uint last = NO_VERTEX; place < lesser[u]; ++place) {
      const uint2 end = vload2(place, by_lesser);
      const weight_t key = weight_key(weights[end.y]);
      if (end.x == last) {
        if (key >= edges->keys[count - 1]) continue;
        --count;
      }
      last = edges->vs[count] = end.x;
      edges->us[count] = u;
      edges->ids[count] = count;
      edges->keys[count] = key;
      slots[count++] = end.y;
    }
  }
  edges->count = count;
}

// List the edges of a caller's arrays, except self-loops, in the order of the arrays. Return
// whether all elements of the arrays are edges of a graph.
//
// In       us[n_given], vs[n_given]: the two ends of each edge, as one word, or, if `wide`, as two
//          words, the lower first.
// Out      places: the index of each listed edge in the caller's arrays;
//          edges: the listed edges, each with the lesser end first.
// Scope    one work-item.
static inline bool wi_list_given(const global uint *us, const global uint *vs,
                                 const global weight_t *weights, uint n, uint n_given, uint wide,
                                 global uint *places, edges_t *edges) {
  uint count = 0;
  bool sound = true;
  for (uint edge = 0; edge < n_given; ++edge) {
    const size_t word = (size_t)edge << wide;
    const uint u = us[word], v = vs[word], upper = us[word + wide] | vs[word + wide];
    const weight_t weight = weights[edge];
    sound &= (u < n) & (v < n) & (!wide | (upper == 0)) & !weight_is_nan(weight);
    places[count] = edge;
    edges->us[count] = min(u, v);
    edges->vs[count] = max(u, v);
    edges->ids[count] = count;
    edges->keys[count] = weight_key(weight);
    count += u != v;
  }
  edges->count = count;
  return sound;
}

// Sort edge indices by one end of their edges, in a stable counting sort. The indices are read from
// `from` and stored in `to`; `ends` has the end of each edge.
//
// Temp     places[n]: for each vertex, the index where its next edge goes.
// Scope    one work-item. O(n + count).
static inline void wi_sort_by_end(const global uint *ends, const global uint *from, global uint *to,
                                  uint count, global uint *places, uint n) {
  for (uint vertex = 0; vertex < n; ++vertex) places[vertex] = 0;
  for (uint k = 0; k < count; ++k) ++places[ends[from[k]]];
  wi_places_of_counts(places, n);
  for (uint k = 0; k < count; ++k) to[places[ends[from[k]]]++] = from[k];
}
