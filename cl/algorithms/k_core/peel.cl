// k-core: the vertices of a level go, and with them those that fall to the level meanwhile; by
// work-groups of many work-items. lone.cl is the same for lone ones.
#include "algorithms/k_core/state.cl"

// The item that a slot of a tile belongs to: the last whose slots begin at or before it. One without
// slots begins where the item behind it does.
static inline uint wi_find_item(const local uint *offsets, uint slot) {
  uint low = 0, high = WG_SIZE;
  while (high - low > 1) {
    const uint middle = low + (high - low) / 2;
    if (offsets[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}

// Peel the vertices of a round: every neighbour above the level loses an edge. A neighbour that
// comes to the level is peeled by the work-group that brought it there, so that a path takes no
// round a vertex; but the next round gets those for which there is no capacity, and all once a
// work-group has gone on for long, lest the others idle.
//
// A work-group takes as many vertices at a time as it has work-items, those it brought to the level
// itself first, and shares all their slots out evenly, whosever they are: hubs and vertices of two
// edges alike keep every work-item busy.
//
// In       indptr, indices: rows of both directions; frontier[2 n]: SPILLED + TAKEN vertices in the
//          half of this round.
// In-out   degree[n]; state: BOUND of this round, SPILLED of the next.
// Out      frontier: in the other half, the vertices that the next round gets.
// Launch   any. capacity <= WG_SIZE; budget: slots of turns with vertices that were not in the frontier,
//          a turn counting as WG_SIZE at least, since it takes as long.
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
  // Of the last vertices no neighbour stays.
  const uint n_peeled = now[ROUND_LEFT] > 0 ? now[ROUND_SPILLED] + now[ROUND_TAKEN] : 0;
  const global uint *given = frontier + (size_t)(round % 2) * n;
  global uint *spilled = frontier + (size_t)((round + 1) % 2) * n;
  const uint end = share_begin(n_peeled, 1);
  uint at = share_begin(n_peeled, 0), n_kept = 0, spent = 0, bound = UINT_MAX;
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
        falls = degree_is_above(degree, column, level) &&
                degree_lower(degree, column, level, &bound);
      }
      const uint position = lanes_claim_local(&n_queued, falls);
      const bool spills = falls && position >= space;
      if (falls && !spills) queue[position] = column;
      const uint behind = lanes_claim_global(next + ROUND_SPILLED, spills);
      if (spills) spilled[behind] = column;
    }
    wg_barrier_local();
    if (n_kept > 0) spent += max(total, (uint)WG_SIZE);
    n_kept = min(n_queued, space);  // read by all before the sum above lets one reset it
  }
  wg_lower(now + ROUND_BOUND, bound, &least);
}
