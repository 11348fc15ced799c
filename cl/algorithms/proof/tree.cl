// proof: the tree of a forest's contraction (state.cl).
//
// Nodes of all levels stand in one array, those of a level behind those of the level before; level
// 0 are the vertices. A parent is therefore a node of the next level if it is not less than the
// number of that level's first node, `above`; until it is known, it is another node of the same
// level, on the way to it.
#include "algorithms/proof/records.cl"

// Let all vertices have no edge.
//
// Out      least: of n nodes.
// Launch   any.
kernel void proof_tree_begin(global uint *least, uint n) {
  GRID_FOR(v, n) least_reset(least, n, v);
}

// The rank of each claimed edge, from 1 on: an order word of 0 is less than all edges.
//
// In       numbers[k]: the edges sorted by (key, slot).
// Out      ranks[k].
// Launch   any.
kernel void proof_tree_list_ranks(const global uint *numbers, global uint *ranks, uint k) {
  GRID_FOR(i, k) ranks[numbers[i]] = (uint)i + 1;
}

#if !ATOMIC64
// The second pass of least edges: of those with the least first half, the least place.
//
// In       records, lengths; least: first planes.
// In-out   least: second planes.
// Launch   a work-group a segment.
kernel void proof_tree_refine(const global record_t *records, const global uint *lengths,
                              volatile global uint *least, uint base, uint stride,
                              uint least_stride) {
  const uint first = (uint)get_group_id(0) * stride, last = first + lengths[get_group_id(0)];
  for (uint place = first + get_local_id(0); place < last; place += WG_SIZE) {
    const record_t record = records[place];
    const uint x = record.x - base, y = record.y - base;
    if (least[x] == record.z) atomic_min_u32(least + least_stride + x, place);
    if (least[y] == record.z) atomic_min_u32(least + least_stride + y, place);
  }
}
#endif

// Let every node go by its least edge. Of two that go by the same one, the lesser gets a node of
// the next level; one without an edge has no parent.
//
// In       least, records.
// Out      parents, orders: of the n nodes from `base` on; next: nothing is least of the new nodes.
// In-out   state: the words of this level, from state[counts] on, and of the next.
// Launch   any.
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
  for (size_t tile = (size_t)get_group_id(0) * GRID_TILE; tile < n;
       tile += (size_t)get_num_groups(0) * GRID_TILE) {
    const uint end = (uint)min(tile + GRID_TILE, (size_t)n);
    uint n_new = 0, total;
    for (uint v = (uint)tile + get_local_id(0); v < end; v += WG_SIZE) {
      const uint place = least_place(least, least_stride, v);
      if (place == NO_PLACE) {
        parents[base + v] = NO_PARENT;
        orders[base + v] = 0;
        n_tops += 1;
        continue;
      }
      const record_t record = records[place];
      const uint other = record.x ^ record.y ^ (base + v);
      const bool is_new =
          (base + v < other) & (least_place(least, least_stride, other - base) == place);
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

// Let every node of a level know its parent.
//
// In-out   parents[n] from `base` on. Others follow and store at once: what is read is the old
//          number or the parent, and the old one leads there. state[STATE_PENDING]: whether ways
//          were too long for one launch, which no way is for lone work-items; others are shorter by
//          a factor of `hops` afterwards.
// Launch   any. O(n) for each lone work-item, together as a rule, since all on a way get to know.
kernel void proof_tree_follow(volatile global uint *parents, volatile global uint *state, uint base,
                              uint n, uint hops) {
  const uint above = base + n;
  GRID_FOR(v, n) {
    const uint first = parents[base + v];
    uint parent = first;
#if WG_SIZE == 1
    for (uint hop = 0; parent < above && hop < n; ++hop) parent = parents[parent];
    for (uint on_way = first; parent >= above && on_way < above;) {
      const uint further = parents[on_way];
      parents[on_way] = parent;
      on_way = further;
    }
#else
    for (uint hop = 0; parent < above && hop < hops; ++hop) parent = parents[parent];
#endif
    if (parent < above) state[STATE_PENDING] = 1;
    if (first < above) parents[base + v] = parent;
  }
}

// Give the listed edges the parents of their ends; those within one node go.
//
// In       parents of this level.
// In-out   records, lengths; next: least edges of the next level.
// Launch   a work-group a segment.
LANES_ATTRIBUTE
kernel void proof_tree_contract(const global uint *parents, volatile global uint *next,
                                global record_t *records, global uint *lengths, uint above,
                                uint stride) {
  local uint lowering[2 * PROOF_TILE];
  local uint scratch[WG_SIZE];
  const uint first = (uint)get_group_id(0) * stride, last = first + lengths[get_group_id(0)];
  uint at = first;
  for (uint tile = first; tile < last; tile += min(last - tile, (uint)PROOF_TILE)) {
    const uint end = tile + min(last - tile, (uint)PROOF_TILE), kept_from = at;
#if WG_SIZE == 1
    for (uint place = tile; place < end; ++place) {
      record_t record = records[place];
      record.x = parents[record.x];
      record.y = parents[record.y];
      records[at] = record;
      at += record.x != record.y;
    }
#else
    const uint place = tile + get_local_id(0);
    record_t record = (record_t)(0, 0, 0, 0);
    if (place < end) {
      record = records[place];
      record.x = parents[record.x];
      record.y = parents[record.y];
    }
    uint total;
    const uint kept = wg_exclusive_sum_u32(record.x != record.y, &total, scratch);
    barrier(CLK_GLOBAL_MEM_FENCE);  // all have read before any writes
    if (record.x != record.y) records[at + kept] = record;
    at += total;
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    records_offer(records, kept_from, at, next, above, lowering);
  }
  if (get_local_id(0) == 0) lengths[get_group_id(0)] = at - first;
}

// Tell the nodes of a level, from the topmost level down, the greatest edge on their way to the
// top.
//
// In       parents, orders of this level; reaches, tops of the next.
// Out      reaches[n], and tops[n] if has_trees, from `base` on. The reach of a vertex without
//          forest edges is above all edges. A tree with edges reaches no edge at its top.
// Launch   any.
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
