// Recursive Borůvka: what its steps do between the primitives that they are made of.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1. Line numbers below are its.
//
// A level's edge list holds every edge in both directions, as two arrays: pairs, u << bits | v, and
// ranks, the edge's place in the total order (weight key, edge id), which stands for both: whoever
// compares ranks compares weights of any type exactly, and never meets a tie. The list is sorted
// by u. Levels other than the first have no two entries of the same pair.
//
// Every array element has one writer, and no kernel reads what it writes: no atomics, no races.
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Pointers that a work-item follows in one launch of pointer doubling.
#ifndef POINTER_JUMPS
#define POINTER_JUMPS 32
#endif

// A vertex without edges has chosen none; a rank stands in the upper half, so nothing is as great.
#define BORUVKA_NONE ULONG_MAX
// The pair of an edge within a supervertex, which is to go: u != v in all others.
#define BORUVKA_LOOP ULONG_MAX

#if WEIGHT_BITS == 64
typedef ulong boruvka_key_t;
#else
typedef uint boruvka_key_t;
#endif

static inline uint boruvka_source(ulong pair, uint bits) {
  return (uint)(pair >> bits);
}

static inline uint boruvka_target(ulong pair, uint bits) {
  return (uint)(pair & ((1ul << bits) - 1));
}

// ---------------------------------------------------------------- the first edge list

// Put the number of every row that has slots at its first slot; a maximum scan spreads it.
//
// In  indptr[n + 1].  In-out  rows[n_slots]: 0 before.  Launch  any.
kernel void boruvka_mark_rows(const global uint *indptr, global uint *rows, uint n) {
  GRID_FOR(row, n) {
    const uint begin = indptr[row];
    if (begin < indptr[row + 1]) rows[begin] = (uint)row;
  }
}

// Mark the upper slots: every edge once, no loops.
//
// In  rows, indices[n_slots].  Out  flags[n_slots].  Launch  any.
kernel void boruvka_mark_upper(const global uint *rows, const global uint *indices,
                               global uchar *flags, uint n_slots) {
  GRID_FOR(slot, n_slots) flags[slot] = indices[slot] > rows[slot];
}

// Make the keys that edges are ranked by.
//
// In  weights[n_slots]; slots[m]: of the edges.  Out  keys[m].  Launch  any.
kernel void boruvka_make_keys(const global weight_t *weights, const global uint *slots,
                              global boruvka_key_t *keys, uint m) {
  GRID_FOR(e, m) keys[e] = weight_key(weights[slots[e]]);
}

// List every edge in both directions, in the order of ranks.
//
// In       rows, indices[n_slots]; slots[m]: of the edges, in the order of (key, id).
// Out      pairs[2 m], ranks[2 m].
// Launch   any.
kernel void boruvka_list_edges(const global uint *rows, const global uint *indices,
                               const global uint *slots, global ulong2 *pairs,
                               global uint2 *ranks, uint m, uint bits) {
  GRID_FOR(rank, m) {
    const uint slot = slots[rank], u = rows[slot], v = indices[slot];
    pairs[rank] = (ulong2)((ulong)u << bits | v, (ulong)v << bits | u);
    ranks[rank] = (uint2)((uint)rank, (uint)rank);
  }
}

// ------------------------------------------------------------------- marking the edges

// Line 1: append the rank and the outgoing vertex of each edge.
//
// In  pairs, ranks[n_entries].  Out  appended[n_entries]: rank << 32 | v.  Launch  any.
kernel void boruvka_append(const global ulong *pairs, const global uint *ranks,
                           global ulong *appended, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) appended[i] = (ulong)ranks[i] << 32 | boruvka_target(pairs[i], bits);
}

// Line 2, and MarkSegments wherever else it is called: where the upper bits of a list change.
//
// In  pairs[n_entries], sorted; shift: lower bits that do not count.  Out  heads[n_entries].
// Launch  any.
kernel void boruvka_mark_segments(const global ulong *pairs, global uchar *heads, uint n_entries,
                                  uint shift) {
  GRID_FOR(i, n_entries) heads[i] = i == 0 || pairs[i - 1] >> shift != pairs[i] >> shift;
}

