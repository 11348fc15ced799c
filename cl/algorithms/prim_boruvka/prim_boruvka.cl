// The steps between Borůvka's algorithm, which contracts the graph, and Prim's algorithm, which
// solves the contracted graph: make rows of an edge list for Prim's algorithm, and find the slots
// (CSR entries) of the graph for the edges of its trees.
//
// Source: Sun and Skadron 2013, section 6.
//
// The edge list has every edge in both directions (edge_list.cl), and does not have parallel edges.
// The rank of an edge is its position in the order of all edges. Prim's algorithm takes the ranks
// as the weights.
#include "device/edge_list.cl"
#include "device/rows.cl"
#include "device/work_group.cl"

// Find where every vertex's entries begin in an edge list, which has every edge in both directions.
//
// In       pairs[n_entries]: the two ends of each entry's edge, as the word source << bits |
//          target.
// Out      indptr[n + 1]: the first entry of each vertex, and n_entries.
// Launch   any. O(n log n_entries).
// Needs    pairs ascend.
// Ensures  indptr[u] = the first entry whose source is not less than u.
kernel void prim_boruvka_find_rows(const global ulong *pairs, global uint *indptr, uint n,
                                   uint n_entries, uint bits) {
  GRID_FOR(u, (ulong)n + 1) {
    uint low = 0, high = n_entries;
    while (low < high) {
      const uint middle = low + (high - low) / 2;
      if (pair_source(pairs[middle], bits) < u) low = middle + 1;
      else high = middle;
    }
    indptr[u] = low;
  }
}

// List the target of every entry of an edge list, which is the vertex at the other end.
//
// In       pairs[n_entries]: the two ends of each entry's edge, as the word source << bits |
//          target.
// Out      indices[n_entries]: the targets.
// Launch   any.
// Needs    each end of a pair has `bits` bits.
// Ensures  indices[i] = the vertex at the other end of entry i.
kernel void prim_boruvka_list_targets(const global ulong *pairs, global uint *indices,
                                      uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) indices[i] = pair_target(pairs[i], bits);
}

// Put the edges of all trees into the forest.
//
// In       indptr[n + 1], indices[n_entries]: the rows of the edge list, with sorted columns;
//          ranks[n_entries]: the rank of each entry's edge in the order of all edges;
//          parents[n]: the vertex to which each vertex is joined in its tree, all ones for roots;
//          slots[m]: for each rank, the slot (CSR entry) of the edge in the graph.
// In-out   in_forest[n_slots]: a byte for each slot of the graph, 0 before the launch. Each edge
//          has one writer.
// Launch   any. O(n log n).
// Needs    all trees are complete.
// Ensures  in_forest[slot] = 1 for the slot of each tree edge.
kernel void prim_boruvka_mark_edges(const global uint *indptr, const global uint *indices,
                                    const global uint *ranks, const global uint *parents,
                                    const global uint *slots, global uchar *in_forest, uint n) {
  GRID_FOR(v, n) {
    const uint parent = parents[v];
    if (parent == UINT_MAX) continue;
    const uint entry = wi_find_column(indices, indptr[v], indptr[v + 1], parent);
    in_forest[slots[ranks[entry]]] = 1;
  }
}
