// edge_stream: Borůvka's algorithm in passes over edges that do not fit in memory.
//
// Every vertex has the label of its component. The label is one of the component's vertices, its
// root. A pass looks at all edges, chunk by chunk. For each component it finds the first edge that
// leads out of it, in the total order of edges by (weight key, lesser end, greater end, id). Then
// components are joined along these edges, and the next pass begins.
//
// Atomic operations have 32 bits, and an edge's place in the order has up to 192 bits. So the
// minimum of a chunk is found word by word, the leading word first:
//
//     word         0 leading key   1 trailing key   2 low end   3 high end   4, 5 id
//     edge x       7               -                3           9            0, 40
//     edge y       7               -                3           5            0, 90
//     best before  8               -                1           2            0, 11
//     word 0       7               lowered by x or y. A work-item that lowers a word sets all words
//                                  after it to the maximum value
//     word 2       3               lowered by x and y, which equal the best edge in word 0
//     word 3       5               lowered by x to 9 and by y to 5, in any order
//     words 4, 5   0, 90           lowered by y alone, because x differs in word 3
//
// Only 64-bit weights have trailing keys.
#include "device/weight_key.cl"
#include "device/work_group.cl"

#define NO_FAULT 0xFFFFFFFFu
#define NO_VERTEX 0xFFFFFFFFu
#define GREATEST 0xFFFFFFFFu

#define WORD_TRAILING 1
#define WORD_LOW 2
#define WORD_HIGH 3
#define WORD_ID_UPPER 4
#define WORD_ID_LOWER 5
#define WORD_NONE 6

// The kernel parameters for the best edges of components. The best edge of a component is the first
// edge, in the total order of edges, that leads out of it. Each array has one word of the best edge
// so far, at the index of the component's root. `low` has the edge's lesser end, or NO_VERTEX if no
// edge has been found yet.
#define BEST_PARAMETERS                                                                     \
  volatile global uint *leading, volatile global uint *trailing, volatile global uint *low, \
      volatile global uint *high, volatile global uint *id_upper, volatile global uint *id_lower
#define BEST leading, trailing, low, high, id_upper, id_lower

typedef struct {
  uint leading, trailing, low, high;
  ulong id;
} ranked_edge_t;

static inline uint trailing_word(weight_t weight) {
#if WEIGHT_BITS == 64
  return weight_key_trailing(weight);
#else
  return 0;
#endif
}

static inline ranked_edge_t ranked_edge(uint u, uint v, weight_t weight, ulong id) {
  const ranked_edge_t edge = {weight_key_leading(weight), trailing_word(weight), min(u, v),
                              max(u, v), id};
  return edge;
}

// An edge has just lowered word number `word` of a root's best edge. Set the words after it, which
// still belong to the former best edge, to the maximum value.
static inline void best_reset_behind(uint word, uint root, BEST_PARAMETERS) {
#if WEIGHT_BITS == 64
  if (word < WORD_TRAILING) trailing[root] = GREATEST;
#endif
  if (word < WORD_LOW) low[root] = GREATEST;
  if (word < WORD_HIGH) high[root] = GREATEST;
  if (word < WORD_ID_UPPER) id_upper[root] = GREATEST;
  if (word < WORD_ID_LOWER) id_lower[root] = GREATEST;
}

// Return whether an edge agrees with a root's best edge so far in all words before word number
// `word`.
static inline bool best_is_level(ranked_edge_t edge, uint word, uint root, BEST_PARAMETERS) {
  bool same = leading[root] == edge.leading;
#if WEIGHT_BITS == 64
  if (word > WORD_TRAILING) same = same && trailing[root] == edge.trailing;
#endif
  if (word > WORD_LOW) same = same && low[root] == edge.low;
  if (word > WORD_HIGH) same = same && high[root] == edge.high;
  if (word > WORD_ID_UPPER) same = same && id_upper[root] == (uint)(edge.id >> 32);
  if (word > WORD_ID_LOWER) same = same && id_lower[root] == (uint)edge.id;
  return same;
}

