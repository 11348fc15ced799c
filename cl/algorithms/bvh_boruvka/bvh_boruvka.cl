// bvh-boruvka: minimum spanning trees of points, without a list of edges.
//
// Source: Prokopenko, Sao, Lebrun-Grandié, "A single-tree algorithm to compute the Euclidean minimum
// spanning tree on GPUs" (ICPP '22): Borůvka's rounds, in which every point searches a hierarchy of
// boxes for the nearest point of another component, within the reach of its component's best edge so
// far. There every point searches in every round. Here a point keeps what it knows:
//
//   candidate[p]  another point, and keys[p], the key of the edge to it; NO_SLOT if there is none
//   lower[p]      no edge that leaves p's component is lighter, the candidate's aside
//
// First come the lists of a few nearest points. As long as one of them is in another component, p
// needs no search. Else p searches only if its component's best edge is not lighter than lower[p].
// Edges between components only get fewer, so lower[p] stays right.
//
// The best edge of a component is found as in dense, word after word (winners.cl). The total order is
// (weight, lesser, greater) in the numbers of the caller.
#include "algorithms/bvh_boruvka/tree.cl"
#include "algorithms/shared/winners.cl"

// cursor[p] of a point whose candidate was found by a search, and is the lightest edge that leaves its
// component. Else cursor[p] is a position in p's list: those before it are in p's component.
#define CURSOR_SEARCHED 255

// Jumps of a root in one launch.
#define MOST_JUMPS 32

// Components: of a point whose leaf is MIXED its own entry counts, of any other that of the leaf.
typedef struct {
  const global uint *labels, *component;
} components_t;

static inline uint component_of(const components_t *components, uint slot) {
  const uint label = components->labels[slot >> LEAF_SHIFT];
  return label == MIXED ? components->component[slot] : label;
}

// The distance that a key means, at least; infinity if there is no edge yet.
static inline double distance_of_key(ulong key) {
  return as_double(min(key, (ulong)weight_key(as_ulong((double)INFINITY))) & ~(ulong)WEIGHT_SIGN);
}

// Make every point a component; nothing is known.
//
// Out      component[n], roots[n], active[n], candidate[n], edges[n], cursor[n]; labels[n_nodes];
//          leaf_lower[n_leaves]; winners[n * words]; state[n_state].
// Launch   any.
// Needs    no_edge: a value that is no edge.
// Ensures  component[p] = roots[p] = active[p] = p; every node is MIXED; all reservations are all
//          ones.
kernel void bvh_boruvka_begin(global uint *component, global uint *roots, global uint *active,
                              global uint *candidate, global ulong *edges, global uchar *cursor,
                              global uint *labels, global double *leaf_lower,
                              volatile global uint *winners, global uint *state, uint n,
                              uint n_nodes, uint short_ids, ulong no_edge, uint n_state) {
  GRID_FOR(p, n) {
    component[p] = roots[p] = active[p] = (uint)p;
    candidate[p] = NO_SLOT;
    edges[p] = no_edge;
    cursor[p] = 0;
    if (p % LEAF == 0) leaf_lower[p >> LEAF_SHIFT] = 0;
    winner_clear(winners, n, (uint)p, short_ids);
  }
  GRID_FOR(node, n_nodes) labels[node] = MIXED;
  GRID_FOR(i, n_state) state[i] = 0;
}

// Copy the core distances: no edge of a point is lighter.
//
// In       points.
// Out      lower[n].
// Launch   any.
// Needs    bvh_boruvka_build_gather.
// Ensures  lower[p] is the core distance of p.
kernel void bvh_boruvka_take_cores(const global double *points, global double *lower, uint n) {
  GRID_FOR(p, n)
    lower[p] = points[((p >> LEAF_SHIFT) * LEAF_ROWS + LEAF_ROWS - 1) * LEAF + p % LEAF];
}