// Line 3, after the scan: every vertex keeps the minimum that its segment ends with.
//
// In       pairs; minima[n_entries]: inclusive segmented minimum of `appended`.
// In-out   chosen[n]: BORUVKA_NONE before, and after for vertices without edges.
// Launch   any.
kernel void boruvka_choose_edges(const global ulong *pairs, const global ulong *minima,
                                 global ulong *chosen, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) {
    const uint u = boruvka_source(pairs[i], bits);
    if (i + 1 == n_entries || boruvka_source(pairs[i + 1], bits) != u) chosen[u] = minima[i];
  }
}

// Line 4: the vertex that each vertex's edge leads to; itself where it has none.
//
// In  chosen[n].  Out  successors[n].  Launch  any.
kernel void boruvka_find_successors(const global ulong *chosen, global uint *successors, uint n) {
  GRID_FOR(u, n) successors[u] = chosen[u] == BORUVKA_NONE ? (uint)u : (uint)chosen[u];
}

// Lines 5 and 6: make the lesser vertex of each pair that chose each other a representative, and
// put the edges of all others into the forest.
//
// Ranks are distinct, so a cycle of choices has two vertices, and these have chosen the same edge:
// along a longer one ranks would fall for ever.
//
// In       chosen, successors[n]; slots[m]: of ranks.
// Out      parents[n]: as successors, but without cycles.
// In-out   in_forest[n_slots]: set to 1 at the edges chosen, by one writer each.
// Launch   any.
kernel void boruvka_break_cycles(const global ulong *chosen, const global uint *successors,
                                 const global uint *slots, global uint *parents,
                                 global uchar *in_forest, uint n) {
  GRID_FOR(u, n) {
    const uint v = successors[u];
    const bool is_representative = v == u || (successors[v] == u && u < v);
    parents[u] = is_representative ? (uint)u : v;
    if (!is_representative) in_forest[slots[chosen[u] >> 32]] = 1;
  }
}

// ------------------------------------------------------------------ the next level's list

// Line 7: pointer doubling, several jumps a launch.
//
// In       parents[n].
// Out      ancestors[n]: POINTER_JUMPS + 1 times the parent, or the representative if that is nearer.
// Launch   any.
kernel void boruvka_double_pointers(const global uint *parents, global uint *ancestors, uint n) {
  GRID_FOR(u, n) {
    uint ancestor = parents[u];
    for (uint jump = 0; jump < POINTER_JUMPS; ++jump) {
      const uint next = parents[ancestor];
      if (next == ancestor) break;
      ancestor = next;
    }
    ancestors[u] = ancestor;
  }
}

// Lines 8 and 9: mark the representatives of supervertices that can have edges; a scan numbers them.
// The paper sorts the vertices by representative first, which gives the same numbers (boruvka_split.cl).
//
// In  representatives[n]; chosen[n].  Out  marks[n]: 0 or 1.  Launch  any.
kernel void boruvka_mark_representatives(const global uint *representatives,
                                         const global ulong *chosen, global uint *marks, uint n) {
  GRID_FOR(u, n) marks[u] = representatives[u] == u && chosen[u] != BORUVKA_NONE;
}

// Line 9: give every vertex the number of its representative.
//
// In  representatives[n]; numbers[n].  Out  supervertices[n].  Launch  any.
kernel void boruvka_number_vertices(const global uint *representatives,
                                    const global uint *numbers, global uint *supervertices,
                                    uint n) {
  GRID_FOR(u, n) supervertices[u] = numbers[representatives[u]];
}

// Lines 10 and 11: let every entry name supervertices; those within one become BORUVKA_LOOP.
//
// In       pairs[n_entries] of `bits`; supervertices[n].
// Out      relabelled[n_entries]: pairs of `next_bits`.
// Launch   any.
kernel void boruvka_relabel_edges(const global ulong *pairs, const global uint *supervertices,
                                  global ulong *relabelled, uint n_entries, uint bits,
                                  uint next_bits) {
  GRID_FOR(i, n_entries) {
    const uint u = supervertices[boruvka_source(pairs[i], bits)];
    const uint v = supervertices[boruvka_target(pairs[i], bits)];
    relabelled[i] = u == v ? BORUVKA_LOOP : (ulong)u << next_bits | v;
  }
}
