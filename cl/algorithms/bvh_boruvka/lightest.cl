// bvh-boruvka: in each round of Borůvka's algorithm, find the lightest edge that leaves each
// component (bvh_boruvka.cl).
#include "algorithms/bvh_boruvka/search.cl"

// Find the lightest edge from point p to a point outside p's component `own`, among the k nearest
// points in p's list. Move p's cursor, a position in this list, past the points inside the
// component. Return whether there is such an edge. *search then has the edge.
static inline bool find_in_list(const tree_t *tree, const components_t *components,
                                const global uint *lists, uint k, uint p, uint own,
                                global uchar *cursor, search_t *search) {
  uint j = cursor[p];
  for (; j < k; ++j)
    if (component_of(components, lists[LIST_AT(p, j, k, tree->n)]) != own) break;
  cursor[p] = (uchar)min(j, k);
  search_open(search, tree, p, REAL_INFINITY);
  for (; j < k; ++j) {
    const uint other = lists[LIST_AT(p, j, k, tree->n)];
    if (component_of(components, other) == own) continue;
    const real plain = search_plain(search, tree, other);
    if (real_less(search->reach, plain)) break;  // the list is sorted by distance
    search_take(search, tree, other, search_weight(search, tree, other, plain));
  }
  return search->at != NO_SLOT;
}

// Enter one edge of each active point in the reservation of the point's component, which holds the
// component's lightest edge so far. The other end of the edge is the point's candidate. If the
// candidate is in the same component by now, it is replaced by the best point of another component
// in the point's list of nearest points. Later kernels enter further edges, and then find the
// lightest edges word by word.
//
// In       the hierarchy (tree.cl);
//          lists[n * k]: the k nearest points of each point;
//          component[n], labels: the components of single points and of whole nodes;
//          active[n_active]: the points that may have a candidate.
// In-out   candidate[n], keys[n]: for each point, the candidate and the weight key of the edge to
//          it;
//          cursor[n]: for each point, its current position in its list of nearest points;
//          winners[n * words]: the reservations (winners.cl);
//          state[count]: the length of `next`, 0 before.
// Out      next[n_active]: the list of points that have a candidate.
// Launch   any.
// Needs    components are complete; reservations are reset.
// Ensures  the candidate of a listed point is in another component. Points that are not listed have
//          no candidate.
LANES_ATTRIBUTE
kernel void bvh_boruvka_lightest_propose(TREE_PARAMETERS, const global uint *lists,
                                         const global uint *component, const global uint *labels,
                                         const global uint *active, global uint *next,
                                         global uint *candidate, global ulong *keys,
                                         global uchar *cursor, volatile global uint *winners,
                                         volatile global uint *state, uint count, uint n_active,
                                         uint n, uint top, uint k, uint short_ids) {
  local uint scratch[WG_SIZE];
  local uint base;
  tree_t tree;
  tree_open(&tree, TREE_ARGUMENTS, n, top);
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
          keys[slot] = weight_key(real_bits(search.weight));
        }
        candidate[slot] = to;
      }
      if (to != NO_SLOT) {
        claim_t claim;
        claim_make(&claim, keys[slot], ids[slot], ids[to]);
        reserve_first(winners, n, own, &claim, short_ids);
      }
    }
    wg_append(next, state + count, slot, to != NO_SLOT, scratch, &base);
  }
}

// Give every component an upper bound of the weight of its lightest edge. Points at consecutive
// positions of the hierarchy are near each other. If two such points are in different components,
// enter the edge between them in the reservations of both components, which hold the lightest edge
// of each component so far. So searches for a component's lightest edge need not reach far. Only
// the first words of the edge, which contain its weight or the upper half of its weight, are
// entered (winners.cl). This suffices for a bound. If the edge is the lightest one, a search finds
// it again and enters all of it.
//
// In       the hierarchy (tree.cl); component[n], labels: the components of single points and of
//          whole nodes.
// In-out   winners[n * words]: the reservations (winners.cl).
// Launch   any.
// Needs    components are complete; reservations are reset.
// Ensures  the first words of every reservation have the weight of an edge, so they are not all
//          ones.
kernel void bvh_boruvka_lightest_bound(TREE_PARAMETERS, const global uint *component,
                                       const global uint *labels, volatile global uint *winners,
                                       uint n, uint top, uint short_ids) {
  tree_t tree;
  tree_open(&tree, TREE_ARGUMENTS, n, top);
  const components_t components = {labels, component};
  GRID_FOR(leaf, tree.n_leaves) {
    const uint begin = (uint)leaf * LEAF, end = min(n - 1 - begin, LEAF) + begin;
    for (uint slot = labels[leaf] == MIXED ? begin : begin + LEAF - 1; slot < end; ++slot) {
      const uint own = component_of(&components, slot);
      const uint of_next = component_of(&components, slot + 1);
      if (of_next == own) continue;
      search_t search;
      claim_t claim;
      search_open(&search, &tree, slot, REAL_INFINITY);
      const real plain = search_plain(&search, &tree, slot + 1);
      const real weight = search_weight(&search, &tree, slot + 1, plain);
      claim_make(&claim, weight_key(real_bits(weight)), ids[slot], ids[slot + 1]);
      reserve_first(winners, n, own, &claim, short_ids);
      reserve_first(winners, n, of_next, &claim, short_ids);
    }
  }
}

