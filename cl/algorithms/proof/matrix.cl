// proof for complete graphs: check the claim, which is a list of pairs of vertices that is said to
// be the forest, and compare every pair with the tree that is built from it (state.cl).
//
// Pairs are ordered by (key, u, v). A forest edge is stored as an order word. The upper half of the
// word is the rank of the edge among all forest edges, from 1 on. The lower half is the edge's
// index in the claim.
#include "algorithms/proof/cells.cl"
#include "algorithms/proof/records.cl"

// Most pairs of vertices pass a first test. For each other pair, the paths of its two vertices in
// the tree are followed up until they meet. If this number of pairs, multiplied by CLIMBS_PER_NODE,
// is greater than the number of nodes of the tree, it is faster to go through all nodes once. This
// finds the greatest edge on the path from one vertex to every other vertex.
#define CLIMBS_PER_NODE 12

// Number of consecutive columns of a row of the matrix that pairs_are_after tests together. A
// column of a row is a pair of vertices. If the test fails, the pairs are tested one by one.
#define PAIR_BLOCK 64u

#if METRIC == 0 && WG_SIZE == 1
// A vector with the cells (matrix entries) of sixteen pairs of vertices, or the keys of these
// cells.
#if WEIGHT_BITS == 8
typedef uchar16 cells16_t;
#define AS_CELLS16 as_uchar16
#elif WEIGHT_BITS == 16
typedef ushort16 cells16_t;
#define AS_CELLS16 as_ushort16
#elif WEIGHT_BITS == 32
typedef uint16 cells16_t;
#define AS_CELLS16 as_uint16
#else
typedef ulong16 cells16_t;
#define AS_CELLS16 as_ulong16
#endif

// Return the key of each of sixteen cells (matrix entries), as weight_key does for one.
static inline cells16_t cells16_keys(cells16_t bits) {
#if WEIGHT_KIND == WEIGHT_SIGNED
  bits ^= (cells16_t)(WEIGHT_SIGN);
#elif WEIGHT_KIND == WEIGHT_FLOAT
  bits &= ~AS_CELLS16(bits == (cells16_t)(WEIGHT_SIGN));  // -0.0 becomes 0.0
  bits ^= AS_CELLS16(bits >= (cells16_t)(WEIGHT_SIGN)) | (cells16_t)(WEIGHT_SIGN);
#endif
#if WEIGHT_DESCENDING
  bits = ~bits;
#endif
  return bits;
}
#endif

// The tree that is built from the forest (state.cl). keys[r - 1] and numbers[r - 1] have the key of
// the forest edge of rank r and its index in `ends`.
typedef struct {
  const global uint *parents;
  const global ulong *orders;
  const global cell_key_t *keys;
  const global uint *numbers;
  const global uint2 *ends;
} tree_t;

// Return whether the pair (u, v), whose weight has the key `key`, comes before the forest edge with
// a given rank. The first edge has the rank 1. No pair comes before rank 0, which stands for a path
// without edges.
static inline bool pair_is_before(const tree_t *tree, cell_key_t key, uint u, uint v, uint rank) {
  if (rank == 0) return false;
  const cell_key_t other = tree->keys[rank - 1];
  if (key != other) return key < other;
  const uint2 edge = tree->ends[tree->numbers[rank - 1]];
  return u < edge.x || (u == edge.x && v < edge.y);
}

// Return whether a pair certainly comes, in the order of edges, after all edges on the paths from
// its ends to the top of the tree. This is so if its measure, from which the key of its weight
// follows, is above `limit`. A pair with a measure above the limit of a vertex comes after all
// edges on the path of this vertex, and `limit` is the greater of the limits of the two ends. With
// `ties_last`, an equal key suffices, because all forest edges are in rows before the row of the
// pair.
static inline bool pair_is_after(measure_t measure, measure_t limit, bool ties_last) {
#if METRIC
  return real_less(limit, measure);
#else
  return (measure > limit) | (ties_last & (measure == limit));
#endif
}

#if WG_SIZE == 1
// Return whether each of the PAIR_BLOCK pairs of u with the vertices from `v` on comes after all
// edges on the paths from its ends to the top of the tree. Several pairs are tested at once, as
// vectors.
static inline bool pairs_are_after(const global cell_t *cells, const global measure_t *limits,
                                   measure_t limit, uint n, uint dimensions, uint first_row, uint u,
                                   uint v, bool ties_last) {
#if METRIC
  uint remains = 0;
  for (uint i = v; i < v + PAIR_BLOCK; ++i) {
    const measure_t measure = cell_measure(cells, n, dimensions, first_row, u, i);
    remains |= !real_less(real_max(limit, limits[i]), measure);
  }
  return !remains;
#else
  const global cell_t *row = cells + (size_t)(u - first_row) * n + v;
  cells16_t remains = 0;
  for (uint i = 0; i < PAIR_BLOCK / 16; ++i) {
    const cells16_t keys = cells16_keys(vload16(i, row));
    const cells16_t bounds = max((cells16_t)limit, vload16(i, limits + v));
    remains |= ties_last ? AS_CELLS16(keys < bounds) : AS_CELLS16(keys <= bounds);
  }
  return !any(remains >= (cells16_t)(WEIGHT_SIGN));
#endif
}
#endif