// Move on in the list of p to the lightest edge that leaves the component `own`; whether there is one.
static inline bool find_in_list(const tree_t *tree, const components_t *components,
                                const global uint *lists, uint k, uint p, uint own,
                                global uchar *cursor, search_t *search) {
  uint j = cursor[p];
  for (; j < k; ++j)
    if (component_of(components, lists[LIST_AT(p, j, k, tree->n)]) != own) break;
  cursor[p] = (uchar)min(j, k);
  search_open(search, tree, p, INFINITY);
  for (; j < k; ++j) {
    const uint other = lists[LIST_AT(p, j, k, tree->n)];
    if (component_of(components, other) == own) continue;
    const double plain = search_plain(search, tree, other);
    if (plain > search->reach) break;  // lists rise
    search_take(search, tree, other, search_weight(search, tree, other, plain));
  }
  return search->at != NO_SLOT;
}

// Append an entry to a list for every work-item that keeps one.
//
// In-out   *count: the length of the list.
// Temp     scratch: WG_SIZE words of local memory, base: one; both free on return.
// Scope    the whole work-group; ends with a barrier where WG_SIZE > 1.
static inline void wg_append(global uint *list, volatile global uint *count, uint entry, bool keep,
                             local uint *scratch, local uint *base) {
  uint total;
  const uint before = wg_exclusive_sum_u32(keep, &total, scratch);
  if (get_local_id(0) == 0 && total > 0) *base = atomic_add(count, total);
  wg_barrier_local();
  if (keep) list[*base + before] = entry;
  wg_barrier_local();
}

// Enter the candidates of active points for their components: the first pass of the reservation.
//
// In       the tree; lists[n * k]; component[n], labels; active[n_active]: points that may have a
//          candidate.
// In-out   candidate[n], keys[n], cursor[n]; winners[n * words]; state[count]: the length of the
//          list, 0 before.
// Out      next[n_active]: the points that have a candidate.
// Launch   any.
// Needs    components are complete; reservations are clear.
// Ensures  candidates of listed points are in other components; others have none.
LANES_ATTRIBUTE
kernel void bvh_boruvka_propose(const global double *points, const global double *boxes,
                                const global uint *ids, const global uint *least,
                                const global uint *bases, const global uint *lists,
                                const global uint *component, const global uint *labels,
                                const global uint *active, global uint *next,
                                global uint *candidate, global ulong *keys, global uchar *cursor,
                                volatile global uint *winners, volatile global uint *state,
                                uint count, uint n_active, uint n, uint top, uint k,
                                uint short_ids) {
  local uint scratch[WG_SIZE];
  local uint base;
  tree_t tree;
  tree_open(&tree, points, boxes, ids, least, bases, n, top);
  const components_t components = {labels, component};
  WG_FOR(first, n_active) {
    const bool is_there = first + get_local_id(0) < n_active;
    const uint slot = is_there ? active[first + get_local_id(0)] : 0;
    uint to = NO_SLOT;
    if (is_there) {
      const uint own = component_of(&components, slot);
      to = candidate[slot];
      if (to != NO_SLOT && component_of(&components, to) == own) to = NO_SLOT;
      if (to == NO_SLOT) {
        search_t search;
        if (cursor[slot] < k &&
            find_in_list(&tree, &components, lists, k, slot, own, cursor, &search)) {
          to = search.at;
          keys[slot] = weight_key(as_ulong(search.weight));
        }
        candidate[slot] = to;
      }
      if (to != NO_SLOT) {
        claim_t claim;
        claim_make(&claim, keys[slot], ids[slot], ids[to]);
        reserve_first(winners, own, &claim, short_ids);
      }
    }
    wg_append(next, state + count, slot, to != NO_SLOT, scratch, &base);
  }
}

// Enter the edges between neighbours along the curve, which are near each other: so the reach of every
// component's searches is bounded. If such an edge is the best one, a search finds it again.
//
// In       the tree; component[n], labels.
// In-out   winners[n * words].
// Launch   any.
// Needs    as bvh_boruvka_propose.
// Ensures  the first words of every reservation are not all ones.
kernel void bvh_boruvka_bound(const global double *points, const global double *boxes,
                              const global uint *ids, const global uint *least,
                              const global uint *bases, const global uint *component,
                              const global uint *labels, volatile global uint *winners, uint n,
                              uint top, uint short_ids) {
  tree_t tree;
  tree_open(&tree, points, boxes, ids, least, bases, n, top);
  const components_t components = {labels, component};
  GRID_FOR(leaf, tree.n_leaves) {
    const uint begin = (uint)leaf * LEAF, end = min(n - 1 - begin, LEAF) + begin;
    for (uint slot = labels[leaf] == MIXED ? begin : begin + LEAF - 1; slot < end; ++slot) {
      const uint own = component_of(&components, slot);
      const uint of_next = component_of(&components, slot + 1);
      if (of_next == own) continue;
      search_t search;
      claim_t claim;
      search_open(&search, &tree, slot, INFINITY);
      const double plain = search_plain(&search, &tree, slot + 1);
      const double weight = search_weight(&search, &tree, slot + 1, plain);
      claim_make(&claim, weight_key(as_ulong(weight)), ids[slot], ids[slot + 1]);
      reserve_first(winners, own, &claim, short_ids);
      reserve_first(winners, of_next, &claim, short_ids);
    }
  }
}

