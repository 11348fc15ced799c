// Series contraction: find edges that are in every forest of a graph, whatever the weights are.
//
// An edge outside the 2-core (clmst/algorithms/k_core/core_numbers.py) is not on a cycle, so it is
// in every forest. An inner vertex has exactly two edges in the 2-core. Edges that meet at inner
// vertices form a degree-2 path. A cycle contains all edges of a path or none of them. So all edges
// of a path except the heaviest one are in every forest. The heaviest edge is a candidate, which
// may or may not be in the forest. It counts as one edge between the two ends of the path:
//
//     a - b - c - d        b, c: inner vertices; weights 3, 7, 5
//     |           |
//     e - - - - - f        path a b c d: edges 3 and 5 are in, 7 is the candidate, from a to d
//
// Source: reduction by series, which Duin and Volgenant (1989) use for Steiner trees, here for
// forests under any weights.
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/work_group.cl"

#define NO_EDGE 0xffffffffu

// Return whether an edge between two vertices lies in the 2-core, the largest subgraph in which
// every vertex has at least two neighbours. `cores` has the core number of each vertex.
static inline bool in_two_core(const global uint *cores, uint u, uint v) {
  return cores[u] >= 2 && cores[v] >= 2;
}

// Count the edges of the 2-core at each of its vertices.
//
// In       rows[m], indices[m]: the two ends of each edge, each edge once;
//          cores[n]: the core number of each vertex.
// In-out   degrees[n]: the result, 0 before the launch.
// Launch   any. O(m).
// Needs    the graph does not have self-loops.
// Ensures  degrees[v] = the number of edges of the 2-core at v; 0 outside of the 2-core.
kernel void series_count(const global uint *rows, const global uint *indices,
                         const global uint *cores, volatile global uint *degrees, uint m) {
  GRID_FOR(e, m) {
    if (!in_two_core(cores, rows[e], indices[e])) continue;
    atomic_inc(degrees + rows[e]);
    atomic_inc(degrees + indices[e]);
  }
}

// Make every vertex a disjoint set of its own. The sets will become the degree-2 paths, and the
// first edge of a path, which names it, is the edge with the minimum number.
//
// Out      parent[n]: the parents of the disjoint sets;
//          least[n]: the first edge of each set's path.
// Launch   any.
// Needs    nothing.
// Ensures  parent[v] = v; least[v] = NO_EDGE.
kernel void series_begin(global uint *parent, global uint *least, uint n) {
  GRID_FOR(v, n) {
    parent[v] = (uint)v;
    least[v] = NO_EDGE;
  }
}

// Unite the sets of two inner vertices if an edge joins them. Inner vertices have exactly two edges
// in the 2-core. So all inner vertices of a degree-2 path become one set.
//
// In       rows[m], indices[m]: the two ends of each edge;
//          degrees[n]: the number of edges of the 2-core at each vertex, 2 for inner vertices.
// In-out   parent[n]: the parents of disjoint sets.
// Launch   any. O(m).
// Needs    series_count, series_begin.
// Ensures  two inner vertices are in one set if they are on one path.
kernel void series_join(const global uint *rows, const global uint *indices,
                        const global uint *degrees, volatile global uint *parent, uint m) {
  GRID_FOR(e, m) {
    const uint u = rows[e], v = indices[e];
    if (degrees[u] == 2 && degrees[v] == 2)
      wi_unite(parent, wi_find_halving(parent, u), wi_find_halving(parent, v));
  }
}

// Return an end of the edge (u, v) that is an inner vertex, which has exactly two edges in the
// 2-core. The degree-2 path of an edge is found from its inner vertices. If both ends are inner
// vertices, return u. If neither is, return NO_EDGE.
static inline uint inner_vertex(const global uint *degrees, uint u, uint v) {
  return degrees[u] == 2 ? u : degrees[v] == 2 ? v : NO_EDGE;
}

// Find the first edge of every degree-2 path, which is its edge with the minimum number. The inner
// vertices of a path have exactly two edges each in the 2-core.
//
// In       rows[m], indices[m]: the two ends of each edge;
//          cores[n]: the core number of each vertex;
//          degrees[n]: the number of edges of the 2-core at each vertex;
//          parent[n]: the disjoint sets of inner vertices, one for each path.
// In-out   least[n]: at the root of each set, the first edge of the path so far, NO_EDGE before.
// Launch   any. O(m).
// Needs    series_join.
// Ensures  least[root] = the first edge of the path whose inner vertices have that root.
kernel void series_find_first(const global uint *rows, const global uint *indices,
                              const global uint *cores, const global uint *degrees,
                              const global uint *parent, volatile global uint *least, uint m) {
  GRID_FOR(e, m) {
    const uint u = rows[e], v = indices[e], inner = inner_vertex(degrees, u, v);
    if (inner != NO_EDGE && in_two_core(cores, u, v))
      reservation_lower_u32(least + wi_find(parent, inner), (uint)e);
  }
}

