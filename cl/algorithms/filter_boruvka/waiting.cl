// filter-boruvka in resident work-groups, which all run at the same time and wait for one another
// (device/resident.cl): the rounds of a phase, and the step to the next phase. A phase solves one
// range of the order of edges.
#include "algorithms/filter_boruvka/filter.cl"
#include "algorithms/filter_boruvka/rounds.cl"
#include "device/resident.cl"

// If a depth (number of contractions) has at most this number of vertices, their paths of links to
// supervertices are not very long. So the step that shortens paths before edges are contracted is
// left out.
#ifndef FEW_VERTICES
#define FEW_VERTICES 16384
#endif

// Maximum number of paths of links, which lead from vertices to supervertices, that may still be
// long when shortening ends. These few paths are followed step by step when edges are contracted.
#define FEW_PENDING 64

// Maximum number of vertices of a graph in which each vertex, at the end of a phase, follows its
// whole path of links to its component. In larger graphs, the depths (numbers of contractions) are
// processed one by one. A phase solves one range of the order of edges.
#ifndef DIRECT_VERTICES
#define DIRECT_VERTICES (1u << 20)
#endif

// ------------------------------------------------------- contraction to few supervertices
//
// Late rounds have many edges between few supervertices. If every edge were entered in the
// reservations of its two supervertices (their lightest edges so far), all atomics would go to the
// same few addresses. So here a work-group first finds, in local memory, the lightest of its own
// edges for each supervertex. Only these are entered in the reservations.

// Maximum number of supervertices for which a work-group finds, in local memory, the lightest of
// its own edges for each supervertex: at least 1. A work-group needs 8 bytes of local memory for
// each supervertex.
#ifndef FEW_SUPERVERTICES
#define FEW_SUPERVERTICES 512
#endif

// Minimum number of edges per supervertex from which it saves time that a work-group first finds
// the lightest of its own edges for each supervertex. With fewer edges, it is faster to enter each
// edge in the reservations.
#ifndef FEW_CROWD
#define FEW_CROWD 128
#endif

// Maximum number of edges that a work-item contracts at once, in registers: 1 to 8.
#ifndef FEW_EDGES_PER_ITEM
#define FEW_EDGES_PER_ITEM 4
#endif

// Whether the functions for few supervertices are compiled. They need reservations (lightest edges
// of supervertices) that fit one word of 64 bits.
#define HAS_FEW ATOMIC64

#if HAS_FEW
typedef ulong few_word_t;

// Return whether few_contract is used, because n_edges edges are contracted to so few
// supervertices, n_vertices, that it saves time.
static inline bool few_applies(uint n_edges, uint n_vertices) {
  return n_vertices <= FEW_SUPERVERTICES && n_vertices * FEW_CROWD <= n_edges;
}

// Contract the worklist of a depth to the worklist of the next depth, which has only `n_vertices`
// supervertices: replace the ends of edges by the supervertices that contain them, and drop the
// edges within one supervertex. A worklist is the list of undecided edges. Also find, for each
// supervertex, the lightest of the edges that this work-group has read, and enter it in the
// reservation, which holds the lightest edge of the supervertex so far. least[FEW_SUPERVERTICES] is
// temporary memory for these edges. The whole work-group must call the function.
static inline void few_contract(const solve_t *solve, uint phase, uint depth, uint n_edges,
                                uint n_vertices, local few_word_t *least, local uint *scratch,
                                local uint *base) {
  volatile global uint *count = solve_count(solve, phase, depth + 1, COUNT_EDGES);
  const uint me = get_local_id(0);
  // If the worklist is short, a work-item takes fewer edges at once, so that all work-groups have
  // work.
  const size_t n_items = get_global_size(0);
  const uint per_item = (uint)min((n_edges + n_items - 1) / n_items, (size_t)FEW_EDGES_PER_ITEM);
  const size_t stride = (size_t)WG_SIZE * per_item;
  if (get_group_id(0) * stride >= n_edges) return;
  for (uint v = me; v < n_vertices; v += WG_SIZE) least[v] = RESERVATION_NONE;
  TILES_FOR(tile, n_edges, stride) {
    edge_t edges[FEW_EDGES_PER_ITEM];
    uint next;
    const uint end = (uint)min(tile + stride, (size_t)n_edges);
    const uint n_kept =
        round_load_contracted(solve, depth, tile + me, end, FEW_EDGES_PER_ITEM, edges);
    wg_claim(count, n_kept, &next, scratch, base);
    SOLVE_UNROLL
    for (uint i = 0; i < FEW_EDGES_PER_ITEM; ++i) {
      if (edges[i].u == edges[i].v || !round_list(solve, depth + 1, next++, edges[i])) continue;
      const ulong word = reservation_first_word(edges[i], solve->weights);
      // Most edges are heavier than the lightest edge of the supervertex so far. For these edges,
      // this read suffices, without an atomic operation.
      volatile local ulong *least_u = &least[edges[i].u], *least_v = &least[edges[i].v];
      reservation_lower_local(least_u, word, *least_u, solve->weights);
      reservation_lower_local(least_v, word, *least_v, solve->weights);
    }
  }
  wg_barrier_local();
  volatile global ulong *words = (volatile global ulong *)solve_reserved(solve, depth + 1);
  for (uint v = me; v < n_vertices; v += WG_SIZE)
    if (least[v] != RESERVATION_NONE)
      reservation_lower_global(words + v, least[v], words[v], solve->weights);
}
#else
typedef uint few_word_t;  // not used
#endif

