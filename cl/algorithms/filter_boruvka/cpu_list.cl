// filter-boruvka for CPUs: segments of the edge list, and reservations.
//
// Every work-item has its own segment of the list. A segment has a capacity of `stride` edges, of
// which the first lengths[segment] are in use. Edges are listed in the order of their slots and
// keep this order. So two positions in the list compare as the two slots do. Therefore reservations
// hold the position of an edge instead of its id. The position leads from a supervertex straight to
// the edge that it has reserved.
#include "algorithms/filter_boruvka/cpu_block.cl"
#include "device/reservation.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// The link of a root that does not have a number yet, while the supervertices of a tile are
// counted.
#define LINK_ROOT 0xfffffffeu

// Number of vertices that vote on which component is the largest.
#define VOTERS 256

// Means "no position". It is the reservation_id of a supervertex that has not reserved an edge.
#define NO_POSITION 0xffffffffu

// Indices of the words of state[]. The first word says whether a segment has overflowed, or whether
// links form a cycle. Then comes the number of components at the end of each phase. Then come, for
// each depth of each phase, its number of vertices and its number of edges.
#define STATE_OVERFLOW 0
#define STATE_STUCK 2
#define COUNT_VERTICES 0
#define COUNT_EDGES 1

// The edge list. Each edge is (end, end, leading key word, slot). If weights have 64 bits,
// `weights` has the weight of each position, which reservations look up. Otherwise it is not used.
typedef struct {
  global uint4 *edges;
  global weight_t *weights;
} list_t;

// Return the first item of this work-item's range. The items 0 to n - 1 are divided into contiguous
// ranges.
static inline uint range_begin(uint n) {
  return (uint)((ulong)n * get_group_id(0) / get_num_groups(0));
}

// Return the index after the last item of this work-item's range.
static inline uint range_end(uint n) {
  return (uint)((ulong)n * (get_group_id(0) + 1) / get_num_groups(0));
}

// Return the edge at a position, which is its id.
static inline edge_t list_edge(const list_t *list, uint position) {
  const uint4 words = list->edges[position];
  const edge_t edge = {words.x, words.y, words.z, position};
  return edge;
}

// Return whether an edge lowers the reservation of a supervertex, by its first word. The read races
// with atomics of other work-items. Words only fall, so an edge that does not lower the word now
// will never lower it.
static inline uint reservation_is_lowered(const volatile global uint *reserved, uint vertex,
                                          reservation_word_t word) {
  return ((const volatile global reservation_word_t *)reserved)[vertex] > word;
}

// Put the edge in a slot into the forest. If two supervertices chose the same edge, two work-items
// store the same byte.
static inline void forest_mark(global uchar *in_forest, uint slot) {
  in_forest[slot] = 1;
}

// Number the roots and the finished vertices in a tile of links. The roots become supervertices of
// the next depth, and their reservations in `next` are reset.
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

// Enter the edges at the positions [from, to), at most BLOCK, in the reservations of both of their
// ends.
//
// First, find the ends whose reservation an edge lowers, which are few. This needs only loads and
// no branches, so many loads are under way at the same time. If an atomic operation came in
// between, it would wait for all of them.
static inline void list_reserve(const list_t *list, uint from, uint to,
                                volatile global uint *reserved, local uint *lowering) {
  uint n_lowering = 0;
  for (uint i = 0; i < to - from; ++i) {
    const edge_t edge = list_edge(list, from + i);
    const reservation_word_t word = reservation_first_word(edge, list->weights);
    lowering[n_lowering] = 2 * i;
    n_lowering += reservation_is_lowered(reserved, edge.u, word);
    lowering[n_lowering] = 2 * i + 1;
    n_lowering += reservation_is_lowered(reserved, edge.v, word);
  }
  for (uint k = 0; k < n_lowering; ++k) {
    const edge_t edge = list_edge(list, from + lowering[k] / 2);
    const reservation_word_t word = reservation_first_word(edge, list->weights);
    reservation_lower_first(reserved, lowering[k] % 2 ? edge.v : edge.u, word);
  }
}
