// dendrogram: contract a tree of clusters level by level, which assigns every edge to a chain of
// the dendrogram.
//
// Source: PANDORA (Sao, Prokopenko, Lebrun-Grandie, "PANDORA: A Parallel Dendrogram Construction
// Algorithm for Single Linkage Clustering on GPU", ICPP '24). A chain is a sequence of merges, each
// directly below the next one. A level contracts all edges that are the lightest at one of their
// ends. The remaining edges are called alpha edges. They form the tree of the next level, which has
// at most half as many vertices. From then on, a contracted edge lies inside a vertex of each
// level. At the first level at which it is lighter than the lightest edge of this vertex, it gets
// its chain: the chain directly below the merge of that lightest edge, on the side of this vertex.
// The paper searches through all levels for this at the end. Here the vertex that contains each
// edge is updated at every level.
//
// Edges are given by their ranks, which are their numbers in the order of merges. Example, a path
// of five vertices:
//
//     vertices 0 --2-- 1 --0-- 2 --3-- 3 --1-- 4
//     level 0  lightest edges of the vertices: 2 0 0 1 1. Edges 0, 1 and 2 are contracted, which
//              makes the vertices {0, 1, 2} and {3, 4} of level 1.
//     level 1  lightest edges of the vertices: 3 3. Edges 0 and 2 are in the chain below edge 3 on
//              the side of {0, 1, 2}, and edge 1 is in the chain below edge 3 on the other side.
//     level 2  no edge remains. Edge 3 is in the chain of the top.
#include "algorithms/dendrogram/jump.cl"

// The value that means "no edge", "no vertex" or "no chain".
#define DENDROGRAM_NONE 0xFFFFFFFFu

// Find the lightest edge at each vertex of the present level. Its vertices are the clusters to
// which earlier levels have contracted the tree.
//
// In       u[n_edges], v[n_edges]: the two ends of each edge, vertices of this level;
//          rank[n_edges]: the rank of each edge, which is its position in the order of weights.
// In-out   lightest[n]: for each vertex, the rank of its lightest edge; DENDROGRAM_NONE before.
// Launch   any.
// Needs    ends are below n.
// Ensures  lightest[x] is the minimum rank of the edges at x.
kernel void dendrogram_contract_lightest(const global uint *u, const global uint *v,
                                         const global uint *rank, volatile global uint *lightest,
                                         uint n_edges) {
  GRID_FOR(i, n_edges) {
    atomic_min(&lightest[u[i]], rank[i]);
    atomic_min(&lightest[v[i]], rank[i]);
  }
}

// Assign contracted edges to chains. A chain is a sequence of merges, each directly below the next
// one. A contracted edge lies inside a vertex of this level. If the edge is lighter than the
// lightest edge of that vertex, its merge is in the chain below the merge of that lightest edge.
//
// In       inside[m]: for each edge, by rank, the vertex of this level inside which it lies, or
//            DENDROGRAM_NONE if it is not contracted yet;
//          lightest: for each vertex of this level, the rank of its lightest edge, or
//            DENDROGRAM_NONE if it has no edge.
// In-out   chain[m]: the chain of each edge, by rank, or DENDROGRAM_NONE;
//          above[m]: for each edge, the edge whose merge is above its chain, or DENDROGRAM_NONE.
// Launch   any.
// Needs    dendrogram_contract_lightest; `first` is greater than the numbers of all chains of
//          earlier levels.
// Ensures  for an edge that is put into a chain, chain[e] - first is the vertex inside which it
//          lies, and above[e] is that vertex's lightest edge.
kernel void dendrogram_contract_place(const global uint *inside, const global uint *lightest,
                                      global uint *chain, global uint *above, uint m, uint first) {
  GRID_FOR(e, m) {
    const uint vertex = inside[e];
    if (vertex == DENDROGRAM_NONE || chain[e] != DENDROGRAM_NONE) continue;
    const uint least = lightest[vertex];
    if ((uint)e >= least) continue;
    chain[e] = first + vertex;
    above[e] = least;
  }
}

// Make each vertex of a level a root, which points to itself, before the vertices are joined.
//
// Out      parent[n]: the vertex to which each vertex points.
// Launch   any.
// Needs    nothing.
// Ensures  every vertex is a root.
kernel void dendrogram_contract_reset(global uint *parent, uint n) {
  GRID_FOR(x, n) parent[x] = (uint)x;
}

// Let each vertex point to the other end of its lightest edge. If two vertices have the same
// lightest edge, the lesser of them is a root and points to itself. Each tree of pointers is a
// cluster, which this level contracts to one vertex.
//
// In       u[n_edges], v[n_edges]: the two ends of each edge;
//          rank[n_edges]: the rank of each edge in the order of weights;
//          lightest[n]: for each vertex, the rank of its lightest edge.
// In-out   parent[n]: the vertex to which each vertex points, at first itself.
// Launch   any. A vertex has one lightest edge, so one work-item writes its parent.
// Needs    dendrogram_contract_lightest, dendrogram_contract_reset.
// Ensures  parents form trees, because the ranks of lightest edges fall on every path to a root.
kernel void dendrogram_contract_hook(const global uint *u, const global uint *v,
                                     const global uint *rank, const global uint *lightest,
                                     global uint *parent, uint n_edges) {
  GRID_FOR(i, n_edges) {
    const uint a = min(u[i], v[i]), b = max(u[i], v[i]);
    if (lightest[b] == rank[i]) parent[b] = a;
    else if (lightest[a] == rank[i]) parent[a] = b;
  }
}

