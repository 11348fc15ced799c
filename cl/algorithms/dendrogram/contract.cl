// dendrogram: contract a tree of clusters level by level, which assigns every edge to a chain of
// the dendrogram.
//
// Source: PANDORA (Sao, Prokopenko, Lebrun-Grandie, "PANDORA: A Parallel Dendrogram Construction
// Algorithm for Single Linkage Clustering on GPU", ICPP '24). A level contracts all edges that are
// the lightest at one of their ends. The remaining edges, its alpha edges, are the next level's
// tree, of half as many vertices at most. An edge inside a vertex of a level that is lighter than
// the vertex's lightest edge is in the chain below that one, on the vertex's side. Different here:
// an edge carries the vertex it is in from level to level, instead of a search through all levels
// at the end.
//
// Edges are ranks: the number of an edge in the order of merges. Example, a path of five vertices:
//
//     vertices 0 --2-- 1 --0-- 2 --3-- 3 --1-- 4
//     level 0  lightest 2 0 0 1 1; edges 0, 1, 2 are contracted to {0, 1, 2} and {3, 4}
//     level 1  lightest 3 3; 0 and 2 are in the chain below 3 of {0, 1, 2}, 1 in that of {3, 4}
//     level 2  no edge; 3 is in the chain of the top
#include "algorithms/dendrogram/jump.cl"

// Means "no edge", "no vertex" or "no chain".
#define DENDROGRAM_NONE 0xFFFFFFFFu

// Find the lightest edge at each vertex.
//
// In       u[n_edges], v[n_edges]: the ends of each edge; rank[n_edges].
// In-out   lightest[n]: DENDROGRAM_NONE before.
// Launch   any.
// Needs    ends are below n.
// Ensures  lightest[x] is the least rank of the edges at x.
kernel void dendrogram_contract_lightest(const global uint *u, const global uint *v,
                                         const global uint *rank, volatile global uint *lightest,
                                         uint n_edges) {
  GRID_FOR(i, n_edges) {
    atomic_min(&lightest[u[i]], rank[i]);
    atomic_min(&lightest[v[i]], rank[i]);
  }
}

// Put contracted edges into the chain below the lightest edge of the vertex that contains them, if
// they are lighter than it.
//
// In       inside[m]: the vertex that an edge is in, DENDROGRAM_NONE of edges not contracted yet;
//          lightest[vertices of the level].
// In-out   chain[m], above[m]: DENDROGRAM_NONE of edges in no chain yet.
// Launch   any.
// Needs    dendrogram_contract_lightest. first: a number above the numbers of chains of all levels
//          before.
// Ensures  chain[e] - first is the vertex, above[e] its lightest edge.
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

// Point each vertex to itself.
//
// Out      parent[n].
// Launch   any.
// Needs    nothing.
// Ensures  every vertex is a root.
kernel void dendrogram_contract_reset(global uint *parent, uint n) {
  GRID_FOR(x, n) parent[x] = (uint)x;
}

// Point each vertex along its lightest edge. If two vertices choose the same edge, the lesser one
// is a root.
//
// In       u[n_edges], v[n_edges], rank[n_edges], lightest[n].
// In-out   parent[n]: roots before.
// Launch   any. A vertex has one lightest edge, so one work-item writes its parent.
// Needs    dendrogram_contract_lightest, dendrogram_contract_reset.
// Ensures  parents make trees: ranks fall on the way to a root.
kernel void dendrogram_contract_hook(const global uint *u, const global uint *v,
                                     const global uint *rank, const global uint *lightest,
                                     global uint *parent, uint n_edges) {
  GRID_FOR(i, n_edges) {
    const uint a = min(u[i], v[i]), b = max(u[i], v[i]);
    if (lightest[b] == rank[i]) parent[b] = a;
    else if (lightest[a] == rank[i]) parent[a] = b;
  }
}

// Point each vertex to one that is farther up.
//
// In-out   parent[n].
// Launch   any; as often as the depth needs: a launch divides it by at least DENDROGRAM_HOPS. A
//          racy read gives an ancestor, too, as parents are only replaced by ancestors.
// Needs    parents make trees.
// Ensures  after enough launches parent[x] is a root.
kernel void dendrogram_contract_jump(volatile global uint *parent, uint n) {
  GRID_FOR(x, n) wi_dendrogram_jump(parent, (uint)x);
}

// Mark roots, for a scan that numbers them.
//
// In       parent[n]: roots.
// Out      is_root[n].
// Launch   any.
// Needs    dendrogram_contract_jump.
// Ensures  is_root is 1 for roots, else 0.
kernel void dendrogram_contract_roots(const global uint *parent, global uint *is_root, uint n) {
  GRID_FOR(x, n) is_root[x] = parent[x] == (uint)x;
}

// Mark the edges that are not contracted, for a scan that gives them their places.
//
// In       u[n_edges], v[n_edges], rank[n_edges], lightest[vertices].
// Out      stays[n_edges].
// Launch   any.
// Needs    dendrogram_contract_lightest.
// Ensures  stays is 1 for alpha edges, else 0.
kernel void dendrogram_contract_alpha(const global uint *u, const global uint *v,
                                      const global uint *rank, const global uint *lightest,
                                      global uint *stays, uint n_edges) {
  GRID_FOR(i, n_edges) stays[i] = lightest[u[i]] != rank[i] && lightest[v[i]] != rank[i];
}

// Update the vertex that contains each contracted edge to a vertex of the next level.
//
// In       parent[n]: roots; number[n]: of roots in the next level; chain[m].
// In-out   inside[m].
// Launch   any.
// Needs    dendrogram_contract_place of this level.
// Ensures  inside[e] is a vertex of the next level, for edges in no chain.
kernel void dendrogram_contract_follow(const global uint *parent, const global uint *number,
                                       const global uint *chain, global uint *inside, uint m) {
  GRID_FOR(e, m) {
    const uint vertex = inside[e];
    if (vertex != DENDROGRAM_NONE && chain[e] == DENDROGRAM_NONE)
      inside[e] = number[parent[vertex]];
  }
}

// Make the tree of the next level, and record which of its vertices contains each contracted edge.
//
// In       u[n_edges], v[n_edges], rank[n_edges]; lightest, parent, number of their vertices;
//          place[n_edges]: of alpha edges in the next level.
// In-out   inside[m].
// Out      next_u, next_v, next_rank[alpha edges].
// Launch   any.
// Needs    dendrogram_contract_follow; scans of what dendrogram_contract_roots and _alpha mark.
// Ensures  the next level's edges are in their order; inside has the vertex of each contracted one.
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