// ------------------------------------------------------------- rounds of resident work-groups

// The local memory of a resident work-group, which its steps use one after the other.
typedef struct {
  tile_t tile;
  local uint *scratch, *base;
  uint passed;              // number of barriers of the launch that have been passed
  local uint *counts;       // [MAX_DEPTHS]
  local few_word_t *least;  // [FEW_SUPERVERTICES]
} workspace_t;

static inline bool solve_wait(const solve_t *solve, workspace_t *workspace) {
  return grid_barrier(solve->state + STATE_ARRIVALS, &workspace->passed, workspace->base);
}

// Contract the worklist of a depth, the list of its undecided edges, to the worklist of the next
// depth, which has `n_next` supervertices: replace the ends of the edges by the supervertices that
// contain them, and drop the edges within one supervertex.
static inline void resident_contract(const solve_t *solve, uint phase, uint depth, uint n_edges,
                                     uint n_next, workspace_t *workspace) {
#if HAS_FEW
  if (few_applies(n_edges, n_next)) {
    few_contract(solve, phase, depth, n_edges, n_next, workspace->least, workspace->scratch,
                 workspace->base);
    return;
  }
#endif
  round_contract(solve, phase, depth, n_edges, workspace->scratch, workspace->base);
}

// Shorten long paths of links, which lead from vertices to supervertices, until at most FEW_PENDING
// paths are long. A long path comes from a path of the graph along which the weights fall. If it
// were not shortened, the search for the supervertices of the ends of edges would follow it step by
// step. Return false if a work-group has waited too long at a barrier. Then the launch must end.
//
// Needs    a barrier before the call. COUNT_PENDING is the number of paths that round_follow or
//          first_follow_choices has left unfinished.
static inline bool resident_shorten(const solve_t *solve, uint phase, uint depth, uint n_vertices,
                                    workspace_t *workspace) {
  const volatile global uint *count = solve_count(solve, phase, depth, COUNT_PENDING);
  uint before = 0, pending = *count;
  while (pending - before > FEW_PENDING) {
    if (!solve_wait(solve, workspace)) return false;  // after this, all have read the count
    round_follow(solve, phase, depth, n_vertices);
    if (!solve_wait(solve, workspace)) return false;
    before = pending;
    pending = *count;
  }
  return true;
}

// Do the rounds of a phase, which solves one range of edges, from `depth` (number of contractions)
// on, until no edge remains or the next depth has a single supervertex. Return false if a
// work-group has waited too long at a barrier. Then the launch must end.
static inline bool resident_rounds(const solve_t *solve, uint phase, uint depth,
                                   workspace_t *workspace) {
  uint n_edges = round_edges(solve, phase, depth), n_vertices = round_vertices(solve, phase, depth);
  while (n_edges > 0 && depth + 1 < MAX_DEPTHS) {
#if RESERVATION_PASSES > 1
    for (uint pass = 1; pass < RESERVATION_PASSES; ++pass) {
      round_refine(solve, depth, n_edges, pass);
      if (!solve_wait(solve, workspace)) return false;
    }
#endif
    round_hook(solve, phase, depth, n_edges, workspace->scratch, workspace->base);
    if (!solve_wait(solve, workspace)) return false;
    const uint n_next = round_vertices(solve, phase, depth + 1);
    if (n_vertices > FEW_VERTICES) {
      round_follow(solve, phase, depth, n_vertices);
      if (!solve_wait(solve, workspace)) return false;
      if (!resident_shorten(solve, phase, depth, n_vertices, workspace)) return false;
    }
    if (n_next <= 1) return true;
    resident_contract(solve, phase, depth, n_edges, n_next, workspace);
    if (!solve_wait(solve, workspace)) return false;
    depth += 1;
    n_vertices = n_next;
    n_edges = round_edges(solve, phase, depth);
  }
  return true;
}

// Find the component of every vertex at the end of a phase, which has solved one range of edges.
// Reset the reservations of the components, which will hold the lightest edge of each in the next
// phase. `depth` is the first depth (number of contractions) of the phase. Return false if a
// work-group has waited too long at a barrier. Then the launch must end.
//
// Needs    a barrier before the call. After it come a barrier and filter_begin_links.
static inline bool resident_settle(const solve_t *solve, uint phase, uint depth,
                                   workspace_t *workspace) {
  local uint *counts = workspace->counts;
  filter_number_components(solve, phase, depth, counts, workspace->scratch, workspace->base);
  if (!solve_wait(solve, workspace)) return false;
  // In a small graph each vertex follows its whole path to its component, one step for each depth
  // (contraction). In a large graph the depths are processed one by one.
  uint deepest = 0;
  if (solve->n > DIRECT_VERTICES)
    for (deepest = depth; deepest + 1 < MAX_DEPTHS && counts[deepest + 1] > 0;) deepest += 1;
  for (uint d = deepest; d > 0; --d) {
    filter_find_components(solve, phase, d);
    if (!solve_wait(solve, workspace)) return false;
  }
  filter_find_components(solve, phase, 0);
  filter_begin_reservations(solve, phase + 1);
  return true;
}
