// bvh-boruvka: find the k nearest points of every point, by searches in the hierarchy of boxes.

// Maximum length of a list of nearest points. Programs are compiled for several values.
#ifndef NEIGHBOURS
#define NEIGHBOURS 8
#endif

// If LISTED is 1, the lists of nearest points are stored, as positions of the points in the
// hierarchy. If it is 0, only the distance of the last, farthest point of each list is stored.
#ifndef LISTED
#define LISTED 1
#endif

// Whether a list of nearest points is so short that it can stay in registers. For this, all loops
// over it have a constant length.
#define IS_SHORT (NEIGHBOURS <= 8)
// The index at which loops over a list of the k nearest points begin. The list uses the last k of
// NEIGHBOURS entries. A loop may begin at an unused entry, because unused entries have the distance
// -1, so no point is inserted before them.
#define LIST_FIRST(k) (IS_SHORT || (k) == NEIGHBOURS ? 0 : NEIGHBOURS - 1 - (k))

// Whether one search finds the nearest points of all eight points of a leaf, with one point per
// vector lane. This is done in work-groups of one work-item, if the lists are short, or if only
// distances are stored and the lists are not too long.
#define BY_LEAF (WG_SIZE == 1 && (IS_SHORT || (!LISTED && NEIGHBOURS <= 32)))

#include "algorithms/bvh_boruvka/leaf_lanes.cl"

// The list of the nearest points of one point found so far, the nearest first. A list of k points
// uses the last k entries. The entries before them have the distance -1, so no point is inserted
// before them.
typedef struct {
  real near[NEIGHBOURS];  // plain values
  uint at[NEIGHBOURS];    // slots, or NO_SLOT if fewer points have been found
} list_t;

static inline void list_clear(list_t *list, uint k) {
#if IS_SHORT
#pragma unroll
#endif
  for (uint j = LIST_FIRST(k); j < NEIGHBOURS; ++j) {
    list->near[j] = j < NEIGHBOURS - k ? REAL(-1.0, 0xbff0000000000000) : REAL_INFINITY;
    list->at[j] = NO_SLOT;
  }
}

// Return whether a point comes before entry `j` of the list of nearest points. `plain` is the
// point's plain value, which is its distance before any square root.
static inline bool list_is_behind(const list_t *list, uint j, real plain) {
  const real near = list->near[j];
  return real_less(plain, near) || (real_equal(near, plain) && list->at[j] == NO_SLOT);
}

// Insert a point into the list of nearest points, if it is nearer than the last point in it.
static inline void list_insert(list_t *list, uint slot, real plain) {
#if IS_SHORT
#pragma unroll
  for (uint j = 0; j < NEIGHBOURS; ++j) {
    const bool is_behind = list_is_behind(list, j, plain);
    const real near = list->near[j];
    const uint at = list->at[j];
    list->near[j] = is_behind ? plain : near;
    list->at[j] = is_behind ? slot : at;
    plain = is_behind ? near : plain;
    slot = is_behind ? at : slot;
  }
#else
  uint j = NEIGHBOURS - 1;
  if (!list_is_behind(list, j, plain)) return;
  for (; j > 0 && list_is_behind(list, j - 1, plain); --j) {
    list->near[j] = list->near[j - 1];
    list->at[j] = list->at[j - 1];
  }
  list->near[j] = plain;
  list->at[j] = slot;
#endif
}

// Fill the list with the k nearest points of the point in a slot, which is a position in the
// hierarchy.
static inline void list_fill(list_t *list, const tree_t *tree, uint slot, uint k) {
  search_t search;
  walk_t walk;
  list_clear(list, k);
  search_open(&search, tree, slot, REAL_INFINITY);
  walk_open(&walk, slot >> LEAF_SHIFT);
  for (uint leaf = walk.leaf; leaf != NO_SLOT; leaf = walk_next(&walk, tree, &search, 0, 0)) {
    real plains[LEAF];
    uint remaining = search_leaf(&search, tree, leaf, plains);
    if (leaf == walk.leaf) remaining &= ~(1u << slot % LEAF);
    for (; remaining; remaining &= remaining - 1) {
      const uint lane = 31 - clz(remaining & -remaining);
      list_insert(list, leaf * LEAF + lane, SEARCHED_PLAIN(&search, tree, leaf, lane, plains));
    }
    search_limit(&search, tree, list->near[NEIGHBOURS - 1]);
  }
}

#if BY_LEAF

// The lists of nearest points of all eight points of a leaf, one list per vector lane.
typedef struct {
  real8 near[NEIGHBOURS];
#if LISTED
  long8 at[NEIGHBOURS];
#endif
} lists_t;

// Insert the point in `slot` into the lists of nearest points of the eight points of a leaf. There
// is one list per vector lane. `plains` has the distance, before any square root, from the point in
// `slot` to each of the eight points.
static inline void lists_insert(lists_t *lists, uint slot, real8 plains, uint k) {
  if (!any(real_less(plains, lists->near[NEIGHBOURS - 1]))) return;
#if LISTED
  long8 slots = (long)slot;
#pragma unroll
  for (uint j = 0; j < NEIGHBOURS; ++j) {
    const real8 near = lists->near[j];
    const long8 slots_before = lists->at[j], is_behind = real_less(plains, near);
    lists->near[j] = real_select(near, plains, is_behind);
    lists->at[j] = select(slots_before, slots, is_behind);
    plains = real_select(plains, near, is_behind);
    slots = select(slots, slots_before, is_behind);
  }
#else
  for (uint j = NEIGHBOURS - k; j < NEIGHBOURS; ++j) {
    const real8 near = lists->near[j];
    lists->near[j] = real_min(near, plains);
    plains = real_max(near, plains);
  }
#endif
}

