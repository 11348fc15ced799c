// Contract a graph again and again: the components that chosen edges connect become the vertices of
// the next graph, which is called the next level. This file has the kernels that run between
// primitives such as sorts and scans.
//
// Source: Vineet, Harish, Patidar, Narayanan 2009, Algorithm 1, whose line numbers are cited below.
// Algorithm 5 of Nobari, Cao, Karras and Bressan 2012 contracts by the same steps. Each algorithm
// that uses this file chooses edges in its own way. edge_list.cl says how edges and choices are
// stored.
//
// Every array element has one writer, and no kernel reads an array that it writes. So there are no
// atomics and no races.
#include "device/edge_list.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Maximum number of times that a work-item goes from a vertex to its parent in one launch of
// pointer doubling.
#ifndef POINTER_JUMPS
#define POINTER_JUMPS 32
#endif

// The word that replaces an edge whose two ends lie in the same supervertex. These edges are
// removed later. No other edge has this word, because the two ends in its word differ.
#define CONTRACTION_LOOP ULONG_MAX

#if WEIGHT_BITS == 64
typedef ulong contraction_key_t;
#else
typedef uint contraction_key_t;
#endif

// ---------------------------------------------------------------- the first edge list

// Store, at the first slot of every row that has slots, the number of the row. A maximum scan then
// copies it to the row's other slots.
//
// In       indptr[n + 1]: where each row begins.
// In-out   rows[n_slots]: for each slot (CSR entry), the row if the slot is the first of its row,
//          else unchanged. All are 0 before.
// Launch   any.
// Needs    nothing.
// Ensures  after an inclusive maximum scan, rows[slot] = the row of the slot.
kernel void contraction_mark_rows(const global uint *indptr, global uint *rows, uint n) {
  GRID_FOR(row, n) {
    const uint begin = indptr[row];
    if (begin < indptr[row + 1]) rows[begin] = (uint)row;
  }
}

// Flag the upper slots, which are the CSR entries above the diagonal. They contain every edge once
// and no self-loops.
//
// In       rows[n_slots], indices[n_slots]: the row and the column of each slot (CSR entry).
// Out      flags[n_slots]: a flag for each slot.
// Launch   any.
// Needs    nothing.
// Ensures  flags[slot] = 1 if its column is greater than its row, else 0.
kernel void contraction_mark_upper(const global uint *rows, const global uint *indices,
                                   global uchar *flags, uint n_slots) {
  GRID_FOR(slot, n_slots) flags[slot] = indices[slot] > rows[slot];
}

// Find out whether `run` or more consecutive slots (CSR entries) are parallel edges, which join the
// same two vertices.
//
// In       rows[n_slots], indices[n_slots]: the row and the column of each slot.
// In-out   found[1]: the result, 0 before. All writers store 1, so their race is benign.
// Launch   any.
// Needs    columns ascend within a row; run >= 2.
// Ensures  found[0] = 1 if some row has at least `run` parallel edges.
kernel void contraction_find_parallel(const global uint *rows, const global uint *indices,
                                      global uint *found, uint n_slots, uint run) {
  GRID_FOR(slot, n_slots) {
    const size_t last = (size_t)slot + run - 1;
    if (last >= n_slots) continue;
    const uint row = rows[slot], column = indices[slot];
    if ((column != row) & (column == indices[last]) & (row == rows[last])) found[0] = 1;
  }
}

// Compute the weight keys of edges. The edges are then sorted by them, which gives the ranks.
//
// In       weights[n_slots]: the weight of each slot (CSR entry);
//          slots[m]: the slot of each edge.
// Out      keys[m]: an unsigned integer for each edge that sorts as its weight does.
// Launch   any.
// Needs    slots are below n_slots.
// Ensures  keys[e] = the key of weights[slots[e]].
kernel void contraction_make_keys(const global weight_t *weights, const global uint *slots,
                                  global contraction_key_t *keys, uint m) {
  GRID_FOR(e, m) keys[e] = weight_key(weights[slots[e]]);
}

// List every edge in both directions, in the order of ranks. The rank of an edge is its position in
// the order by (key, id).
//
// In       rows[n_slots], indices[n_slots]: the row and the column of each slot (CSR entry);
//          slots[m]: the slot of the edge of each rank.
// Out      pairs[2 m]: the two ends of each directed edge, as the word source << bits | target;
//          ranks[2 m]: the rank of each directed edge.
// Launch   any.
// Needs    vertices have at most `bits` bits.
// Ensures  entries 2 r and 2 r + 1 are the two directions of the edge of rank r.
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

// Flag the first entry of each segment of a sorted list of directed edges. A segment has the edges
// of one source vertex, or parallel edges. This is the step MarkSegments, lines 2 and 12 of
// Algorithm 1 of Vineet et al. 2009.
//
// In       pairs[n_entries]: the two ends of each directed edge, as the word source << bits |
//            target;
//          shift: the number of lower bits of the words that are ignored. If it is `bits`, a
//            segment has the edges of one source. If it is 0, a segment has parallel edges.
// Out      heads[n_entries]: a flag for each entry.
// Launch   any.
// Needs    shift < 64.
// Ensures  heads[i] = 1 if a segment begins at position i, else 0.
kernel void contraction_mark_segments(const global ulong *pairs, global uchar *heads,
                                      uint n_entries, uint shift) {
  GRID_FOR(i, n_entries) heads[i] = i == 0 || pairs[i - 1] >> shift != pairs[i] >> shift;
}

