// dendrogram: chains of merges.
//
// A node of the dendrogram is a vertex or a merge. A merge joins two nodes by an edge, and both
// nodes are then below it. Merges are numbered by their ranks, the positions of their edges in the
// order of weights. A chain is a sequence of merges with ascending ranks, each directly below the
// next one. If the edges are sorted by chain, every merge is followed by the merge above it. Sums
// along the chains give the sizes of the merges.
#include "device/work_group.cl"

// The value that means "no edge". An edge and its merge have the same number, so it also means "no
// merge".
#define DENDROGRAM_NO_EDGE 0xFFFFFFFFu

// Put a node, which is a vertex or an earlier merge, below a merge. A merge has two children: the
// minimum and the maximum of the nodes that are put below it. DENDROGRAM_NO_EDGE stands for no
// merge.
static inline void wi_dendrogram_put(volatile global uint *children, uint merge, uint node) {
  if (merge == DENDROGRAM_NO_EDGE) return;
  atomic_min(&children[2 * (size_t)merge], node);
  atomic_max(&children[2 * (size_t)merge + 1], node);
}

// Gather the ends of the edges in the order of the merges, which is the order of weights. Reset the
// children of all merges.
//
// In       edges[2 m]: both ends of each edge;
//          order[m]: the index of the edge of each merge, the lightest edge first.
// Out      u[m], v[m]: the two ends of each merge's edge;
//          rank[m]: the numbers 0 to m - 1;
//          children[2 m]: for each merge DENDROGRAM_NO_EDGE and 0. These are the initial values of
//            a minimum and a maximum, which become the two children of the merge.
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

// Put each vertex below the merge of its lightest edge.
//
// In       lightest[n]: the rank of each vertex's lightest edge, which is also the number of the
//          edge's merge. It is DENDROGRAM_NO_EDGE for vertices without edges.
// In-out   children[2 m]: for each merge, the minimum and the maximum of the nodes that have been
//          put below it.
// Launch   any. Minima and maxima do not depend on the order of work-items.
// Needs    dendrogram_chains_begin.
// Ensures  every vertex with an edge is below the merge of its lightest edge.
kernel void dendrogram_chains_vertices(const global uint *lightest, volatile global uint *children,
                                       uint n) {
  GRID_FOR(x, n) wi_dendrogram_put(children, lightest[x], (uint)x);
}

// Put each merge below the next merge of its chain. Put the last merge of a chain below the merge
// above the chain. A chain is a sequence of merges, each directly below the next one.
//
// In       chain[m]: the number of the chain of the edge at each position. The edges are sorted by
//          chain.
//          sorted[m]: the rank of the edge at each position;
//          above[m]: for each edge, by rank, the merge above its chain, or DENDROGRAM_NO_EDGE.
// In-out   children[2 m]: for each merge, the minimum and the maximum of the nodes that have been
//          put below it.
// Out      position[m]: the position of each edge, by rank, in the order of chains;
//          begins[m]: 1 if a chain begins at the position, else 0.
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
// In       children[2 m]: the two nodes (vertices or merges) below each merge;
//          position[m]: the position of each merge's edge in the edges sorted by chain.
// Out      own[m]: by position, the number of vertices directly below the merge.
// Launch   any.
// Needs    dendrogram_chains_vertices, dendrogram_chains_merges.
// Ensures  each own[i] is 0, 1 or 2.
kernel void dendrogram_chains_count(const global uint *children, const global uint *position,
                                    global uint *own, uint m, uint n) {
  GRID_FOR(e, m) own[position[e]] = (children[2 * e] < n) + (children[2 * e + 1] < n);
}

// Store the size of each merge, the number of vertices below it, for the chains of one level of the
// contraction (contract.cl). A chain is a sequence of merges, each directly below the next one. The
// merge above a whole chain is in a chain of a later level. Add the size of each whole chain to
// `own` of the merge above it.
//
// In       chain[m]: the number of the chain of the edge at each position. Edges are sorted by
//            chain.
//          sorted[m]: the rank of the edge at each position;
//          position[m]: the position of each edge, by rank;
//          above[m]: for each edge, by rank, the merge above its chain;
//          sums[m]: at each position, the sum of `own` from the beginning of the chain to this
//            position.
// In-out   own[m]: by position, the number of vertices below the merge, without those below the
//          merge before it in the same chain.
// Out      sizes[m]: the size of the merge of each edge, by rank.
// Launch   any. Sums do not depend on the order of work-items.
// Needs    `own` and `sums` are complete for the chains first to end - 1, which are the chains of
//          the level.
// Ensures  sizes[e] = the number of vertices below the merge of edge e, for the edges of these
//          chains.
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
