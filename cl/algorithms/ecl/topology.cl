// ECL-MST without lists of undecided edges (worklists): every round reads the whole graph again. It
// serves only to measure what worklists gain.
//
// Source: SC '23, section 5.3, items 7 ("Topology-Driven") and 8 ("Vertex-Centric").
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// If EDGE_CENTRIC is 1, a work-item takes one edge at a time. If it is 0, a work-item takes one
// vertex with all its edges.
#ifndef EDGE_CENTRIC
#define EDGE_CENTRIC 1
#endif

// If SINGLE_DIRECTION is 1, each edge is taken only from its slot (CSR entry) in the row of its
// lesser end. If it is 0, each edge is taken from both of its slots.
#ifndef SINGLE_DIRECTION
#define SINGLE_DIRECTION 1
#endif

// Store the row, which is the source vertex, of every slot (CSR entry). Kernels in which each
// work-item takes one edge need it.
//
// In       indptr[n + 1]: where each row begins.
// Out      rows[n_slots]: the row of each slot.
// Launch   any.
// Needs    nothing.
// Ensures  rows[slot] = the row of the slot.
kernel void ecl_topology_expand_rows(const global uint *indptr, global uint *rows, uint n) {
  GRID_FOR(row, n)
    for (uint slot = indptr[row]; slot < indptr[row + 1]; ++slot) rows[slot] = (uint)row;
}

// Return whether the edge of `slot` in `row` belongs to the present filter pass and joins two sets
// of vertices. A filter pass takes the edges whose leading key words (the upper 32 bits of weight
// keys) are from `lightest` to `heaviest`. *edge becomes the edge, with the roots of the two sets
// as its ends. It is valid only if the result is true.
static inline bool topology_edge(const global uint *indices, const global weight_t *weights,
                                 volatile global uint *parent, uint row, uint slot, uint lightest,
                                 uint heaviest, edge_t *edge) {
  const uint column = indices[slot];
  if (SINGLE_DIRECTION ? column <= row : column == row) return false;
  edge->key = weight_key_leading(weights[slot]);
  if (edge->key < lightest || edge->key > heaviest) return false;
  edge->u = wi_find_halving(parent, row);
  edge->v = wi_find_halving(parent, column);
  edge->id = slot;
  return edge->u != edge->v;
}

#if EDGE_CENTRIC
#define FOR_EACH_SLOT       \
  GRID_FOR(slot, n_slots) { \
    const uint row = rows[slot];
#else
#define FOR_EACH_SLOT \
  GRID_FOR(row, n)    \
    for (uint slot = indptr[row]; slot < indptr[row + 1]; ++slot) {
#endif

// Compare one word of each edge between two sets with the reservations of both sets, by an atomic
// minimum. A reservation holds the lightest edge of a set so far. Edges are sequences of words, but
// an atomic minimum compares only one word. So each word has a launch of its own, and this launch
// is for word number `pass` (reservation.cl).
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph as a CSR;
//          rows[n_slots]: the row of each slot (CSR entry).
// In-out   parent[n]: the parents of the disjoint sets, whose paths are halved;
//          reservations[n * RESERVATION_WORDS]: the reservation of each set;
//          counts[round]: set to 1 if an edge joins two sets. All writers store the same value, so
//            their race is benign.
// Launch   any.
// Needs    there is one launch for each pass, in ascending order.
// Ensures  word `pass` of each reservation is the minimum over those edges of the set whose earlier
//          words are equal to the earlier words of the reservation.
kernel void ecl_topology_reserve(const global uint *indptr, const global uint *rows,
                                 const global uint *indices, const global weight_t *weights,
                                 global uint *parent, global uint *reservations,
                                 global uint *counts, uint round, uint n, uint n_slots,
                                 uint lightest, uint heaviest, uint pass) {
  edge_t edge = {0, 0, 0, 0};
  FOR_EACH_SLOT
  if (!topology_edge(indices, weights, parent, (uint)row, (uint)slot, lightest, heaviest, &edge))
    continue;
  counts[round] = 1;
  reservation_enter(reservations, n, edge, weights, pass);
}
}

// Put every winner into the forest, and join the sets of its two ends. A winner is the lightest
// edge that leads out of some set of vertices.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph as a CSR;
//          rows[n_slots]: the row of each slot (CSR entry);
//          winners[n * RESERVATION_WORDS]: the winner of each set.
// In-out   parent[n]: the parents of the disjoint sets;
//          in_forest[n_slots]: a byte for each slot, 1 if its edge is in the forest.
// Launch   any.
// Needs    all passes of the reservations are complete.
// Ensures  every set that has a winner is joined to another set, by its own winner or by the winner
//          of another set. In the second case, its own winner may not be in the forest yet. This
//          happens if the set was joined before the work-item of its winner has looked up the roots
//          of the winner's ends. The work-item then finds the root of the larger set, for which
//          another winner is stored. The edge is found again in a later round.
kernel void ecl_topology_hook(const global uint *indptr, const global uint *rows,
                              const global uint *indices, const global weight_t *weights,
                              global uint *parent, const global uint *winners,
                              global uchar *in_forest, uint n, uint n_slots, uint lightest,
                              uint heaviest) {
  edge_t edge = {0, 0, 0, 0};
  FOR_EACH_SLOT
  if (!topology_edge(indices, weights, parent, (uint)row, (uint)slot, lightest, heaviest, &edge))
    continue;
  if (reservation_holds(winners, n, edge.u, edge) || reservation_holds(winners, n, edge.v, edge)) {
    wi_unite(parent, edge.u, edge.v);
    in_forest[edge.id] = 1;
  }
}
}
