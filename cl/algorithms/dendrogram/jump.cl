// dendrogram: pointer jumping, which contraction and condensing use.
#include "device/work_group.cl"

// Maximum number of parents that a launch follows.
#define DENDROGRAM_HOPS 32

// Point a node to one that is farther up, or to its root: one that points to itself.
//
// Scope    one work-item. A racy read gives an ancestor, too, as parents are only replaced by
//          ancestors.
static inline void wi_dendrogram_jump(volatile global uint *parent, uint node) {
  uint top = parent[node];
  for (uint hop = 1; hop < DENDROGRAM_HOPS; ++hop) {
    const uint over = parent[top];
    if (over == top) break;
    top = over;
  }
  parent[node] = top;
}
