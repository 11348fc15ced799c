// Edge-parallel Borůvka: every round goes over all edges of the graph.
//
// Source: Ma and Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning Tree
// Computation", section 3.1.1 (MP). The graph is a flat array of edges that is never rebuilt.
// Supervertices are the roots of disjoint sets. As in the paper, no edge is ever removed from the
// array, and the algorithm ends with a round that finds no edge between two sets. One thing
// differs. In the paper, a 64-bit word holds the lightest edge of a supervertex so far: 32 bits of
// the weight and 32 bits of the edge's number. Here several words, the reservation of the
// supervertex, hold it. So weights may have any type. A longer type takes more passes over the
// edges (reservation.cl).
#include "device/lock.cl"
#include "device/reservation.cl"
#include "device/rows.cl"
#include "device/union_find.cl"
#include "device/work_group.cl"

// Indices of the words of state[]: the lock that SETS_LOCKED uses, and then, for each round, the
// number of times that two sets of vertices were merged.
#define STATE_LOCK 0
#define STATE_MERGED 1

// ------------------------------------------------------------------------------ disjoint sets
//
// Source: Ma and Wan, section 3.1.1, "Union-Find Implementation". The paper does not say which of
// two roots is linked to the other. Here this is random in all three kinds of disjoint sets, as in
// all other algorithms (union_find.cl).

#define SETS_HALVING 0
#define SETS_COMPRESSING 1
#define SETS_LOCKED 2

// How work-items share the disjoint sets of vertices.
//   SETS_HALVING (0)      The search for a root halves paths, by compare-and-swap.
//   SETS_COMPRESSING (1)  The search lets all vertices of a path point to the root, by
//                         compare-and-swap.
//   SETS_LOCKED (2)       One lock for all sets is taken around every operation. The operations
//                         halve paths and link roots by plain stores.
#ifndef SETS
#define SETS SETS_HALVING
#endif

#if SETS == SETS_LOCKED

// Return the root of a vertex in the disjoint sets. The work-item waits for the lock, because only
// its holder may use the sets, and releases it afterwards. If a work-item has waited too long, the
// lock counts as lost. Then return `vertex` itself. The host notices the lost lock and discards the
// result of the solve.
static inline uint sets_find(volatile global uint *parent, uint vertex,
                             volatile global uint *lock) {
  lock_wait_t wait = {0, 0};
  bool is_done = false;
  while (!is_done) {
    if (lock_try(lock, &wait)) {
      vertex = wi_find_halving(parent, vertex);
      lock_release(lock, &wait);
      is_done = true;
    } else {
      is_done = lock_is_lost(&wait);
    }
  }
  return vertex;
}

static inline bool sets_unite(volatile global uint *parent, uint a, uint b,
                              volatile global uint *lock) {
  lock_wait_t wait = {0, 0};
  bool is_done = false, were_two = false;
  while (!is_done) {
    if (lock_try(lock, &wait)) {
      were_two = wi_unite_alone(parent, a, b);
      lock_release(lock, &wait);
      is_done = true;
    } else {
      is_done = lock_is_lost(&wait);
    }
  }
  return were_two;
}

#else

// Return the root of a vertex in the disjoint sets. This version does not need the lock.
static inline uint sets_find(volatile global uint *parent, uint vertex,
                             volatile global uint *lock) {
#if SETS == SETS_COMPRESSING
  return wi_find_compressing_exchanging(parent, vertex);
#else
  return wi_find_halving_exchanging(parent, vertex);
#endif
}

// Join the disjoint sets of two vertices. Return whether they were two different sets.
static inline bool sets_unite(volatile global uint *parent, uint a, uint b,
                              volatile global uint *lock) {
  return wi_unite(parent, sets_find(parent, a, lock), sets_find(parent, b, lock));
}

#endif

// ---------------------------------------------------------------------------------- schedules
//
// Source: Ma and Wan, Table 3, which compares three schedules of OpenMP for the loop over all
// edges. In each schedule, a work-group takes chunks, which are ranges of consecutive slots (CSR
// entries). The work-items of the work-group share the slots of a chunk.

#define SCHEDULE_TILES 0
#define SCHEDULE_STATIC 1
#define SCHEDULE_DYNAMIC 2
#define SCHEDULE_GUIDED 3

