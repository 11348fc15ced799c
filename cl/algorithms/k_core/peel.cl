// k-core: peel, which means remove, the vertices of a level (the least remaining degree), and the
// vertices that fall to the level meanwhile. This file is for work-groups of many work-items, and
// serial.cl for work-groups of one.
#include "algorithms/k_core/state.cl"

// A work-group takes a tile of WG_SIZE vertices, and numbers all slots (CSR entries) of their rows.
// Return the vertex, as its number in the tile, to which the slot with a given number belongs.
// offsets[i] is the number of the first slot of vertex i. The result is the last vertex whose first
// slot is at or before `slot`. A vertex without slots has the same offset as the next vertex.
static inline uint wi_find_item(const local uint *offsets, uint slot) {
  uint low = 0, high = WG_SIZE;
  while (high - low > 1) {
    const uint middle = low + (high - low) / 2;
    if (offsets[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}

// Peel, which means remove, the vertices of a round, all of which are at the level: every neighbour
// of a greater degree loses an edge. A work-group also peels the neighbours that it lowers to the
// level itself, so that a path does not take one round per vertex. It leaves some of these to the
// next round, so that other work-groups do not idle: those that exceed the queue's capacity, and
// all that come after the budget of slots is spent.
//
// A work-group takes one vertex for each of its work-items at a time, the vertices of its queue
// first. It divides all their slots evenly among its work-items. So hubs keep every work-item busy,
// and so do vertices with two edges.
//
// In       indptr[n + 1], indices[n_slots]: rows with both directions of every edge.
// In-out   frontier[2 n]: the vertices to peel in even and in odd rounds. From this round's half,
//          SPILLED + TAKEN vertices are read. The other half gets the vertices that are left to the
//          next round. degree[n]: the remaining degree of each vertex; state: BOUND of this round
//          (a lower bound of the degrees), SPILLED of the next round (the number of vertices that
//          are left to it).
// Launch   any.
// Needs    k_core_take_level; capacity <= WG_SIZE; budget: how many slots of the queue's vertices a
//          work-group takes. Taking up to WG_SIZE vertices at once counts as at least WG_SIZE
//          slots.
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
