// bvh-boruvka: in each round of Borůvka's algorithm, points search the hierarchy for their lightest
// edges to other components (bvh_boruvka.cl).
#include "algorithms/bvh_boruvka/components.cl"
#include "algorithms/bvh_boruvka/leaf_lanes.cl"
#include "device/winners.cl"

// The value of cursor[p] if a search of the hierarchy has found the candidate of point p, which is
// the point at the other end of p's lightest edge to another component. Any other value of
// cursor[p] is a position in p's list of nearest points. All points before this position are in p's
// component.
#define CURSOR_SEARCHED 255

// Find the lightest edge from the point in a slot of the hierarchy to a point outside the component
// `own`, if there is an edge of at most the weight `bound`.
static inline void search_out(search_t *search, const tree_t *tree, const components_t *components,
                              uint slot, uint own, real bound) {
  walk_t walk;
  search_open(search, tree, slot, bound);
  walk_open(&walk, slot >> LEAF_SHIFT);
  for (uint leaf = walk.leaf; leaf != NO_SLOT;
       leaf = walk_next(&walk, tree, search, components->labels, own)) {
    const uint label = components->labels[leaf];
    if (label == own) continue;  // this is the leaf of the point itself
    real plains[LEAF];
    uint remaining = search_leaf(search, tree, leaf, plains);
    for (; remaining; remaining &= remaining - 1) {
      const uint lane = 31 - clz(remaining & -remaining), other = leaf * LEAF + lane;
      const real plain = SEARCHED_PLAIN(search, tree, leaf, lane, plains);
      if (real_less(search->reach, plain)) continue;
      if ((label == MIXED ? components->component[other] : label) == own) continue;
      search_take(search, tree, other, search_weight(search, tree, other, plain));
    }
  }
}

#if WG_SIZE == 1

// Minimum number of points of one leaf that search for their lightest edges together. With fewer
// points, a search for each point is faster.
#define LEAST_LANES 4

// The state of a common search: those points of one leaf that have to search for their lightest
// edges search together, one point per vector lane.
typedef struct {
  uint leaf;      // the leaf whose points have searched, or NO_SLOT
  uint is_done;   // whether the search has found the edges of all points
  real8 weights;  // the weights of the best edges so far; heavier edges are not wanted
  real8 reach;    // greater plain values are too far; -1 in a lane that does not search
  real8 cores;
  ulong8 ids, edges;
  long8 own;  // the points' components
  long8 at;   // the slots of the edges' other ends, or NO_SLOT
} eight_t;

// Prepare the common search for the lightest edges of all listed points in the leaf of list[0].
// `list` has the positions of the points that had to search when the list was made. Return the
// number of these points in the leaf that still have to. The others need not, because their
// component has got a lighter best edge since then.
static inline uint eight_open(eight_t *lanes, const tree_t *tree, const components_t *components,
                              const volatile global uint *winners, const global real *lower,
                              const global uint *list, uint n_listed) {
  const uint leaf = list[0] >> LEAF_SHIFT;
  real weights[LEAF], reach[LEAF];
  ulong ids[LEAF];
  long own[LEAF];
  uint n_due = 0, i = 0;
  for (uint lane = 0; lane < LEAF; ++lane) {
    const uint slot = min(leaf * LEAF + lane, tree->n - 1);
    const uint component = component_of(components, slot);
    const real bound = distance_of_key(winner_bound(winners, tree->n, component));
    const bool is_listed = i < n_listed && list[i] == slot,
               is_due = is_listed && real_at_most(lower[slot], bound);
    i += is_listed;
    n_due += is_due;
    weights[lane] = is_due ? bound : REAL(-1.0, 0xbff0000000000000);
    reach[lane] = is_due ? DISTANCE_REACH(bound) : REAL(-1.0, 0xbff0000000000000);
    ids[lane] = tree->ids[slot];
    own[lane] = component;
  }
  lanes->leaf = leaf;
  lanes->weights = vload8(0, weights);
  lanes->reach = vload8(0, reach);
  lanes->ids = vload8(0, ids);
  lanes->own = vload8(0, own);
  lanes->edges = ULONG_MAX;
  lanes->at = NO_SLOT;
  if (CORE_DISTANCES) lanes->cores = vload8(tree->dimensions, tree_leaf(tree, leaf));
  return n_due;
}

// Compare the edges from the searching points, one per vector lane, to all points of a leaf with
// the best edge of each searching point so far. Store each edge that is better.
static inline void eight_search_leaf(eight_t *lanes, const tree_t *tree, const coordinates_t *own,
                                     const components_t *components, uint leaf) {
  const uint label = components->labels[leaf], n_points = min(tree->n - leaf * LEAF, LEAF);
  for (uint first = 0; first < n_points; first += AT_ONCE) {
    real8 plains[AT_ONCE];
    eight_plains(plains, tree, own, leaf, first, lanes->reach);
    for (uint i = 0; i < AT_ONCE && first + i < n_points; ++i) {
      const uint slot = leaf * LEAF + first + i;
      const long other = label == MIXED ? components->component[slot] : label;
      const long8 is_near = real_at_most(plains[i], lanes->reach) & (lanes->own != other);
      if (!any(is_near)) continue;
      real8 cores = REAL_ZERO;
      if (CORE_DISTANCES) cores = real_max(lanes->cores, tree_at(tree, slot, tree->dimensions));
      const long8 is_better = eight_take(is_near, plains[i], cores, lanes->ids, tree->ids[slot],
                                         &lanes->weights, &lanes->edges, &lanes->reach);
      lanes->at = select(lanes->at, (long8)slot, is_better);
    }
  }
}

