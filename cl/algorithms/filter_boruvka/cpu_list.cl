// filter-boruvka for CPUs: the list of undecided edges, which is divided into segments, and the
// reservations, which hold the lightest edge of each supervertex so far.
//
// Every work-item has its own segment of the list. A segment has a capacity of `stride` edges, of
// which the first lengths[segment] are in use. Edges are listed in the order of their slots and
// keep this order. So positions in the list order edges as slots do, and a reservation can hold the
// position of an edge in place of its id. From its position, the reserved edge is found in the list
// without a search.
#include "algorithms/filter_boruvka/cpu_block.cl"
#include "device/reservation.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// The value of a root's link until the root gets its number as a supervertex. A root is the vertex
// at which the links of a tree of vertices end. Numbers are given after all roots in a tile (range
// of vertices) have been counted.
#define LINK_ROOT 0xfffffffeu

// Number of vertices in the sample that finds the largest component. Each vertex of the sample
// votes for the component that contains it.
#define VOTERS 256

// Means "no position" in the edge list. The reservation of a supervertex, which holds the position
// of its lightest edge, has this value as long as no edge has been reserved.
#define NO_POSITION 0xffffffffu

// Indices of the words of state[], the results that the host reads. The word STATE_OVERFLOW is 0 if
// all is well, 1 if a segment of the edge list has overflowed, or STATE_STUCK if links form a
// cycle. After it comes a word for each phase: the number of components at its end. Then come two
// words for each depth (number of contractions) of each phase: the number of vertices of the depth
// at offset COUNT_VERTICES, and its number of edges at COUNT_EDGES.
#define STATE_OVERFLOW 0
#define STATE_STUCK 2
#define COUNT_VERTICES 0
#define COUNT_EDGES 1

// The edge list. Each edge is (one end, other end, leading key word, slot). A leading key word has
// the upper 32 bits of the weight's key, which sorts as the weight does. If weights have 64 bits,
// `weights` has the whole weight of the edge at each position of the list, which is needed to
// compare edges. Otherwise `weights` is not used.
typedef struct {
  global uint4 *edges;
  global weight_t *weights;
} list_t;

// Return the first of the items (vertices, slots or words) 0 to n - 1 that this work-item handles.
// The items are divided into contiguous ranges of nearly equal length, one for each work-item.
static inline uint range_begin(uint n) {
  return (uint)((ulong)n * get_group_id(0) / get_num_groups(0));
}

// Return the end of the range of items that this work-item handles, which is one more than its last
// item.
static inline uint range_end(uint n) {
  return (uint)((ulong)n * (get_group_id(0) + 1) / get_num_groups(0));
}

// Return the edge at a position of the edge list. Its id is replaced by its position, because
// reservations hold positions, too.
static inline edge_t list_edge(const list_t *list, uint position) {
  const uint4 words = list->edges[position];
  const edge_t edge = {words.x, words.y, words.z, position};
  return edge;
}

// Return whether an edge is lighter than the lightest edge of a supervertex so far, which the
// supervertex's reservation holds. Only the first words are compared, and `word` is the first word
// of the edge. Other work-items may lower the reservation at the same time. This does no harm: an
// edge that is not lighter now will never be.
static inline uint reservation_is_lowered(const volatile global uint *reserved, uint vertex,
                                          reservation_word_t word) {
  return ((const volatile global reservation_word_t *)reserved)[vertex] > word;
}

// Put the edge in a slot into the forest. If two supervertices have chosen the same edge, two
// work-items store the same value in the same byte, which does no harm.
static inline void forest_mark(global uchar *in_forest, uint slot) {
  in_forest[slot] = 1;
}

// Among the vertices [tile, tile_end) there are n_roots roots and n_finished finished vertices. A
// root becomes a supervertex of the next depth. A finished vertex is one that no edge leaves, and
// becomes a component. Give numbers to both kinds, and store the numbers in their links. Also reset
// the reservations in `next` that will hold the lightest edges of the new supervertices.
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

// Enter each edge at the positions [from, to) of the list in the reservations of both of its ends.
// There are at most BLOCK such edges. A reservation holds the lightest edge of a supervertex so
// far.
//
// There are two steps. The first step finds the few ends for which an edge is lighter than the
// reservation. It has only loads and no branches, so many loads are in flight at the same time. The
// second step stores these edges by atomic operations. If the atomic operations came in between the
// loads, each of them would wait until all earlier loads are complete.
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
