// k-core: peel (remove) the vertices whose degree is the level, which is the minimum remaining
// degree, and the vertices whose degrees fall to the level meanwhile. This file is for work-groups
// of many work-items, and serial.cl for work-groups of one.
#include "algorithms/k_core/state.cl"

// Return the vertex to which a slot (CSR entry) of a work-group's tile belongs, by its index in the
// tile. The tile has WG_SIZE vertices, and the slots of all their rows are numbered from 0 on.
// `slot` is such a number. offsets[i] is the number of the first slot of vertex i of the tile. The
// result is the last vertex i with offsets[i] <= slot. A vertex without slots has the same offset
// as the next vertex, so it is never the result.
static inline uint wi_find_item(const local uint *offsets, uint slot) {
  uint low = 0, high = WG_SIZE;
  while (high - low > 1) {
    const uint middle = low + (high - low) / 2;
    if (offsets[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}

// Peel (remove) the vertices of a round. Their degree is the level, which is the minimum remaining
// degree, and every neighbour of a greater degree loses an edge. A neighbour whose degree falls to
// the level is put into the work-group's queue and peeled in the same launch, so that a path does
// not take one round per vertex. Neighbours are left to the next round if the queue is full or the
// work-group's budget of slots (CSR entries) is spent. So other work-groups do not idle for long.
//
// A work-group takes one vertex for each of its work-items at a time, the vertices of its queue
// first. It divides the slots of all these vertices evenly among its work-items. So all work-items
// are busy, whatever the degrees of the vertices are.
//
// In       indptr[n + 1], indices[n_slots]: rows with both directions of every edge.
// In-out   frontier[2 n]: one half for even rounds and one for odd rounds. The SPILLED + TAKEN
//            vertices (state.cl) in the half of this round are peeled. The other half gets the
//            vertices that are left to the next round.
//          degree[n]: the remaining degree of each vertex;
//          state: BOUND of this round, a lower bound of the degrees, and SPILLED of the next round,
//            the number of vertices that are left to it.
// Launch   any.
// Needs    k_core_take_level; capacity (of the queue) <= WG_SIZE; budget: the number of slots of
//          queued vertices that a work-group may process. Up to WG_SIZE vertices that are taken at
//          once count as at least WG_SIZE slots.
// Ensures  degree[v] is the level, for every vertex that was peeled.
LANES_ATTRIBUTE
kernel void k_core_peel_neighbours(const global uint *indptr, const global uint *indices,
                                   volatile global int *degree, global uint *frontier,
                                   volatile global uint *state, uint n, uint round, uint capacity,
                                   uint budget) {
  local uint queue[WG_SIZE], offsets[WG_SIZE], starts[WG_SIZE], scratch[WG_SIZE];
  local uint n_queued, least;
  volatile global uint *now = round_words(state, round), *next = round_words(state, round + 1);
  const uint level = now[ROUND_LEVEL], me = get_local_id(0);
  // The level is the degree that this round removes. If all remaining vertices are at the level, no
  // degree has to be lowered, and this launch peels nothing.
  const uint n_peeled = now[ROUND_LEFT] > 0 ? now[ROUND_SPILLED] + now[ROUND_TAKEN] : 0;
  const global uint *given = frontier + (size_t)(round % 2) * n;
  global uint *spilled = frontier + (size_t)((round + 1) % 2) * n;
  const uint end = range_begin(n_peeled, 1);
  uint at = range_begin(n_peeled, 0), n_kept = 0, spent = 0, bound = UINT_MAX;
  while (at < end || n_kept > 0) {
    const uint n_given = min(WG_SIZE - n_kept, end - at);
    uint begin = 0, length = 0, total;
    if (me < n_kept + n_given) {
      const uint vertex = me < n_kept ? queue[me] : given[at + (me - n_kept)];
      begin = indptr[vertex];
      length = indptr[vertex + 1] - begin;
    }
    at += n_given;
    const uint offset = wg_exclusive_sum_u32(length, &total, scratch);
    offsets[me] = offset;
    starts[me] = begin - offset;
    if (me == 0) n_queued = 0;
    wg_barrier_local();
    const uint space = spent < budget ? capacity : 0;
    for (size_t turn = 0; turn < total; turn += WG_SIZE) {
      const uint slot = (uint)turn + me;
      uint column = 0;
      bool falls = false;
      if (turn + me < total) {
        column = indices[starts[wi_find_item(offsets, slot)] + slot];
        falls =
            degree_is_above(degree, column, level) && degree_lower(degree, column, level, &bound);
      }
      const uint position = lanes_claim_local(&n_queued, falls);
      const bool spills = falls && position >= space;
      if (falls && !spills) queue[position] = column;
      const uint spill = lanes_claim_global(next + ROUND_SPILLED, spills);
      if (spills) spilled[spill] = column;
    }
    wg_barrier_local();
    if (n_kept > 0) spent += max(total, (uint)WG_SIZE);
    n_kept = min(n_queued, space);  // all have read n_queued before the sum above lets one reset it
  }
  wg_lower(now + ROUND_BOUND, bound, &least);
}
