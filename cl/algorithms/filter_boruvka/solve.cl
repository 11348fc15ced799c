// filter-boruvka: the arrays of a solve and its counts, which all phases use.
//
// A solve has phases, one for each window of edges, from the lightest window to the heaviest. A
// window is a range of the total order of edges. In a phase, the graph's vertices, which have depth
// 0, are contracted to supervertices of depth 1. These are contracted to supervertices of depth 2,
// and so on. The supervertices of a depth have consecutive numbers, so each depth needs shorter
// arrays than the one before it. A supervertex contains at least two vertices of the depth before,
// which bounds the number of supervertices of a depth. The link of a vertex either leads to another
// vertex of its depth, or has the number of its supervertex.

#define RESERVATION_BY_LEADING 1  // saves a pass over the worklist of each depth

#include "algorithms/filter_boruvka/window.cl"
#include "device/reservation.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"
#include "device/worklist.cl"

// 1: both directions of every edge are stored. 0: each edge is stored once, with its column greater
// than its row.
#ifndef SYMMETRIC
#define SYMMETRIC 1
#endif

// Maximum number of depths of a phase. The depth of a supervertex is the number of contractions
// that have made it. Each depth has at most half as many supervertices as the depth before it, and
// there are fewer than 2**32 vertices, so a little more than 32 depths suffice.
#ifndef MAX_DEPTHS
#define MAX_DEPTHS 40
#endif

// Maximum number of phases of a solve, each of which solves one range of the order of edges: 1 to
// 4.
#ifndef MAX_PHASES
#define MAX_PHASES 4
#endif

// Maximum number of links that are followed from a vertex in one launch: 2 to 1024. A link leads
// from a vertex to another vertex of its component, or to its supervertex.
#ifndef POINTER_STEPS
#define POINTER_STEPS 32
#endif

// The value of a slot that means "no slot", for example in place of the slot of a vertex's lightest
// edge if the vertex does not have an edge.
#define NO_SLOT 0xffffffffu

// Indices of the words of state[]. First come three words of the grid barrier. Then come three
// words for each window but the last: the key (two words) and the slot of its last edge. A window
// is the range of the order of edges that one phase solves. Then come the words that say whether a
// worklist overflowed, and whether the graph was refused because it is invalid. Last come three
// counts (COUNT_EDGES and so on) for each phase and each depth (number of contractions).
#define STATE_ARRIVALS 0
#define STATE_GAVE_UP 1
#define STATE_WINDOWS 3
#define STATE_OVERFLOW (STATE_WINDOWS + 3 * MAX_PHASES)
#define STATE_REFUSED (STATE_OVERFLOW + 1)
#define STATE_COUNTS (STATE_REFUSED + 1)
#define STATE_WORDS (STATE_COUNTS + 3 * MAX_PHASES * MAX_DEPTHS)
#define COUNT_EDGES 0     // number of edges in the worklist of a depth
#define COUNT_VERTICES 1  // number of supervertices of a depth
#define COUNT_PENDING 2   // number of pending vertices, summed over launches: see round_follow

// SOLVE_UNROLL comes before loops over a work-item's private arrays. In work-groups of many
// work-items these arrays are kept in registers, which is possible only if the compiler unrolls the
// loop. In work-groups of one work-item they are in memory, and the loop stays.
#if WG_SIZE > 1
#define SOLVE_UNROLL _Pragma("unroll")
#else
#define SOLVE_UNROLL
#endif

// The arrays of a solve, in the order in which kernels take them.
typedef struct {
  const global uint *indptr;       // [n + 1]: the graph
  const global uint *indices;      // [n_slots]
  const global weight_t *weights;  // [n_slots]
  global uint *tiles;              // [3 * n_tiles + 1]: see tiles.cl
  global uint *target;             // [n]: the other end of each vertex's lightest edge, or itself
  volatile global uint *links;     // the links of all depths
  volatile global uint *reserved_even, *reserved_odd;  // reservations of even and of odd depths
  global uint *list_even, *list_odd;                   // worklists of even and of odd depths
  volatile global uint *marks;                         // [n_slots / 32, rounded up]: a bit per slot
  volatile global uint *state;                         // [STATE_WORDS]
  uint n, n_slots;
  uint capacity_even, capacity_odd;  // capacities of the two worklists, in edges
} solve_t;