// Find the lightest edges from the points of a leaf to other components, as search_out does for one
// point. Return false if all of these edges have weight 0. Then each point has to search by itself
// with search_out. Among many equal points only search_out ends early, because it compares the
// points' numbers.
static inline bool eight_search(eight_t *lanes, const tree_t *tree,
                                const components_t *components) {
  search_t search;
  walk_t walk;
  coordinates_t own;
  const uint label = components->labels[lanes->leaf];
  const global uint *const labels = label == MIXED ? 0 : components->labels;
  eight_place(&own, tree, lanes->leaf);
  search_open_box(&search, tree, lanes->leaf, greatest_of(lanes->weights));
  walk_open(&walk, lanes->leaf);
  for (uint leaf = walk.leaf; leaf != NO_SLOT && real_less(REAL_ZERO, search.weight);
       leaf = walk_next(&walk, tree, &search, labels, label)) {
    if (label != MIXED && leaf == walk.leaf) continue;
    if (!eight_are_near(tree, &own, leaf, lanes->reach)) continue;
    eight_search_leaf(lanes, tree, &own, components, leaf);
    search.weight = greatest_of(lanes->weights);
    search_limit(&search, tree, DISTANCE_REACH(search.weight));
  }
  return real_less(REAL_ZERO, search.weight);
}

// Find the lightest edge of the first listed point to another component by a common search of the
// listed points of its leaf. Return false if fewer than LEAST_LANES points have to search, or if
// eight_search has returned false. Then the point has to search by itself.
static inline bool eight_have(eight_t *lanes, search_t *search, const tree_t *tree,
                              const components_t *components, const volatile global uint *winners,
                              const global real *lower, const global uint *list, uint n_listed) {
  const uint slot = list[0], lane = slot % LEAF;
  if (lanes->leaf != slot >> LEAF_SHIFT) {
    const uint n_due = eight_open(lanes, tree, components, winners, lower, list, n_listed);
    lanes->is_done = n_due >= LEAST_LANES && eight_search(lanes, tree, components);
  }
  if (!lanes->is_done) return false;
  search->weight = ((const real *)&lanes->weights)[lane];
  search->at = (uint)((const long *)&lanes->at)[lane];
  search->id = tree->ids[slot];
  return true;
}

#endif

// For each listed point, search the hierarchy for the point's lightest edge to another component,
// and enter this edge in the reservation of the point's own component, which holds the component's
// lightest edge so far.
//
// In       the hierarchy (tree.cl);
//          component[n], labels: the components of single points and of whole nodes;
//          list[state[count]]: the listed points, by their positions in the hierarchy.
// In-out   candidate[n], keys[n]: for each listed point, the other end of the edge found and the
//          key of its weight;
//          cursor[n]: set to CURSOR_SEARCHED for each listed point with such an edge;
//          lower[n]: for each listed point, a lower bound of the weights of all its edges to other
//          components, except the edge to its candidate;
//          winners[n * words]: the reservations (winners.cl);
//          active[n], state[n_active]: the list of points that have a candidate, and its length.
// Launch   any.
// Needs    bvh_boruvka_lightest_collect.
// Ensures  the edge to the candidate of a listed point is the point's lightest edge to another
//          component, unless a lighter edge of the point's component was already known.
LANES_ATTRIBUTE
kernel void bvh_boruvka_search_listed(TREE_PARAMETERS, const global uint *component,
                                      const global uint *labels, global uint *candidate,
                                      global ulong *keys, global uchar *cursor, global real *lower,
                                      volatile global uint *winners, const global uint *list,
                                      global uint *active, volatile global uint *state, uint count,
                                      uint n_active, uint n, uint top, uint short_ids) {
  local uint scratch[WG_SIZE];
  local uint base;
  tree_t tree;
  tree_open(&tree, TREE_ARGUMENTS, n, top);
  const components_t components = {labels, component};
  const uint n_listed = state[count];
#if WG_SIZE == 1
  eight_t lanes;
  lanes.leaf = NO_SLOT;
#endif
  WG_FOR(first, n_listed) {
    const bool is_there = first + get_local_id(0) < n_listed;
    const uint slot = is_there ? list[first + get_local_id(0)] : 0;
    const uint own = component_of(&components, slot);
    const real bound = distance_of_key(winner_bound(winners, n, own));
    bool is_new = false;
    if (is_there &&
        real_at_most(lower[slot], bound)) {  // false if the bound has fallen since the listing
      search_t search;
#if WG_SIZE == 1
      if (!eight_have(&lanes, &search, &tree, &components, winners, lower, list + first,
                      n_listed - (uint)first))
#endif
        search_out(&search, &tree, &components, slot, own, bound);
      lower[slot] = search.weight;
      if (search.at != NO_SLOT) {
        is_new = candidate[slot] == NO_SLOT;
        candidate[slot] = search.at;
        cursor[slot] = CURSOR_SEARCHED;
        keys[slot] = weight_key(real_bits(search.weight));
        claim_t claim;
        claim_make(&claim, keys[slot], ids[slot], ids[search.at]);
        reserve_first(winners, n, own, &claim, short_ids);
      }
    }
    wg_append(active, state + n_active, slot, is_new, scratch, &base);
  }
}
