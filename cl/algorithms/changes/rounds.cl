// The rounds of a contraction. In each round, every cluster chooses its lightest edge to another
// cluster. Clusters that chosen edges connect are merged into a new cluster, and the edges between
// the new clusters are listed for the next round.
#include "algorithms/changes/state.cl"

// Each step of a round is a function. It is called by a kernel for this step alone, and by the
// kernel that does all rounds in one launch. In the latter, a step reads what other work-items have
// written in the step before, so the arrays are volatile.

// Let the clusters at both ends of each listed edge choose this edge if it is lighter than their
// choice so far.
//
// Scope    the whole launch.
static inline void grid_choose(const global uint4 *list, uint n_edges, const global uint *u,
                               const global uint *v, const global weight_t *weights,
                               global uint *choices) {
  GRID_FOR(i, n_edges) {
    const uint4 edge = list[i];
    if (edge.x == edge.y) continue;
    wi_lower_choice(u, v, weights, choices + edge.x, edge.z);
    wi_lower_choice(u, v, weights, choices + edge.y, edge.z);
  }
}

// For each edge that the cluster at one of its ends has chosen, unite the disjoint sets of its two
// ends, and set its flag ROW_TAKEN. No edge is in the list twice.
//
// Scope    the whole launch.
static inline void grid_join(const global uint4 *list, uint n_edges,
                             const volatile global uint *choices, volatile global uint *sets,
                             global uchar *flags) {
  GRID_FOR(i, n_edges) {
    const uint4 edge = list[i];
    if (edge.x == edge.y || (choices[edge.x] != edge.z && choices[edge.y] != edge.z)) continue;
    flags[edge.z] |= ROW_TAKEN;
    wi_unite(sets, wi_find_halving(sets, edge.x), wi_find_halving(sets, edge.y));
  }
}

// Note in the node of a cluster's root that the cluster is merged into the cluster of `parent` in
// round `level`, by the chosen edge in `row`.
static inline void node_merge(global node_t *node, uint parent, uint level, uint row) {
  node->parent = parent;
  node->level = level;
  node->chosen = row;
}

// Merge joined clusters, and list the edges between the resulting clusters.
//
// When k clusters are merged, k - 1 of their roots stop being roots, and each of these stores one
// of the k - 1 chosen edges in its node. Usually this is the edge that its own cluster has chosen.
// If two clusters have chosen the same edge, the greater of their roots stores this edge. The
// lesser one stores the edge that the cluster of the new root has chosen, because the new root
// stores no edge.
//
// Scope    the whole launch; each lane group is together.
static inline void grid_merge(const global uint4 *list, uint n_edges,
                              const volatile global uint *choices, const volatile global uint *sets,
                              global node_t *nodes, global uint *next_choices, global uint4 *next,
                              volatile global uint *next_size, uint level) {
  WG_FOR(first, n_edges) {
    const size_t i = first + get_local_id(0);
    bool keep = false;
    uint4 edge = (uint4)(0, 0, 0, 0);
    if (i < n_edges) edge = list[i];
    if (edge.x != edge.y) {
      const uint a = wi_find_racing(sets, edge.x), b = wi_find_racing(sets, edge.y);
      const bool by_x = choices[edge.x] == edge.z, by_y = choices[edge.y] == edge.z;
      const bool x_shares = by_x && by_y && edge.x < edge.y;
      const bool y_shares = by_x && by_y && edge.y < edge.x;
      if (by_x && edge.x != a) node_merge(nodes + edge.x, a, level, x_shares ? choices[a] : edge.z);
      if (by_y && edge.y != b) node_merge(nodes + edge.y, b, level, y_shares ? choices[b] : edge.z);
      next_choices[a] = next_choices[b] = NO_ROW;
      keep = a != b;
      edge.x = a;
      edge.y = b;
    }
    const uint at = lanes_claim_global(next_size, keep);
    if (keep) next[at] = edge;
  }
}