// Return the rank, among all forest edges, of the greatest edge on the path between two vertices of
// one tree.
static inline uint path_greatest(const tree_t *tree, uint x, uint y) {
  ulong greatest = 0;
  while (x != y && x != NO_PARENT && y != NO_PARENT) {
    greatest = max(greatest, max(tree->orders[x], tree->orders[y]));
    x = tree->parents[x];
    y = tree->parents[y];
  }
  return (uint)(greatest >> 32);
}

// Check the claim, which is a list of pairs of vertices that is said to be the forest. List the
// keys of those claimed edges whose rows are in a panel, which is a range of consecutive rows of
// the matrix.
//
// In       ends[k]: the two ends of each claimed edge;
//          cells: the n_rows rows of the matrix from first_row on, or for points all coordinates.
// Out      keys[k]: the key of each claimed edge, written for edges in the panel;
//          numbers[k]: the number i of each claimed edge, which is sorted with its key.
// In-out   state[STATE_CLAIM]: becomes the index of the first wrong element of the claim.
// Launch   any; one launch for each panel.
// Needs    nothing; the claim may be wrong.
// Ensures  numbers[i] = i. If no entry is wrong, ends strictly ascend in the order (u, v), and u <
//          v < n.
kernel void proof_matrix_list_keys(const global cell_t *cells, const global uint2 *ends,
                                   global cell_key_t *keys, global uint *numbers,
                                   volatile global uint *state, uint n, uint dimensions,
                                   uint first_row, uint n_rows, uint k) {
  GRID_FOR(i, k) {
    const uint2 edge = ends[i];
    bool is_wrong = edge.x >= edge.y || edge.y >= n;
    if (i > 0) {
      const uint2 before = ends[i - 1];
      is_wrong |= before.x > edge.x || (before.x == edge.x && before.y >= edge.y);
    }
    if (is_wrong) atomic_min_u32(state + STATE_CLAIM, (uint)i);
    if (!is_wrong && edge.x - first_row < n_rows)
      keys[i] = cell_key(cells, n, cell_measure(cells, n, dimensions, first_row, edge.x, edge.y));
    numbers[i] = (uint)i;
  }
}

// List the edges of the forest with their ranks, and store the edge of minimum rank of each vertex.
// Later kernels join trees by these edges.
//
// In       ends[k]: the two ends of each edge;
//          ranks[k]: the position of each edge in the order (key, u, v) of the forest's edges, from
//            1 on.
// Out      records[work-groups * stride]: the listed edges, in a segment of `stride` elements for
//            each work-group;
//          lengths[work-groups]: the number of edges in each segment.
// In-out   least[n]: the edge of minimum rank of each vertex so far.
// Launch   a work-group for each segment.
// Needs    every entry of the claim is valid; proof_tree_begin.
// Ensures  every edge is listed once. least[v] has the minimum rank of the edges of v and, with
//          64-bit atomics, also the index of this edge in the list.
kernel void proof_matrix_list(const global uint2 *ends, const global uint *ranks,
                              volatile global uint *least, global record_t *records,
                              global uint *lengths, uint k, uint stride) {
  local uint lowering[2 * PROOF_TILE];
  const uint first = (uint)min((ulong)get_group_id(0) * stride, (ulong)k);
  const uint last = first + min(stride, k - first);
  for (uint tile = first; tile < last; tile += min(last - tile, (uint)PROOF_TILE)) {
    const uint end = tile + min(last - tile, (uint)PROOF_TILE);
    for (uint i = tile + get_local_id(0); i < end; i += WG_SIZE)
      records[i] = (record_t)(ends[i].x, ends[i].y, ranks[i], i);
    records_offer(records, tile, end, least, 0, lowering);
  }
  if (get_local_id(0) == 0) lengths[get_group_id(0)] = last - first;
}

// Compute the limit of each vertex. A pair whose measure is above the limit comes after all edges
// on the vertex's path to the top of the tree. A measure is a number from which the key of a weight
// follows.
//
// In       reaches[n]: for each vertex, a word whose upper half is the rank of the greatest forest
//            edge on its path to the top of the tree;
//          keys[k]: keys[r - 1] is the key of the forest edge of rank r;
//          cells: for points all coordinates, otherwise not used.
// Out      limits[n]: the limit of each vertex.
// Launch   any.
// Needs    proof_tree_descend of level 0, whose nodes are the vertices.
// Ensures  a pair of v with a measure above limits[v] comes after the edge of reaches[v].
kernel void proof_matrix_find_limits(const global cell_t *cells, const global ulong *reaches,
                                     const global cell_key_t *keys, global measure_t *limits,
                                     uint n) {
  GRID_FOR(v, n) limits[v] = cell_limit(cells, n, keys[(reaches[v] >> 32) - 1]);
}

