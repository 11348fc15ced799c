// filter-boruvka for CPUs: each work-item handles a long contiguous range of every array.
//
// Source: Borůvka's algorithm with the filter of Filter-Kruskal (Osipov, Sanders, Singler 2009) and
// the deterministic reservations of ECL-MST (Fallin et al. 2023). Two things are clmst's own.
// First, the edge list is divided into segments, one for each work-item, which are compacted in
// place. Second, hooking (the step that joins components) goes through the supervertices, and looks
// up the edge that each of them has reserved. It does not go through all edges.
//
// Edges are solved in phases, from light to heavy. Each phase solves one range of the order of
// edges (a window), and contracts the graph in rounds. The vertices after d contractions have depth
// d. Depth 0 of the first phase has the vertices of the graph, and depth 0 of a later phase has the
// components at the end of the phase before. A contraction makes the supervertices of the next
// depth, which are at most half as many. The host knows how many supervertices each depth has, so
// it knows where the data of each depth begin, and passes these positions to the kernels. In
// links[], the links of a depth begin at `here`, and the links of the next depth at `there`. In
// state[], the counts of the depth begin at `counts`.
//
// Work-groups have one work-item.
#include "algorithms/filter_boruvka/cpu_list.cl"
#include "device/rows.cl"

// Reset the reservations of vertices. The reservation of a vertex holds its lightest edge so far.
//
// Out      reserved[RESERVATION_WORDS n_vertices]: the reservations.
// Launch   any.
// Needs    nothing.
// Ensures  no vertex has reserved an edge.
kernel void filter_boruvka_cpu_begin(global uint *reserved, uint n_vertices) {
  const size_t n_words = (size_t)RESERVATION_WORDS * n_vertices;
  GRID_FOR(i, n_words) reserved[i] = NO_POSITION;
}

// Clear the flags that say which edges are in the forest.
//
// Out      in_forest[n_slots]: a byte for each slot (CSR entry), written as n_words words of four
//          bytes.
// Launch   any.
// Needs    nothing.
// Ensures  all flags are 0.
kernel void filter_boruvka_cpu_clear(global uint *in_forest, uint n_words) {
  GRID_FOR(i, n_words) in_forest[i] = 0;
}

// List the edges of a window that join two components, and enter them in the reservations of both
// components, by an atomic minimum. A window is the range of the order of edges that one phase
// solves. A reservation holds the lightest edge of a component so far. Edges of earlier windows lie
// within one component, so only the upper end of the window is checked.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph as a CSR;
//          links[n]: the component of each vertex, read if `contracted`;
//          in_largest: a bit for each vertex, set if it is in the largest component, read if
//            `marked`;
//          high_key, high_slot: the last edge of the window, as its key and its slot (CSR entry),
//            read if `limited`.
// In-out   reserved: the reservation of each component, empty before the launch;
//          state: the number of edges, 0 before, and whether a segment of the list has overflowed.
// Out      edges[segments * stride]: the list. Each work-group has a segment of `stride` elements.
//          listed: the weight of each listed edge, written only for 64-bit weights;
//          lengths[segments]: the number of edges in each segment.
// Launch   one work-group for each segment.
// Needs    every edge is stored with column > row; slots with column <= row are skipped.
// Ensures  the first word of each reservation is final (pass 0 of reservation.cl); edges are in the
//          order of their slots.
kernel void filter_boruvka_cpu_list_edges(const global uint *indptr, const global uint *indices,
                                          const global weight_t *weights, const global uint *links,
                                          const global uint *in_largest,
                                          volatile global uint *reserved, global uint4 *edges,
                                          global weight_t *listed, global uint *lengths,
                                          volatile global uint *state, uint counts, uint n,
                                          uint n_slots, uint stride, uint contracted, uint marked,
                                          uint limited, ulong high_key, uint high_slot) {
  local uint lowering[2 * BLOCK], rows[BLOCK + ROW_FILL], columns[BLOCK], picked[BLOCK];
  const list_t list = {edges, listed};
  const uint first = get_group_id(0) * stride, last = range_end(n_slots);
  uint block = range_begin(n_slots), at = first;
  uint row = block < last ? wi_find_row(indptr, 0, n, block) : 0;
  for (; block < last; block += min(last - block, (uint)BLOCK)) {
    const uint length = min(last - block, (uint)BLOCK), entered = at;
    if (at + length > first + stride) {
      state[STATE_OVERFLOW] = 1;
      break;
    }
    row = wi_fill_rows(rows, indptr, row, block, block + length);
    uint n_picked = length;
    if (limited)
      n_picked = wi_pick_light(picked, weights, block, length, (full_key_t)high_key, high_slot);
    n_picked = wi_keep_upper(picked, rows, columns, indices, block, length, n_picked);
    if (marked) n_picked = wi_leave_largest(picked, rows, columns, in_largest, n_picked);
    if (contracted) n_picked = wi_keep_joining(picked, rows, columns, links, n_picked);
    for (uint k = 0; k < n_picked; ++k) {
      const uint slot = block + picked[k];
      edges[at + k] = (uint4)(rows[k], columns[k], weight_key_leading(weights[slot]), slot);
#if WEIGHT_BITS == 64
      listed[at + k] = weights[slot];
#endif
    }
    at += n_picked;
    list_reserve(&list, entered, at, reserved, lowering);
  }
  lengths[get_group_id(0)] = at - first;
  atomic_add(state + counts + COUNT_EDGES, at - first);
}

