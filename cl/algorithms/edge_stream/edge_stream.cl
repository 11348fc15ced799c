// edge_stream: find the minimum spanning forest of edges that arrive in chunks. Only edges that may
// be in the forest are kept in memory.
//
// The heaviest edge of a cycle is not in the forest (the cycle property). In the forest so far,
// every vertex has a limit: the greatest weight key on its path to the top of its tree
// (proof/tree.cl). The path between two vertices of one tree consists of parts of their two paths
// to the top. So no edge on it is heavier than the greater of the two limits:
//
//              top            limit[u] = max(a, c), limit[v] = max(b, c)
//             /    .
//          c .      d .       If the key of an edge (u, v) is above both limits, the edge closes a
//           x          y      cycle and is its heaviest edge. Any other edge may be the heaviest,
//          a . b              too. It stays in memory, and the next reduction (a solve of all edges
//           u   v             in memory) decides.
#include "device/weight_key.cl"
#include "device/work_group.cl"

#if WEIGHT_BITS == 64
typedef ulong limit_t;
#else
typedef uint limit_t;
#endif

#define NO_FAULT 0xFFFFFFFFu
#define NO_VERTEX 0xFFFFFFFFu

// Convert the two ends of each edge from 64 bits to 32 bits.
//
// In       wide_u[m], wide_v[m]: the ends, integers with or without a sign.
// Out      u[m], v[m]: the ends in 32 bits.
// Launch   any.
// Needs    nothing.
// Ensures  ends that are negative or need more than 32 bits become NO_VERTEX, which is not a vertex
//          of any graph.
kernel void edge_stream_narrow(const global ulong *wide_u, const global ulong *wide_v,
                               global uint *u, global uint *v, uint m) {
  GRID_FOR(i, m) {
    u[i] = (uint)min(wide_u[i], (ulong)NO_VERTEX);
    v[i] = (uint)min(wide_v[i], (ulong)NO_VERTEX);
  }
}

// Store for each vertex its limit, which is the greatest key on the path from the vertex to the top
// of its tree in the forest so far. Also store the top. Edges that arrive later are compared with
// the limits.
//
// In       reaches[n]: for each vertex, the greatest edge on its path to the top, as
//          proof_tree_descend stores it. The upper half of the word is the edge's key or, for
//          64-bit weights, the edge's rank (from 1);
//          tops[n]: the top of each vertex's tree;
//          keys[k]: only for 64-bit weights, keys[r - 1] is the key of the forest edge of rank r.
// Out      limits[n]: the limit of each vertex;
//          trees[n]: the top of each vertex's tree, written if has_trees.
// Launch   any.
// Needs    proof_tree_descend of level 0, whose nodes are the vertices.
// Ensures  limits[v] = the greatest key on the path from v to the top. It is 0 at the top of a tree
//          with edges, and the maximum possible key for a vertex without edges. trees[v] = the top.
kernel void edge_stream_limit(const global ulong *reaches, const global uint *tops,
                              const global weight_t *keys, global limit_t *limits,
                              global uint *trees, uint n, uint has_trees) {
  GRID_FOR(v, n) {
    const ulong reach = reaches[v];
#if WEIGHT_BITS == 64
    limits[v] = reach == 0 || reach == ULONG_MAX ? reach : keys[(reach >> 32) - 1];
#else
    limits[v] = (limit_t)(reach >> 32);
#endif
    if (has_trees) trees[v] = tops[v];
  }
}