// Store, for each edge, the first edge of its degree-2 path, which is the path's edge with the
// minimum number. Edges are then sorted by these numbers, which brings the edges of each path
// together. The inner vertices of a path have exactly two edges each in the 2-core.
//
// In       rows[m], indices[m]: the two ends of each edge;
//          cores[n]: the core number of each vertex;
//          degrees[n]: the number of edges of the 2-core at each vertex;
//          parent[n]: the disjoint sets of inner vertices, one for each path;
//          least[n]: at the root of each set, the first edge of the path.
// Out      firsts[m]: the first edge of the path of each edge;
//          slots[m]: the number of each edge, which is sorted together with firsts[].
// Launch   any. O(m).
// Needs    series_find_first.
// Ensures  firsts[e] = the first edge of e's path. It is e itself if neither end is an inner
//          vertex, and m if e is outside the 2-core. slots[e] = e.
kernel void series_name(const global uint *rows, const global uint *indices,
                        const global uint *cores, const global uint *degrees,
                        const global uint *parent, const global uint *least, global uint *firsts,
                        global uint *slots, uint m) {
  GRID_FOR(e, m) {
    const uint u = rows[e], v = indices[e], inner = inner_vertex(degrees, u, v);
    uint first = inner == NO_EDGE ? (uint)e : least[wi_find(parent, inner)];
    if (!in_two_core(cores, u, v)) first = m;
    firsts[e] = first;
    slots[e] = (uint)e;
  }
}

// In the list of edges, which is sorted by paths, flag the first edge of every degree-2 path. Also
// set the bits of two kinds of edges: edges that are not on a cycle, and edges of paths of two or
// more edges. They are in the forest, except for the heaviest edge of each path. Its bit is cleared
// later, when the weights are known.
//
// In       firsts[m]: the first edge of the path of each edge, sorted;
//          slots[m]: the edges in the same order.
// In-out   in_forest[ceil(m / 32)]: a bit for each edge, 0 before the launch.
// Out      heads[m + 1]: a flag for each element of the list, and for the end of the list.
// Launch   any. O(m).
// Needs    series_name, and a sort by `firsts`.
// Ensures  heads[i] = 1 if a path begins at i, or if i is the index after the last path, else 0.
//          The bits of edges in paths of two or more edges and of edges outside the 2-core are set.
kernel void series_flag_heads(const global uint *firsts, const global uint *slots,
                              global uchar *heads, volatile global uint *in_forest, uint m) {
  GRID_FOR(i, m + 1) {
    const uint before = i > 0 ? firsts[i - 1] : NO_EDGE, first = i < m ? firsts[i] : m;
    const bool is_head = before != first;
    heads[i] = is_head;
    if (i == m) continue;
    const bool is_single = is_head && first < m && (i + 1 == m || firsts[i + 1] != first);
    if (!is_single) atomic_or(in_forest + slots[i] / 32, 1u << slots[i] % 32);
  }
}

// Flag the vertices that are ends of degree-2 paths. These are the vertices with more than two
// edges in the 2-core.
//
// In       degrees[n]: the number of edges of the 2-core at each vertex.
// Out      flags[n]: a flag for each vertex.
// Launch   any.
// Needs    series_count.
// Ensures  flags[v] = 1 if degrees[v] > 2, else 0.
kernel void series_flag_ends(const global uint *degrees, global uint *flags, uint n) {
  GRID_FOR(v, n) flags[v] = degrees[v] > 2;
}

// Find the two ends of every degree-2 path, whose inner vertices have exactly two edges each in the
// 2-core.
//
// In       starts[k + 1]: the index in slots[] at which each path begins;
//          slots[m]: the numbers of the edges, path by path;
//          rows[m], indices[m]: the two ends of each edge;
//          degrees[n]: the number of edges of the 2-core at each vertex;
//          numbers[n]: the new number of each vertex that is the end of a path.
// Out      ends[k]: the new numbers of the two ends of each path.
// Launch   any. O(m).
// Needs    series_flag_heads, series_flag_ends, and a scan of the flags of each.
// Ensures  ends[c] = the numbers of the two ends of path c. They are equal if the path begins and
//          ends at the same vertex. Both are 0 if the path is a cycle of inner vertices.
kernel void series_find_ends(const global uint *starts, const global uint *slots,
                             const global uint *rows, const global uint *indices,
                             const global uint *degrees, const global uint *numbers,
                             global uint2 *ends, uint k) {
  GRID_FOR(c, k) {
    uint2 pair = (uint2)(0, 0);
    for (uint i = starts[c]; i < starts[c + 1]; ++i) {
      const uint u = rows[slots[i]], v = indices[slots[i]];
      if (degrees[u] > 2) pair = (uint2)(numbers[u], pair.x);
      if (degrees[v] > 2) pair = (uint2)(numbers[v], pair.x);
    }
    ends[c] = pair;
  }
}
