// equal_weights: the spanning forest of a matrix whose weights are all equal, by one work-item.
//
// Source: J. B. Kruskal, "On the shortest spanning subtree of a graph", Proc. AMS 7 (1956). Edges
// of equal weight are taken in canonical order: first the edges from vertex 0 to greater vertices,
// then the edges from vertex 1 to greater vertices, and so on. So nothing is sorted by weight. If
// the rows are sorted, and every entry below the diagonal has its mirror entry above it, the
// entries are in this order already. Otherwise all entries are first listed by their lesser ends,
// and an entry (i, j) below the diagonal counts as an edge of j. Only those edges of a vertex that
// lead to other components are sorted.
//
//     vertex 2 has edges to 7, 3, 9, 5. Components before: {2, 7}, {3, 9} and {5}.
//     sorted without 7: 3, 5, 9. The edges to 3 and 5 are in the forest.
//
// The root of a component is its vertex with the minimum number. The largest component often
// contains vertex 0, so its root rarely changes, and the paths to the root stay short.
#include "device/union_find.cl"
#include "device/work_group.cl"

// Indices of the words of the result: the status of the solve, and the number of edges of the
// forest. After these come n - 1 words for the slots (CSR entries) of the forest's edges, and then
// two words for the ends of each edge.
#define RESULT_STATUS 0
#define RESULT_EDGES 1
#define RESULT_WORDS 2

#define STATUS_SOLVED 1u
#define STATUS_UNSUITED 2u  // the matrix has a fault, or the edges of a vertex are far from sorted

// Number of words of scratch memory that a solve needs for each slot (CSR entry), and for each
// vertex.
#define WORDS_A_SLOT 2
#define WORDS_A_VERTEX 2

// A solve gives up if its insertion sorts together take more than MOST_STEPS * (number of vertices
// + number of slots) steps. A slot is a CSR entry.
#define MOST_STEPS 16

// The edges of a vertex are sorted. If there are at most this number, they are sorted by comparing
// each with each other one. If there are more, they are sorted by insertion.
#define FEW 16

// The arrays of a CSR. Their elements have 64 bits if is_wide is set, else 32.
typedef struct {
  const global uint *indptr, *indices;
  uint n, m, is_wide;
} matrix_t;

// The forest so far: the parents of disjoint sets of vertices, the slot (CSR entry) and the two
// ends of each edge, and the number of edges.
typedef struct {
  global uint *parents, *slots, *pairs;
  uint edges;
} forest_t;

static inline uint index_at(const global uint *numbers, size_t i, uint is_wide) {
  return is_wide ? (uint)min(((const global ulong *)numbers)[i], (ulong)UINT_MAX) : numbers[i];
}

static inline uint start_of(const matrix_t *matrix, uint row) {
  return index_at(matrix->indptr, row, matrix->is_wide);
}

static inline uint column_of(const matrix_t *matrix, uint slot) {
  return index_at(matrix->indices, slot, matrix->is_wide);
}

// Return whether the row offsets of a CSR are sound: they begin at 0, do not fall, and end at the
// number of entries.
static inline bool wi_has_sound_rows(const matrix_t *matrix) {
  uint end = start_of(matrix, 0), is_faulty = end != 0;
  for (uint row = 0; row < matrix->n; ++row) {
    const uint start = end;
    end = start_of(matrix, row + 1);
    is_faulty |= end < start;
  }
  return !is_faulty && end == matrix->m;
}

static inline bool wi_has_sound_columns(const matrix_t *matrix) {
  uint is_faulty = 0;
  for (uint slot = 0; slot < matrix->m; ++slot) is_faulty |= column_of(matrix, slot) >= matrix->n;
  return !is_faulty;
}