// Mark the edges of a chunk of the stream that may enter the forest. The limit of a vertex is the
// greatest key on its path to the top of its tree in the forest so far. If both ends of an edge are
// in one tree and its key is above both of their limits, the edge is certainly not in the forest.
//
// In       u[m], v[m], weights[m]: the two ends and the weight of each edge of the chunk;
//          limits[n]: the limit of each vertex, read if has_limits;
//          trees[n]: the top of each vertex's tree, read if has_trees.
// Out      stays[m]: 1 for edges that may enter the forest, else 0.
// In-out   fault[1]: becomes the index of the first edge that has an end which is not a vertex, or
//          a NaN weight.
// Launch   any.
// Needs    fault[0] = NO_FAULT; edge_stream_limit, if has_limits.
// Ensures  stays[i] = 0 for edges with indices below `begin`, for self-loops, for faulty edges, and
//          for edges of which the limits show that they are the heaviest on a cycle.
kernel void edge_stream_mark(const global uint *u, const global uint *v,
                             const global weight_t *weights, const global limit_t *limits,
                             const global uint *trees, global uchar *stays,
                             volatile global uint *fault, uint n, uint m, uint begin,
                             uint has_limits, uint has_trees) {
  uint first = NO_FAULT;
  GRID_FOR(i, m) {
    const uint a = u[i], b = v[i];
    const weight_t weight = weights[i];
    const bool is_faulty = a >= n || b >= n || weight_is_nan(weight);
    if (is_faulty) first = min(first, (uint)i);
    bool stay = !is_faulty & (a != b) & (i >= begin);
    if (stay && has_limits && (limit_t)weight_key(weight) > max(limits[a], limits[b]))
      stay = has_trees && trees[a] != trees[b];
    stays[i] = stay;
  }
  if (first != NO_FAULT) atomic_min(fault, first);
}

// Append the marked edges of a chunk of the stream to the waiting edges. Waiting edges are edges in
// memory that the next reduction replaces by their forest.
//
// In       positions[count]: the indices of the marked edges in the chunk;
//          u, v, weights: the two ends and the weight of each edge of the chunk;
//          ids: the id of each edge of the chunk. If it is null, the edge with index p in the chunk
//            has the id first_id + p.
// Out      waiting_u, waiting_v, waiting_weights, waiting_ids: the two ends, the weight and the id
//          of each waiting edge. The elements from `at` to at + count - 1 are written.
// Launch   any.
// Needs    edge_stream_mark, and a compaction of its marks; space for at + count edges.
// Ensures  the waiting edges are in the order of the chunk.
kernel void edge_stream_append(const global uint *positions, const global uint *u,
                               const global uint *v, const global weight_t *weights,
                               const global ulong *ids, global uint *waiting_u,
                               global uint *waiting_v, global weight_t *waiting_weights,
                               global ulong *waiting_ids, uint at, uint count, ulong first_id) {
  GRID_FOR(i, count) {
    const uint position = positions[i];
    const size_t to = (size_t)at + i;
    waiting_u[to] = u[position];
    waiting_v[to] = v[position];
    waiting_weights[to] = weights[position];
    waiting_ids[to] = ids ? ids[position] : first_id + position;
  }
}

// After a solve, copy the ends, weights and ids of the forest's edges from the arrays of all edges.
// The solve has sorted the edges. The slot of an edge is its position after the sort, and its
// number is its position before the sort.
//
// In       slots[k], edges[k]: the slot and the two ends of each edge of the forest;
//          numbers[m]: the number of the edge in each slot;
//          weights[m], ids[m]: the weight and the id of each edge, by its number.
// Out      forest_u[k], forest_v[k], forest_weights[k], forest_ids[k]: the two ends, the weight and
//          the id of each edge of the forest.
// Launch   any.
// Needs    slots are below m.
// Ensures  the forest's edges are in canonical order.
kernel void edge_stream_take(const global uint *slots, const global uint2 *edges,
                             const global uint *numbers, const global weight_t *weights,
                             const global ulong *ids, global uint *forest_u, global uint *forest_v,
                             global weight_t *forest_weights, global ulong *forest_ids, uint k) {
  GRID_FOR(i, k) {
    const uint number = numbers[slots[i]];
    const uint2 ends = edges[i];
    forest_u[i] = ends.x;
    forest_v[i] = ends.y;
    forest_weights[i] = weights[number];
    forest_ids[i] = ids[number];
  }
}