// Compare every pair of vertices in a panel, which is a range of consecutive rows of the matrix,
// with the forest. A pair outside the forest must come after all edges on the forest path between
// its ends.
//
// In       cells: the n_rows rows of the matrix from first_row on;
//          limits[n]: for each vertex, the measure above which a pair comes after all edges on the
//          vertex's path to the top of the tree;
//          parents[n_nodes]: the parent of each node of the tree;
//          orders[n_nodes]: the edge by which each node joined its parent, as the word rank << 32 |
//            index in ends[];
//          keys[k], numbers[k]: the key of the forest edge of rank r and its index in ends[], at
//          index r - 1;
//          ends[k]: the two ends of each forest edge, in ascending order.
// In-out   state[STATE_SLOT]: the result, NO_FAULT before the launch.
// Temp     greatest[n_nodes], remaining[n]: memory for each work-group, used if work-groups have
//          one work-item.
// Launch   any; work-groups take rows in turns.
// Needs    proof_matrix_find_limits; all entries of the claim are valid.
// Ensures  state[STATE_SLOT] = the minimum vertex u with a pair (u, v) that proves the forest
//          wrong, or NO_FAULT if there is no such pair.
kernel void proof_matrix_check(const global cell_t *cells, const global measure_t *limits,
                               const global uint *parents, const global ulong *orders,
                               const global cell_key_t *keys, const global uint *numbers,
                               const global uint2 *ends, global uint *greatest,
                               global uint *remaining, volatile global uint *state, uint n,
                               uint dimensions, uint first_row, uint n_rows, uint n_nodes) {
  const tree_t tree = {parents, orders, keys, numbers, ends};
  uint fault = NO_FAULT;
#if WG_SIZE == 1
  greatest += (size_t)get_group_id(0) * n_nodes;
  remaining += (size_t)get_group_id(0) * n;
#endif
  for (uint u = first_row + get_group_id(0); u - first_row < n_rows; u += get_num_groups(0)) {
    const measure_t limit = limits[u];
    const bool ties_last = u > ends[n - 2].x;
#if WG_SIZE == 1
    uint n_remaining = 0;
    for (uint block = u + 1; block < n; block += min(n - block, PAIR_BLOCK)) {
      if (n - block >= PAIR_BLOCK &&
          pairs_are_after(cells, limits, limit, n, dimensions, first_row, u, block, ties_last))
        continue;
      for (uint v = block; v < block + min(n - block, PAIR_BLOCK); ++v) {
        const measure_t measure = cell_measure(cells, n, dimensions, first_row, u, v);
        remaining[n_remaining] = v;
        n_remaining += !pair_is_after(measure, MEASURE_GREATER(limit, limits[v]), ties_last);
      }
    }
    const bool in_one_pass = (ulong)n_remaining * CLIMBS_PER_NODE > n_nodes;
    if (in_one_pass) {
      // Find the greatest edge on the path from u to each vertex. Go through all nodes of the tree
      // from the top down, and compute the value of a node from the value of its parent. A path
      // goes up from u to a common ancestor, and then down. So the value of an ancestor of u is the
      // greatest edge on the path from u up to this ancestor.
      uint end = n_nodes, above[64], n_above = 0;
      uint ranks_above[64], rank = 0;
      for (uint node = u; node != NO_PARENT && n_above < 64; node = parents[node]) {
        above[n_above] = node;
        ranks_above[n_above++] = rank;
        rank = max(rank, (uint)(orders[node] >> 32));
      }
      while (n_above-- > 0) {
        for (uint node = end; node-- > above[n_above] + 1;) {
          const uint parent = parents[node];
          greatest[node] =
              parent == NO_PARENT ? 0 : max(greatest[parent], (uint)(orders[node] >> 32));
        }
        end = above[n_above];
        greatest[end] = ranks_above[n_above];
      }
    }
    for (uint i = 0; i < n_remaining; ++i) {
      const uint v = remaining[i], rank = in_one_pass ? greatest[v] : path_greatest(&tree, u, v);
      const cell_key_t key =
          cell_key(cells, n, cell_measure(cells, n, dimensions, first_row, u, v));
      if (pair_is_before(&tree, key, u, v, rank)) fault = min(fault, u);
    }
#else
    for (uint v = u + 1 + get_local_id(0); v < n; v += WG_SIZE) {
      const measure_t measure = cell_measure(cells, n, dimensions, first_row, u, v);
      if (pair_is_after(measure, MEASURE_GREATER(limit, limits[v]), ties_last)) continue;
      const uint rank = path_greatest(&tree, u, v);
      if (pair_is_before(&tree, cell_key(cells, n, measure), u, v, rank)) fault = min(fault, u);
    }
#endif
  }
  if (fault != NO_FAULT) atomic_min_u32(state + STATE_SLOT, fault);
}
