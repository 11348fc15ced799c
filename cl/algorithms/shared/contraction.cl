// Contraction of a graph level by level: what lies between the primitives that its steps are made
// of.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1, whose line numbers are those below;
// Nobari, Cao, Karras and Bressan 2012, Algorithm 5, does the same by the same steps. How vertices
// choose is the algorithms' own; edge_list.cl has the forms of edges and choices.
//
// Every array element has one writer, and no kernel reads what it writes: no atomics, no races.
#include "device/edge_list.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Pointers that a work-item follows in one launch of pointer doubling.
#ifndef POINTER_JUMPS
#define POINTER_JUMPS 32
#endif

// The pair of an edge within a supervertex, which is to go: u != v in all others.
#define CONTRACTION_LOOP ULONG_MAX

#if WEIGHT_BITS == 64
typedef ulong contraction_key_t;
#else
typedef uint contraction_key_t;
#endif

// ---------------------------------------------------------------- the first edge list

// Put the number of every row that has slots at its first slot; a maximum scan spreads it.
//
// In  indptr[n + 1].  In-out  rows[n_slots]: 0 before.  Launch  any.
kernel void contraction_mark_rows(const global uint *indptr, global uint *rows, uint n) {
  GRID_FOR(row, n) {
    const uint begin = indptr[row];
    if (begin < indptr[row + 1]) rows[begin] = (uint)row;
  }
}

// Mark the upper slots: every edge once, no loops.
//
// In  rows, indices[n_slots].  Out  flags[n_slots].  Launch  any.
kernel void contraction_mark_upper(const global uint *rows, const global uint *indices,
                                   global uchar *flags, uint n_slots) {
  GRID_FOR(slot, n_slots) flags[slot] = indices[slot] > rows[slot];
}

// Find out whether `run` slots side by side are of parallel edges anywhere.
//
// In       rows, indices[n_slots], rising within a row.
// In-out   found[1]: 0 before; 1 where there are such. Who stores stores 1, so it matters not who.
// Launch   any; run >= 2.
kernel void contraction_find_parallel(const global uint *rows, const global uint *indices,
                                      global uint *found, uint n_slots, uint run) {
  GRID_FOR(slot, n_slots) {
    const size_t last = (size_t)slot + run - 1;
    if (last >= n_slots) continue;
    const uint row = rows[slot], column = indices[slot];
    if ((column != row) & (column == indices[last]) & (row == rows[last])) found[0] = 1;
  }
}

// Make the keys that edges are ranked by.
//
// In  weights[n_slots]; slots[m]: of the edges.  Out  keys[m].  Launch  any.
kernel void contraction_make_keys(const global weight_t *weights, const global uint *slots,
                                  global contraction_key_t *keys, uint m) {
  GRID_FOR(e, m) keys[e] = weight_key(weights[slots[e]]);
}

// List every edge in both directions, in the order of ranks.
//
// In       rows, indices[n_slots]; slots[m]: of the edges, in the order of (key, id).
// Out      pairs[2 m], ranks[2 m].
// Launch   any.
kernel void contraction_list_edges(const global uint *rows, const global uint *indices,
                                   const global uint *slots, global ulong2 *pairs,
                                   global uint2 *ranks, uint m, uint bits) {
  GRID_FOR(rank, m) {
    const uint slot = slots[rank], u = rows[slot], v = indices[slot];
    pairs[rank] = (ulong2)((ulong)u << bits | v, (ulong)v << bits | u);
    ranks[rank] = (uint2)((uint)rank, (uint)rank);
  }
}

// ------------------------------------------------------------------ joining vertices

// Lines 2 and 12, MarkSegments: where the upper bits of a list change.
//
// In  pairs[n_entries], sorted; shift: lower bits that do not count.  Out  heads[n_entries].
// Launch  any.
kernel void contraction_mark_segments(const global ulong *pairs, global uchar *heads,
                                      uint n_entries, uint shift) {
  GRID_FOR(i, n_entries) heads[i] = i == 0 || pairs[i - 1] >> shift != pairs[i] >> shift;
}

// Line 4: the vertex that each vertex is joined to; itself where it is to none.
//
// In  chosen[n].  Out  successors[n].  Launch  any.
kernel void contraction_find_successors(const global ulong *chosen, global uint *successors,
                                        uint n) {
  GRID_FOR(u, n) successors[u] = chosen[u] == NO_CHOICE ? (uint)u : choice_vertex(chosen[u]);
}

// Lines 5 and 6: make the lesser vertex of each pair that chose each other a representative, and
// put the edges of all others into the forest.
//
// Longer cycles there must not be, and the two of a pair must have chosen the same edge; whoever
// makes the choices says why. Then the edges of all but representatives are distinct.
//
// In       chosen, successors[n]; slots[m]: of ranks.
// Out      parents[n]: as successors, but without cycles.
// In-out   in_forest[n_slots]: set to 1 at the edges chosen, by one writer each.
// Launch   any.
kernel void contraction_break_cycles(const global ulong *chosen, const global uint *successors,
                                     const global uint *slots, global uint *parents,
                                     global uchar *in_forest, uint n) {
  GRID_FOR(u, n) {
    const uint v = successors[u];
    const bool is_representative = v == u || (successors[v] == u && u < v);
    parents[u] = is_representative ? (uint)u : v;
    if (!is_representative) in_forest[slots[choice_rank(chosen[u])]] = 1;
  }
}

// ------------------------------------------------------------------ the next level's list

// Line 7: pointer doubling, several jumps a launch.
//
// In       parents[n].
// Out      ancestors[n]: POINTER_JUMPS + 1 times the parent, or the representative if that is
//          nearer.
// Launch   any.
kernel void contraction_double_pointers(const global uint *parents, global uint *ancestors,
                                        uint n) {
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

// Lines 8 and 9: mark the representatives of supervertices that can have edges; a scan numbers
// them. Sorting the vertices by representative first gives the same numbers (boruvka/split.cl).
//
// In  representatives[n]; chosen[n].  Out  marks[n]: 0 or 1.  Launch  any.
kernel void contraction_mark_representatives(const global uint *representatives,
                                             const global ulong *chosen, global uint *marks,
                                             uint n) {
  GRID_FOR(u, n) marks[u] = representatives[u] == u && chosen[u] != NO_CHOICE;
}

// Line 9: give every vertex the number of its representative.
//
// In  representatives[n]; numbers[n].  Out  supervertices[n].  Launch  any.
kernel void contraction_number_vertices(const global uint *representatives,
                                        const global uint *numbers, global uint *supervertices,
                                        uint n) {
  GRID_FOR(u, n) supervertices[u] = numbers[representatives[u]];
}

// Lines 10 and 11: let every entry name supervertices; those within one become CONTRACTION_LOOP.
//
// In       pairs[n_entries] of `bits`; supervertices[n].
// Out      relabelled[n_entries]: pairs of `next_bits`.
// Launch   any.
kernel void contraction_relabel_edges(const global ulong *pairs,
                                      const global uint *supervertices,
                                      global ulong *relabelled, uint n_entries, uint bits,
                                      uint next_bits) {
  GRID_FOR(i, n_entries) {
    const uint u = supervertices[pair_source(pairs[i], bits)];
    const uint v = supervertices[pair_target(pairs[i], bits)];
    relabelled[i] = u == v ? CONTRACTION_LOOP : (ulong)u << next_bits | v;
  }
}