#if RESERVATION_PASSES > 1
// Compare one further word of each edge with the reservations of both of its ends, by an atomic
// minimum. A reservation holds the lightest edge of a supervertex so far. Edges are sequences of
// words, but an atomic minimum compares only one word. So each word has a launch of its own, and
// this launch is for word number `pass` (reservation.cl).
//
// In       lengths[segments]: the number of edges in each segment of the list.
// In-out   reserved: the reservation of each supervertex;
//          edges, listed: the edges of the list and their weights, which are only read.
// Launch   one work-group for each segment.
// Needs    1 <= pass < RESERVATION_PASSES; the passes before it are complete.
// Ensures  after the last pass every supervertex has reserved its lightest edge.
kernel void filter_boruvka_cpu_refine(volatile global uint *reserved, global uint4 *edges,
                                      global weight_t *listed, const global uint *lengths,
                                      uint stride, uint reserved_stride, uint pass) {
  const list_t list = {edges, listed};
  const uint first = get_group_id(0) * stride, last = first + lengths[get_group_id(0)];
  for (uint position = first; position < last; ++position) {
    const edge_t edge = list_edge(&list, position);
    reservation_enter_later(reserved, reserved_stride, edge.u, edge, listed, pass);
    reservation_enter_later(reserved, reserved_stride, edge.v, edge, listed, pass);
  }
}
#endif

// Put the lightest edge of each supervertex, which it has reserved, into the forest. Link the
// supervertex to the other end of this edge. There are two exceptions. If two supervertices have
// reserved the same edge, the one with the lower number is a root: it becomes a supervertex of the
// next depth (number of contractions), and its link gets its number at that depth. If a supervertex
// has not reserved an edge, it is a whole component at the end of the phase, and its link gets the
// number of this component.
//
// In       reserved: for each supervertex, the position in the list of the edge that it has
//            reserved;
//          edges: the list of edges.
// In-out   state: the number of supervertices of the next depth, and the number of components;
//          in_forest[n_slots]: a byte for each slot (CSR entry), 1 if its edge is in the forest.
// Out      links[n_vertices] of this depth: the link of each supervertex;
//          next: the empty reservations of the supervertices of the next depth.
// Launch   any.
// Needs    all passes of the reservations are complete.
// Ensures  in_forest is 1 for edges that join the forest. The links of roots and of whole
//          components are final.
kernel void filter_boruvka_cpu_hook(const global uint *reserved, global uint *next,
                                    const global uint4 *edges, global uint *links,
                                    global uchar *in_forest, volatile global uint *state, uint here,
                                    uint counts, uint components, uint n_vertices,
                                    uint reserved_stride, uint next_stride) {
  links += here;
  const uint end = range_end(n_vertices);
  for (uint tile = range_begin(n_vertices); tile < end; tile += BLOCK) {
    const uint tile_end = min(tile + BLOCK, end);
    uint n_roots = 0, n_finished = 0;
    for (uint v = tile; v < tile_end; ++v) {
      const uint position = reservation_id(reserved, reserved_stride, v);
      if (position == NO_POSITION) {
        links[v] = LINK_FINISHED;
        n_finished += 1;
        continue;
      }
      const uint4 edge = edges[position];
      const uint other = edge.x ^ edge.y ^ v;
      const bool is_root =
          (v < other) & (reservation_id(reserved, reserved_stride, other) == position);
      links[v] = is_root ? LINK_ROOT : other;
      forest_mark(in_forest, edge.w);
      n_roots += is_root;
    }
    hook_number(links, next, state, tile, tile_end, n_roots, n_finished, counts, components,
                next_stride);
  }
}

// After a contraction, find the supervertex that contains each vertex, and store its number in the
// vertex's link. Before the launch, the links form paths from vertex to vertex. Each path ends at a
// root, whose link has the number of the supervertex.
//
// Work-items read and store links at the same time. A link that is read is either the old link,
// which leads to the root, or already the number of the supervertex. All vertices on the path get
// the number, too, so no work-item follows a path twice, however long it is.
//
// In-out   links[n_vertices] of this depth: the link of each vertex;
//          state: the word STATE_OVERFLOW becomes STATE_STUCK if a path has as many links as there
//            are vertices. Such a path is a cycle, so the choices of edges were wrong.
// Launch   any. O(n_vertices) for each work-item at worst; usually O(n_vertices) for all together.
// Needs    filter_boruvka_cpu_hook of this depth.
// Ensures  all links are numbers of supervertices. A vertex on a cycle gets number 0, which does no
//          harm.
kernel void filter_boruvka_cpu_follow(volatile global uint *links, volatile global uint *state,
                                      uint here, uint n_vertices) {
  links += here;
  const uint end = range_end(n_vertices);
  for (uint v = range_begin(n_vertices); v < end; ++v) {
    const uint first = links[v];
    if (first & LINK_KNOWN) continue;
    uint link = links[first];
    uint n_links = 1;
    for (; !(link & LINK_KNOWN) && n_links < n_vertices; ++n_links) link = links[link];
    if (!(link & LINK_KNOWN)) {
      state[STATE_OVERFLOW] = STATE_STUCK;
      link = LINK_KNOWN;
    }
    links[v] = link;
    for (uint on_path = first, next = links[first]; !(next & LINK_KNOWN); next = links[on_path]) {
      links[on_path] = link;
      on_path = next;
    }
  }
}

