// filter-boruvka: the steps of a round of Borůvka's algorithm on a worklist, the list of undecided
// edges between supervertices.
//
// When a round begins, every supervertex has reserved its lightest edge (reservation.cl). Hooking
// needs neither a compare-and-swap nor a search for roots: each supervertex has reserved exactly
// one edge, so exactly one work-item links it.
#include "algorithms/filter_boruvka/solve.cl"

// Number of edges that a work-item takes from each tile of a worklist: 1 to 1024. A worklist is a
// list of undecided edges, and a work-group takes one tile of it at a time. On a GPU the edges are
// kept in registers, so many edges would need too many registers.
#ifndef EDGES_PER_ITEM
#define EDGES_PER_ITEM 1
#endif
#define TILE_EDGES (WG_SIZE * EDGES_PER_ITEM)

// Links lead from vertex to vertex, and finally to the supervertex. A work-item that follows such a
// path shortens it after every LINK_STEPS steps: it links the first vertex of the path to the
// vertex that it has reached.
#define LINK_STEPS 8

// Number of vertices whose paths a work-item follows at the same time. A path leads by links from
// vertex to vertex, and finally to the supervertex.
#define VERTICES_AT_ONCE (WG_SIZE == 1 ? 1 : 4)
#define TILE_VERTICES (WG_SIZE * VERTICES_AT_ONCE)

// Return the number of edges that are stored in the worklist of a depth, a number of contractions.
// If the worklist has overflowed, more edges were counted than stored. Then the host solves the
// graph again.
static inline uint round_edges(const solve_t *solve, uint phase, uint depth) {
  return min(*solve_count(solve, phase, depth, COUNT_EDGES), solve_list_capacity(solve, depth));
}

// Return the number of supervertices that a phase has at a depth, which is a number of
// contractions. At depth 0 they are the graph's vertices.
static inline uint round_vertices(const solve_t *solve, uint phase, uint depth) {
  return depth == 0 ? solve->n : *solve_count(solve, phase, depth, COUNT_VERTICES);
}

// The functions below take the numbers of edges and vertices as arguments. They do not load these
// counts themselves, because waiting for the loads would take much of the time of a small solve.

// Load the edge at position `at` of the worklist of a depth (number of contractions). The worklist
// has the undecided edges between the supervertices of this depth.
static inline void round_load(const solve_t *solve, uint depth, size_t at, edge_t *edge) {
  edge_unpack(((const global uint4 *)solve_list(solve, depth))[at], edge);
}

// Load the edges at `n` positions of the worklist of a depth: `first`, `first` + WG_SIZE, and so
// on. The worklist has n_edges edges. All loads are in flight at the same time. For positions after
// the end of the list, the edge gets both ends 0.
static inline void round_load_edges(const solve_t *solve, uint depth, size_t first, uint n_edges,
                                    uint n, edge_t *edges) {
  SOLVE_UNROLL
  for (uint i = 0; i < n; ++i) {
    const size_t at = first + i * WG_SIZE;
    edges[i].u = edges[i].v = edges[i].key = edges[i].id = 0;
    if (at < n_edges) round_load(solve, depth, at, &edges[i]);
  }
}

// Put an edge at position `at` of the worklist of `depth`. If the position is beyond the capacity,
// record an overflow and return false. Then the caller must not reserve the edge as the lightest
// edge of a supervertex: the edge is not on the worklist, so no work-item would find it and link
// the supervertex.
static inline bool round_list(const solve_t *solve, uint depth, uint at, edge_t edge) {
  const bool fits = at < solve_list_capacity(solve, depth);
  if (fits) ((global uint4 *)solve_list(solve, depth))[at] = edge_pack(edge);
  else solve->state[STATE_OVERFLOW] = 1;
  return fits;
}

// Put an edge at position `at` of the worklist of `depth`, if the position is within the capacity.
// If so, also enter the edge in the reservations of both ends, by an atomic minimum of its first
// word (reservation.cl). A reservation holds the lightest edge of a supervertex so far.
static inline void round_put(const solve_t *solve, uint depth, uint at, edge_t edge) {
  if (round_list(solve, depth, at, edge))
    reservation_enter_first(solve_reserved(solve, depth), edge, solve->weights);
}

