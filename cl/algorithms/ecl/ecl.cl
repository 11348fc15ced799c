// ECL-MST: Borůvka's algorithm on worklists, the lists of edges that are still undecided.
//
// Source: Fallin, Gonzalez, Seo, Burtscher, "A High-Performance MST Implementation for GPUs", SC
// '23, Algorithms 1 and 2. Three things differ from the paper:
//   - Every set of vertices has a reservation, a few words of memory that hold its lightest edge so
//     far. Kernels that put edges on a worklist also enter them in the reservations, by atomic
//     minima. So the reservations are complete when the worklist is, and the next step can join
//     sets at once.
//   - Two arrays of reservations alternate, which saves the kernel that resets them (lines 34-37 of
//     Algorithm 2).
//   - Which of two sets is linked to the other is random (union_find.cl).
#include "algorithms/ecl/sets.cl"
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"
#include "device/worklist.cl"

// Number of edges that a work-item takes from each tile of a worklist, from 1 to 1024. A worklist
// holds the edges that are still undecided, and a tile is the range that a work-group processes at
// a time. On a GPU a work-item keeps its edges in registers, so their number must be small.
#ifndef EDGES_PER_ITEM
#define EDGES_PER_ITEM 4
#endif

#define TILE_EDGES (WG_SIZE * EDGES_PER_ITEM)

// Begin a solve: make every vertex a set of its own, and clear the forest and all reservations. A
// reservation holds the lightest edge of a set so far.
//
// Source   Algorithm 1.
// Out      parent[n]: the parents of the disjoint sets of vertices;
//          winners[n * RESERVATION_WORDS], next[n * RESERVATION_WORDS]: the reservations of this
//            round and of the next one;
//          counts[n_counts]: the number of edges in each round's worklist;
//          in_forest[4 * n_flag_words]: a byte for each slot (CSR entry), 1 if its edge is in the
//            forest.
// Launch   any.
// Needs    nothing.
// Ensures  parent[v] = v; reservations are all ones, which means "no edge"; all counts and flags
//          are 0.
kernel void ecl_initialise(global uint *parent, global uint *winners, global uint *next,
                           global uint *counts, global uint *in_forest, uint n, uint n_counts,
                           uint n_flag_words) {
  GRID_FOR(i, n) {
    parent[i] = (uint)i;
    reservation_reset(winners, n, (uint)i);
    reservation_reset(next, n, (uint)i);
  }
  GRID_FOR(i, n_counts) counts[i] = 0;
  GRID_FOR(i, n_flag_words) in_forest[i] = 0;
}

// Look up the leading key words of a sample of the graph's slots (CSR entries). The key of a weight
// is an unsigned integer that sorts as the weight does, and its leading word has its upper 32 bits.
// The host chooses from the sample which edges count as light.
//
// Source   section 3.2 (filtering).
// In       weights[n_slots]: the weight of each slot;
//          slots[n_samples]: the sampled slots.
// Out      keys[n_samples]: the leading key word of each sampled weight.
// Launch   any.
// Needs    slots are below n_slots.
// Ensures  keys[i] = the leading key word of weights[slots[i]].
kernel void ecl_sample_keys(const global weight_t *weights, const global uint *slots,
                            global uint *keys, uint n_samples) {
  GRID_FOR(i, n_samples) keys[i] = weight_key_leading(weights[slots[i]]);
}

// Contract a worklist, the list of undecided edges: drop the edges inside a set of vertices, and
// append all other edges to the next worklist. Enter each appended edge in the reservations of both
// of its sets, by an atomic minimum. A reservation holds the lightest edge of a set so far. Here
// only the first words of edges are compared, which is pass 0 of several (reservation.cl). With
// IMPLICIT_COMPRESSION, the edges of the next worklist have the roots of the sets as their ends.
//
// Source   Algorithm 2, lines 13-23.
// In       source: the worklist of this round, with counts[round] edges;
//          weights[n_slots]: the weight of each slot (CSR entry);
//          capacity: the maximum number of edges in a worklist.
// In-out   parent[n]: the parents of the disjoint sets, changed only if paths are halved;
//          reservations[n * RESERVATION_WORDS]: the reservation of each set;
//          counts[round + 1]: the number of edges in the next worklist, 0 before the launch.
// Out      target: the next worklist.
// Launch   any. A work-group processes one tile (range of consecutive edges) at a time. For each
//          tile there is one atomic operation on counts[round + 1].
// Needs    no other kernel links sets at the same time.
// Ensures  every edge between two sets is in `target` once. The edges of different tiles are
//          appended in any order.
LANES_ATTRIBUTE
kernel void ecl_contract_worklist(uint round, const global uint *source, global uint *target,
                                  const global weight_t *weights, global uint *parent,
                                  global uint *reservations, global uint *counts, uint n,
                                  uint capacity) {
  local uint scratch[WG_SIZE];
  local uint base;
  const uint n_source = counts[round];
  edge_t edges[EDGES_PER_ITEM];

  TILES_FOR(tile, n_source, TILE_EDGES) {
    uint keeps = 0;
    for (uint i = 0; i < EDGES_PER_ITEM; ++i) {
      const size_t at = tile + i * WG_SIZE + get_local_id(0);
      edges[i].u = edges[i].v = 0;
      if (at >= n_source) continue;
      edge_t edge;
      worklist_load(source, capacity, (uint)at, &edge);
      const uint u = edge.u, v = edge.v;
      edge.u = wi_find_set((parents_t)parent, u);
      edge.v = wi_find_set((parents_t)parent, v);
      if (edge.u == edge.v) continue;
      reservation_enter_first(reservations, edge, weights);
#if !IMPLICIT_COMPRESSION
      edge.u = u;
      edge.v = v;
#endif
      edges[i] = edge;
      ++keeps;
    }
    uint total;
    const uint before = wg_exclusive_sum_u32(keeps, &total, scratch);
    if (get_local_id(0) == 0) base = total ? atomic_add(&counts[round + 1], total) : 0;
    wg_barrier_local();
    uint at = base + before;
    for (uint i = 0; i < EDGES_PER_ITEM; ++i)
      if (edges[i].u != edges[i].v) worklist_store(target, capacity, at++, edges[i]);
    wg_barrier_local();
  }
}