static inline void best_lower(ranked_edge_t edge, uint word, uint root, BEST_PARAMETERS) {
  if (!best_is_level(edge, word, root, BEST)) return;
  volatile global uint *best = word == WORD_LOW        ? low
                               : word == WORD_HIGH     ? high
                               : word == WORD_ID_UPPER ? id_upper
                               : word == WORD_ID_LOWER ? id_lower
                                                       : trailing;
  const uint own = word == WORD_LOW        ? edge.low
                   : word == WORD_HIGH     ? edge.high
                   : word == WORD_ID_UPPER ? (uint)(edge.id >> 32)
                   : word == WORD_ID_LOWER ? (uint)edge.id
                                           : edge.trailing;
  if (own < best[root] && atomic_min(&best[root], own) > own) best_reset_behind(word, root, BEST);
}

// Compare an edge with a root's best edge so far by their leading words, which are the upper 32
// bits of their keys. `word` is the leading word of the edge. If it is less than the leading word
// of the best edge, it replaces that word. Return whether the edge may be the root's best edge.
static inline bool best_offer(uint word, uint root, BEST_PARAMETERS) {
  if (word > leading[root]) return false;
  const uint before = atomic_min(&leading[root], word);
  if (word < before) best_reset_behind(0, root, BEST);
  return word <= before;
}

// For each component, find the minimum of the leading words (upper 32 bits of the keys) of those
// edges of a chunk that lead out of it. Mark the edges that may be the best edge of a component,
// which is its first edge in the total order.
//
// In       u[m], v[m], weights[m]: the two ends and the weight of each edge of the chunk;
//          labels[n]: the root of each vertex's component.
// Out      stays[m]: 1 for edges that may be the best edge of a component, else 0.
// In-out   leading, trailing, low, high, id_upper, id_lower: the words of each root's best edge so
//          far;
//          fault[1]: becomes the index of the first edge with a NaN weight or an end that is not a
//          vertex.
// Launch   any.
// Needs    fault[0] = NO_FAULT. Before a pass, all words of the best edges have the maximum value.
//          Labels are roots.
// Ensures  stays[i] = 0 for edges within a component, for faulty edges, and for edges whose leading
//          words are greater than those of the best edges of both components.
kernel void edge_stream_passes_offer(const global uint *u, const global uint *v,
                                     const global weight_t *weights, const global uint *labels,
                                     global uchar *stays, volatile global uint *fault, uint n,
                                     uint m, BEST_PARAMETERS) {
  uint first = NO_FAULT;
  GRID_FOR(i, m) {
    const uint a = u[i], b = v[i];
    const weight_t weight = weights[i];
    bool stay = false;
    if (a >= n || b >= n || weight_is_nan(weight)) {
      first = min(first, (uint)i);
    } else {
      const uint root = labels[a], other = labels[b];
      if (root != other) {
        const uint word = weight_key_leading(weight);
        stay = best_offer(word, root, BEST);
        stay |= best_offer(word, other, BEST);
      }
    }
    stays[i] = stay;
  }
  if (first != NO_FAULT) atomic_min(fault, first);
}

// Find the minimum of one further word of the marked edges that lead out of each component. Only
// edges that equal the component's best edge so far in all earlier words are compared.
//
// In       positions[count]: the indices of the marked edges in the chunk;
//          u, v, weights: the ends and the weight of each edge of the chunk;
//          ids: the id of each edge of the chunk. If it is null, the edge with index p has the id
//            first_id + p;
//          labels[n]: the root of each vertex's component.
// In-out   leading, trailing, low, high, id_upper, id_lower: words of each root's best edge so far.
// Launch   any.
// Needs    edge_stream_passes_offer. The words before `word` are final for this chunk. `word` is
//          from 1 to WORD_ID_LOWER.
// Ensures  the words up to `word` belong to the best edge of this chunk and all earlier chunks.
kernel void edge_stream_passes_settle_word(const global uint *positions, const global uint *u,
                                           const global uint *v, const global weight_t *weights,
                                           const global ulong *ids, const global uint *labels,
                                           uint count, ulong first_id, uint word, BEST_PARAMETERS) {
  GRID_FOR(i, count) {
    const uint p = positions[i];
    const ranked_edge_t edge = ranked_edge(u[p], v[p], weights[p], ids ? ids[p] : first_id + p);
    best_lower(edge, word, labels[u[p]], BEST);
    best_lower(edge, word, labels[v[p]], BEST);
  }
}