// How the slots (CSR entries) are divided among the work-groups of a launch.
//   SCHEDULE_TILES (0)    Tiles of GRID_TILE slots, which the macro GRID_FOR distributes.
//   SCHEDULE_STATIC (1)   One chunk for each work-group, all of the same length.
//   SCHEDULE_DYNAMIC (2)  Chunks of WG_SIZE slots. Whenever a work-group has finished a chunk, it
//                         takes the next one by an atomic counter.
//   SCHEDULE_GUIDED (3)   As SCHEDULE_DYNAMIC, but the length of a chunk is the number of remaining
//                         slots divided by the number of work-groups, and at least WG_SIZE.
#ifndef SCHEDULE
#define SCHEDULE SCHEDULE_TILES
#endif

#if SCHEDULE == SCHEDULE_DYNAMIC || SCHEDULE == SCHEDULE_GUIDED

// Take the next chunk, which is a range of consecutive slots (CSR entries). The counter `next` is
// the first slot that has not been taken yet, and there are `n` slots. Return the first slot of the
// chunk, and store its end in *end. If no slot remains, both are `n`.
//
// Scope    one work-item of a work-group. Any number of work-groups at the same time.
static inline uint wi_take_chunk(volatile global uint *next, uint n, uint *end) {
  uint first = *next;
  *end = n;
  while (first < n) {
#if SCHEDULE == SCHEDULE_DYNAMIC
    const uint length = WG_SIZE;
#else
    const uint length = max((n - first) / (uint)get_num_groups(0), (uint)WG_SIZE);
#endif
    *end = first + min(length, n - first);
    const uint found = atomic_cmpxchg(next, first, *end);
    if (found == first) return first;
    first = found;
  }
  return n;
}

#endif

// ------------------------------------------------------------------------------------ rounds

// Store the row of every slot (CSR entry), which is one end of its edge. Together with columns and
// weights, the rows are a flat array of edges.
//
// In       indptr[n + 1]: where each row begins.
// Out      rows[n_slots]: the row of each slot.
// Launch   any. O(n_slots + n_slots log n / SLOT_RUN).
// Needs    nothing.
// Ensures  rows[slot] = the row of the slot.
kernel void edge_parallel_list_edges(const global uint *indptr, global uint *rows, uint n,
                                     uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t segment;
    slot_run_open(&segment, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = segment.begin; slot < segment.end; ++slot)
      rows[slot] = slot_run_row(&segment, indptr, slot);
  }
}

// Begin a solve: make every vertex a set of its own, clear the flags of the forest's edges, and
// free the lock.
//
// Out      parent[n]: the parents of the disjoint sets of vertices;
//          state[n_state]: the lock, and the number of merges in each round;
//          in_forest[n_flag_words]: a byte for each slot (CSR entry), four in a word.
// Launch   any.
// Needs    nothing.
// Ensures  parent[v] = v; state and flags are 0.
kernel void edge_parallel_begin(global uint *parent, global uint *state, global uint *in_forest,
                                uint n, uint n_state, uint n_flag_words) {
  GRID_FOR(v, n) parent[v] = (uint)v;
  GRID_FOR(i, n_state) state[i] = 0;
  GRID_FOR(i, n_flag_words) in_forest[i] = 0;
}

// Reset the reservations of all supervertices before a round. A reservation holds the lightest edge
// of a supervertex so far.
//
// Source   Ma and Wan, section 3.1.1, "Reset".
// Out      reservations[n * RESERVATION_WORDS]: the reservation of each vertex.
// Launch   any.
// Needs    nothing.
// Ensures  all bits are 1, which means that no edge has been entered yet.
kernel void edge_parallel_reset(global uint *reservations, uint n) {
  GRID_FOR(v, n) reservation_reset(reservations, n, (uint)v);
}

// Compare one word of the edge of a slot (CSR entry) with the reservations of both sets that the
// edge joins. A reservation holds the lightest edge of a set so far. The arguments are those of
// edge_parallel_find_minima.
//
// Scope    one work-item.
static inline void wi_find_minima(uint slot, const global uint *rows, const global uint *indices,
                                  const global weight_t *weights, global uint *parent,
                                  global uint *reservations, global uint *state, uint n,
                                  uint pass) {
  const uint row = rows[slot], column = indices[slot];
  if (column <= row) return;  // a self-loop, or the mirror entry of an edge
  edge_t edge;
  edge.u = sets_find(parent, row, state + STATE_LOCK);
  edge.v = sets_find(parent, column, state + STATE_LOCK);
  if (edge.u == edge.v) return;
  edge.key = weight_key_leading(weights[slot]);
  edge.id = slot;
  reservation_enter(reservations, n, edge, weights, pass);
}