// First step of a round: every cluster chooses the lightest edge that leaves it.
//
// In       list[sizes[round]]: edges as (root, root, row, 0), where roots stand for clusters;
//          u, v, weights: the ends and weights of all edges, by row.
// In-out   choices: at each root, the row of its cluster's lightest edge so far, NO_ROW before.
// Launch   any.
// Needs    nothing.
// Ensures  `choices` has, for each root with an edge, the row of its lightest edge.
kernel void changes_rounds_choose(const global uint4 *list, const global uint *sizes, uint round,
                                  const global uint *u, const global uint *v,
                                  const global weight_t *weights, global uint *choices) {
  grid_choose(list, sizes[round], u, v, weights, choices);
}

// Second step of a round: unite the sets of clusters that a chosen edge connects.
//
// In       list[sizes[round]]: edges as (root, root, row, 0), where roots stand for clusters;
//          choices: at each root, the row of the edge that its cluster has chosen.
// In-out   sets[n]: the parent pointers of disjoint sets of roots;
//          flags: the flags of each row. ROW_TAKEN is set for chosen edges.
// Launch   any.
// Needs    changes_rounds_choose. No edge is in the list twice.
// Ensures  roots that are connected by chosen edges are in one set.
kernel void changes_rounds_join(const global uint4 *list, const global uint *sizes, uint round,
                                const global uint *choices, volatile global uint *sets,
                                global uchar *flags) {
  grid_join(list, sizes[round], choices, sets, flags);
}

// Third step of a round: merge the joined clusters, and list the edges between the resulting
// clusters.
//
// In       list[sizes[round]]: edges as (root, root, row, 0), where roots stand for clusters;
//          choices: at each root, the row of the edge that its cluster has chosen;
//          sets[n]: the parent pointers of disjoint sets of roots;
//          level: the number of this round, counted through all changes.
// In-out   sizes[round + 1]: the number of edges of the next list, 0 before.
// Out      nodes: the node of each root that stops being a root;
//          next_choices: NO_ROW for the remaining roots, which choose in the next round;
//          next: the edges between the new clusters.
// Launch   any.
// Needs    changes_rounds_join.
// Ensures  the node of each root that was merged has the root of the new cluster, the level, and
//          one of the chosen edges, which no other node has.
LANES_ATTRIBUTE
kernel void changes_rounds_merge(const global uint4 *list, volatile global uint *sizes, uint round,
                                 const global uint *choices, const global uint *sets,
                                 global node_t *nodes, global uint *next_choices,
                                 global uint4 *next, uint level) {
  grid_merge(list, sizes[round], choices, sets, nodes, next_choices, next, sizes + round + 1,
             level);
}

// Do all remaining rounds of a contraction in one launch, by one work-group.
//
// In       u, v, weights: the ends and weights of all edges, by row;
//          round: the number of the first of these rounds, counted from the beginning of the
//          contraction;
//          level: the number of this round, counted through all changes.
// In-out   here[sizes[round]]: the edges of the first of these rounds;
//          sizes: the number of edges in each round, 0 for all later rounds before the launch;
//          even, odd: at each root, the row that it chooses in rounds of even and of odd number,
//          NO_ROW for the first of these rounds;
//          sets[n]: the parent pointers of disjoint sets of roots;
//          flags: the flags of each row. ROW_TAKEN is set for chosen edges.
// Out      nodes: the clusters (state.cl).
// Temp     there: space for sizes[round] edges.
// Launch   one work-group.
// Needs    all earlier rounds are complete.
// Ensures  no edge between two clusters remains.
LANES_ATTRIBUTE
kernel void changes_rounds_finish(global uint4 *here, global uint4 *there,
                                  volatile global uint *sizes, uint round, const global uint *u,
                                  const global uint *v, const global weight_t *weights,
                                  global uint *even, global uint *odd, volatile global uint *sets,
                                  global uchar *flags, global node_t *nodes, uint level) {
  for (; round + 1 < MOST_SIZES && sizes[round] > 0; ++round, ++level) {
    const uint n_edges = sizes[round];
    global uint *choices = round % 2 ? odd : even;
    grid_choose(here, n_edges, u, v, weights, choices);
    wg_barrier();
    grid_join(here, n_edges, choices, sets, flags);
    wg_barrier();
    grid_merge(here, n_edges, choices, sets, nodes, round % 2 ? even : odd, there,
               sizes + round + 1, level);
    wg_barrier();
    global uint4 *swap = here;
    here = there;
    there = swap;
  }
}