// List the points that have to search.
//
// In       component[n], labels; candidate[n], cursor[n], lower[n]; winners[n * words].
// In-out   leaf_lower[n_leaves]: at most the least entry of lower of a leaf's points; state[count]:
//          the length of the list, 0 before.
// Out      list[n]: slots.
// Launch   any.
// Needs    bvh_boruvka_propose.
// Ensures  a point that is not listed has no edge out of its component that is lighter than its
//          candidate, and as light as the component's best edge.
LANES_ATTRIBUTE
kernel void bvh_boruvka_list_searches(const global uint *component, const global uint *labels,
                                      const global uint *candidate, const global uchar *cursor,
                                      const global double *lower, global double *leaf_lower,
                                      const volatile global uint *winners, global uint *list,
                                      volatile global uint *state, uint count, uint n) {
  local uint scratch[WG_SIZE];
  local uint base;
  const uint n_leaves = (n + LEAF - 1) / LEAF;
  WG_FOR(first, n_leaves) {
    const uint leaf = (uint)min(first + get_local_id(0), (size_t)n_leaves - 1);
    const uint label = labels[leaf], begin = leaf * LEAF;
    uint due = 0;
    if (first + get_local_id(0) < n_leaves &&
        (label == MIXED || leaf_lower[leaf] <= distance_of_key(winner_bound(winners, n, label)))) {
      double least_lower = INFINITY;
      for (uint lane = 0; lane < min(n - begin, LEAF); ++lane) {
        const uint slot = begin + lane, own = label == MIXED ? component[slot] : label;
        const bool is_known = candidate[slot] != NO_SLOT && cursor[slot] == CURSOR_SEARCHED;
        least_lower = min(least_lower, lower[slot]);
        if (!is_known && lower[slot] <= distance_of_key(winner_bound(winners, n, own)))
          due |= 1u << lane;
      }
      leaf_lower[leaf] = least_lower;
    }
    uint total, next = wg_exclusive_sum_u32(popcount(due), &total, scratch);
    if (get_local_id(0) == 0 && total > 0) base = atomic_add(state + count, total);
    wg_barrier_local();
    for (; due; due &= due - 1) list[base + next++] = begin + 31 - clz(due & -due);
    wg_barrier_local();
  }
}

