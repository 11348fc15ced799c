// lone-boruvka's first round where it is known which slots lead from or to each vertex: every
// vertex looks at its own edges, so nothing is listed before the first contraction, and nobody
// enters an edge for anybody else.
#include "algorithms/lone_boruvka/list.cl"

// The lightest of some slots, or NO_PLACE if there are none. They rise, so of equals the first
// stays. Minima of whole words, as far as they go: a branch would be foreseen half of the time.
static inline uint wi_lightest(const global weight_t *weights, const global uint *slots, uint begin,
                               uint end) {
#if WEIGHT_BITS == 64
  uint best = NO_PLACE;
  ulong least = ULONG_MAX;
  for (uint i = begin; i < end; ++i) {
    const ulong key = weight_key(weights[slots[i]]);
    const bool is_less = (key < least) | (best == NO_PLACE);
    least = is_less ? key : least;
    best = is_less ? slots[i] : best;
  }
  return best;
#else
  ulong best = ULONG_MAX;
  for (uint i = begin; i < end; ++i)
    best = min(best, (ulong)weight_key(weights[slots[i]]) << 32 | slots[i]);
  return (uint)best;
#endif
}

// Let every vertex choose its lightest edge.
//
// In       rows[n_slots], indices[n_slots]: the ends of each slot's edge, stored once;
//          weights[n_slots]; incident[2 n_slots]: the slots of each vertex's edges, rising;
//          starts[n + 1]: where those of each vertex begin.
// Out      chosen[n]: (slot, other end), slot NO_PLACE if there is no edge.
// Launch   any. O(n + n_slots).
kernel void lone_boruvka_first_choose(const global uint *rows, const global uint *indices,
                                      const global weight_t *weights, const global uint *starts,
                                      const global uint *incident, global uint2 *chosen, uint n) {
  const uint end = share_begin(n, 1);
  for (uint v = share_begin(n, 0); v < end; ++v) {
    const uint slot = wi_lightest(weights, incident, starts[v], starts[v + 1]);
    chosen[v] = (uint2)(slot, slot == NO_PLACE ? v : rows[slot] ^ indices[slot] ^ v);
  }
}

// Put the edges chosen into the forest; in all else as lone_boruvka_hook does at depth 0.
//
// In       chosen[n].
// Out      links[n]; next: no edge held by the roots; in_forest: 1 where an edge joins.
// In-out   counts of depth 1; state[components].
// Launch   any.
kernel void lone_boruvka_first_hook(const global uint2 *chosen, global uint *next,
                                    global uint *links, global uchar *in_forest,
                                    volatile global uint *state, uint counts, uint components,
                                    uint n, uint next_stride) {
  const uint end = share_begin(n, 1);
  for (uint tile = share_begin(n, 0); tile < end; tile += BLOCK) {
    const uint tile_end = min(tile + BLOCK, end);
    uint n_roots = 0, n_finished = 0;
    for (uint v = tile; v < tile_end; ++v) {
      const uint2 edge = chosen[v];
      if (edge.x == NO_PLACE) {
        links[v] = LINK_FINISHED;
        n_finished += 1;
        continue;
      }
      const bool is_root = (v < edge.y) & (chosen[edge.y].x == edge.x);
      links[v] = is_root ? LINK_ROOT : edge.y;
      forest_mark(in_forest, edge.x);
      n_roots += is_root;
    }
    hook_number(links, next, state, tile, tile_end, n_roots, n_finished, counts, components,
                next_stride);
  }
}
