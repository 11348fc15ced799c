// ECL-MST on worklists of edges.
//
// Source: Fallin, Gonzalez, Seo, Burtscher, "A High-Performance MST Implementation for GPUs",
// SC '23, Algorithms 1 and 2. Three things differ from the paper: populating a worklist makes its
// first reservations, so that a phase starts with hooking; two arrays of reservations alternate,
// which spares the kernel that resets them (lines 34-37); linking is randomised (union_find.cl).
#include "algorithms/ecl/sets.cl"
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"
#include "device/worklist.cl"

// Edges a work-item takes from each tile of a worklist: 1 to 1024; registers on GPUs.
#ifndef EDGES_PER_ITEM
#define EDGES_PER_ITEM 4
#endif

#define TILE_EDGES (WG_SIZE * EDGES_PER_ITEM)

// Every vertex its own set, no edge in the forest, nothing reserved, all counts zero.
//
// Source   Algorithm 1.
// Out      parent[n]; held[n], next[n]: reservations; counts[n_counts]: edges in each round's
//          worklist; in_forest[4 * n_flag_words]: a byte a slot.
// Launch   any.
kernel void ecl_initialise(global uint *parent, global uint *held, global uint *next,
                           global uint *counts, global uint *in_forest, uint n, uint n_counts,
                           uint n_flag_words) {
  GRID_FOR(i, n) {
    parent[i] = (uint)i;
    reservation_reset(held, n, (uint)i);
    reservation_reset(next, n, (uint)i);
  }
  GRID_FOR(i, n_counts) counts[i] = 0;
  GRID_FOR(i, n_flag_words) in_forest[i] = 0;
}

// The leading key words of a sample of slots.
//
// Source   section 3.2 (filtering).
// In       weights[n_slots]; slots[n_samples].  Out  keys[n_samples].
// Launch   any.
kernel void ecl_sample_keys(const global weight_t *weights, const global uint *slots,
                            global uint *keys, uint n_samples) {
  GRID_FOR(i, n_samples)
    keys[i] = weight_key_leading(weights[slots[i]]);
}

// Contract a worklist: drop the edges inside a set, put the others on the next worklist between
// the representatives of their endpoints, and make their pass-0 reservations.
//
// Source   Algorithm 2, lines 13-23.
// In       source[counts[round]].
// In-out   parent[n]: changed only if paths are halved; reservations[n]; counts[round + 1]: zero
//          before.
// Out      target[counts[round + 1]].
// Launch   WG_SIZE; any number of work-groups.
// Ensures  one atomic a tile on the counter; order is not kept across tiles.
LANES_ATTRIBUTE
kernel void ecl_contract_worklist(uint round, const global uint *source, global uint *target,
                                  const global weight_t *weights, global uint *parent,
                                  global uint *reservations, global uint *counts, uint n,
                                  uint capacity) {
  local uint scratch[WG_SIZE];
  local uint base;
  const uint n_source = counts[round];
  edge_t edges[EDGES_PER_ITEM];

  for (size_t tile = (size_t)get_group_id(0) * TILE_EDGES; tile < n_source;
       tile += (size_t)get_num_groups(0) * TILE_EDGES) {
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
// Make the reservations of a later pass (see reservation.cl): the words before it are settled.
//
// In       worklist[counts[round]]; parent[n].  In-out  reservations[n].
// Launch   any.
// Needs    1 <= pass < RESERVATION_PASSES, in rising order.
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

// Join the sets that an edge holds a reservation of; that edge belongs to the forest.
//
// Source   Algorithm 2, lines 27-33, and, for the other array of reservations, 34-37.
// In       worklist[counts[round]]; held[n]: this round's reservations; is_first: whether `next`
//          is clear as it is, which it is in a phase's first round.
// In-out   parent[n]; in_forest[n_slots]: a byte a slot.
// Out      next[n]: cleared for every representative in the worklist, which next round's are among.
// Launch   any.
// Ensures  every set with an edge in the worklist is joined to another. Where worklists hold
//          vertices, a find may race with links and end at a set that has just taken u's over: the
//          edge is then left for the next round, when u's old set has been joined all the same.
kernel void ecl_hook_components(uint round, uint is_first, const global uint *worklist,
                                global uint *parent, const global uint *held, global uint *next,
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
    if (reservation_holds(held, n, u, edge) || reservation_holds(held, n, v, edge)) {
      wi_unite(parent, u, v);
      in_forest[edge.id] = 1;
    }
  }
}