// Return whether the entries of the matrix are in canonical order: in each row the columns are
// valid and ascend, and each entry below the diagonal has its mirror entry above the diagonal.
//
// Temp     cursors[n]: for each row, the index of its first entry above the diagonal whose mirror
//          entry has not been seen yet.
// Scope    one work-item. O(n + m).
static inline bool wi_is_canonical(const matrix_t *matrix, global uint *cursors) {
  uint end = 0;
  for (uint row = 0; row < matrix->n; ++row) {
    uint slot = end;
    end = start_of(matrix, row + 1);
    for (uint k = slot; k < end; ++k)
      if (column_of(matrix, k) >= (k + 1 < end ? column_of(matrix, k + 1) : matrix->n))
        return false;
    for (; slot < end && column_of(matrix, slot) < row; ++slot) {
      const uint column = column_of(matrix, slot), column_end = start_of(matrix, column + 1);
      uint at = cursors[column];
      while (at < column_end && column_of(matrix, at) < row) ++at;
      if (at == column_end || column_of(matrix, at) != row) return false;
      cursors[column] = at + 1;
    }
    cursors[row] = slot;
  }
  return true;
}

// Join the components with the roots `root` and `other` by the edge from u to v in the CSR entry
// `slot`, and add the edge to the forest. Return the root of the joined component.
static inline uint wi_join(forest_t *forest, uint root, uint other, uint u, uint v, uint slot) {
  forest->slots[forest->edges] = slot;
  forest->pairs[2 * forest->edges] = min(u, v);
  forest->pairs[2 * forest->edges + 1] = max(u, v);
  ++forest->edges;
  forest->parents[max(root, other)] = min(root, other);
  return min(root, other);
}

// Find the forest of a matrix whose entries are in canonical order: go through the entries, and
// take each edge that joins two components.
//
// Scope    one work-item. O((n + m) log n).
static inline void wi_solve_by_entry(const matrix_t *matrix, forest_t *forest) {
  uint end = 0;
  for (uint row = 0; row < matrix->n && forest->edges + 1 < matrix->n; ++row) {
    uint slot = end, root = wi_find_alone(forest->parents, row);
    end = start_of(matrix, row + 1);
    for (; slot < end; ++slot) {
      const uint column = column_of(matrix, slot), other = wi_find_alone(forest->parents, column);
      if (other != root) root = wi_join(forest, root, other, row, column, slot);
    }
  }
}

// Make a list of edges for each vertex: the edges that lead from it to greater vertices. An entry
// (i, j) of the matrix goes into the list of min(i, j). Return whether all columns are valid. The
// code does not branch on entries, because the processor would predict half of such branches
// wrongly.
//
// Out      ends[n]: the index in `entries` after the last entry of each vertex's list;
//          entries[m]: the words greater end << 32 | slot (CSR entry). The slots of a list ascend.
// Scope    one work-item. O(n + m).
static inline bool wi_list_entries(const matrix_t *matrix, global uint *ends,
                                   global ulong *entries) {
  const uint n = matrix->n;
  for (uint v = 0; v < n; ++v) ends[v] = 0;
  uint end = 0, is_faulty = 0;
  for (uint row = 0; row < n; ++row) {
    uint slot = end;
    end = start_of(matrix, row + 1);
    for (; slot < end; ++slot) {
      const uint column = column_of(matrix, slot);
      is_faulty |= column >= n;
      ++ends[min(row, column)];
    }
  }
  uint before = 0;
  for (uint v = 0; v < n; ++v) {
    const uint count = ends[v];
    ends[v] = before;
    before += count;
  }
  end = 0;
  for (uint row = 0; row < n; ++row) {
    uint slot = end;
    end = start_of(matrix, row + 1);
    for (; slot < end; ++slot) {
      const uint column = column_of(matrix, slot);
      entries[ends[min(row, column)]++] = (ulong)max(row, column) << 32 | slot;
    }
  }
  return !is_faulty;
}

// Sort at most FEW entries, which are distinct words: count for each of them how many others are
// less. The code does not branch on entries.
//
// Scope    one work-item. O(count^2).
static inline void wi_sort_few(global ulong *entries, uint count) {
  ulong sorted[FEW];
  for (uint i = 0; i < count; ++i) {
    uint rank = 0;
    for (uint k = 0; k < count; ++k) rank += entries[k] < entries[i];
    sorted[rank] = entries[i];
  }
  for (uint i = 0; i < count; ++i) entries[i] = sorted[i];
}

