// Lines 8 and 9 of the paper's recursive Borůvka algorithm, as the paper does them. A split sorts
// the vertices by their representatives, which are the roots of their components, and
// supervertices, each of which replaces a component, are numbered along the sorted list. This
// serves only for comparison, because a scan over the representatives alone gives the same numbers.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, section 3.2, "Assigning ids to supervertices".
#include "device/work_group.cl"

// Line 8 of the paper's algorithm: pack each vertex and its representative into one word of 64
// bits, with the representative in the upper half.
//
// In       representatives[n]: for each vertex, the root of its component.
// Out      list[n]: the words.
// Launch   any.
// Needs    nothing.
// Ensures  list[u] = representatives[u] << 32 | u.
kernel void boruvka_split_append(const global uint *representatives, global ulong *list, uint n) {
  GRID_FOR(u, n) list[u] = (ulong)representatives[u] << 32 | u;
}

// Line 9 of the paper's algorithm: in the list of vertices sorted by the roots of their components,
// mark the first vertex of each component that has edges. A scan of the marks then numbers the
// supervertices that replace the components.
//
// In       list[n]: the words root << 32 | vertex, sorted; chosen[n]: the chosen edge of each
//          vertex (edge_list.cl), all ones for vertices without edges. A vertex without edges is a
//          component by itself, and gets no mark.
// Out      marks[n]: one for each position of the list.
// Launch   any.
// Needs    the list of boruvka_split_append, sorted by a split.
// Ensures  marks[i] = 1 if a component with edges begins at position i, else 0.
kernel void boruvka_split_mark(const global ulong *list, const global ulong *chosen,
                               global uint *marks, uint n) {
  GRID_FOR(i, n) {
    const bool begins = i == 0 || list[i - 1] >> 32 != list[i] >> 32;
    marks[i] = begins && chosen[(uint)list[i]] != ULONG_MAX;
  }
}

// Line 9 of the paper's algorithm: give every vertex the number of its supervertex, the vertex of
// the next level that replaces its component.
//
// In       list[n]: the words root << 32 | vertex, sorted; counts[n]: at each position of the list,
//          the number of marks (boruvka_split_mark) up to and including this position.
// Out      supervertices[n]: the number of each vertex's supervertex.
// Launch   any.
// Needs    boruvka_split_mark, and a scan of the marks.
// Ensures  supervertices[u] = the number of u's supervertex, for vertices with edges.
kernel void boruvka_split_number(const global ulong *list, const global uint *counts,
                                 global uint *supervertices, uint n) {
  GRID_FOR(i, n) supervertices[(uint)list[i]] = counts[i] - 1;
}