#define SOLVE_PARAMETERS                                                                       \
  const global uint *indptr, const global uint *indices, const global weight_t *weights,       \
      global uint *tiles, global uint *target, global uint *links, global uint *reserved_even, \
      global uint *reserved_odd, global uint *list_even, global uint *list_odd,                \
      global uint *marks, global uint *state, uint n, uint n_slots, uint capacity_even,        \
      uint capacity_odd

#define SOLVE_ARGUMENTS                                                               \
  {indptr,    indices,  weights, tiles, target, links,   reserved_even, reserved_odd, \
   list_even, list_odd, marks,   state, n,      n_slots, capacity_even, capacity_odd}

// The next three functions return arrays of a depth (number of contractions): its reservations,
// which hold the lightest edge of each supervertex so far; its worklist, which has the undecided
// edges; and the worklist's capacity.
//
// There are two arrays of each kind, one for even and one for odd depths, and a condition chooses
// between them. If the struct had an array of two pointers instead, indexed by depth % 2, compilers
// would keep the whole struct in memory instead of registers.
static inline volatile global uint *solve_reserved(const solve_t *solve, uint depth) {
  return depth % 2 ? solve->reserved_odd : solve->reserved_even;
}

static inline global uint *solve_list(const solve_t *solve, uint depth) {
  return depth % 2 ? solve->list_odd : solve->list_even;
}

static inline uint solve_list_capacity(const solve_t *solve, uint depth) {
  return depth % 2 ? solve->capacity_odd : solve->capacity_even;
}

// Put the edge in a slot into the forest, by setting the slot's mark. Marks are bits instead of
// bytes, so that the marks of larger graphs still fit in the cache.
static inline void solve_mark(const solve_t *solve, uint slot) {
  atomic_or(&solve->marks[slot / 32], 1u << slot % 32);
}

// Return the address of the count `which` (COUNT_EDGES, COUNT_VERTICES or COUNT_PENDING) of a phase
// and a depth. A phase solves one range of edges, and a depth is a number of contractions in it.
static inline volatile global uint *solve_count(const solve_t *solve, uint phase, uint depth,
                                                uint which) {
  return &solve->state[STATE_COUNTS + 3 * (phase * MAX_DEPTHS + depth) + which];
}

// Return the maximum number of supervertices of a depth, over all phases. Every phase after the
// first begins at depth 1, with the components that exist at the end of the phase before it. If
// both directions of edges are stored, the first round joins every vertex that has an edge to
// another vertex, so depth 1 has at most n / 2 supervertices. If each edge is stored once, a vertex
// may find no edge in the range of edges of the first phase (its window) and stay alone until a
// later phase, so depth 1 may have n supervertices.
static inline uint solve_capacity(const solve_t *solve, uint depth) {
#if SYMMETRIC
  return solve->n >> depth;
#else
  return depth == 0 ? solve->n : solve->n >> (depth - 1);
#endif
}

// Return the array of links of the supervertices of a depth. A link leads to another supervertex of
// the depth, or to one of the next depth. The array comes after the links of all lower depths.
static inline volatile global uint *solve_links(const solve_t *solve, uint depth) {
  size_t offset = 0;
  for (uint d = 0; d < depth; ++d) offset += solve_capacity(solve, d);
  return solve->links + offset;
}

// Return the stride of a depth's reservations, which is the maximum number of supervertices in
// their array. A reservation holds the lightest edge of a supervertex so far. If reservations have
// several words, the array has the first words of all supervertices, then all second words, and so
// on. All even depths share one array, and all odd depths share another.
static inline uint solve_stride(const solve_t *solve, uint depth) {
  return solve_capacity(solve, depth % 2 ? 1 : SYMMETRIC ? 2 : 0);
}

// Initialise supervertex `number` of a depth: its reservation, which will hold its lightest edge,
// and its link, which will lead to its supervertex of the next depth, become empty.
static inline void solve_begin_vertex(const solve_t *solve, uint depth, uint number) {
  reservation_reset((global uint *)solve_reserved(solve, depth), solve_stride(solve, depth),
                    number);
  solve_links(solve, depth)[number] = LINK_FINISHED;
}

