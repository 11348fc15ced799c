// The data of a forest whose edges come and go. The contraction that has found the forest is kept
// from change to change.
//
// Borůvka's algorithm has contracted the forest in rounds. In each round, every cluster of vertices
// chooses its lightest edge, and clusters that chosen edges connect are merged. One vertex of a
// cluster, its *root*, stands for it. Rounds are numbered through all changes of the forest. The
// number of a round is the *level* of the clusters that it makes. A change *dissolves* a cluster if
// an edge that was chosen inside it may no longer be the right choice. Everything is stored in the
// *nodes*, four words for each vertex x:
//
//     level       the round in which the cluster of root x was merged into another cluster;
//                 NO_LEVEL if it was not
//     parent      the root of the cluster that was made then
//     chosen      the row of one of the edges that joined these clusters. A merge of k clusters
//                 takes k - 1 edges, one for each of the k - 1 vertices that stop being roots
//     dissolved   the least level of the dissolved clusters whose root is x; NO_LEVEL if there are
//                 none
//
// A cluster that contains a dissolved cluster is dissolved, too. The *top* of a vertex is the root
// of the greatest cluster that contains the vertex and is not dissolved. By the cut property, the
// edges that were chosen inside such a cluster are in the forest, whatever is inserted or deleted
// elsewhere. So after a change only the edges between tops are open, which means that they have to
// be decided again.
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

// The maximum value of a weight key, which is an unsigned integer that sorts as the weight does.
#define WEIGHT_MOST ((weight_t) ~(weight_t)0)

// Number of words of `sizes`, which has the number of edges in each round, and after the last one.
// A round merges every cluster that has an edge with another cluster. So at most half of the
// clusters remain, and 33 rounds are enough for 2**32 vertices.
#define MOST_SIZES 34

#define NO_LEVEL 0xffffffffu
#define NO_ROW 0xffffffffu

// Bits of the flags of a row. Each edge has a row in the arrays u, v, weights and flags.
// ROW_PRESENT: the row has an edge. ROW_FOREST: the edge is in the forest. ROW_FRESH: the edge is
// new or has become lighter in this change. ROW_TAKEN: a cluster has chosen the edge in this
// change. ROW_MARKED, used only in changes_store: the clusters that contain an end of the edge have
// to be dissolved.
#define ROW_PRESENT 1
#define ROW_FOREST 2
#define ROW_FRESH 4
#define ROW_TAKEN 8
#define ROW_MARKED 16

typedef struct __attribute__((aligned(16))) {
  uint parent, level, dissolved, chosen;
} node_t;

// A vertex x may be the root of several clusters. The greatest of them may have been merged into a
// cluster of another root, node.parent. Return whether such a merged cluster exists and is not
// dissolved. Then x is not a top, the root of a greatest cluster that is not dissolved. `node` is
// the node of x, and `above` is the node of node.parent.
static inline bool node_is_within(node_t node, node_t above) {
  return node.level != NO_LEVEL && node.dissolved >= node.level && above.dissolved > node.level;
}

// Return the top of a vertex, which is the root of the greatest cluster that contains the vertex
// and is not dissolved.
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

// Dissolve all clusters that contain a vertex, from the smallest one up. Stop at a cluster that is
// already dissolved, because the work-item that has dissolved it also dissolves all greater ones.
//
// Scope    one work-item; others may dissolve clusters.
static inline void wi_dissolve(global node_t *nodes, uint vertex) {
  uint level = 0;  // dissolves all clusters of which the vertex is the root
  while (atomic_min((volatile global uint *)&nodes[vertex].dissolved, level) > level &&
         (level = nodes[vertex].level) != NO_LEVEL)
    vertex = nodes[vertex].parent;
}

// Return whether the edge of row a comes before the edge of row b in the order of edges: by weight,
// lesser end, greater end, row.
static inline bool row_before(const global uint *u, const global uint *v,
                              const global weight_t *weights, uint a, uint b) {
  const weight_t one = weight_key(weights[a]), other = weight_key(weights[b]);
  if (one != other) return one < other;
  if (u[a] != u[b]) return u[a] < u[b];
  if (v[a] != v[b]) return v[a] < v[b];
  return a < b;
}

// *choice is the row (the index of an edge) of the lightest edge of a cluster so far. Replace it by
// `row` if the edge of `row` is lighter. The first read may give an old value. This does no harm,
// because choices only get lighter. So an edge that is not lighter than an old choice is not
// lighter than the present one.
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

// The edge of a row may join two pieces of a broken forest, or two sets of pieces. Let the sets of
// pieces at both ends choose the edge if it is lighter than their choice so far. Return whether the
// ends are in two different sets.
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