// Compare one word of each edge between two sets of vertices with the reservations of both sets, by
// an atomic minimum. A reservation holds the lightest edge of a set so far. Edges are sequences of
// words, but an atomic minimum compares only one word. So each word has a launch of its own, and
// this launch is for word number `pass` (reservation.cl).
//
// Source   Ma and Wan, section 3.1.1, "Min-edge selection". The read that may save the atomic
//          operation (ATOMIC_GUARDS) is the first read of the paper's compare-and-swap loop.
// In       rows[n_slots], indices[n_slots], weights[n_slots]: the two ends and the weight of each
//          slot (CSR entry).
// In-out   parent[n]: the parents of the disjoint sets. Paths may become shorter, but the roots of
//          vertices do not change.
//          reservations[n * RESERVATION_WORDS]: the reservation of each set;
//          state: the lock of the disjoint sets;
//          next[1]: the first slot that no work-group has taken yet, 0 before the launch. Only
//            SCHEDULE_DYNAMIC and SCHEDULE_GUIDED use it.
// Launch   any.
// Needs    0 <= pass < RESERVATION_PASSES. There is one launch for each pass, in ascending order.
// Ensures  word `pass` of each reservation is the minimum over those edges of the set whose earlier
//          words are equal to the earlier words of the reservation.
kernel void edge_parallel_find_minima(const global uint *rows, const global uint *indices,
                                      const global weight_t *weights, global uint *parent,
                                      global uint *reservations, global uint *state,
                                      volatile global uint *next, uint n, uint n_slots, uint pass) {
#if SCHEDULE == SCHEDULE_TILES
  GRID_FOR(slot, n_slots)
    wi_find_minima((uint)slot, rows, indices, weights, parent, reservations, state, n, pass);
#elif SCHEDULE == SCHEDULE_STATIC
  const ulong group = get_group_id(0), n_groups = get_num_groups(0);
  const uint end = (uint)(n_slots * (group + 1) / n_groups);
  for (uint slot = (uint)(n_slots * group / n_groups) + (uint)get_local_id(0); slot < end;
       slot += WG_SIZE)
    wi_find_minima(slot, rows, indices, weights, parent, reservations, state, n, pass);
#else
  local uint chunk[2];  // its first slot and its end
  bool is_left = true;
  while (is_left) {
    if (get_local_id(0) == 0) {
      uint chunk_end;
      chunk[0] = wi_take_chunk(next, n_slots, &chunk_end);
      chunk[1] = chunk_end;
    }
    wg_barrier_local();
    const uint first = chunk[0], end = chunk[1];
    wg_barrier_local();  // before the next chunk is written
    for (uint slot = first + (uint)get_local_id(0); slot < end; slot += WG_SIZE)
      wi_find_minima(slot, rows, indices, weights, parent, reservations, state, n, pass);
    is_left = first < n_slots;
  }
#endif
}

// Put every winner into the forest, and join the sets of its two ends. A winner is the lightest
// edge that leads out of a supervertex (set of vertices).
//
// Source   Ma and Wan, section 3.1.1, "Contraction". Flags take the place of the paper's list per
//          thread.
// In       rows[n_slots], indices[n_slots]: the two ends of each edge;
//          reservations[n * RESERVATION_WORDS]: the winner of each supervertex.
// In-out   parent[n]: the parents of the disjoint sets;
//          in_forest[n_slots]: a byte for each edge, 1 if it is in the forest;
//          state: the lock of the disjoint sets, and the number of merges of the round, 0 before
//            the launch.
// Launch   any.
// Needs    all passes of the reservations are complete.
// Ensures  all winners are in the forest. An edge may be the winner of two supervertices. Then the
//          second attempt to merge its ends finds that they already are in one set, so merges are
//          counted correctly. Winners do not form cycles, so every other merge succeeds.
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