#if RESERVATION_PASSES > 1
// Compare one further word of each edge with the reservations of both ends, by an atomic minimum. A
// reservation holds the lightest edge of a supervertex so far. Edges are sequences of words. This
// pass is for word number `pass`, and the words of earlier passes are final (reservation.cl).
static inline void round_refine(const solve_t *solve, uint depth, uint n_edges, uint pass) {
  const uint stride = solve_stride(solve, depth);
  GRID_FOR(at, n_edges) {
    edge_t edge;
    round_load(solve, depth, at, &edge);
    if (edge.u == edge.v) continue;  // such an edge is listed, but never reserved
    reservation_enter_later(solve_reserved(solve, depth), stride, edge.u, edge, solve->weights,
                            pass);
    reservation_enter_later(solve_reserved(solve, depth), stride, edge.v, edge, solve->weights,
                            pass);
  }
}
#endif

// Return which of the two ends of an edge have reserved it as their lightest edge. Bit 0 of the
// result stands for the supervertex edge.u, and bit 1 for edge.v.
static inline uint round_holders(const solve_t *solve, uint depth, edge_t edge) {
  const global uint *reserved = (const global uint *)solve_reserved(solve, depth);
  const uint stride = solve_stride(solve, depth);
  return (uint)reservation_holds(reserved, stride, edge.u, edge) |
         (uint)reservation_holds(reserved, stride, edge.v, edge) << 1;
}

// If an end of an edge has reserved it as its lightest edge, put the edge into the forest, and link
// this end to the other end. `holders` is the result of round_holders. If both ends have reserved
// the edge, the one with the lower number is a root and is not linked here. Return this root, or
// LINK_FINISHED if there is none.
static inline uint round_hook_edge(const solve_t *solve, edge_t edge, uint holders,
                                   volatile global uint *links) {
  if (holders == 0) return LINK_FINISHED;
  solve_mark(solve, edge.id);
  const uint root = holders == 3 ? min(edge.u, edge.v) : LINK_FINISHED;
  if ((holders & 1) && edge.u != root) links[edge.u] = edge.v;
  if ((holders & 2) && edge.v != root) links[edge.v] = edge.u;
  return root;
}

// Link every supervertex of a depth to the other end of the lightest edge, which it has reserved,
// and put these edges into the forest. The roots, which are not linked to a vertex, get numbers and
// become the supervertices of the next depth.
static inline void round_hook(const solve_t *solve, uint phase, uint depth, uint n_edges,
                              local uint *scratch, local uint *base) {
  volatile global uint *links = solve_links(solve, depth);
  volatile global uint *count = solve_count(solve, phase, depth + 1, COUNT_VERTICES);
  TILES_FOR(tile, n_edges, TILE_EDGES) {
    edge_t edges[EDGES_PER_ITEM];
    uint holders[EDGES_PER_ITEM], roots[EDGES_PER_ITEM], n_roots = 0, number;
    round_load_edges(solve, depth, tile + get_local_id(0), n_edges, EDGES_PER_ITEM, edges);
    SOLVE_UNROLL
    for (uint i = 0; i < EDGES_PER_ITEM; ++i)
      holders[i] = edges[i].u == edges[i].v ? 0 : round_holders(solve, depth, edges[i]);
    SOLVE_UNROLL
    for (uint i = 0; i < EDGES_PER_ITEM; ++i) {
      roots[i] = round_hook_edge(solve, edges[i], holders[i], links);
      n_roots += roots[i] != LINK_FINISHED;
    }
    wg_claim(count, n_roots, &number, scratch, base);
    SOLVE_UNROLL
    for (uint i = 0; i < EDGES_PER_ITEM; ++i) {
      if (roots[i] == LINK_FINISHED) continue;
      links[roots[i]] = LINK_KNOWN | number;
      solve_begin_vertex(solve, depth + 1, number);
      number += 1;
    }
  }
}

