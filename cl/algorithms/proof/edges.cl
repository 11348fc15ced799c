// proof: compare every edge of the graph with the tree that is built from the forest (state.cl).
//
// An edge is rightly left out of the forest if it comes, in the order of edges, after all edges of
// the forest's path between its ends. Most edges pass a simple test: both ends are in one tree, and
// the edge comes after all edges on the paths from both ends to the top of the tree. For the few
// other edges, both paths are followed up, level by level, until they meet:
//
//              top            reach[u] = max(a, c), the greatest order word from u to the top.
//             /    .          An edge (u, v) after max(reach[u], reach[v]) is rightly left out.
//          c .      d .       Any other edge is compared with max(a, b). Then it climbs one level:
//           x          y      the test is repeated from x and y, until both are equal.
//          a . b
//           u   v
#include "algorithms/proof/state.cl"
#include "device/rows.cl"
#include "device/weight_key.cl"

// Number of consecutive slots (CSR entries) in a tile, whose edges a work-group checks together.
#define EDGES_TILE 1024

// The tree that is built from the forest. Its leaves are the vertices, and its other nodes are
// components of the forest. Each node has a parent, and the order word (key or rank, then slot) of
// the forest edge by which it joined the parent. Each vertex also has the greatest order word on
// its path to the top, and the top. For 64-bit weights there are also the keys of the forest's
// edges by rank, and the key that belongs to each vertex's greatest order word.
typedef struct {
  const global uint *parents;
  const global ulong *orders, *reaches;
  const global uint *tops;
  const global weight_t *keys, *reach_keys;
  uint has_trees;  // whether there are several trees with edges
} tree_t;

// Return whether the edge in a slot (CSR entry), whose weight has the key `key`, comes before a
// forest edge. `order` is the order word of the forest edge: its key in the upper half, or for
// 64-bit weights its rank among forest edges, and its slot in the lower half. Two edges never have
// the same slot.
static inline bool edge_is_before(const tree_t *tree, weight_t key, uint slot, ulong order) {
#if WEIGHT_BITS == 64
  if (order == 0 || order == ULONG_MAX) return order != 0;
  const weight_t other = tree->keys[(order >> 32) - 1];
  return key < other || (key == other && slot < (uint)order);
#else
  return order_word((uint)key, slot) < order;
#endif
}

// Return true if it is certain that an edge between u and v is rightly not in the forest. This is
// so if both vertices are in one tree, and the edge comes after all forest edges on the paths from
// both vertices to the top of the tree.
static inline bool edge_is_left_out(const tree_t *tree, weight_t key, uint slot, uint u, uint v) {
  const bool joins = tree->has_trees ? tree->tops[u] != tree->tops[v] : false;
#if WEIGHT_BITS == 64
  const weight_t reach_key = max(tree->reach_keys[u], tree->reach_keys[v]);
  if (key != reach_key) return !joins & (key > reach_key);
#endif
  return !joins & !edge_is_before(tree, key, slot, max(tree->reaches[u], tree->reaches[v]));
}

// Compare an edge with the forest edges by which the nodes *x and *y of the tree joined their
// parents. Then replace *x and *y by their parents. If the two paths meet, *x and *y become equal.
// Return true if the edge proves the forest wrong, because it comes before one of the two forest
// edges, or because the paths do not meet.
static inline bool edge_climb(const tree_t *tree, weight_t key, uint slot, uint *x, uint *y) {
  const uint parent_x = tree->parents[*x], parent_y = tree->parents[*y];
  if (parent_x == NO_PARENT || parent_y == NO_PARENT) return true;  // the ends are in two trees
  const ulong greatest = max(tree->orders[*x], tree->orders[*y]);
  *x = parent_x;
  *y = parent_y;
  return edge_is_before(tree, key, slot, greatest);
}

#if WEIGHT_BITS == 64
// Look up, for each vertex, the key of the greatest forest edge on its path to the top of the tree.
// With these keys, most edges can be compared without ranks.
//
// In       reaches[n]: for each vertex, a word whose upper half is the rank of this edge among the
//            forest's edges;
//          keys[k]: keys[r - 1] is the key of the forest edge of rank r.
// Out      reach_keys[n]: the key for each vertex.
// Launch   any.
// Needs    proof_tree_descend of level 0, whose nodes are the vertices.
// Ensures  reach_keys[v] = the key of the edge of reaches[v]. It is the minimum possible key if the
//          path does not have edges, and the maximum possible key for vertices without forest
//          edges.
kernel void proof_edges_find_reach_keys(const global ulong *reaches, const global weight_t *keys,
                                        global weight_t *reach_keys, uint n) {
  GRID_FOR(v, n) {
    const ulong reach = reaches[v];
    reach_keys[v] = reach == 0 || reach == ULONG_MAX ? reach : keys[(reach >> 32) - 1];
  }
}
#endif

// Find the row of the first slot (CSR entry) of each tile. A tile is a run of EDGES_TILE slots
// whose edges are checked together.
//
// In       indptr[n + 1]: the index of the first slot of each row.
// Out      tiles[n_tiles + 1]: the row of each tile's first slot, and then the last row, n - 1.
// Launch   any.
// Needs    n > 0.
// Ensures  tiles[t] = the row of slot t * EDGES_TILE; tiles[n_tiles] = n - 1.
kernel void proof_edges_find_rows(const global uint *indptr, global uint *tiles, uint n,
                                  uint n_tiles) {
  GRID_FOR(t, n_tiles + 1)
    tiles[t] = t < n_tiles ? wi_find_row(indptr, 0, n, (uint)t * EDGES_TILE) : n - 1;
}

