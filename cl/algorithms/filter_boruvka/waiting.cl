// filter-boruvka: rounds, and the step to the next phase, of resident work-groups that wait for one
// another (device/resident.cl).
#include "algorithms/filter_boruvka/filter.cl"
#include "algorithms/filter_boruvka/rounds.cl"
#include "device/resident.cl"

// Vertices of a depth up to which ways to supervertices are not shortened before edges follow them:
// a step less, where no way is long.
#ifndef FEW_VERTICES
#define FEW_VERTICES 16384
#endif

// Ways that following may leave long, at most: edges go along them step by step.
#define FEW_PENDING 64

// Vertices of a graph up to which each finds its component on its own after a window: any number.
#ifndef DIRECT_VERTICES
#define DIRECT_VERTICES (1u << 20)
#endif

// ------------------------------------------------------- contraction to few supervertices
//
// Late rounds have many edges between few supervertices. Were every edge entered for both of its
// own, all would meet at the same few addresses, one atomic after the other. Here a work-group
// settles in local memory what its own edges come to, and enters that.

// Supervertices that are few: a work-group has 8 bytes of local memory for each; at least 1.
#ifndef FEW_SUPERVERTICES
#define FEW_SUPERVERTICES 512
#endif

// Edges for each supervertex from which on they crowd: fewer are entered sooner one by one.
#ifndef FEW_CROWD
#define FEW_CROWD 128
#endif

// Edges that a work-item holds at once: 1 to 8, in registers.
#ifndef FEW_EDGES_PER_ITEM
#define FEW_EDGES_PER_ITEM 4
#endif

// Only 64-bit minima are taken here; reservations of several words are entered as ever.
#define HAS_FEW ATOMIC64

#if HAS_FEW
typedef ulong few_word_t;

// Whether many edges are to be contracted to few supervertices.
static inline bool few_applies(uint n_edges, uint n_vertices) {
  return n_vertices <= FEW_SUPERVERTICES && n_vertices * FEW_CROWD <= n_edges;
}

// Contract the worklist of a depth to the worklist of the next, which has so many supervertices, as
// round_contract does. least[FEW_SUPERVERTICES] is scratch. Must be reached by the whole work-group.
static inline void few_contract(const solve_t *solve, uint phase, uint depth, uint n_edges,
                                uint n_vertices, local few_word_t *least, local uint *scratch,
                                local uint *base) {
  volatile global uint *count = solve_count(solve, phase, depth + 1, COUNT_EDGES);
  const uint me = get_local_id(0);
  // Few edges are spread over all work-groups.
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
      // Hardly any edge is lighter than all before it, so hardly any needs the atomic.
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
typedef uint few_word_t;  // of no use
#endif

// ------------------------------------------------------------- rounds of resident work-groups

// What a resident work-group works in, one step after the other.
typedef struct {
  tile_t tile;
  local uint *scratch, *base;
  uint passed;              // barriers of the launch
  local uint *counts;       // [MAX_DEPTHS]
  local few_word_t *least;  // [FEW_SUPERVERTICES]
} workspace_t;

static inline bool solve_wait(const solve_t *solve, workspace_t *workspace) {
  return grid_barrier(solve->state + STATE_ARRIVALS, &workspace->passed, workspace->base);
}

// Contract a worklist to the worklist of the next depth, which has `n_next` supervertices.
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

// Let ways to supervertices that following has left long get shorter, until few are; returns whether
// it could. Of a path whose weights fall along it all vertices are one way: edges would go along it
// step by step.
//
// Needs    a barrier, then nothing; the count of pending ways is of the last time.
static inline bool resident_shorten(const solve_t *solve, uint phase, uint depth, uint n_vertices,
                                    workspace_t *workspace) {
  const volatile global uint *count = solve_count(solve, phase, depth, COUNT_PENDING);
  uint before = 0, pending = *count;
  while (pending - before > FEW_PENDING) {
    if (!solve_wait(solve, workspace)) return false;  // all have read the count
    round_follow(solve, phase, depth, n_vertices);
    if (!solve_wait(solve, workspace)) return false;
    before = pending;
    pending = *count;
  }
  return true;
}

// Do the rounds of a phase from `depth` on, until no edge can be left: where all supervertices with
// edges have become one, none is looked for. Returns whether it could.
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

// Let every vertex know the component that a phase left it in, and the components' reservations
// begin; returns whether it could.
//
// Needs    a barrier, then filter_begin_links.
static inline bool resident_settle(const solve_t *solve, uint phase, uint depth,
                                   workspace_t *workspace) {
  local uint *counts = workspace->counts;
  filter_number_components(solve, phase, depth, counts, workspace->scratch, workspace->base);
  if (!solve_wait(solve, workspace)) return false;
  // A vertex of a small graph goes the whole way, a step a depth; else depths go one by one.
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