// Replace the ends of the listed edges by the supervertices that contain them, and remove the edges
// within one supervertex. Enter the remaining edges in the reservations of both ends, by an atomic
// minimum. A reservation holds the lightest edge of a supervertex so far.
//
// In       links of this depth: the number of the supervertex that contains each vertex.
// In-out   edges, listed: the edges of the list and their weights;
//          lengths[segments]: the number of edges in each segment of the list;
//          next: the reservations of the new supervertices, empty before the launch;
//          state: the number of edges of the next depth, 0 before the launch.
// Launch   one work-group for each segment.
// Needs    filter_boruvka_cpu_follow of this depth.
// Ensures  the first word of each reservation is final (pass 0 of reservation.cl); edges keep their
//          order.
kernel void filter_boruvka_cpu_contract(const global uint *links, volatile global uint *next,
                                        global uint4 *edges, global weight_t *listed,
                                        global uint *lengths, volatile global uint *state,
                                        uint here, uint counts, uint stride) {
  links += here;
  local uint lowering[2 * BLOCK];
  const list_t list = {edges, listed};
  const uint first = get_group_id(0) * stride, last = first + lengths[get_group_id(0)];
  uint at = first;
  for (uint block = first; block < last; block += min(last - block, (uint)BLOCK)) {
    const uint end = block + min(last - block, (uint)BLOCK), entered = at;
    for (uint position = block; position < end; ++position) {
      uint4 edge = edges[position];
      edge.x = links[edge.x] & LINK_NUMBER;
      edge.y = links[edge.y] & LINK_NUMBER;
      edges[at] = edge;
#if WEIGHT_BITS == 64
      listed[at] = listed[position];
#endif
      at += edge.x != edge.y;
    }
    list_reserve(&list, entered, at, next, lowering);
  }
  lengths[get_group_id(0)] = at - first;
  if (at > first) atomic_add(state + counts + COUNT_EDGES, at - first);
}

// At the end of a phase, find the component of every vertex of one depth (number of contractions).
// A phase solves one range of the order of edges. Depths are processed from the last one back to
// the first.
//
// In       anew: 1 if links that are marked as final are replaced, too. This is needed for the
//          vertices of the graph in all phases but the first, because their links have the
//          components at the end of the phase before.
// In-out   links: from index `there` on, the links of the next depth, which have the numbers of
//          components already. From index `here` on, the links of this depth, which get the numbers
//          of components in this launch.
// Launch   any.
// Needs    filter_boruvka_cpu_settle of the next depth.
// Ensures  the links of this depth are final.
kernel void filter_boruvka_cpu_settle(global uint *links, uint here, uint there, uint n_vertices,
                                      uint anew) {
  GRID_FOR(v, n_vertices) {
    const uint link = links[here + v];
    const bool is_settled = (link & LINK_FINAL) & (anew ? 0 : LINK_FINAL);
    links[here + v] = is_settled ? link : links[there + (link & LINK_NUMBER)];
  }
}

// Set the bits of all vertices of one component, most likely the largest. The component is chosen
// by a vote of a sample of the vertices. If more than half of the sample is in one component, that
// component is chosen. Otherwise any component may be chosen.
//
// In       links[n] of the graph's vertices: the component of each vertex.
// Out      in_largest[n / 32 words, rounded up]: a bit for each vertex. The first vertex of a word
//          has the least significant bit.
// Launch   any. O(n).
// Needs    filter_boruvka_cpu_settle of depth 0.
// Ensures  bits are set for the vertices of one component.
kernel void filter_boruvka_cpu_mark_largest(const global uint *links, global uint *in_largest,
                                            uint n) {
  // Find the component of most voters by the majority vote of Boyer and Moore: each vote for
  // another component cancels one vote for the leader.
  uint leader = 0, lead = 0;
  for (uint i = 0; i < VOTERS; ++i) {
    const uint component = links[(uint)((ulong)n * i / VOTERS)] & LINK_NUMBER;
    leader = lead ? leader : component;
    lead += component == leader ? 1 : -1;
  }
  const uint end = range_end((n + 31) / 32);
  for (uint word = range_begin((n + 31) / 32); word < end; ++word) {
    uint bits = 0;
    for (uint v = 32 * word; v < min(32 * word + 32, n); ++v)
      bits |= (uint)((links[v] & LINK_NUMBER) == leader) << v % 32;
    in_largest[word] = bits;
  }
}
