// bvh-boruvka: the nearest points of every point.
#include "algorithms/bvh_boruvka/walk.cl"

// Most points of a list.
#ifndef NEIGHBOURS
#define NEIGHBOURS 8
#endif

// Find the `k` nearest points of every point, and the distance of the farthest of them.
//
// In       points, boxes, ids[n], least, bases: the tree.
// Out      lists[n * k]: slots, the nearest first; distances[n]: by slot, or by number.
// Launch   any.
// Needs    1 <= k <= min(NEIGHBOURS, n - 1); top: the level of the root.
// Ensures  distances[i] is that of the k-th nearest point, the point itself not counted. Where several
//          points are as far as that, any of them are listed.
kernel void bvh_boruvka_neighbours_find(const global double *points, const global double *boxes,
                                        const global uint *ids, const global uint *least,
                                        const global uint *bases, global uint *lists,
                                        global double *distances, uint n, uint top, uint k,
                                        uint by_number) {
  tree_t tree;
  tree_open(&tree, points, boxes, ids, least, bases, n, top);
  GRID_FOR(slot, n) {
    // The list proper ends at NEIGHBOURS; what stands before it is nearer than all points.
    double near[NEIGHBOURS];
    uint at[NEIGHBOURS];
    for (uint j = 0; j < NEIGHBOURS; ++j) near[j] = j < NEIGHBOURS - k ? -1 : INFINITY;
    for (uint j = 0; j < NEIGHBOURS; ++j) at[j] = NO_SLOT;
    search_t search;
    search_open(&search, &tree, (uint)slot, INFINITY);
    walk_t walk;
    walk_open(&walk, (uint)slot >> LEAF_SHIFT);
    for (uint leaf = walk.leaf; leaf != NO_SLOT; leaf = walk_next(&walk, &tree, &search, 0, 0)) {
      double plains[LEAF];
      uint remaining = search_leaf(&search, &tree, leaf, plains);
      if (leaf == walk.leaf) remaining &= ~(1u << slot % LEAF);
      while (remaining) {
        const uint bit = remaining & -remaining, lane = 31 - clz(bit);
        remaining ^= bit;
        const double plain = plains[lane];
        if (at[NEIGHBOURS - 1] != NO_SLOT && plain >= near[NEIGHBOURS - 1]) continue;
        uint j = NEIGHBOURS - 1;
        for (; j > 0 && (near[j - 1] > plain || (near[j - 1] == plain && at[j - 1] == NO_SLOT));
             --j) {
          near[j] = near[j - 1];
          at[j] = at[j - 1];
        }
        near[j] = plain;
        at[j] = leaf * LEAF + lane;
        search.reach = near[NEIGHBOURS - 1];
      }
    }
    for (uint j = 0; lists && j < k; ++j) lists[LIST_AT(slot, j, k, n)] = at[NEIGHBOURS - k + j];
    distances[by_number ? ids[slot] : slot] = DISTANCE_OF_PLAIN(near[NEIGHBOURS - 1]);
  }
}
