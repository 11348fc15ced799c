// What a graph's topology alone settles: edges that no cycle has, and chains of edges that every
// cycle has all or none of.
//
// Where no vertex of the 2-core (clmst/algorithms/k_core/core_numbers.py) is at an end of an edge, or one only,
// the edge is in every forest. A vertex of two edges in the 2-core is an inner one; edges that meet
// at inner vertices are a chain. All edges of a chain but the heaviest are in every forest: a cycle
// that has one of them has them all. So a chain is one candidate between its two ends.
//
// Source: reduction by series, as for Steiner trees (Duin, Volgenant 1989), for forests under any
// weights.
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/work_group.cl"

#define NO_EDGE 0xffffffffu

// Whether an edge between two vertices lies in the 2-core.
static inline bool series_has(const global uint *cores, uint u, uint v) {
  return cores[u] >= 2 && cores[v] >= 2;
}

// Count the edges of the 2-core at each of its vertices.
//
// In       rows[m], indices[m]: the graph, each edge once; cores[n]: core numbers.
// In-out   degrees[n]: 0 before.
// Launch   any. O(m).
kernel void series_count(const global uint *rows, const global uint *indices,
                         const global uint *cores, volatile global uint *degrees, uint m) {
  GRID_FOR(e, m) {
    if (!series_has(cores, rows[e], indices[e])) continue;
    atomic_inc(degrees + rows[e]);
    atomic_inc(degrees + indices[e]);
  }
}

// Let every vertex be a set of its own, which has no edge yet.
//
// Out      parent[n], least[n].
// Launch   any.
kernel void series_begin(global uint *parent, global uint *least, uint n) {
  GRID_FOR(v, n) {
    parent[v] = (uint)v;
    least[v] = NO_EDGE;
  }
}

// Join inner vertices that have an edge in common.
//
// In       rows, indices, degrees: as above; 2 for inner vertices, 0 outside the 2-core.
// In-out   parent[n].
// Launch   any. O(m).
kernel void series_join(const global uint *rows, const global uint *indices,
                        const global uint *degrees, volatile global uint *parent, uint m) {
  GRID_FOR(e, m) {
    const uint u = rows[e], v = indices[e];
    if (degrees[u] == 2 && degrees[v] == 2)
      wi_unite(parent, wi_find_halving(parent, u), wi_find_halving(parent, v));
  }
}

// The inner vertex that tells an edge's chain: of the edge's ends the first that is one, else none.
static inline uint series_inner(const global uint *degrees, uint u, uint v) {
  return degrees[u] == 2 ? u : degrees[v] == 2 ? v : NO_EDGE;
}

// Find the first edge of every chain.
//
// In       rows, indices, cores, degrees, parent.
// In-out   least[n]: NO_EDGE before; then at the roots of inner vertices.
// Launch   any. O(m).
kernel void series_find_first(const global uint *rows, const global uint *indices,
                              const global uint *cores, const global uint *degrees,
                              const global uint *parent, volatile global uint *least, uint m) {
  GRID_FOR(e, m) {
    const uint u = rows[e], v = indices[e], inner = series_inner(degrees, u, v);
    if (inner != NO_EDGE && series_has(cores, u, v))
      reservation_lower_u32(least + wi_find(parent, inner), (uint)e);
  }
}

// Let every edge know the first edge of its chain.
//
// In       rows, indices, cores, degrees, parent, least.
// Out      firsts[m]: m for edges that are in every forest; slots[m]: 0, 1, ...
// Launch   any. O(m).
kernel void series_name(const global uint *rows, const global uint *indices,
                        const global uint *cores, const global uint *degrees,
                        const global uint *parent, const global uint *least, global uint *firsts,
                        global uint *slots, uint m) {
  GRID_FOR(e, m) {
    const uint u = rows[e], v = indices[e], inner = series_inner(degrees, u, v);
    uint first = inner == NO_EDGE ? (uint)e : least[wi_find(parent, inner)];
    if (!series_has(cores, u, v)) first = m;
    firsts[e] = first;
    slots[e] = (uint)e;
  }
}

// Flag where chains begin, and mark the edges that are in the forest unless they turn out to be
// their chain's heaviest.
//
// In       firsts[m]: sorted; slots[m] along with them.
// In-out   kept: a bit a slot, 0 before; set for edges of chains of several, and of no chain.
// Out      heads[m + 1]: 1 where a chain begins, and behind the last one; else 0.
// Launch   any. O(m).
kernel void series_flag_heads(const global uint *firsts, const global uint *slots,
                              global uchar *heads, volatile global uint *kept, uint m) {
  GRID_FOR(i, m + 1) {
    const uint before = i > 0 ? firsts[i - 1] : NO_EDGE, first = i < m ? firsts[i] : m;
    const bool is_head = before != first;
    heads[i] = is_head;
    if (i == m) continue;
    const bool is_alone = is_head && first < m && (i + 1 == m || firsts[i + 1] != first);
    if (!is_alone) atomic_or(kept + slots[i] / 32, 1u << slots[i] % 32);
  }
}

// Flag the vertices that are ends of chains.
//
// In       degrees[n].
// Out      flags[n]: 1 in the 2-core but for inner vertices, else 0.
// Launch   any.
kernel void series_flag_ends(const global uint *degrees, global uint *flags, uint n) {
  GRID_FOR(v, n) flags[v] = degrees[v] > 2;
}

// Find the ends of every chain.
//
// In       starts[k + 1]: where chains begin; slots: by chain; rows, indices, degrees; numbers[n]:
//          of the vertices that are ends.
// Out      ends[k]: twice the same for a chain that ends where it began, 0 for a cycle of inner
//          vertices.
// Launch   any. O(m).
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