// Insert the points of `leaf` into the lists of nearest points of the points of `own_leaf`, which
// may be the same leaf.
static inline void lists_take_leaf(lists_t *lists, const tree_t *tree, const coordinates_t *own,
                                   uint leaf, uint own_leaf, uint k) {
  const long8 lanes = (long8)(0, 1, 2, 3, 4, 5, 6, 7);
  const uint n_points = min(tree->n - leaf * LEAF, LEAF);
  for (uint first = 0; first < n_points; first += AT_ONCE) {
    real8 found[AT_ONCE];
    eight_plains(found, tree, own, leaf, first, lists->near[NEIGHBOURS - 1]);
    for (uint i = 0; i < AT_ONCE && first + i < n_points; ++i) {
      real8 plains = found[i];
      if (leaf == own_leaf)
        plains = real_select(plains, (real8)REAL_INFINITY, lanes == (long)(first + i));
      lists_insert(lists, leaf * LEAF + first + i, plains, k);
    }
  }
}

// Find the k nearest points of each point of a leaf that has LEAF points (the last leaf of the
// hierarchy may have fewer).
static inline void lists_fill(lists_t *lists, const tree_t *tree, uint leaf, uint k) {
  search_t search;
  walk_t walk;
  search_open_box(&search, tree, leaf, REAL_INFINITY);
  coordinates_t own;
  eight_place(&own, tree, leaf);
#pragma unroll
  for (uint j = 0; j < NEIGHBOURS; ++j) {
    lists->near[j] = j < NEIGHBOURS - k ? REAL(-1.0, 0xbff0000000000000) : REAL_INFINITY;
#if LISTED
    lists->at[j] = (long)NO_SLOT;
#endif
  }
  walk_open(&walk, leaf);
  for (uint next = leaf; next != NO_SLOT; next = walk_next(&walk, tree, &search, 0, 0)) {
    if (!eight_are_near(tree, &own, next, lists->near[NEIGHBOURS - 1])) continue;
    lists_take_leaf(lists, tree, &own, next, leaf, k);
    search_limit(&search, tree, greatest_of(lists->near[NEIGHBOURS - 1]));
  }
}

// Copy the list of nearest points in lane `lane` of the vectors to *list. If slots are not stored,
// copy only the distance of the last point.
static inline void lists_get(const lists_t *lists, uint lane, list_t *list) {
#if LISTED
  for (uint j = 0; j < NEIGHBOURS; ++j) {
    real near[8];
    long at[8];
    vstore8(lists->near[j], 0, near);
    vstore8(lists->at[j], 0, at);
    list->near[j] = near[lane];
    list->at[j] = (uint)at[lane];
  }
#else
  list->near[NEIGHBOURS - 1] = ((const real *)&lists->near[NEIGHBOURS - 1])[lane];
#endif
}

#endif

// Find the `k` nearest points of every point, and the distance of the farthest of them.
//
// In       the hierarchy (tree.cl).
// Out      lists[n * k]: for each point, the slots of its nearest points, which are their positions
//          in the hierarchy, the nearest first;
//          distances[n]: the distance of the farthest of the k points. The index is the caller's
//          number of the point if `by_number` is set, else the point's slot.
// Launch   any.
// Needs    1 <= k <= min(NEIGHBOURS, n - 1); top: the level of the root.
// Ensures  distances[i] is the distance to the k-th nearest point, not counting the point itself.
//          If several points have this distance, any of them may be listed.
kernel void bvh_boruvka_neighbours_find(TREE_PARAMETERS, global uint *lists, global real *distances,
                                        uint n, uint top, uint k, uint by_number) {
  tree_t tree;
  tree_open(&tree, TREE_ARGUMENTS, n, top);
#if BY_LEAF
  lists_t of_leaf;
#endif
  GRID_FOR(slot, n) {
    list_t list;
#if BY_LEAF
    const uint leaf = (uint)slot >> LEAF_SHIFT;
    const bool is_whole = n - leaf * LEAF >= LEAF;
    if (is_whole && slot % LEAF == 0) lists_fill(&of_leaf, &tree, leaf, k);
    if (is_whole) lists_get(&of_leaf, slot % LEAF, &list);
    // list_fill searches for this point alone. It is needed if lists_fill was not called, and if
    // lists_fill left the list incomplete, because only list_fill finds points at an infinite
    // distance.
    if (!is_whole || real_equal(list.near[NEIGHBOURS - 1], REAL_INFINITY))
      list_fill(&list, &tree, (uint)slot, k);
#else
    list_fill(&list, &tree, (uint)slot, k);
#endif
    if (LISTED && lists) {
      const uint begin = NEIGHBOURS - k;
#if IS_SHORT
#pragma unroll
#endif
      for (uint j = LIST_FIRST(k); j < NEIGHBOURS; ++j)
        if (j >= begin) lists[LIST_AT(slot, j - begin, k, n)] = list.at[j];
    }
    distances[by_number ? ids[slot] : slot] = DISTANCE_OF_PLAIN(list.near[NEIGHBOURS - 1]);
  }
}