// Store the weight of each component's best edge, bit for bit, if that edge is in this chunk. The
// best edge is the first one, in the order of edges, that leads out of the component.
//
// In       positions[count]: the indices of the marked edges in the chunk;
//          u, v, weights: the ends and the weight of each edge of the chunk;
//          ids: the id of each edge of the chunk. If it is null, the edge with index p has the id
//          first_id + p;
//          labels[n]: the root of each vertex's component;
//          leading, trailing, low, high, id_upper, id_lower: the words of each root's best edge.
// Out      best_weights[n]: written for roots whose best edge is in this chunk.
// Launch   any.
// Needs    all words are final for this chunk.
// Ensures  best_weights[root] = the weight of the root's best edge.
kernel void edge_stream_passes_note_weights(const global uint *positions, const global uint *u,
                                            const global uint *v, const global weight_t *weights,
                                            const global ulong *ids, const global uint *labels,
                                            global weight_t *best_weights, uint count,
                                            ulong first_id, BEST_PARAMETERS) {
  GRID_FOR(i, count) {
    const uint p = positions[i];
    const ranked_edge_t edge = ranked_edge(u[p], v[p], weights[p], ids ? ids[p] : first_id + p);
    const uint root = labels[u[p]], other = labels[v[p]];
    if (best_is_level(edge, WORD_NONE, root, BEST)) best_weights[root] = weights[p];
    if (best_is_level(edge, WORD_NONE, other, BEST)) best_weights[other] = weights[p];
  }
}

// Find the component to which the best edge of each component leads. The best edge is the first
// one, in the order of edges, that leads out of the component.
//
// In       labels[n]: the root of each vertex's component;
//          low[n], high[n]: the lesser and the greater end of each root's best edge.
// Out      targets[n]: for each root, the root of the component to which its best edge leads.
// In-out   active[1]: the number of roots with a best edge, 0 before.
// Launch   any.
// Needs    a pass over all edges has found the best edges.
// Ensures  targets[v] = the root at the other end of v's best edge. It is v itself if v is not a
//          root or has no best edge. active[0] = the number of roots that have a best edge.
kernel void edge_stream_passes_choose(const global uint *labels, const global uint *low,
                                      const global uint *high, global uint *targets,
                                      volatile global uint *active, uint n) {
  uint own = 0;
  GRID_FOR(v, n) {
    uint target = (uint)v;
    if (labels[v] == v && low[v] != NO_VERTEX) {
      const uint root = labels[low[v]];
      target = root == v ? labels[high[v]] : root;
      ++own;
    }
    targets[v] = target;
  }
  if (own) atomic_add(active, own);
}

// Return whether a vertex is the lesser of two roots that have chosen the same edge. The target of
// each of these two is the other one. Longer cycles of targets do not occur, because the order of
// edges is strict.
static inline bool is_lesser_of_pair(const global uint *targets, uint v) {
  const uint target = targets[v];
  return v < target && targets[target] == v;
}

// Flag the roots whose best edges are added to the forest. If two roots have the same best edge
// (first edge that leads out of the root's component), flag only the greater of them.
//
// In       targets[n]: the root to which each root's best edge leads, or the vertex itself.
// Out      flags[count]: a flag for each vertex from `begin` on.
// Launch   any.
// Needs    edge_stream_passes_choose; begin + count <= n.
// Ensures  flags[i] = 1 if the best edge of vertex begin + i is a new edge of the forest, else 0;
//          each edge is flagged once.
kernel void edge_stream_passes_flag_joined(const global uint *targets, global uchar *flags,
                                           uint begin, uint count) {
  GRID_FOR(i, count) {
    const uint v = begin + (uint)i;
    flags[i] = targets[v] != v && !is_lesser_of_pair(targets, v);
  }
}

