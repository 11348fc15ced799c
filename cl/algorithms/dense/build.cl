// dense: convert a graph in compressed sparse rows (CSR) to a dense matrix of weight keys, which
// are integers that sort as the weights do. Afterwards, flag the CSR entries (slots) of the edges
// of the forest.
#include "device/lanes.cl"
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

#if WEIGHT_BITS == 64
typedef ulong build_key_t;
#else
typedef uint build_key_t;
#endif

// Return the minimum weight key of parallel edges (edges between the same two vertices), whose CSR
// entries are adjacent. `slot` is the first of these entries, and `end` is the end of their row.
static inline build_key_t build_least(const global uint *indices, const global weight_t *weights,
                                      uint slot, uint end) {
  build_key_t least = weight_key(weights[slot]);
  for (uint next = slot + 1; next < end && indices[next] == indices[slot]; ++next)
    least = min(least, (build_key_t)weight_key(weights[next]));
  return least;
}

// Fill some rows of the dense matrix with the weight keys (integers that sort as the weights do) of
// the edges of a CSR. For parallel edges, write the minimum of their keys. `gap` is a key that does
// not occur. Keys above `gap` are lowered by one, so that the maximum key is free to mean "no
// edge".
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph; is_symmetric: whether the
//          graph stores both directions of each edge; first_row, n_rows: which rows to write.
// In-out   cells[n_rows * n]: the rows of the matrix, all ones before; every cell has one writer.
// Launch   any; a lane group (lanes that work together) takes a row.
// Needs    columns ascend in every row of the CSR.
// Ensures  cells[(u - first_row) * n + v] = the minimum key of an edge (u, v), or all ones if there
//          is none.
kernel void dense_build_cells(const global uint *indptr, const global uint *indices,
                              const global weight_t *weights, global build_key_t *cells,
                              uint first_row, uint n_rows, uint n, ulong gap, uint is_symmetric) {
  for (size_t row = get_global_id(0) / LANES; row < n; row += get_global_size(0) / LANES) {
    const uint u = (uint)row, begin = indptr[u], end = indptr[u + 1];
    const bool is_here = u - first_row < n_rows;
    if (is_symmetric && !is_here) continue;
    for (uint slot = begin + lanes_id(); slot < end; slot += LANES) {
      const uint v = indices[slot];
      if (v == u || (slot > begin && indices[slot - 1] == v)) continue;
      const build_key_t key = build_least(indices, weights, slot, end);
      const build_key_t stored = key - (key > gap);
      if (is_here) cells[(size_t)(u - first_row) * n + v] = stored;
      if (!is_symmetric && v - first_row < n_rows) cells[(size_t)(v - first_row) * n + u] = stored;
    }
  }
}

// For each edge of the forest, flag one slot, which is an entry of the CSR. Among the entries of
// parallel edges, the one with the minimum weight is flagged, and among equal weights the first
// one.
//
// In       indptr[n + 1], indices, weights: the graph; edges[n]: the forest, with the two ends of
//          each edge as lesser << bits | greater, or no_edge.
// In-out   in_forest[n_slots]: the flags, 0 before.
// Launch   any.
// Needs    every edge is stored in the row of its lesser end.
// Ensures  in_forest[slot] = 1 for one slot of each edge.
kernel void dense_build_mark(const global uint *indptr, const global uint *indices,
                             const global weight_t *weights, const global ulong *edges,
                             global uchar *in_forest, uint n, uint bits, ulong no_edge) {
  GRID_FOR(i, n) {
    if (edges[i] == no_edge) continue;
    const uint u = (uint)(edges[i] >> bits), v = (uint)(edges[i] & ((1ul << bits) - 1));
    const uint end = indptr[u + 1], first = wi_find_column(indices, indptr[u], end, v);
    const build_key_t least = build_least(indices, weights, first, end);
    uint slot = first;
    while ((build_key_t)weight_key(weights[slot]) != least) slot += 1;
    in_forest[slot] = 1;
  }
}