// Follow the links of each vertex of a depth for at most POINTER_STEPS steps. Links lead from
// vertex to vertex, and finally to a root. If the steps lead to a root, store the number of its
// supervertex in the link of the vertex. Otherwise store the vertex that they reach. So in the next
// call, a step leads about POINTER_STEPS times as far. Add to COUNT_PENDING the number of vertices
// whose supervertex is still unknown.
//
// Other work-items read and store links at the same time. A link that is read is an old one or a
// new one, and both lead to the same root.
static inline void round_follow(const solve_t *solve, uint phase, uint depth, uint n_vertices) {
  volatile global uint *links = solve_links(solve, depth);
  uint pending = 0;
  TILES_FOR(tile, n_vertices, TILE_VERTICES) {
    uint next[VERTICES_AT_ONCE], over[VERTICES_AT_ONCE];
    bool goes_on = true;
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_AT_ONCE; ++k) {
      const size_t v = tile + k * WG_SIZE + get_local_id(0);
      next[k] = v < n_vertices ? links[v] : LINK_FINISHED;
    }
    // The bit LINK_KNOWN means that the path of a vertex ends here. Finished vertices, which no
    // edge leaves, have the link LINK_FINISHED, in which this bit is set. So they are not followed.
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_AT_ONCE; ++k)
      over[k] = next[k] & LINK_KNOWN ? next[k] : links[next[k]];
    for (uint steps = 0; goes_on && steps < POINTER_STEPS; ++steps) {
      goes_on = false;
      SOLVE_UNROLL
      for (uint k = 0; k < VERTICES_AT_ONCE; ++k) {
        if (over[k] & LINK_KNOWN) continue;
        next[k] = over[k];
        over[k] = links[next[k]];
        goes_on = true;
      }
    }
    SOLVE_UNROLL
    for (uint k = 0; k < VERTICES_AT_ONCE; ++k) {
      if (next[k] & LINK_KNOWN) continue;
      const bool is_known = over[k] & LINK_KNOWN;
      links[tile + k * WG_SIZE + get_local_id(0)] = is_known ? over[k] : next[k];
      pending += !is_known;
    }
  }
  if (pending) atomic_add(solve_count(solve, phase, depth, COUNT_PENDING), pending);
}

// Follow the links from a vertex to the root, and return the root's link, which has the number of
// the supervertex. After every LINK_STEPS steps, link `vertex` to the vertex that has been reached,
// so that the path gets shorter for later work-items. Other work-items do the same at the same
// time. A link that is read is an old one or a new one, and both lead to the same root.
static inline uint link_of(global uint *links, uint vertex) {
  uint link = links[vertex];
  for (uint steps = 1; !(link & LINK_KNOWN); ++steps) {
    link = links[link];
    if (steps % LINK_STEPS == 0) links[vertex] = link;
  }
  return link;
}

// Return the number of the supervertex to which a link leads, directly or by the links of further
// vertices.
static inline uint link_supervertex(global uint *links, uint link) {
  if (!(link & LINK_KNOWN)) link = link_of(links, link);
  return link & LINK_NUMBER;
}

// Load the edges at `n` positions of the worklist of a depth: `first`, `first` + WG_SIZE, and so
// on. Replace their ends by the supervertices of the next depth that contain them. Return how many
// of the edges join two supervertices. All other edges get equal ends.
static inline uint round_load_contracted(const solve_t *solve, uint depth, size_t first,
                                         uint n_edges, uint n, edge_t *edges) {
  global uint *links = (global uint *)solve_links(solve, depth);
  uint n_kept = 0;
  round_load_edges(solve, depth, first, n_edges, n, edges);
  SOLVE_UNROLL
  for (uint i = 0; i < n; ++i) {
    if (edges[i].u == edges[i].v) continue;
    edges[i].u = links[edges[i].u];
    edges[i].v = links[edges[i].v];
  }
  SOLVE_UNROLL
  for (uint i = 0; i < n; ++i) {
    if (edges[i].u == edges[i].v) continue;
    edges[i].u = link_supervertex(links, edges[i].u);
    edges[i].v = link_supervertex(links, edges[i].v);
    n_kept += edges[i].u != edges[i].v;
  }
  return n_kept;
}

// Make the worklist of the next depth from the worklist of `depth`: replace the ends of the edges
// by the supervertices of the next depth that contain them, and drop the edges within one
// supervertex. Also begin to choose the lightest edge of each supervertex (round_put).
static inline void round_contract(const solve_t *solve, uint phase, uint depth, uint n_edges,
                                  local uint *scratch, local uint *base) {
  volatile global uint *count = solve_count(solve, phase, depth + 1, COUNT_EDGES);
  TILES_FOR(tile, n_edges, TILE_EDGES) {
    edge_t edges[EDGES_PER_ITEM];
    uint next;
    const uint n_kept =
        round_load_contracted(solve, depth, tile + get_local_id(0), n_edges, EDGES_PER_ITEM, edges);
    wg_claim(count, n_kept, &next, scratch, base);
    SOLVE_UNROLL
    for (uint i = 0; i < EDGES_PER_ITEM; ++i)
      if (edges[i].u != edges[i].v) round_put(solve, depth + 1, next++, edges[i]);
  }
}
