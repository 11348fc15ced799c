// filter-boruvka for CPUs: the first round on a graph for which the edges of each vertex are
// listed. Such lists are made for a graph that is solved repeatedly. One work-item reads all edges
// of a vertex. So the first round needs neither a worklist (list of undecided edges) nor atomic
// operations to find the lightest edge of every vertex.
#include "algorithms/filter_boruvka/cpu_list.cl"

// Return the slot with the lightest edge among slots[begin .. end), or NO_POSITION if begin == end.
// A slot is a CSR entry. The slots ascend, and among equal weights the first slot is returned. If a
// weight's key and a slot fit into 64 bits, they are compared as one number. There are no branches,
// because many of them would be predicted wrongly.
static inline uint wi_lightest(const global weight_t *weights, const global uint *slots, uint begin,
                               uint end) {
#if WEIGHT_BITS == 64
  uint best = NO_POSITION;
  ulong least = ULONG_MAX;
  for (uint i = begin; i < end; ++i) {
    const ulong key = weight_key(weights[slots[i]]);
    const bool is_less = (key < least) | (best == NO_POSITION);
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

// Find the lightest edge of every vertex.
//
// In       rows[n_slots], indices[n_slots]: the two ends of the edge in each slot (CSR entry). Each
//            edge has one slot.
//          weights[n_slots]: the weight of each slot;
//          incident[2 n_slots]: the slots of each vertex's edges, vertex by vertex, ascending;
//          starts[n + 1]: the index in `incident` at which the slots of each vertex begin.
// Out      chosen[n]: the slot and the other end of each vertex's lightest edge. The slot is
//          NO_POSITION if the vertex does not have edges.
// Launch   any. O(n + n_slots).
// Needs    nothing.
// Ensures  chosen[v] is the edge of v with the minimum (key, slot).
kernel void filter_boruvka_cpu_first_choose(const global uint *rows, const global uint *indices,
                                            const global weight_t *weights,
                                            const global uint *starts, const global uint *incident,
                                            global uint2 *chosen, uint n) {
  const uint end = range_end(n);
  for (uint v = range_begin(n); v < end; ++v) {
    const uint slot = wi_lightest(weights, incident, starts[v], starts[v + 1]);
    chosen[v] = (uint2)(slot, slot == NO_POSITION ? v : rows[slot] ^ indices[slot] ^ v);
  }
}

// Put the lightest edge of each vertex, which it has chosen, into the forest. Link the vertex to
// the other end of this edge. There are two exceptions. If two vertices have chosen the same edge,
// the one with the lower number is a root: it becomes a supervertex, and its link gets the number
// of this supervertex. If a vertex has no edges, it is a whole component, and its link gets the
// number of this component.
//
// In       chosen[n]: the slot (CSR entry) and the other end of each vertex's lightest edge.
// In-out   state: the number of supervertices, and the number of components;
//          in_forest[n_slots]: a byte for each slot, 1 if its edge is in the forest.
// Out      links[n]: the link of each vertex;
//          next: for each supervertex an empty reservation, which will hold its lightest edge.
// Launch   any.
// Needs    filter_boruvka_cpu_first_choose.
// Ensures  in_forest is 1 for edges that join the forest. The links of roots and of whole
//          components are final.
kernel void filter_boruvka_cpu_first_hook(const global uint2 *chosen, global uint *next,
                                          global uint *links, global uchar *in_forest,
                                          volatile global uint *state, uint counts, uint components,
                                          uint n, uint next_stride) {
  const uint end = range_end(n);
  for (uint tile = range_begin(n); tile < end; tile += BLOCK) {
    const uint tile_end = min(tile + BLOCK, end);
    uint n_roots = 0, n_finished = 0;
    for (uint v = tile; v < tile_end; ++v) {
      const uint2 edge = chosen[v];
      if (edge.x == NO_POSITION) {
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