// Let the listed points search for their lightest edges, and enter them.
//
// In       the tree; component[n], labels; list[state[count]].
// In-out   candidate[n], keys[n], cursor[n], lower[n]: of listed points; winners[n * words];
//          active[n], state[n_active]: points that have a candidate.
// Launch   any.
// Needs    bvh_boruvka_list_searches.
// Ensures  the candidate of a listed point is the lightest edge that leaves its component, unless its
//          component has a lighter one.
LANES_ATTRIBUTE
kernel void bvh_boruvka_search(const global double *points, const global double *boxes,
                               const global uint *ids, const global uint *least,
                               const global uint *bases, const global uint *component,
                               const global uint *labels, global uint *candidate,
                               global ulong *keys, global uchar *cursor, global double *lower,
                               volatile global uint *winners, const global uint *list,
                               global uint *active, volatile global uint *state, uint count,
                               uint n_active, uint n, uint top, uint short_ids) {
  local uint scratch[WG_SIZE];
  local uint base;
  tree_t tree;
  tree_open(&tree, points, boxes, ids, least, bases, n, top);
  const components_t components = {labels, component};
  const uint n_listed = state[count];
  WG_FOR(first, n_listed) {
    const bool is_there = first + get_local_id(0) < n_listed;
    const uint slot = is_there ? list[first + get_local_id(0)] : 0;
    const uint own = component_of(&components, slot);
    const double bound = distance_of_key(winner_bound(winners, n, own));
    bool is_new = false;
    if (is_there && lower[slot] <= bound) {  // else others of the component have lowered it
      search_t search;
      walk_t walk;
      search_open(&search, &tree, slot, bound);
      walk_open(&walk, slot >> LEAF_SHIFT);
      for (uint leaf = walk.leaf; leaf != NO_SLOT;
           leaf = walk_next(&walk, &tree, &search, labels, own)) {
        const uint label = labels[leaf];
        if (label == own) continue;  // the leaf of the point itself
        double plains[LEAF];
        uint remaining = search_leaf(&search, &tree, leaf, plains);
        for (; remaining; remaining &= remaining - 1) {
          const uint lane = 31 - clz(remaining & -remaining), other = leaf * LEAF + lane;
          if ((label == MIXED ? component[other] : label) == own) continue;
          const double weight = search_weight(&search, &tree, other, plains[lane]);
          search_take(&search, &tree, other, weight);
        }
      }
      lower[slot] = search.weight;
      if (search.at != NO_SLOT) {
        is_new = candidate[slot] == NO_SLOT;
        candidate[slot] = search.at;
        cursor[slot] = CURSOR_SEARCHED;
        keys[slot] = weight_key(as_ulong(search.weight));
        claim_t claim;
        claim_make(&claim, keys[slot], ids[slot], ids[search.at]);
        reserve_first(winners, own, &claim, short_ids);
      }
    }
    wg_append(active, state + n_active, slot, is_new, scratch, &base);
  }
}

// A later pass of the reservation, for one word: among the candidates that match all words before.
//
// In       ids[n]; component[n], labels; candidate[n], keys[n]; active[state[n_active]].
// In-out   winners[n * words].
// Launch   any; once for each later word, in order.
// Needs    all candidates that may win are entered, and all earlier words are complete.
// Ensures  word `word` of each reservation is the least one among the candidates that match the words
//          before.
kernel void bvh_boruvka_reserve_word(const global uint *ids, const global uint *component,
                                     const global uint *labels, const global uint *candidate,
                                     const global ulong *keys, volatile global uint *winners,
                                     const global uint *active, const global uint *state,
                                     uint n_active, uint n, uint short_ids, uint word) {
  const components_t components = {labels, component};
  GRID_FOR(i, state[n_active]) {
    const uint slot = active[i], own = component_of(&components, slot);
    if (keys[slot] > winner_bound(winners, n, own)) continue;
    claim_t claim;
    claim_make(&claim, keys[slot], ids[slot], ids[candidate[slot]]);
    reserve_later(winners, n, own, &claim, word, short_ids);
  }
}

// Hook every component over its winner, and put that edge into the forest, as dense does.
//
// In       roots[n_roots]; winners[n * words]; slots[n]; component[n], labels.
// Out      parents: at each root, the root that it is hooked to, or itself.
// In-out   edges[n]: at a root that is hooked, lesser << bits | greater; state[count]: how many were
//          hooked, 0 before.
// Launch   any.
// Needs    all passes of the reservation are complete.
// Ensures  every component with a winner is hooked, or is the root of its pair.
kernel void bvh_boruvka_hook(const global uint *roots, const volatile global uint *winners,
                             const global uint *slots, const global uint *component,
                             const global uint *labels, global uint *parents, global ulong *edges,
                             volatile global uint *state, uint count, uint n_roots, uint n,
                             uint short_ids, uint bits) {
  const components_t components = {labels, component};
  uint n_hooked = 0;
  GRID_FOR(i, n_roots) {
    const uint own = roots[i];
    uint2 edge, of_other;
    parents[own] = own;
    if (!winner_edge(winners, n, own, short_ids, &edge)) continue;
    const uint at_lesser = component_of(&components, slots[edge.x]);
    const uint other = at_lesser == own ? component_of(&components, slots[edge.y]) : at_lesser;
    const bool is_mutual = winner_edge(winners, n, other, short_ids, &of_other) &&
                           of_other.x == edge.x && of_other.y == edge.y;
    if (is_mutual && own < other) continue;
    parents[own] = other;
    edges[own] = (ulong)edge.x << bits | edge.y;
    n_hooked += 1;
  }
  if (n_hooked > 0) atomic_add(state + count, n_hooked);
}