// Reserve `wanted` consecutive positions of a list for each work-item. The whole work-group makes
// one atomic addition to *count, the length of the list. *total becomes the number of positions of
// the work-group, and *base the first of them. Return how many of them come before the positions of
// this work-item. `scratch` has WG_SIZE words.
//
// Scope    the whole work-group; *base is valid for a work-item after the next barrier.
static inline uint wg_claim_ahead(volatile global uint *count, uint wanted, uint *total,
                                  local uint *scratch, local uint *base) {
  const uint before = wg_exclusive_sum_u32(wanted, total, scratch);
  if (get_local_id(0) == 0) *base = *total ? atomic_add(count, *total) : 0;
  return before;
}

// Reserve `wanted` consecutive positions of a list for each work-item. The whole work-group makes
// one atomic addition to *count, the length of the list. *first becomes the first position of this
// work-item.
//
// Scope    the whole work-group; begins and ends with a barrier, so *base may be used again.
static inline void wg_claim(volatile global uint *count, uint wanted, uint *first,
                            local uint *scratch, local uint *base) {
  uint total;
  const uint before = wg_claim_ahead(count, wanted, &total, scratch, base);
  wg_barrier_local();
  *first = *base + before;
  wg_barrier_local();
}

// Return the number of words of the marks, which have one bit for each slot, set if its edge is in
// the forest.
static inline uint solve_mark_words(const solve_t *solve) {
  return solve->n_slots / 32 + (solve->n_slots % 32 != 0);
}

// Begin a solve: clear the counts. If each edge is stored once, also clear the marks, which have
// one bit for each slot, set if its edge is in the forest, and the links and reservations of the
// graph's vertices (depth 0). If both directions are stored, this is not necessary, because the
// first pass over the graph stores all marks (minima.cl) and the first round stores all links.
static inline void solve_prepare(const solve_t *solve) {
  GRID_FOR(i, STATE_WORDS - STATE_OVERFLOW) solve->state[STATE_OVERFLOW + i] = 0;
#if !SYMMETRIC
  GRID_FOR(i, solve_mark_words(solve)) solve->marks[i] = 0;
  GRID_FOR(v, solve->n) solve_begin_vertex(solve, 0, (uint)v);
#endif
}

// Return a word whose four bytes have the values, 0 or 1, of the lowest four bits of `bits`.
static inline uint bits_expanded(uint bits) {
  return (bits & 1) | (bits & 2) << 7 | (bits & 4) << 14 | (bits & 8) << 21;
}

// Expand the marks, which say for each slot whether its edge is in the forest, from bits to bytes.
// A work-item writes 16 bytes at once, from half a word of marks.
static inline void solve_expand(const solve_t *solve, global uint *in_forest) {
  const uint n_words = solve->n_slots / 4 + (solve->n_slots % 4 != 0);
  GRID_FOR(i, n_words / 4) {
    const uint bits = solve->marks[i / 2] >> 16 * (i % 2);
    ((global uint4 *)in_forest)[i] = (uint4)(bits_expanded(bits), bits_expanded(bits >> 4),
                                             bits_expanded(bits >> 8), bits_expanded(bits >> 12));
  }
  GRID_FOR(i, n_words % 4) {
    const uint word = n_words / 4 * 4 + (uint)i;
    in_forest[word] = bits_expanded(solve->marks[word / 8] >> 4 * (word % 8));
  }
}

// ---------------------------------------------------------------------------------- windows

// Return, from state[], the key of the last edge of window number `end`. A window is the range of
// the order of edges that one phase solves.
static inline full_key_t window_end_key(const solve_t *solve, uint end) {
  volatile global uint *words = solve->state + STATE_WINDOWS + 3 * end;
#if WEIGHT_BITS == 64
  return (ulong)words[1] << 32 | words[0];
#else
  return words[0];
#endif
}

// Set *window to the window of a phase, which is the range of the order of edges that it solves.
// The window begins after the last edge of the window of the phase before.
static inline void window_open(const solve_t *solve, uint phase, uint n_phases, window_t *window) {
  window->has_low = phase > 0;
  window->has_high = phase + 1 < n_phases;
  window->low_key = window->has_low ? window_end_key(solve, phase - 1) : 0;
  // The window begins after the last slot of the window before. Slots are less than UINT_MAX, so
  // adding 1 does not overflow.
  window->low_slot = window->has_low ? solve->state[STATE_WINDOWS + 3 * (phase - 1) + 2] + 1 : 0;
  window->high_key = window->has_high ? window_end_key(solve, phase) : FULL_KEY_MAX;
  window->high_slot = window->has_high ? solve->state[STATE_WINDOWS + 3 * phase + 2] : UINT_MAX;
}