// Check that every edge of the graph outside the forest comes after all edges on the forest path
// between its ends. Each edge is checked at the slot (CSR entry) whose column is greater than its
// row. Forest edges are compared by order words: the key or the rank in the upper half, and the
// slot in the lower half.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph;
//          slots[k]: the slot of each edge of the claimed forest;
//          tiles[n_tiles + 1]: the row of each tile's first slot;
//          parents, orders: for each node of the tree its parent, and the order word of the edge by
//            which the node joined its parent;
//          reaches[n]: the greatest order word on each vertex's path to the top;
//          tops[n]: the top of each vertex's tree;
//          keys[k]: only for 64-bit weights, keys[r - 1] is the key of the forest edge of rank r;
//          reach_keys[n]: only for 64-bit weights, the key of the edge of reaches[v].
// In-out   state[STATE_SLOT]: the result, NO_FAULT before.
// Launch   any.
// Needs    proof_tree_descend of all levels; all entries of the claim are valid.
// Ensures  state[STATE_SLOT] = the minimum slot whose edge proves the forest wrong, or NO_FAULT if
//          there is no such edge.
kernel void proof_edges_check(const global uint *indptr, const global uint *indices,
                              const global weight_t *weights, const global uint *slots,
                              const global uint *tiles, const global uint *parents,
                              const global ulong *orders, const global ulong *reaches,
                              const global uint *tops, const global weight_t *keys,
                              const global weight_t *reach_keys, volatile global uint *state,
                              uint n, uint n_slots, uint k, uint n_tiles, uint has_trees) {
  const tree_t tree = {parents, orders, reaches, tops, keys, reach_keys, has_trees};
  uint fault = NO_FAULT;
#if WG_SIZE == 1
  local uint rows[EDGES_TILE], picked[EDGES_TILE], xs[EDGES_TILE], ys[EDGES_TILE];
  const uint begin = (uint)((ulong)n_tiles * get_group_id(0) / get_num_groups(0));
  const uint end = (uint)((ulong)n_tiles * (get_group_id(0) + 1) / get_num_groups(0));
  uint at = begin < end ? wi_find_column(slots, 0, k, begin * EDGES_TILE) : 0;  // position in claim
  uint row = begin < end ? tiles[begin] : 0, next_row = row + 1;
  for (uint tile = begin; tile < end; ++tile) {
    const uint first = tile * EDGES_TILE, length = min(n_slots - first, (uint)EDGES_TILE);
    // Store, at each slot of the tile where a row begins, the number of this row. If several rows
    // begin at one slot, all of them but the last are empty, and the last one is stored.
    for (uint i = 0; i < length; ++i) rows[i] = 0;
    for (; next_row < n && indptr[next_row] < first + length; ++next_row)
      rows[indptr[next_row] - first] = next_row;
    for (uint i = 0; i < length; ++i) xs[i] = 0;
    for (; at < k && slots[at] < first + length; ++at) xs[slots[at] - first] = 1;
    // Each step is done for all slots of the tile, without branches, so that many loads are under
    // way at the same time.
    uint n_picked = 0;
    for (uint i = 0; i < length; ++i) {
      rows[i] = row = max(row, rows[i]);
      picked[n_picked] = i;
      n_picked += (indices[first + i] > row) & !xs[i];
    }
    uint n_climbing = 0;
    for (uint p = 0; p < n_picked; ++p) {
      const uint i = picked[p], slot = first + i, u = rows[i], v = indices[slot];
      picked[n_climbing] = i;
      xs[n_climbing] = u;
      ys[n_climbing] = v;
      n_climbing += !edge_is_left_out(&tree, weight_key(weights[slot]), slot, u, v);
    }
    while (n_climbing > 0) {
      uint n_remaining = 0;
      for (uint p = 0; p < n_climbing; ++p) {
        const uint slot = first + picked[p];
        uint x = xs[p], y = ys[p];
        const bool is_wrong = edge_climb(&tree, weight_key(weights[slot]), slot, &x, &y);
        fault = is_wrong ? min(fault, slot) : fault;
        picked[n_remaining] = picked[p];
        xs[n_remaining] = x;
        ys[n_remaining] = y;
        n_remaining += (x != y) & !is_wrong;
      }
      n_climbing = n_remaining;
    }
  }
#else
  for (uint tile = get_group_id(0); tile < n_tiles; tile += get_num_groups(0)) {
    const uint first = tile * EDGES_TILE, length = min(n_slots - first, (uint)EDGES_TILE);
    const uint low = tiles[tile], high = tiles[tile + 1] + 1;
    for (uint i = get_local_id(0); i < length; i += WG_SIZE) {
      const uint slot = first + i, u = wi_find_row(indptr, low, high, slot), v = indices[slot];
      if (v <= u) continue;  // a self-loop, or the second direction of an edge
      const weight_t key = weight_key(weights[slot]);
      if (edge_is_left_out(&tree, key, slot, u, v)) continue;
      uint x = u, y = v;
      while (x != y) {  // forest edges climb, too, and never prove the forest wrong
        if (!edge_climb(&tree, key, slot, &x, &y)) continue;
        fault = min(fault, slot);
        break;
      }
    }
  }
#endif
  if (fault != NO_FAULT) atomic_min_u32(state + STATE_SLOT, fault);
}