// Let every old root point to its new root, if MOST_JUMPS jumps lead there; else as far as they lead.
// List the new roots.
//
// In       roots[n_roots].
// In-out   parents: others shorten their ways at the same time, to the same root; state[count]: the
//          length of the list, 0 before; state[pending]: how many are not at their root, 0 before.
// Out      next[n_roots]: the roots; winners[n * words]: cleared at old roots.
// Launch   any; repeated with other counts until none is pending.
// Needs    bvh_boruvka_hook: parents have no cycle but of roots.
// Ensures  the root of every old root is the same.
LANES_ATTRIBUTE
kernel void bvh_boruvka_jump(const global uint *roots, volatile global uint *parents,
                             volatile global uint *winners, global uint *next,
                             volatile global uint *state, uint count, uint pending, uint n_roots,
                             uint n, uint short_ids) {
  local uint scratch[WG_SIZE];
  local uint base;
  uint n_pending = 0;
  WG_FOR(first, n_roots) {
    const bool is_there = first + get_local_id(0) < n_roots;
    const uint own = is_there ? roots[first + get_local_id(0)] : 0;
    bool is_root = false;
    if (is_there) {
      uint root = parents[own], over = parents[root];
      is_root = root == own;
      for (uint jump = 0; over != root && jump < MOST_JUMPS; ++jump) {
        root = over;
        over = parents[root];
      }
      parents[own] = root;
      n_pending += over != root;
      winner_clear(winners, n, own, short_ids);
    }
    wg_append(next, state + count, own, is_root, scratch, &base);
  }
  if (n_pending > 0) atomic_add(state + pending, n_pending);
}

// Bring the components of points and leaves up to date.
//
// In       parents.
// In-out   component[n]; labels: of level 0.
// Launch   any.
// Needs    bvh_boruvka_jump.
// Ensures  a leaf whose points are of one component has its label; else it is MIXED, and its points
//          have theirs.
kernel void bvh_boruvka_label_leaves(const global uint *parents, global uint *component,
                                     global uint *labels, uint n) {
  const uint n_leaves = (n + LEAF - 1) / LEAF;
  GRID_FOR(leaf, n_leaves) {
    if (labels[leaf] != MIXED) {
      labels[leaf] = parents[labels[leaf]];
      continue;
    }
    const uint first = (uint)leaf * LEAF, end = min(n - first, LEAF) + first;
    bool is_mixed = false;
    uint label = MIXED;
    for (uint slot = first; slot < end; ++slot) {
      const uint root = parents[component[slot]];
      component[slot] = root;
      is_mixed |= slot > first && root != label;
      label = root;
    }
    if (!is_mixed) labels[leaf] = label;
  }
}

// Bring the labels of the nodes of a level up to date.
//
// In       bases: by level.
// In-out   labels: `level` is written, level - 1 is read.
// Launch   any; level after level, from 1 on.
// Needs    the level below is complete.
// Ensures  the label of a node is that of all its children, or MIXED.
kernel void bvh_boruvka_label_nodes(global uint *labels, const global uint *bases, uint n_leaves,
                                    uint level) {
  const uint n_nodes = tree_width(n_leaves, level), n_below = tree_width(n_leaves, level - 1);
  GRID_FOR(node, n_nodes) {
    const uint first = (uint)node << FANOUT_SHIFT, n_children = min(n_below - first, FANOUT);
    const global uint *below = labels + bases[level - 1] + first;
    uint label = below[0];
    for (uint c = 1; c < n_children; ++c) label = below[c] == label ? label : MIXED;
    labels[bases[level] + node] = label;
  }
}

// Separate the endpoints of edges.
//
// In       edges[k]: lesser << bits | greater.
// Out      ends[k].
// Launch   any.
// Needs    bits <= 32.
// Ensures  ends[i] = (lesser, greater).
kernel void bvh_boruvka_unpack_edges(const global ulong *edges, global uint2 *ends, uint k,
                                     uint bits) {
  const ulong mask = (1ul << bits) - 1;
  GRID_FOR(i, k) ends[i] = (uint2)((uint)(edges[i] >> bits), (uint)(edges[i] & mask));
}
