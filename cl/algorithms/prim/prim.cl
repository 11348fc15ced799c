// Prim's algorithm: a tree grows by the lightest edge that leaves it, one vertex after the other.
//
// Source: R. C. Prim, "Shortest connection networks and some generalizations", Bell System
// Technical Journal 36 (1957). tree.cl describes what is stored for each vertex. heap.cl finds the
// lightest edge with a heap, and array.cl by looking at all vertices.
#include "algorithms/prim/array.cl"
#include "algorithms/prim/heap.cl"
#include "algorithms/prim/tree.cl"
#include "device/rows.cl"

// Begin a solve: no vertex is in a tree, and all vertices are in one patch. A patch is a set of
// vertices that no edge leaves.
//
// Out      vertices[n]: the vertices, patch by patch;
//          offsets[1]: where the patch begins in `vertices`;
//          parents[n]: the other end of each vertex's lightest edge to a tree;
//          positions[n]: the position of each vertex in its patch;
//          lightest[n]: the key of each vertex's lightest edge to a tree;
//          unfinished[1]: 1 + the number of the last launch that left trees incomplete, or 0 if
//          there is no such launch.
// Launch   any. O(n).
// Needs    nothing.
// Ensures  vertices[v] = v; parents[v] = PRIM_NONE; positions[v] = PRIM_UNMET; lightest[v] =
//          PRIM_KEY_MAX; offsets[0] = unfinished[0] = 0.
kernel void prim_initialise(global uint *vertices, global uint *offsets, global uint *parents,
                            global uint *positions, global prim_key_t *lightest,
                            global uint *unfinished, uint n) {
  GRID_FOR(v, n) {
    vertices[v] = (uint)v;
    parents[v] = PRIM_NONE;
    positions[v] = PRIM_UNMET;
    lightest[v] = PRIM_KEY_MAX;
  }
  if (get_global_id(0) == 0) offsets[0] = unfinished[0] = 0;
}

// Put the edges of all trees into the forest. Among parallel edges, choose the edge with the
// minimum (key, slot), where a slot is a CSR entry.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph, with ascending columns in
//            each row;
//          parents[n]: the vertex to which each vertex is joined in its tree, or PRIM_NONE.
// In-out   in_forest[n_slots]: a byte for each slot, 0 before the launch. Each edge has one writer.
// Launch   any. O(n log n), and O(1) for every edge that is parallel to an edge of the forest.
// Needs    all trees are complete.
// Ensures  in_forest[slot] = 1 for the slot of each forest edge whose column is greater than its
//          row.
kernel void prim_mark_edges(const global uint *indptr, const global uint *indices,
                            const global weight_t *weights, const global uint *parents,
                            global uchar *in_forest, uint n) {
  GRID_FOR(v, n) {
    const uint parent = parents[v];
    if (parent == PRIM_NONE) continue;
    const uint row = min((uint)v, parent), column = max((uint)v, parent), end = indptr[row + 1];
    uint best = wi_find_column(indices, indptr[row], end, column);
    prim_key_t key = weight_key(weights[best]);
    for (uint slot = best + 1; slot < end && indices[slot] == column; ++slot) {
      const prim_key_t other = weight_key(weights[slot]);
      if (other < key) {
        key = other;
        best = slot;
      }
    }
    in_forest[best] = 1;
  }
}
