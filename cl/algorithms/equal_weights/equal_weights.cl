// equal_weights: the spanning forest of a matrix whose weights are all equal, by one work-item.
//
// Source: J. B. Kruskal, "On the shortest spanning subtree of a graph", Proc. AMS 7 (1956). Edges of
// equal weight come in canonical order: those of vertex 0 to greater vertices, then those of vertex
// 1, and so on. So nothing is sorted by weights. Nor are the edges of a vertex u sorted: all of them
// end in one component, and of those to one other component the edge to the least vertex joins it.
//
//     u = 2 has edges to 7, 3, 9, 5            components before: {2} {3, 9} {5} {7}
//     the edge to 3 joins {3, 9}, not that to 9; the forest's edges are those to 3, 5 and 7
//
// An entry (i, j) below the diagonal is an edge of j, so all are first listed by their lesser ends.
#include "device/work_group.cl"

// Words of the result: how it ended, and the edges of the forest. Then come their slots, in n - 1
// words, and their ends, two words each.
#define RESULT_STATUS 0
#define RESULT_EDGES 1
#define RESULT_WORDS 2

#define STATUS_SOLVED 1u
#define STATUS_UNSUITED 2u  // the matrix has a fault, or the edges of a vertex are far from sorted

// Words a slot and words a vertex that a solve takes, and one beside.
#define WORDS_A_SLOT 2
#define WORDS_A_VERTEX 7

// Steps a vertex or slot, on average, that the insertion of edges into sorted ones may take.
#define MOST_STEPS 16

// Sets of vertices, and what is known of the set of each root: the vertex whose edges met it last,
// and the end and the slot of the best of these edges.
typedef struct {
  global uint *parents;
  global uint4 *best;
} sets_t;

static inline uint index_at(const global uint *numbers, size_t i, uint is_wide) {
  return is_wide ? (uint)min(((const global ulong *)numbers)[i], (ulong)UINT_MAX) : numbers[i];
}

static inline uint wi_find(global uint *parents, uint v) {
  for (;;) {
    const uint parent = parents[v], above = parents[parent];
    if (above == parent) return parent;
    parents[v] = above;
    v = above;
  }
}

// Check the matrix, and list its entries by their lesser ends.
//
// Nothing here branches on an entry, of which half would be guessed wrongly.
//
// Out      ends[n]: of the lists; entries[m]: greater ends and slots, rising by slots in a list.
// Scope    one work-item. O(n + m).
static inline bool wi_list_entries(const global uint *indptr, const global uint *indices, uint n,
                                   uint m, uint is_wide, global uint *ends, global uint2 *entries) {
  for (uint v = 0; v < n; ++v) ends[v] = 0;
  if (index_at(indptr, 0, is_wide) != 0 || index_at(indptr, n, is_wide) != m) return false;
  uint end = 0, is_faulty = 0;
  for (uint row = 0; row < n; ++row) {
    uint slot = end;
    end = index_at(indptr, row + 1, is_wide);
    if (end < slot || end > m) return false;
    for (; slot < end; ++slot) {
      const uint column = index_at(indices, slot, is_wide);
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
    end = index_at(indptr, row + 1, is_wide);
    for (; slot < end; ++slot) {
      const uint column = index_at(indices, slot, is_wide), at = ends[min(row, column)]++;
      entries[at] = (uint2)(max(row, column), slot);
    }
  }
  return !is_faulty;
}

// Note an edge of vertex u if it is the best one to its component; return how many are met.
//
// Of entries with the same ends the first one stays.
//
// In-out   met: the roots of the other components that u has edges to.
// Scope    one work-item.
static inline uint wi_meet(sets_t sets, uint u, uint root, uint v, uint slot, global uint *met,
                           uint count) {
  const uint other = wi_find(sets.parents, v);
  if (other == root) return count;
  const uint4 best = sets.best[other];
  const bool is_first = best.x != u;
  if (is_first) met[count++] = other;
  if (is_first || v < best.y) sets.best[other] = (uint4)(u, v, slot, 0);
  return count;
}

// Sort the roots that were met by the vertices of their edges; return the steps that it took.
//
// Scope    one work-item.
static inline uint wi_sort_met(sets_t sets, global uint *met, uint count, uint most) {
  uint steps = 0;
  for (uint i = 1; i < count && steps < most; ++i) {
    const uint root = met[i], v = sets.best[root].y;
    uint at = i;
    for (; at > 0 && sets.best[met[at - 1]].y > v && steps < most; --at, ++steps)
      met[at] = met[at - 1];
    met[at] = root;
  }
  return steps;
}

// Find the forest.
//
// In       indptr[n + 1], indices[m]: of 64 bits if is_wide; nothing is known of them.
// Out      result[RESULT_WORDS + 3 * (n - 1)].
// Temp     scratch[WORDS_A_SLOT * m + WORDS_A_VERTEX * n].
// Launch   one work-item. O((n + m) log n).
// Needs    n > 0; m < 2**32.
// Ensures  the result is STATUS_SOLVED, and has the forest's edges in canonical order; or it is
//          STATUS_UNSUITED.
kernel void equal_weights_solve(const global uint *indptr, const global uint *indices,
                                global uint *result, global uint *scratch, uint n, uint m,
                                uint is_wide) {
  global uint4 *best = (global uint4 *)scratch;
  global uint2 *entries = (global uint2 *)(best + n);
  global uint *parents = (global uint *)(entries + m), *ends = parents + n, *met = ends + n;
  const sets_t sets = {parents, best};
  global uint *ids = result + RESULT_WORDS, *pairs = ids + n - 1;
  result[RESULT_STATUS] = STATUS_UNSUITED;
  if (get_global_id(0) > 0 || !wi_list_entries(indptr, indices, n, m, is_wide, ends, entries))
    return;
  for (uint v = 0; v < n; ++v) {
    sets.parents[v] = v;
    sets.best[v] = (uint4)UINT_MAX;
  }
  uint k = 0, at = 0;
  ulong left = (ulong)MOST_STEPS * ((ulong)n + m);
  for (uint u = 0; u < n && k + 1 < n; ++u) {
    const uint root = wi_find(sets.parents, u);
    uint count = 0;
    for (; at < ends[u]; ++at)
      count = wi_meet(sets, u, root, entries[at].x, entries[at].y, met, count);
    const uint most = (uint)min(left, (ulong)UINT_MAX);
    const uint steps = wi_sort_met(sets, met, count, most);
    left -= steps;
    if (steps >= most) return;
    for (uint i = 0; i < count; ++i) {
      const uint other = met[i];
      ids[k] = sets.best[other].z;
      pairs[2 * k] = u;
      pairs[2 * k + 1] = sets.best[other].y;
      sets.parents[other] = root;
      ++k;
    }
  }
  result[RESULT_EDGES] = k;
  result[RESULT_STATUS] = STATUS_SOLVED;
}
