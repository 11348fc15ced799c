// k-core: peel (remove) the vertices whose degree is the level, which is the minimum remaining
// degree, and the vertices whose degrees fall to the level meanwhile. This file is for work-groups
// of one work-item, and peel.cl for work-groups of many.
#include "algorithms/k_core/state.cl"

// Capacity of the queue of vertices to be removed, and maximum number of vertices that a work-item
// takes from it at once.
#define SERIAL_QUEUE 4096
#define SERIAL_BATCH 64
#define SERIAL_COLUMNS 1024

// Peel (remove) the vertices of a round. Their degree is the level, which is the minimum remaining
// degree, and every neighbour of a greater degree loses an edge. A neighbour whose degree falls to
// the level is put into the work-item's queue and peeled in the same launch, so that a path does
// not take one round per vertex. Neighbours are left to the next round if the queue is full or the
// work-item's budget of slots (CSR entries) is spent. So other work-items do not idle for long.
//
// In       indptr[n + 1], indices[n_slots]: rows with both directions of every edge.
// In-out   frontier[2 n]: one half for even rounds and one for odd rounds. The SPILLED + TAKEN
//            vertices (state.cl) in the half of this round are peeled. The other half gets the
//            vertices that are left to the next round.
//          degree[n]: the remaining degree of each vertex;
//          state: BOUND of this round, a lower bound of the degrees, and SPILLED of the next round,
//            the number of vertices that are left to it.
// Launch   any number of work-groups of one work-item.
// Needs    k_core_take_level; capacity (of the queue) <= SERIAL_QUEUE; budget: the number of slots
//          of queued vertices that a work-item may process.
// Ensures  degree[v] is the level, for every vertex that was peeled.
kernel void k_core_serial_peel_neighbours(const global uint *indptr, const global uint *indices,
                                          volatile global int *degree, global uint *frontier,
                                          volatile global uint *state, uint n, uint round,
                                          uint capacity, uint budget) {
  local uint queue[SERIAL_QUEUE], begins[SERIAL_BATCH], ends[SERIAL_BATCH], columns[SERIAL_COLUMNS];
  volatile global uint *now = round_words(state, round), *next = round_words(state, round + 1);
  const uint level = now[ROUND_LEVEL];
  // The level is the degree that this round removes. If all remaining vertices are at the level, no
  // degree has to be lowered, and this launch peels nothing.
  const uint n_peeled = now[ROUND_LEFT] > 0 ? now[ROUND_SPILLED] + now[ROUND_TAKEN] : 0;
  const global uint *given = frontier + (size_t)(round % 2) * n;
  global uint *spilled = frontier + (size_t)((round + 1) % 2) * n;
  const uint end = range_begin(n_peeled, 1);
  uint at = range_begin(n_peeled, 0), n_queued = 0, spent = 0, bound = UINT_MAX;
  while (at < end || n_queued > 0) {
    // Each step is done for all vertices of the batch (the vertices that are taken at once),
    // without branches, so that many loads are under way at the same time.
    const uint n_own = min(n_queued, (uint)SERIAL_BATCH);
    const uint n_batch = n_own + min(SERIAL_BATCH - n_own, end - at);
    n_queued -= n_own;
    for (uint i = 0; i < n_own; ++i) begins[i] = queue[n_queued + i];
    for (uint i = n_own; i < n_batch; ++i) begins[i] = given[at++];
    for (uint i = 0; i < n_batch; ++i) {
      ends[i] = indptr[begins[i] + 1];
      begins[i] = indptr[begins[i]];
    }
    for (uint i = 0; i < n_own; ++i) spent += ends[i] - begins[i];
    for (uint i = 0; i < n_batch;) {
      uint n_columns = 0, n_live = 0;
      while (i < n_batch && n_columns < SERIAL_COLUMNS) {
        const uint stop = begins[i] + min(ends[i] - begins[i], SERIAL_COLUMNS - n_columns);
        for (uint slot = begins[i]; slot < stop; ++slot) columns[n_columns++] = indices[slot];
        begins[i] = stop;
        i += stop == ends[i];
      }
      for (uint k = 0; k < n_columns; ++k) {
        const uint column = columns[k];
        columns[n_live] = column;
        n_live += degree_is_above(degree, column, level);
      }
      for (uint k = 0; k < n_live; ++k) {
        const uint vertex = columns[k];
        if (!degree_is_above(degree, vertex, level)) continue;
        if (!degree_lower(degree, vertex, level, &bound)) continue;
        if (n_queued < capacity && spent < budget) queue[n_queued++] = vertex;
        else spilled[atomic_inc(next + ROUND_SPILLED)] = vertex;
      }
    }
  }
  if (bound < UINT_MAX) atomic_min(now + ROUND_BOUND, bound);
}