// Copy the best edges of the flagged roots to the arrays of the forest's edges.
//
// In       positions[k]: the indices of the set flags. The flag with index 0 belongs to vertex
//          `begin`;
//          best_weights[n], low[n], high[n], id_upper[n], id_lower[n]: the weight, the two ends and
//          the id of each root's best edge.
// Out      forest_u[k], forest_v[k], forest_ids[k], forest_weights[k]: the new edges.
// Launch   any.
// Needs    edge_stream_passes_flag_joined, and a compaction of its flags to `positions`.
// Ensures  the edges are in the order of their roots. u is the lesser end.
kernel void edge_stream_passes_take_joined(const global uint *positions,
                                           const global weight_t *best_weights,
                                           const global uint *low, const global uint *high,
                                           const global uint *id_upper, const global uint *id_lower,
                                           global uint *forest_u, global uint *forest_v,
                                           global ulong *forest_ids,
                                           global weight_t *forest_weights, uint begin, uint k) {
  GRID_FOR(i, k) {
    const uint v = begin + positions[i];
    forest_u[i] = low[v];
    forest_v[i] = high[v];
    forest_ids[i] = (ulong)id_upper[v] << 32 | id_lower[v];
    forest_weights[i] = best_weights[v];
  }
}

// Break the cycles of targets, which are pairs of roots that point to each other because they have
// the same best edge. Make the lesser root of each pair the top of a tree, which points to itself.
//
// In-out   targets[n]: the root to which each root points. Only the lesser root of a pair is
//          changed. Other work-items may read its old or its new target. With both values they come
//          to the same decision about their own roots, so the race is benign.
// Launch   any.
// Needs    edge_stream_passes_choose; edge_stream_passes_take_joined has copied all new edges.
// Ensures  the only cycles of targets are tops, which are their own targets.
kernel void edge_stream_passes_break_cycles(global uint *targets, uint n) {
  GRID_FOR(v, n) {
    if (is_lesser_of_pair(targets, (uint)v)) targets[v] = (uint)v;
  }
}

// Maximum number of targets that a vertex follows up its tree in one launch of pointer jumping.
#define HOPS 32

// Pointer jumping: make each vertex point to a vertex farther up its tree. These trees consist of
// the roots of components, joined by their best edges.
//
// In-out   targets[n]: the vertex to which each vertex points. Only the work-item of a vertex
//          changes its target. Others may read the old or the new target, which are both above it,
//          so the race is benign;
//          more[1]: 0 before the launch. All writers store 1.
// Launch   any; repeated until more[0] stays 0.
// Needs    edge_stream_passes_break_cycles.
// Ensures  more[0] = 1 if some vertex may not point to the top of its tree yet.
kernel void edge_stream_passes_jump_pointers(volatile global uint *targets, global uint *more,
                                             uint n) {
  GRID_FOR(v, n) {
    const uint first = targets[v];
    uint target = first;
    for (uint hop = 0; hop < HOPS; ++hop) {
      const uint next = targets[target];
      if (next == target) break;
      target = next;
      if (hop == HOPS - 1) more[0] = 1;
    }
    if (target != first) targets[v] = target;
  }
}

// Give every vertex the label of its new component, which is the root of this component.
//
// In       targets[n]: for each root, the top of its tree.
// In-out   labels[n]: the root of each vertex's component, before the launch the old component,
//          afterwards the new one.
// Launch   any.
// Needs    edge_stream_passes_jump_pointers, until all vertices point to the tops of their trees.
// Ensures  each label is the root of the new component.
kernel void edge_stream_passes_relabel(const global uint *targets, global uint *labels, uint n) {
  GRID_FOR(v, n) labels[v] = targets[labels[v]];
}
