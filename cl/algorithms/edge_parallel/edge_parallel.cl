// Edge-parallel Borůvka: every round goes over all edges of the graph.
//
// Source: Ma and Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning Tree
// Computation", section 3.1.1 (MP). The graph is a flat array of edges that is never rebuilt;
// supervertices are the roots of disjoint sets. As in the paper nothing is compacted or filtered,
// and a last round finds out that there is nothing left. Its slots hold 32 bits of weight and 32 of
// edge in one word; here they are reservations (reservation.cl), which take weights of any type,
// and come in as many passes as it says.
#include "algorithms/edge_parallel/sets.cl"
#include "device/reservation.cl"
#include "device/rows.cl"
#include "device/work_group.cl"

// state[]: the lock of SETS_LOCKED, and how many merges each round has done.
#define STATE_LOCK 0
#define STATE_MERGED 1

// Make the array of edges: the row of every slot; columns and weights are there.
//
// In       indptr[n + 1].
// Out      rows[n_slots].
// Launch   any. O(n_slots + n_slots log n / SLOT_RUN).
kernel void edge_parallel_list_edges(const global uint *indptr, global uint *rows, uint n,
                                     uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = run.begin; slot < run.end; ++slot)
      rows[slot] = slot_run_row(&run, indptr, slot);
  }
}

// Begin: every vertex its own set, no edge in the forest, the lock free.
//
// Out      parent[n]; state[n_state]; in_forest[4 * n_flag_words]: a byte a slot.
// Launch   any.
kernel void edge_parallel_begin(global uint *parent, global uint *state, global uint *in_forest,
                                uint n, uint n_state, uint n_flag_words) {
  GRID_FOR(v, n) parent[v] = (uint)v;
  GRID_FOR(i, n_state) state[i] = 0;
  GRID_FOR(i, n_flag_words) in_forest[i] = 0;
}

// Reset: no supervertex has a candidate yet.
//
// Source   section 3.1.1, "Reset".
// Out      reservations[n].
// Launch   any.
kernel void edge_parallel_reset(global uint *reservations, uint n) {
  GRID_FOR(v, n) reservation_reset(reservations, n, (uint)v);
}

// Make the reservations of one pass for every edge between two sets: the lightest gets each root.
//
// Source   section 3.1.1, "Min-edge selection"; the guard of reservation.cl is what a loop of
//          compare-and-swaps looks at first.
// In       rows, indices, weights[n_slots].
// In-out   parent[n]: paths get shorter, roots stay; reservations[n]; state: the lock.
// Launch   any.
// Needs    0 <= pass < RESERVATION_PASSES, in rising order.
kernel void edge_parallel_find_minima(const global uint *rows, const global uint *indices,
                                      const global weight_t *weights, global uint *parent,
                                      global uint *reservations, global uint *state, uint n,
                                      uint n_slots, uint pass) {
  GRID_FOR(slot, n_slots) {
    const uint row = rows[slot], column = indices[slot];
    if (column <= row) continue;  // loops, and mirror images where both directions are stored
    edge_t edge;
    edge.u = sets_find(parent, row, state + STATE_LOCK);
    edge.v = sets_find(parent, column, state + STATE_LOCK);
    if (edge.u == edge.v) continue;
    edge.key = weight_key_leading(weights[slot]);
    edge.id = (uint)slot;
    if (pass == 0) {
      reservation_enter_first(reservations, edge, weights);
      continue;
    }
#if RESERVATION_PASSES > 1
    reservation_enter_later(reservations, n, edge.u, edge, weights, pass);
    reservation_enter_later(reservations, n, edge.v, edge, weights, pass);
#endif
  }
}

// Contract: merge every supervertex with the one that its lightest edge leads to.
//
// Source   section 3.1.1, "Contraction"; flags stand for the lists of the threads.
// In       rows, indices[n_slots]; reservations[n], all passes done.
// In-out   parent[n]; in_forest[n_slots]; state: the round's merges, 0 before; the lock.
// Launch   any.
// Ensures  an edge that two supervertices hold joins the forest once: edges held close no cycle, so
//          the second merge alone finds one set.
kernel void edge_parallel_contract(const global uint *rows, const global uint *indices,
                                   const global uint *reservations, global uint *parent,
                                   global uchar *in_forest, volatile global uint *state, uint n,
                                   uint round) {
  uint n_merged = 0;
  GRID_FOR(v, n) {
    const uint slot = reservation_id(reservations, n, (uint)v);
    if (slot == UINT_MAX) continue;
    if (!sets_unite(parent, rows[slot], indices[slot], state + STATE_LOCK)) continue;
    in_forest[slot] = 1;
    n_merged += 1;
  }
  if (n_merged > 0) atomic_add(state + STATE_MERGED + round, n_merged);
}
