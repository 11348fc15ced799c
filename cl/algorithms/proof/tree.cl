// proof: contract the forest by its own edges alone, in rounds, and build the tree whose leaves are
// the vertices and whose other nodes are the components after each round (state.cl).
//
// The nodes of all levels are in one array, level after level. The nodes of level 0 are the
// vertices. `above` is the number of the first node of the next level. While parents are being
// found, an entry of `parent` may be less than `above`. Then it is another node of the same level,
// whose entry leads on to the parent in the next level.
//
//     node     0  1  2  3 | 4  5 | 6         above = 4 for level 0, 6 for level 1
//     parent   4  0  5  2 | 6  6 | -         nodes 1 and 3 still point to nodes of their level
#include "algorithms/proof/records.cl"

// Reset the least edge of each vertex, which is the first of its forest edges in the order of
// edges. Later kernels find these edges, and contract the forest along them.
//
// Out      least: n entries, one for each vertex.
// Launch   any.
// Needs    nothing.
// Ensures  no vertex has a least edge.
kernel void proof_tree_begin(global uint *least, uint n) {
  GRID_FOR(v, n) least_reset(least, n, v);
}

// Store the rank of each claimed edge (edge that is said to be in the forest), which is its
// position in the sorted order of these edges. Ranks begin with 1, because 0 stands for a path
// without edges.
//
// In       numbers[k]: the indices of the claimed edges, sorted by weight key and then by slot (CSR
//          entry).
// Out      ranks[k]: the rank of each claimed edge.
// Launch   any.
// Needs    numbers[] is a permutation.
// Ensures  ranks[numbers[i]] = i + 1.
kernel void proof_tree_list_ranks(const global uint *numbers, global uint *ranks, uint k) {
  GRID_FOR(i, k) ranks[numbers[i]] = (uint)i + 1;
}

#if !ATOMIC64
// Find the second word of the least edge of each node, which is a vertex or a component of forest
// edges. Edges are ordered by a first word (the key or, for 64-bit weights, the rank), and then by
// a second word (the index in the list). The first word of the least edge of each node has been
// found before. Among the edges of the node that have this first word, find the minimum index.
//
// In       records: the list of forest edges, in segments of `stride` edges;
//          lengths: the number of edges in each segment.
// In-out   least: first an array with the first word of each node's least edge, which is only read.
//          From element `least_stride` on, it is followed by an array with the second words, which
//          become the minima.
// Launch   a work-group for each segment.
// Needs    the kernel that finds the first words is complete.
// Ensures  the index that is stored for a node is the index of its least edge.
kernel void proof_tree_refine(const global record_t *records, const global uint *lengths,
                              volatile global uint *least, uint base, uint stride,
                              uint least_stride) {
  const uint first = (uint)get_group_id(0) * stride, last = first + lengths[get_group_id(0)];
  for (uint index = first + get_local_id(0); index < last; index += WG_SIZE) {
    const record_t record = records[index];
    const uint x = record.x - base, y = record.y - base;
    if (least[x] == record.z) atomic_min_u32(least + least_stride + x, index);
    if (least[y] == record.z) atomic_min_u32(least + least_stride + y, index);
  }
}
#endif

// Hook every node of a level to the node at the other end of its least edge. The nodes of a level
// are the components of forest edges after a number of contractions. If two nodes have the same
// least edge, the lesser of them becomes the child of a new node of the next level. A node without
// an edge does not get a parent.
//
// In       least: the least edge of each node;
//          records: the list of forest edges.
// Out      parents: the parent of each of the n nodes from index `base` on;
//          orders: for the same nodes, the order word of the edge that joins the node to its
//            parent: its key or rank, and then its slot (CSR entry);
//          next: the least edges of the new nodes, which are reset.
// In-out   state: from state[counts] on, the number of nodes of this level, the number of its nodes
//          without an edge, and the number of nodes of the next level.
// Launch   any.
// Needs    least edges are complete.
// Ensures  parents[v] = another node of the level, a new node of the next level, or NO_PARENT;
//          orders[v] = the order word of v's least edge.
LANES_ATTRIBUTE
kernel void proof_tree_hook(const global uint *least, global uint *next,
                            const global record_t *records, global uint *parents,
                            global ulong *orders, volatile global uint *state, uint counts,
                            uint base, uint n, uint least_stride, uint next_stride) {
  local uint scratch[WG_SIZE];
  local uint numbered[1];
  volatile global uint *here = state + counts, *there = here + LEVEL_WORDS;
  const uint above = base + n;
  uint n_tops = 0;
  TILES_FOR(tile, n, GRID_TILE) {
    const uint end = (uint)min(tile + GRID_TILE, (size_t)n);
    uint n_new = 0, total;
    for (uint v = (uint)tile + get_local_id(0); v < end; v += WG_SIZE) {
      const uint index = least_index(least, least_stride, v);
      if (index == NO_RECORD) {
        parents[base + v] = NO_PARENT;
        orders[base + v] = 0;
        n_tops += 1;
        continue;
      }
      const record_t record = records[index];
      const uint other = record.x ^ record.y ^ (base + v);
      const bool is_new =
          (base + v < other) & (least_index(least, least_stride, other - base) == index);
      parents[base + v] = is_new ? NEW_PARENT : other;
      orders[base + v] = order_word(record.z, record.w);
      n_new += is_new;
    }
    uint number = wg_exclusive_sum_u32(n_new, &total, scratch);
    if (get_local_id(0) == 0) numbered[0] = total ? atomic_add(there + LEVEL_NODES, total) : 0;
    wg_barrier_local();
    number += numbered[0];
    wg_barrier_local();
    for (uint v = (uint)tile + get_local_id(0); v < end; v += WG_SIZE) {
      if (parents[base + v] != NEW_PARENT) continue;
      least_reset(next, next_stride, number);
      parents[base + v] = above + number++;
    }
  }
  if (n_tops > 0) atomic_add(here + LEVEL_TOPS, n_tops);
}