#if RESERVATION_PASSES > 1
// Compare one further word of each edge with the reservations of both of its sets. A reservation
// holds the lightest edge of a set so far. Edges are sequences of words, but an atomic minimum
// compares only one word. So each word has a launch of its own, and this launch is for word number
// `pass` (reservation.cl).
//
// In       worklist: the counts[round] undecided edges;
//          weights[n_slots]: the weight of each slot (CSR entry);
//          parent[n]: the parents of the disjoint sets;
//          counts[n_counts]: the number of edges in each round's worklist.
// In-out   reservations[n * RESERVATION_WORDS]: the reservation of each set.
// Launch   any.
// Needs    1 <= pass < RESERVATION_PASSES. There is one launch for each pass, in ascending order.
// Ensures  word `pass` of each reservation is the minimum over those edges of the set whose earlier
//          words are equal to the earlier words of the reservation.
kernel void ecl_refine_reservations(uint round, uint pass, const global uint *worklist,
                                    const global weight_t *weights, const global uint *parent,
                                    global uint *reservations, const global uint *counts, uint n,
                                    uint capacity) {
  GRID_FOR(at, counts[round]) {
    edge_t edge;
    worklist_load(worklist, capacity, (uint)at, &edge);
    const uint u = IMPLICIT_COMPRESSION ? edge.u : wi_find(parent, edge.u);
    const uint v = IMPLICIT_COMPRESSION ? edge.v : wi_find(parent, edge.v);
    reservation_enter_later(reservations, n, u, edge, weights, pass);
    reservation_enter_later(reservations, n, v, edge, weights, pass);
  }
}
#endif

// Put every winner into the forest, and join the sets of its two ends. A winner is the lightest
// edge that leads out of some set of vertices.
//
// Source   Algorithm 2, lines 27-33, and, for the other array of reservations, 34-37.
// In       worklist: the counts[round] undecided edges;
//          winners[n * RESERVATION_WORDS]: the winner of each set, as this round's reservations;
//          counts[n_counts]: the number of edges in each round's worklist;
//          is_first: 1 in the first round of a filter pass, which solves the edges in one range of
//            weights. Then `next` is still empty, and is not reset.
// In-out   parent[n]: the parents of the disjoint sets;
//          in_forest[n_slots]: a byte for each slot (CSR entry), 1 if its edge is in the forest.
// Out      next[n * RESERVATION_WORDS]: the reservations of the next round. They are reset for
//          every root in the worklist, which includes all roots of the next round.
// Launch   any.
// Needs    all passes of the reservations are complete.
// Ensures  every set with an edge in the worklist is joined to another set. Without
//          IMPLICIT_COMPRESSION, a work-item searches the sets of an edge while others join sets.
//          If the set whose winner the edge is has just been joined to another one, the work-item
//          may not recognise the winner. This does no harm: the edge stays in the worklist for the
//          next round.
kernel void ecl_hook_components(uint round, uint is_first, const global uint *worklist,
                                global uint *parent, const global uint *winners, global uint *next,
                                global uchar *in_forest, const global uint *counts, uint n,
                                uint capacity) {
  GRID_FOR(at, counts[round]) {
    edge_t edge;
    worklist_load(worklist, capacity, (uint)at, &edge);
#if IMPLICIT_COMPRESSION
    const uint u = edge.u, v = edge.v;
    if (!is_first) {
      reservation_clear(next, n, u);
      reservation_clear(next, n, v);
    }
#else
    const uint u = wi_find_racing(parent, edge.u), v = wi_find_racing(parent, edge.v);
#endif
    if (reservation_holds(winners, n, u, edge) || reservation_holds(winners, n, v, edge)) {
      wi_unite(parent, u, v);
      in_forest[edge.id] = 1;
    }
  }
}