// Sort entries by insertion, in at most `left` steps. Return the number of steps that remain. If it
// is 0, the entries may still be unsorted.
//
// Scope    one work-item. O(count + the steps taken).
static inline ulong wi_sort_many(global ulong *entries, uint count, ulong left) {
  for (uint i = 1; i < count; ++i) {
    const ulong entry = entries[i];
    uint place = i;
    for (; place > 0 && left > 0 && entries[place - 1] > entry; --place, --left)
      entries[place] = entries[place - 1];
    entries[place] = entry;
  }
  return left;
}

// Find the forest of a matrix from the lists of wi_list_entries, which have for each vertex its
// edges to greater vertices. Return false if the sorts would take more steps than MOST_STEPS
// allows.
//
// In       ends[n]: the index in `entries` after the last entry of each vertex's list.
// In-out   entries[m]: the words greater end << 32 | slot (CSR entry), list by list. In each list,
//          the entries that lead to other components are moved to the front.
// Scope    one work-item. O((n + m) log n).
static inline bool wi_solve_by_lists(const matrix_t *matrix, const global uint *ends,
                                     global ulong *entries, forest_t *forest) {
  const uint n = matrix->n;
  ulong left = (ulong)MOST_STEPS * ((ulong)n + matrix->m);
  uint at = 0;
  for (uint u = 0; u < n && forest->edges + 1 < n && left > 0; ++u) {
    global ulong *best = entries + at;
    uint root = wi_find_alone(forest->parents, u), count = 0;
    for (; at < ends[u]; ++at) {
      const ulong entry = entries[at];
      best[count] = entry;
      count += wi_find_alone(forest->parents, (uint)(entry >> 32)) != root;
    }
    if (count <= FEW) wi_sort_few(best, count);
    else left = wi_sort_many(best, count, left);
    for (uint i = 0; i < count; ++i) {
      const uint v = (uint)(best[i] >> 32), other = wi_find_alone(forest->parents, v);
      if (other != root) root = wi_join(forest, root, other, u, v, (uint)best[i]);
    }
  }
  return left > 0;
}

// Find the spanning forest of a matrix whose weights are all equal.
//
// In       indptr[n + 1], indices[m]: the arrays of a CSR, with elements of 64 bits if is_wide,
//          else of 32 bits. They may have any values, because the kernel checks them.
// Out      result[RESULT_WORDS + 3 * (n - 1)]: the status, the number of the forest's edges, the
//          slot (CSR entry) of each edge, and the two ends of each edge.
// Temp     scratch[WORDS_A_SLOT * m + WORDS_A_VERTEX * n]: any memory.
// Launch   one work-group. O((n + m) log n).
// Needs    n > 0; m < 2**32.
// Ensures  the status is STATUS_SOLVED or STATUS_UNSUITED. If it is STATUS_SOLVED, the result has
//          the forest's edges. They are in the order of the entries if `by_entry` is set, else in
//          canonical order. The matrix is unsuited if it has a fault, or if sorting the edges of
//          its vertices would take too long.
kernel void equal_weights_solve(const global uint *indptr, const global uint *indices,
                                global uint *result, global uint *scratch, uint n, uint m,
                                uint is_wide, uint by_entry) {
  const matrix_t matrix = {indptr, indices, n, m, is_wide};
  global ulong *entries = (global ulong *)scratch;
  global uint *parents = (global uint *)(entries + m), *ends = parents + n;
  forest_t forest = {parents, result + RESULT_WORDS, result + RESULT_WORDS + n - 1, 0};
  result[RESULT_STATUS] = STATUS_UNSUITED;
  if (get_global_id(0) > 0 || !wi_has_sound_rows(&matrix)) return;
  if (by_entry && !wi_has_sound_columns(&matrix)) return;
  for (uint v = 0; v < n; ++v) parents[v] = v;
  if (by_entry || wi_is_canonical(&matrix, ends)) {
    wi_solve_by_entry(&matrix, &forest);
  } else {
    if (!wi_list_entries(&matrix, ends, entries)) return;
    if (!wi_solve_by_lists(&matrix, ends, entries, &forest)) return;
  }
  result[RESULT_EDGES] = forest.edges;
  result[RESULT_STATUS] = STATUS_SOLVED;
}