// Store, for each vertex, the vertex at the other end of its chosen edge. This is line 4 of
// Algorithm 1 of Vineet et al. 2009.
//
// In       chosen[n]: the edge that each vertex has chosen, as rank << 32 | vertex at the other
//          end, or NO_CHOICE if it has chosen none.
// Out      successors[n]: the vertex at the other end of each vertex's choice.
// Launch   any.
// Needs    all choices are stored.
// Ensures  successors[u] = the vertex of u's choice, or u itself for NO_CHOICE.
kernel void contraction_find_successors(const global ulong *chosen, global uint *successors,
                                        uint n) {
  GRID_FOR(u, n) successors[u] = chosen[u] == NO_CHOICE ? (uint)u : choice_vertex(chosen[u]);
}

// Put the edges that vertices have chosen into the forest, and turn the choices into trees. The
// parent of a vertex is the vertex at the other end of its chosen edge. If two vertices chose the
// same edge, the lesser one is the representative of its tree, and its choice is ignored. These are
// lines 5 and 6 of Algorithm 1 of Vineet et al. 2009.
//
// In       chosen[n]: the choice of each vertex, as the word rank << 32 | vertex at the other end;
//          successors[n]: the vertex at the other end of each vertex's choice;
//          slots[m]: the slot (CSR entry) of the edge of each rank.
// Out      parents[n]: the parent of each vertex in its tree.
// In-out   in_forest[n_slots]: a byte for each slot, set to 1 for the chosen edges. Each byte has
//          one writer.
// Launch   any.
// Needs    choices do not form cycles of more than two vertices, and two vertices that chose each
//          other chose the same edge. The file of each algorithm says why this is so. So among the
//          vertices that are not representatives, no two have chosen the same edge.
// Ensures  parents[u] = u for representatives, else successors[u].
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

// Find an ancestor of each vertex that is farther up in its tree, by several jumps. This is pointer
// doubling, line 7 of Algorithm 1 of Vineet et al. 2009.
//
// In       parents[n]: the parent of each vertex in its tree. A representative, the top of a tree,
//          is its own parent.
// Out      ancestors[n]: the ancestor of each vertex.
// Launch   any; repeated with the two arrays exchanged until no element changes.
// Needs    the only cycles of parents are representatives, which are their own parents.
// Ensures  ancestors[u] = the ancestor POINTER_JUMPS + 1 steps up, or the representative if that is
//          nearer.
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

// Mark the representatives (tops) of the trees that become supervertices of the next level.
// Vertices without edges are not marked. A scan then numbers the marked representatives. Sorting
// the vertices by representative first gives the same numbers (boruvka/split.cl). These are lines 8
// and 9 of Algorithm 1 of Vineet et al. 2009.
//
// In       representatives[n]: the top of each vertex's tree;
//          chosen[n]: the choice of each vertex, NO_CHOICE if it has no edge.
// Out      marks[n]: a mark for each vertex.
// Launch   any.
// Needs    contraction_double_pointers has been repeated until nothing changes.
// Ensures  marks[u] = 1 if u is the representative of its tree and has an edge, else 0.
kernel void contraction_mark_representatives(const global uint *representatives,
                                             const global ulong *chosen, global uint *marks,
                                             uint n) {
  GRID_FOR(u, n) marks[u] = representatives[u] == u && chosen[u] != NO_CHOICE;
}

// Give every vertex the number of its representative, the top of its tree. This is the number of
// its supervertex. It is a part of line 9 of Algorithm 1 of Vineet et al. 2009.
//
// In       representatives[n]: the top of each vertex's tree;
//          numbers[n]: the number of each marked representative.
// Out      supervertices[n]: the supervertex of each vertex.
// Launch   any.
// Needs    contraction_mark_representatives, and a scan of its marks.
// Ensures  supervertices[u] = numbers[representatives[u]].
kernel void contraction_number_vertices(const global uint *representatives,
                                        const global uint *numbers, global uint *supervertices,
                                        uint n) {
  GRID_FOR(u, n) supervertices[u] = numbers[representatives[u]];
}

// Replace the two ends of each edge by their supervertices, which are the vertices of the next
// level. An edge within one supervertex becomes CONTRACTION_LOOP. These are lines 10 and 11 of
// Algorithm 1 of Vineet et al. 2009.
//
// In       pairs[n_entries]: the two ends of each directed edge, each of `bits` bits in one word;
//          supervertices[n]: the supervertex of each vertex.
// Out      relabelled[n_entries]: the two supervertices of each directed edge, each of `next_bits`
//          bits in one word.
// Launch   any.
// Needs    supervertices have at most `next_bits` bits.
// Ensures  relabelled[i] = the two supervertices of the ends of pairs[i], or CONTRACTION_LOOP if
//          they are equal.
kernel void contraction_relabel_edges(const global ulong *pairs, const global uint *supervertices,
                                      global ulong *relabelled, uint n_entries, uint bits,
                                      uint next_bits) {
  GRID_FOR(i, n_entries) {
    const uint u = supervertices[pair_source(pairs[i], bits)];
    const uint v = supervertices[pair_target(pairs[i], bits)];
    relabelled[i] = u == v ? CONTRACTION_LOOP : (ulong)u << next_bits | v;
  }
}