// Return whether an edge whose weight is at least `lower` may be as light as the best edge found so
// far for the component `own`.
static inline bool may_be_best(real lower, const volatile global uint *winners, uint n, uint own) {
  return real_at_most(lower, distance_of_key(winner_bound(winners, n, own)));
}

// List the points that have to search the hierarchy, because they may have an edge to another
// component that is as light as the best edge of their own component so far.
//
// In       component[n], labels: the components of single points and of whole nodes;
//          candidate[n]: for each point, the other end of its best known edge;
//          cursor[n]: CURSOR_SEARCHED if a search found the candidate, else the point's position in
//          its list of nearest points;
//          lower[n]: for each point, a lower bound of the weights of all its edges to other
//          components, except the edge to its candidate;
//          winners[n * words]: the best edge of each component so far (winners.cl).
// In-out   leaf_lower[n_leaves]: for each leaf, at most the minimum of `lower` over its points;
//          state[count]: the length of the list, 0 before.
// Out      list[n]: the positions of the listed points in the hierarchy.
// Launch   any.
// Needs    bvh_boruvka_lightest_propose.
// Ensures  a point that is not listed can improve its component's best edge only by the edge to its
//          candidate. For all its edges to points of other components that are not its candidate,
//          one of two things is true: they are heavier than the component's best edge, or none of
//          them is lighter than the edge to the candidate.
LANES_ATTRIBUTE
kernel void bvh_boruvka_lightest_collect(const global uint *component, const global uint *labels,
                                         const global uint *candidate, const global uchar *cursor,
                                         const global real *lower, global real *leaf_lower,
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
        (label == MIXED || may_be_best(leaf_lower[leaf], winners, n, label))) {
      real least_lower = REAL_INFINITY;
      for (uint lane = 0; lane < min(n - begin, LEAF); ++lane) {
        const uint slot = begin + lane, own = label == MIXED ? component[slot] : label;
        const bool is_known = candidate[slot] != NO_SLOT && cursor[slot] == CURSOR_SEARCHED;
        least_lower = real_min(least_lower, lower[slot]);
        if (!is_known && may_be_best(lower[slot], winners, n, own)) due |= 1u << lane;
      }
      leaf_lower[leaf] = least_lower;
    }
    uint total;
    const uint before = wg_exclusive_sum_u32(popcount(due), &total, scratch);
    if (get_local_id(0) == 0 && total > 0) base = atomic_add(state + count, total);
    wg_barrier_local();
    for (uint lane = 0; lane < LEAF; ++lane)
      if (due >> lane & 1) list[base + before + popcount(due & ((1u << lane) - 1))] = begin + lane;
    wg_barrier_local();
  }
}

// Find one more word of the lightest edge of each component. A reservation holds the words of a
// component's lightest edge, and each pass finds one of them. This pass takes those of the points'
// best known edges whose earlier words equal the words found so far, and stores the minimum of
// their next words.
//
// In       arrays indexed by slot, the position of a point in the hierarchy:
//          ids[n]: the number of each point;
//          component[n], labels: the components of single points and of whole nodes;
//          candidate[n], keys[n]: the other end and the weight key of each point's best known edge;
//          active[state[n_active]]: the slots of the points that have such an edge.
// In-out   winners[n * words]: the reservations (winners.cl).
// Launch   any; one launch for each word (or pair of words, winners.cl) after the first ones, in
//          order.
// Needs    all candidates that may win are entered, and all earlier words are complete.
// Ensures  word `word` of each reservation is the minimum over the edges that agree in the earlier
//          words.
kernel void bvh_boruvka_lightest_reserve_word(const global uint *ids, const global uint *component,
                                              const global uint *labels,
                                              const global uint *candidate,
                                              const global ulong *keys,
                                              volatile global uint *winners,
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
