// dendrogram: pointer jumping. Every node of a tree (a vertex or a merge) gets a pointer to the
// root at the end of its path upwards. contract.cl and condense_steps.cl use it.
#include "device/work_group.cl"

// Maximum number of parent pointers that one launch of pointer jumping follows from a node.
#define DENDROGRAM_HOPS 32

// Let a node point to a node that is farther up its path, or to its root, which points to itself.
//
// Scope    one work-item. Parents are only replaced by ancestors, so a racy read gives an ancestor,
//          too.
static inline void wi_dendrogram_jump(volatile global uint *parent, uint node) {
  uint top = parent[node];
  for (uint hop = 1; hop < DENDROGRAM_HOPS; ++hop) {
    const uint over = parent[top];
    if (over == top) break;
    top = over;
  }
  parent[node] = top;
}
