// dendrogram: chains of merges. A merge joins two nodes by an edge. A node is a vertex or an
// earlier merge, and it is below the merge that joins it. A chain is a sequence of merges in the
// order of their ranks, which are their numbers in the order of weights. Each merge of a chain is
// directly below the next one. So sorting the edges by chain gives the merge above every merge, and
// sums along the chains give the sizes.
#include "device/work_group.cl"

// Means "no edge", and so "no merge".
#define DENDROGRAM_NO_EDGE 0xFFFFFFFFu

// Put a node, which is a vertex or an earlier merge, below a merge. The two children of the merge
// are the least and the greatest of the nodes that are put below it.
static inline void wi_dendrogram_put(volatile global uint *children, uint merge, uint node) {
  if (merge == DENDROGRAM_NO_EDGE) return;
  atomic_min(&children[2 * (size_t)merge], node);
  atomic_max(&children[2 * (size_t)merge + 1], node);
}

// Gather the ends of the edges in the order of the merges, which is the order of weights, and clear
// the children of all merges.
//
// In       edges[2 m]: both ends of each edge; order[m]: the edge of each merge, the lightest
//          first.
// Out      u[m], v[m]: the ends of each merge's edge; rank[m]: the numbers 0 to m - 1; children[2
//          m]: for each merge DENDROGRAM_NO_EDGE and 0, with which the minimum and the maximum of
//          the nodes below it begin.
// Launch   any.
// Needs    nothing.
// Ensures  u[i], v[i] are the ends of edge order[i].
kernel void dendrogram_chains_begin(const global uint *edges, const global uint *order,
                                    global uint *u, global uint *v, global uint *rank,
                                    global uint *children, uint m) {
  GRID_FOR(i, m) {
    const size_t edge = 2 * (size_t)order[i];
    u[i] = edges[edge];
    v[i] = edges[edge + 1];
    rank[i] = (uint)i;
    children[2 * i] = DENDROGRAM_NO_EDGE;
    children[2 * i + 1] = 0;
  }
}

// Put each vertex below the merge that its lightest edge makes.
//
// In       lightest[n]: the rank of each vertex's lightest edge, which is the number of its merge.
//          DENDROGRAM_NO_EDGE for isolated vertices.
// In-out   children[2 m]: for each merge, the least and the greatest of the nodes put below it so
//          far.
// Launch   any. Minima and maxima do not depend on the order of work-items.
// Needs    dendrogram_chains_begin.
// Ensures  every vertex with an edge is below the merge of its lightest edge.
kernel void dendrogram_chains_vertices(const global uint *lightest, volatile global uint *children,
                                       uint n) {
  GRID_FOR(x, n) wi_dendrogram_put(children, lightest[x], (uint)x);
}

// Put each merge of two clusters below the next merge of its chain, which is a sequence of merges
// along one path of the dendrogram, and the last merge of a chain below the merge above the chain.
//
// In       the edges sorted by chain: chain[m], the chain at each position, ascending; sorted[m],
//          the edge at each position, by its rank; above[m]: for each edge, the merge above its
//          chain.
// In-out   children[2 m]: for each merge, the least and the greatest of the nodes put below it so
//          far.
// Out      position[m]: the position of each edge in the sorted order; begins[m]: 1 if a chain
//          begins at the position, else 0.
// Launch   any.
// Needs    the edges of each chain are sorted by rank.
// Ensures  every node except the topmost ones is below a merge.
kernel void dendrogram_chains_merges(const global uint *chain, const global uint *sorted,
                                     const global uint *above, volatile global uint *children,
                                     global uint *position, global uchar *begins, uint m, uint n) {
  GRID_FOR(i, m) {
    const uint edge = sorted[i];
    const bool is_last = i + 1 == m || chain[i + 1] != chain[i];
    wi_dendrogram_put(children, is_last ? above[edge] : sorted[i + 1], n + edge);
    position[edge] = (uint)i;
    begins[i] = i == 0 || chain[i - 1] != chain[i];
  }
}

// Count the vertices that are directly below each merge.
//
// In       children[2 m]: the two nodes below each merge; position[m]: the position of each edge,
//          and so of its merge, in the edges sorted by chain.
// Out      own[m]: the number of vertices directly below the merge at each position.
// Launch   any.
// Needs    dendrogram_chains_vertices, dendrogram_chains_merges.
// Ensures  each own[i] is 0, 1 or 2.
kernel void dendrogram_chains_count(const global uint *children, const global uint *position,
                                    global uint *own, uint m, uint n) {
  GRID_FOR(e, m) own[position[e]] = (children[2 * e] < n) + (children[2 * e + 1] < n);
}

// Store the sizes of the merges in the chains of one level, which are sequences of merges, each
// directly below the next one. The size of a merge is the number of vertices below it. Add the size
// of each whole chain to `own` of the merge above it, which is in a chain of a later level.
//
// In       the edges sorted by chain: chain[m] and sorted[m], the chain and the edge at each
//          position; position[m], the position of each edge; above[m]: for each edge, the merge
//          above its chain; sums[m]: at each position, the inclusive sums of `own` along each
//          chain.
// In-out   own[m]: the number of vertices below the merge at each position that do not come from
//          the merge before it in the same chain.
// Out      sizes[m]: the size of the merge of each edge.
// Launch   any. Sums do not depend on the order of work-items.
// Needs    `own` and `sums` are complete in the chains first to end - 1, which are one level.
// Ensures  sizes[e] = the number of vertices below the merge of edge e, if its chain is one of
//          these.
kernel void dendrogram_chains_sizes(const global uint *chain, const global uint *sorted,
                                    const global uint *above, const global uint *position,
                                    const global uint *sums, volatile global uint *own,
                                    global uint *sizes, uint m, uint first, uint end) {
  GRID_FOR(i, m) {
    if (chain[i] < first || chain[i] >= end) continue;
    const uint edge = sorted[i];
    sizes[edge] = sums[i];
    const bool is_last = i + 1 == m || chain[i + 1] != chain[i];
    if (is_last && above[edge] != DENDROGRAM_NO_EDGE)
      atomic_add(&own[position[above[edge]]], sums[i]);
  }
}