// For every node of a level, find its parent in the next level. The nodes of a level are the
// components of forest edges after a number of contractions. A node may point to another node of
// its level, which may point to a further one. Pointer jumping follows these pointers to the
// parent.
//
// In-out   parents: the pointers of the n nodes from index `base` on. Work-items read pointers that
//          others replace at the same time. A read gets either the old pointer, which leads to the
//          parent, or the parent itself. Both are right.
//          state[STATE_PENDING]: 1 if paths were too long for one launch. Then they have become
//            shorter by a factor of `hops`. This never happens on CPUs.
// Launch   any; repeated until state[STATE_PENDING] stays 0. On CPUs it usually takes O(n) time in
//          all, because a work-item stores the parent at every node of the path that it has
//          followed.
// Needs    proof_tree_hook.
// Ensures  when state[STATE_PENDING] stays 0, parents are nodes of the next level, or NO_PARENT.
kernel void proof_tree_jump(volatile global uint *parents, volatile global uint *state, uint base,
                            uint n, uint hops) {
  const uint above = base + n;
  GRID_FOR(v, n) {
    const uint first = parents[base + v];
    uint parent = first;
#if WG_SIZE == 1
    for (uint hop = 0; parent < above && hop < n; ++hop) parent = parents[parent];
    for (uint on_path = first; parent >= above && on_path < above;) {
      const uint further = parents[on_path];
      parents[on_path] = parent;
      on_path = further;
    }
#else
    for (uint hop = 0; parent < above && hop < hops; ++hop) parent = parents[parent];
#endif
    if (parent < above) state[STATE_PENDING] = 1;
    if (first < above) parents[base + v] = parent;
  }
}

// Replace the ends of the listed forest edges, which are nodes of a level, by their parents in the
// next level. Remove edges within one node from the list. Find the least edge (first in the order
// of edges) of each node of the next level.
//
// In       parents: the parent of each node of this level.
// In-out   records: the list of forest edges, in segments of `stride` edges;
//          lengths: the number of edges in each segment;
//          next: the least edge so far of each node of the next level.
// Launch   a work-group for each segment.
// Needs    proof_tree_jump has been repeated until state[STATE_PENDING] stays 0.
// Ensures  every listed edge joins two nodes of the next level. Listed edges keep their order.
LANES_ATTRIBUTE
kernel void proof_tree_contract(const global uint *parents, volatile global uint *next,
                                global record_t *records, global uint *lengths, uint above,
                                uint stride) {
  local uint lowering[2 * PROOF_TILE];
#if WG_SIZE > 1
  local uint scratch[WG_SIZE];
#endif
  const uint first = (uint)get_group_id(0) * stride, last = first + lengths[get_group_id(0)];
  uint at = first;
  for (uint tile = first; tile < last; tile += min(last - tile, (uint)PROOF_TILE)) {
    const uint end = tile + min(last - tile, (uint)PROOF_TILE), kept_from = at;
#if WG_SIZE == 1
    for (uint index = tile; index < end; ++index) {
      record_t record = records[index];
      record.x = parents[record.x];
      record.y = parents[record.y];
      records[at] = record;
      at += record.x != record.y;
    }
#else
    const uint index = tile + get_local_id(0);
    record_t record = (record_t)(0, 0, 0, 0);
    if (index < end) {
      record = records[index];
      record.x = parents[record.x];
      record.y = parents[record.y];
    }
    uint total;
    const uint kept = wg_exclusive_sum_u32(record.x != record.y, &total, scratch);
    barrier(CLK_GLOBAL_MEM_FENCE);  // all reads come before any write
    if (record.x != record.y) records[at + kept] = record;
    at += total;
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    records_offer(records, kept_from, at, next, above, lowering);
  }
  if (get_local_id(0) == 0) lengths[get_group_id(0)] = at - first;
}

// Compute the greatest forest edge on the path from each node of a level to the top of the tree.
// The nodes of a level are the components after a round of contraction. Levels are processed from
// the topmost one down.
//
// In       parents: the parent of each node;
//          orders: for each node, the order word of the edge that joins it to its parent: the
//            edge's key or rank, and then its slot (CSR entry).
// In-out   reaches: for each node, the greatest order word on its path to the top;
//          tops: for each node, the top of its tree, used only if has_trees. In both arrays, the
//          kernel reads the elements of the next level, and writes the n elements of this level
//          from index `base` on.
// Launch   any; one launch for each level.
// Needs    the next level is done.
// Ensures  reaches[v] = the greatest order word on the path from v to the top. It is 0 at the top
//          of a tree with edges. For a vertex without forest edges it is ULONG_MAX, which is
//          greater than the order words of all edges. tops[v] = the top.
kernel void proof_tree_descend(const global uint *parents, const global ulong *orders,
                               global ulong *reaches, global uint *tops, uint base, uint n,
                               uint has_trees) {
  GRID_FOR(v, n) {
    const uint node = base + (uint)v, parent = parents[node];
    const bool is_top = parent == NO_PARENT;
    reaches[node] = is_top ? (base == 0 ? ULONG_MAX : 0) : max(orders[node], reaches[parent]);
    if (has_trees) tops[node] = is_top ? node : tops[parent];
  }
}
