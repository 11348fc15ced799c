// The kept contraction of a forest whose edges come and go, and what its kernels share.
//
// Borůvka's algorithm has contracted the forest in rounds. In each round, clusters that chose each
// other are merged, and one vertex of a merged cluster, its *root*, stands for it. Rounds are
// numbered, over all changes of the forest. The number of a round is the *level* of the clusters
// that it makes. A cluster is *dissolved* if one of its chosen edges may not be the lightest that
// leaves some part of the cluster any more. Four words for each vertex x, its node, have all:
//
//     level       the round in which the cluster of root x was merged into another cluster;
//                 NO_LEVEL if it was not
//     parent      the root of the cluster that was made then
//     chosen      a row of the edges by which these clusters were joined: a merge of k clusters
//                 gives its k - 1 edges to the k - 1 roots that are no roots any more
//     dissolved   the least level of the dissolved clusters with root x; NO_LEVEL if there are none
//
// A cluster that contains a dissolved one is dissolved, too. The *top* of a vertex is the root of
// the greatest cluster with the vertex that is not dissolved. Each chosen edge of a cluster that is
// not dissolved is in the forest, whatever is inserted or deleted elsewhere, by the cut property.
// So after a change only the edges between tops are open.
//
// Example: the path 0 - 1 - 2 - 3 with weights 1, 5, 2. Round 1 merges 0 with 1, and 2 with 3.
// Round 2 merges both. An edge is inserted at vertex 3:
//
//     level 2      (0)*          * dissolved         tops: 0 (with 1), 2, 3
//                 /   \                              open edges: 1 - 2 and 2 - 3
//     level 1   (0)   (2)*
//               / \   / \
//              0   1 2   3
#include "device/union_find.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// The greatest key of a weight.
#define WEIGHT_MOST ((weight_t) ~(weight_t)0)

// Number of words for the numbers of edges in each round, and after the last. In a round, every
// cluster with an edge is merged with another one. So at most half of the clusters remain, and 33
// rounds are enough for 2**32 vertices.
#define MOST_SIZES 34

#define NO_LEVEL 0xffffffffu
#define NO_ROW 0xffffffffu

// Bits of the flags of a row, which is an edge's place in the columns. ROW_FRESH: the edge is new
// or became lighter in this change. ROW_TAKEN: a cluster has chosen the edge in this change.
// ROW_MARKED, only while a row is stored: the edge is fresh, or the forest has lost it, or it
// became lighter in the forest, so that clusters with its ends are dissolved.
#define ROW_PRESENT 1
#define ROW_FOREST 2
#define ROW_FRESH 4
#define ROW_TAKEN 8
#define ROW_MARKED 16

typedef struct __attribute__((aligned(16))) {
  uint parent, level, dissolved, chosen;
} node_t;

// Return whether the top of a vertex is further up, because a cluster that is not dissolved
// contains the greatest cluster whose root the vertex is.
static inline bool node_is_within(node_t node, node_t above) {
  return node.level != NO_LEVEL && node.dissolved >= node.level && above.dissolved > node.level;
}

// Return the top of a vertex: the root of its greatest cluster that is not dissolved.
//
// Scope    one work-item, in a kernel in which no work-item changes clusters.
static inline uint wi_top(const global node_t *nodes, uint vertex) {
  node_t node = nodes[vertex];
  while (node.level != NO_LEVEL) {
    const node_t above = nodes[node.parent];
    if (!node_is_within(node, above)) break;
    vertex = node.parent;
    node = above;
  }
  return vertex;
}

// Dissolve all clusters that contain a vertex, up to one that is dissolved already.
//
// Scope    one work-item; others may dissolve clusters.
static inline void wi_dissolve(global node_t *nodes, uint vertex) {
  uint level = 0;  // dissolves all clusters of which the vertex is the root
  while (atomic_min((volatile global uint *)&nodes[vertex].dissolved, level) > level &&
         (level = nodes[vertex].level) != NO_LEVEL)
    vertex = nodes[vertex].parent;
}

// Return whether the edge of row a comes before that of row b in the order of edges: by weight,
// lesser end, greater end, row.
static inline bool row_before(const global uint *u, const global uint *v,
                              const global weight_t *weights, uint a, uint b) {
  const weight_t one = weight_key(weights[a]), other = weight_key(weights[b]);
  if (one != other) return one < other;
  if (u[a] != u[b]) return u[a] < u[b];
  if (v[a] != v[b]) return v[a] < v[b];
  return a < b;
}

// Lower a choice, which is the row of the lightest edge of a cluster so far, to `row` if that edge
// comes before. The first load may be served by a cache. A choice only falls, so an old value that
// is before `row` rules the row out as well as the present one.
//
// Scope    one work-item; others may lower the same choice.
static inline void wi_lower_choice(const global uint *u, const global uint *v,
                                   const global weight_t *weights, global uint *choice, uint row) {
  uint seen = *choice;
  while (seen == NO_ROW || (seen != row && row_before(u, v, weights, row, seen))) {
    const uint found = atomic_cmpxchg((volatile global uint *)choice, seen, row);
    if (found == seen) return;
    seen = found;
  }
}

// Lower the choices of the two pieces that an edge joins. Return whether it joins two pieces.
//
// Scope    one work-item; others may lower choices.
static inline bool wi_choose_row(const global uint *u, const global uint *v,
                                 const global weight_t *weights, const global uint *pieces,
                                 const global uint *sets, global uint *choices, uint row) {
  uint a = pieces[u[row]], b = pieces[v[row]];
  if (a == b) return false;
  a = wi_find(sets, a);
  b = wi_find(sets, b);
  if (a == b) return false;
  wi_lower_choice(u, v, weights, choices + a, row);
  wi_lower_choice(u, v, weights, choices + b, row);
  return true;
}
