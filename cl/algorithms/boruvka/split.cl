// Number the supervertices, which replace the components of a contracted graph, as the paper does
// it: sort the vertices by the roots of their components (a split), and number the components in
// the order of the sorted list. These kernels serve only for comparison with the paper, because a
// scan over the roots alone gives the same numbers.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, section 3.2, "Assigning ids to supervertices",
// and Algorithm 1, lines 8 and 9.
#include "device/work_group.cl"

// Pack each vertex and the root of its component into one word of 64 bits, with the root in the
// upper half. This is line 8 of Algorithm 1 of Vineet et al.
//
// In       representatives[n]: for each vertex, the root of its component.
// Out      list[n]: the word of each vertex.
// Launch   any.
// Needs    nothing.
// Ensures  list[u] = representatives[u] << 32 | u.
kernel void boruvka_split_append(const global uint *representatives, global ulong *list, uint n) {
  GRID_FOR(u, n) list[u] = (ulong)representatives[u] << 32 | u;
}

// Mark the first vertex of each component in the list of vertices, which is sorted by the roots of
// components. A scan of the marks then numbers the supervertices that replace the components. This
// is a part of line 9 of Algorithm 1 of Vineet et al.
//
// In       list[n]: the words root << 32 | vertex, sorted;
//          chosen[n]: for each vertex, the word of its lightest edge, or all ones for a vertex
//            without edges. Such a vertex is a component by itself, and gets no mark.
// Out      marks[n]: a mark for each position of the list.
// Launch   any.
// Needs    `list` is the output of boruvka_split_append, sorted.
// Ensures  marks[i] = 1 if a component with edges begins at position i, else 0.
kernel void boruvka_split_mark(const global ulong *list, const global ulong *chosen,
                               global uint *marks, uint n) {
  GRID_FOR(i, n) {
    const bool begins = i == 0 || list[i - 1] >> 32 != list[i] >> 32;
    marks[i] = begins && chosen[(uint)list[i]] != ULONG_MAX;
  }
}

// Give every vertex the number of its supervertex, the vertex of the contracted graph that replaces
// its component. This is a part of line 9 of Algorithm 1 of Vineet et al.
//
// In       list[n]: the words root << 32 | vertex, sorted;
//          counts[n]: at each position of the list, the number of marks (boruvka_split_mark) up to
//            and including this position.
// Out      supervertices[n]: the number of each vertex's supervertex.
// Launch   any.
// Needs    `counts` is an inclusive scan of the marks that boruvka_split_mark has stored.
// Ensures  supervertices[u] = the number of u's supervertex, for vertices with edges.
kernel void boruvka_split_number(const global ulong *list, const global uint *counts,
                                 global uint *supervertices, uint n) {
  GRID_FOR(i, n) supervertices[(uint)list[i]] = counts[i] - 1;
}
