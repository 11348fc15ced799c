// lone-boruvka: segments of the edge list, and what supervertices hold.
//
// Every work-item has a segment of the list to itself, `stride` places long, of which the first
// lengths[segment] are in use. Edges keep their order, and segments follow one another, so places
// in the list order edges as their slots do. A place is therefore what stands for the edge's id in
// reservations, and leads from a supervertex straight to the edge that it holds.
#ifndef CLMST_ALGORITHMS_LONE_BORUVKA_LIST
#define CLMST_ALGORITHMS_LONE_BORUVKA_LIST

#include "device/reservation.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Edges gone through at a time, so that what is touched twice is still in the nearest cache.
#define BLOCK 1024

// A link is one of three: the number of the supervertex one depth further (known), the number of
// the component that the phase leaves (known and final), or another vertex on the way (neither).
#define LINK_KNOWN 0x80000000u
#define LINK_FINAL 0x40000000u
#define LINK_NUMBER 0x3fffffffu
// While supervertices of a tile are counted: one that becomes a root, one without an edge.
#define LINK_ROOT 0xffffffffu
#define LINK_FINISHED 0xfffffffeu

// Of who holds no edge: reservation_id where there is none.
#define NO_PLACE 0xffffffffu

// state[]: whether a segment had too little room, or following came to no end; the components that
// each phase leaves; the counts of each depth of each phase: its vertices, its edges.
#define STATE_OVERFLOW 0
#define STATE_STUCK 2
#define COUNT_VERTICES 0
#define COUNT_EDGES 1

// The list: edges as (end, end, leading key word, slot). Of 64-bit weights, `weights` has the
// weight of each place, which is what reservations look up by it; else nothing.
typedef struct {
  global uint4 *edges;
  global weight_t *weights;
} list_t;

// The first of the items 0 .. n - 1 that fall to this work-item, or to the one behind it.
static inline uint share_begin(uint n, uint behind) {
  return (uint)((ulong)n * (get_group_id(0) + behind) / get_num_groups(0));
}

// The edge in a place, its id being the place.
static inline edge_t list_edge(const list_t *list, uint place) {
  const uint4 words = list->edges[place];
  const edge_t edge = {words.x, words.y, words.z, place};
  return edge;
}

// Whether an edge lowers what a supervertex holds, by its first word. The read races with the
// atomics of others; words only fall, so what an edge does not lower now it never will.
static inline uint held_is_lowered(const volatile global uint *held, uint vertex,
                                   reservation_word_t word) {
  return ((const volatile global reservation_word_t *)held)[vertex] > word;
}

// Put the edge in a slot into the forest. Two that hold one edge store the same byte.
static inline void forest_mark(global uchar *in_forest, uint slot) {
  in_forest[slot] = 1;
}

// Give numbers to the roots and to the finished of a tile of links, and have no edge held by the
// roots at the next depth.
static inline void hook_number(global uint *links, global uint *next, volatile global uint *state,
                               uint tile, uint tile_end, uint n_roots, uint n_finished, uint counts,
                               uint components, uint next_stride) {
  uint root = n_roots ? atomic_add(state + counts + COUNT_VERTICES, n_roots) : 0;
  uint component = n_finished ? atomic_add(state + components, n_finished) : 0;
  for (uint k = 0; k < n_roots; ++k) reservation_reset(next, next_stride, root + k);
  for (uint v = tile; v < tile_end; ++v) {
    const uint link = links[v];
    const bool is_root = link == LINK_ROOT, is_finished = link == LINK_FINISHED;
    links[v] = is_root       ? LINK_KNOWN | root
               : is_finished ? LINK_KNOWN | LINK_FINAL | component
                             : link;
    root += is_root;
    component += is_finished;
  }
}

// Enter the edges in the places [from, to), at most BLOCK, for their ends.
//
// First those ends are found that an edge lowers, which are few: loads alone, without branches, many
// under way at once. An atomic would wait for all of them.
static inline void list_enter(const list_t *list, uint from, uint to, volatile global uint *held,
                              local uint *entering) {
  uint n_entering = 0;
  for (uint i = 0; i < to - from; ++i) {
    const edge_t edge = list_edge(list, from + i);
    const reservation_word_t word = reservation_first_word(edge, list->weights);
    entering[n_entering] = 2 * i;
    n_entering += held_is_lowered(held, edge.u, word);
    entering[n_entering] = 2 * i + 1;
    n_entering += held_is_lowered(held, edge.v, word);
  }
  for (uint k = 0; k < n_entering; ++k) {
    const edge_t edge = list_edge(list, from + entering[k] / 2);
    const reservation_word_t word = reservation_first_word(edge, list->weights);
    reservation_lower_first(held, entering[k] % 2 ? edge.v : edge.u, word);
  }
}

// What of the total order of edges a phase takes: from one (key, slot) to another, both included.
typedef struct {
  ulong low_key, high_key;
  uint low_slot, high_slot;
} window_t;

static inline bool window_has(const window_t *window, weight_t key, uint slot) {
#if WEIGHT_BITS == 64
  const uint low_ties = (key == window->low_key) & (slot >= window->low_slot);
  const uint high_ties = (key == window->high_key) & (slot <= window->high_slot);
  return ((key > window->low_key) | low_ties) & ((key < window->high_key) | high_ties);
#else
  const ulong low = window->low_key << 32 | window->low_slot;
  const ulong high = window->high_key << 32 | window->high_slot;
  return ((ulong)key << 32 | slot) - low <= high - low;
#endif
}

#endif