// Pointer jumping: let each vertex point to a vertex that is farther up its path to a root.
//
// In-out   parent[n]: the vertex to which each vertex points. Roots point to themselves.
// Launch   any; repeated until every vertex points to a root. A launch divides the depth of the
//          trees by at least DENDROGRAM_HOPS. Parents are only replaced by ancestors, so a racy
//          read gives an ancestor, too.
// Needs    parents form trees.
// Ensures  after enough launches, parent[x] is a root.
kernel void dendrogram_contract_jump(volatile global uint *parent, uint n) {
  GRID_FOR(x, n) wi_dendrogram_jump(parent, (uint)x);
}

// Mark the roots. Each root becomes a vertex of the next level, and a scan of the marks numbers
// these vertices.
//
// In       parent[n]: the root of each vertex.
// Out      is_root[n]: the marks.
// Launch   any.
// Needs    dendrogram_contract_jump.
// Ensures  is_root is 1 for roots, else 0.
kernel void dendrogram_contract_roots(const global uint *parent, global uint *is_root, uint n) {
  GRID_FOR(x, n) is_root[x] = parent[x] == (uint)x;
}

// Mark the alpha edges, which are the edges that this level does not contract. A scan of the marks
// gives them their positions in the list of the next level.
//
// In       u[n_edges], v[n_edges]: the two ends of each edge;
//          rank[n_edges]: the rank of each edge in the order of weights;
//          lightest[vertices]: for each vertex, the rank of its lightest edge. Edges that are the
//            lightest at one of their ends are contracted.
// Out      stays[n_edges]: the mark of each edge.
// Launch   any.
// Needs    dendrogram_contract_lightest.
// Ensures  stays is 1 for alpha edges, else 0.
kernel void dendrogram_contract_alpha(const global uint *u, const global uint *v,
                                      const global uint *rank, const global uint *lightest,
                                      global uint *stays, uint n_edges) {
  GRID_FOR(i, n_edges) stays[i] = lightest[u[i]] != rank[i] && lightest[v[i]] != rank[i];
}

// For each edge that an earlier level has contracted, find the vertex of the next level that
// contains it.
//
// In       parent[n]: the root of each vertex of this level. A root represents the vertices that
//            this level contracts to one.
//          number[n]: the vertex of the next level that each root becomes;
//          chain[m]: the chain of each edge, by rank, or DENDROGRAM_NONE if it is in no chain yet.
// In-out   inside[m]: for each edge, by rank, the vertex inside which it lies: before the launch a
//          vertex of this level, afterwards one of the next level. It is DENDROGRAM_NONE if no
//          earlier level has contracted the edge.
// Launch   any.
// Needs    dendrogram_contract_place of this level.
// Ensures  inside[e] is a vertex of the next level, for edges that are in no chain.
kernel void dendrogram_contract_follow(const global uint *parent, const global uint *number,
                                       const global uint *chain, global uint *inside, uint m) {
  GRID_FOR(e, m) {
    const uint vertex = inside[e];
    if (vertex != DENDROGRAM_NONE && chain[e] == DENDROGRAM_NONE)
      inside[e] = number[parent[vertex]];
  }
}

// Make the tree of the next level from the alpha edges, the edges that this level does not
// contract. For each edge that this level contracts, store the vertex of the next level that
// contains it.
//
// In       u[n_edges], v[n_edges]: the two ends of each edge, vertices of this level;
//          rank[n_edges]: the rank of each edge in the order of weights;
//          lightest: for each vertex, the rank of its lightest edge;
//          parent: for each vertex, its root, which represents the vertices that become one vertex;
//          number: for each root, the vertex of the next level that it becomes;
//          place[n_edges]: the position of each alpha edge in the list of the next level.
// In-out   inside[m]: for each edge, by rank, the vertex inside which it lies. It is written for
//          the edges that this level contracts.
// Out      next_u, next_v, next_rank: the two ends and the rank of each alpha edge, in the list of
//          the next level.
// Launch   any.
// Needs    dendrogram_contract_follow; scans of the marks of dendrogram_contract_roots and
//          dendrogram_contract_alpha.
// Ensures  alpha edges keep their order in the next level. inside[e] is the vertex of the next
//          level that contains e, for each edge e that this level contracts.
kernel void dendrogram_contract_edges(const global uint *u, const global uint *v,
                                      const global uint *rank, const global uint *lightest,
                                      const global uint *parent, const global uint *number,
                                      const global uint *place, global uint *inside,
                                      global uint *next_u, global uint *next_v,
                                      global uint *next_rank, uint n_edges) {
  GRID_FOR(i, n_edges) {
    const uint a = u[i], b = v[i], edge = rank[i];
    if (lightest[a] == edge || lightest[b] == edge) {
      inside[edge] = number[parent[a]];
    } else {
      next_u[place[i]] = number[parent[a]];
      next_v[place[i]] = number[parent[b]];
      next_rank[place[i]] = edge;
    }
  }
}
