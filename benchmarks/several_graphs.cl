// Rows of a random graph that stores each edge once, for benchmarks/several_graphs.py.
//
// The columns of row v are the vertices behind v, cut into as many ranges of equal length as the row
// has edges; from each range a hash draws one. So rows rise, and each finds its own edges.
//
//     n = 16, row 9 of 3 edges:  ranges 10 11 | 12 13 | 14 15, columns 11, 12, 15

static inline ulong hashed(ulong word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ul;
  word = (word ^ word >> 27) * 0x94d049bb133111ebul;
  return word ^ word >> 31;
}

// The number of edges in all rows before one: row v has degree * (n - 1 - v) / n of them, rounded so
// that sums are right. So every vertex has about `degree` neighbours.
static inline ulong edges_before(ulong row, uint degree, uint bits) {
  return degree * row * (2 * ((1ul << bits) - 1) - row + 1) >> (bits + 1);
}

// Write some rows.
//
// Out      indptr[n + 1], indices, weights: those rows; others are empty.
// Launch   n work-items.
// Needs    n = 2^bits; degree <= n; degree * n^2 < 2^62; first_row <= end_row <= n.
// Ensures  rows rise strictly, and have nothing on or below the diagonal.
kernel void several_graphs_fill_rows(global uint *indptr, global uint *indices, global int *weights,
                                     uint bits, uint degree, uint first_row, uint end_row) {
  const uint v = get_global_id(0), n = 1u << bits;
  const ulong first = edges_before(first_row, degree, bits);
  const ulong behind = edges_before(end_row, degree, bits) - first;
  const ulong begin = v <= first_row ? 0 : min(edges_before(v, degree, bits) - first, behind);
  const ulong end = edges_before(v + 1, degree, bits) - edges_before(v, degree, bits);
  indptr[v] = (uint)begin;
  if (v == n - 1) indptr[n] = (uint)behind;
  if (v < first_row || v >= end_row) return;
  const ulong range = n - 1 - v;
  for (uint k = 0; k < end; ++k) {
    const ulong low = range * k / end, high = range * (k + 1) / end;
    const ulong drawn = hashed((ulong)v << 32 | k);
    const uint column = (uint)(v + 1 + low + drawn % (high - low));
    indices[begin + k] = column;
    weights[begin + k] = (int)(hashed((ulong)v << 32 | column) & INT_MAX);
  }
}
