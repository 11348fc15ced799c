// bvh-boruvka: minimum spanning trees of points, without a list of edges.
//
// Source: Prokopenko, Sao, Lebrun-Grandié, "A single-tree algorithm to compute the Euclidean
// minimum spanning tree on GPUs" (ICPP '22). In each round of Borůvka's algorithm, points search a
// hierarchy of boxes for the nearest point of another component. A search goes no farther than the
// weight of the lightest edge found so far that leaves the point's component. In the paper every
// point searches in every round. Here the results of a point's searches are kept for later rounds:
//
//   candidate[p]  the other end of the best known edge of p, or NO_SLOT if none is known. keys[p]
//                 is the weight of this edge, as an integer that sorts as the weight does.
//   lower[p]      a lower bound of the weights of all edges from p to other components, except the
//                 edge to the candidate
//
// First, a list of the few nearest points of each point is computed. As long as the list of p has a
// point of another component, p need not search. Afterwards, p searches only if the lightest known
// edge of its component is not lighter than lower[p]. When components merge, edges between
// components only disappear, so lower[p] stays valid.
//
// Edges are ordered by (weight, lesser, greater), where lesser and greater are the caller's numbers
// of the two ends. This triple is stored as several words of 32 bits. The words of a component's
// lightest edge are found one after the other, by atomic minima (winners.cl).
//
// The kernels that search are in a separate program (searches.cl), so that two processes can build
// the two programs at the same time.
#include "algorithms/bvh_boruvka/components.cl"
#include "device/winners.cl"

// The maximum number of parent pointers that the root of an old component follows in one launch of
// pointer jumping, to find its new root.
#define MOST_JUMPS 32

// Begin a solve: make every point a component of its own. A point's candidate is the other end of
// its best known edge. No point has a candidate yet. Points are numbered by slots, which are their
// positions in the hierarchy.
//
// Out      component[n]: the root of each point's component;
//          roots[n]: the list of all roots;
//          active[n]: the list of the points that may have a candidate;
//          candidate[n]: the candidate of each point, or NO_SLOT;
//          edges[n]: for each root, the edge by which it will be joined to another root;
//          cursor[n]: the position of each point in its list of near points;
//          labels[n_nodes]: for each node, the component of all its points, or MIXED if its points
//          are in several components;
//          leaf_lower[n_leaves]: for each leaf, a lower bound of the weights of its points' edges;
//          winners[n * words]: the reservation of each component, which holds its lightest edge so
//          far in several words;
//          state[n_state]: counters.
// Launch   any.
// Needs    no_edge: a value that does not stand for an edge.
// Ensures  component[p] = roots[p] = active[p] = p; every node is MIXED; all bits of the
//          reservations are 1.
kernel void bvh_boruvka_begin(global uint *component, global uint *roots, global uint *active,
                              global uint *candidate, global ulong *edges, global uchar *cursor,
                              global uint *labels, global real *leaf_lower,
                              volatile global uint *winners, global uint *state, uint n,
                              uint n_nodes, uint short_ids, ulong no_edge, uint n_state) {
  GRID_FOR(p, n) {
    component[p] = roots[p] = active[p] = (uint)p;
    candidate[p] = NO_SLOT;
    edges[p] = no_edge;
    cursor[p] = 0;
    if (p % LEAF == 0) leaf_lower[p >> LEAF_SHIFT] = REAL_ZERO;
    winner_clear(winners, n, (uint)p, short_ids);
  }
  GRID_FOR(node, n_nodes) labels[node] = MIXED;
  GRID_FOR(i, n_state) state[i] = 0;
}

// Copy the core distance of each point to the lower bound of the weights of the point's edges. No
// edge of a point is lighter than its core distance.
//
// In       points: the coordinates and core distances, leaf by leaf (tree.cl).
// Out      lower[n]: the lower bounds.
// Launch   any.
// Needs    bvh_boruvka_build_gather.
// Ensures  lower[p] is the core distance of the point in slot p, which is position p in the order
//          of the leaves.
kernel void bvh_boruvka_take_cores(const global real *points, global real *lower, uint dimensions,
                                   uint n) {
  tree_t tree;
  tree_open(&tree, points, 0, 0, 0, 0, dimensions, n, 0);
  GRID_FOR(p, n) lower[p] = tree_at(&tree, (uint)p, tree.dimensions);
}

// Begin a solve with components that the caller gives: hook every point to the point that
// represents its component.
//
// In       given[n]: for each point, in the caller's numbers, the point that represents its
//          component; ids[n]: the caller's number of the point in each slot, which is a position in
//          the hierarchy; slots[n]: the slot of each point.
// Out      parents[n]: by slot, the slot to which each point is hooked.
// Launch   any.
// Needs    given[given[i]] = given[i].
// Ensures  parents[p] is the slot of the point that represents p's component.
kernel void bvh_boruvka_hook_given(const global uint *given, const global uint *ids,
                                   const global uint *slots, global uint *parents, uint n) {
  GRID_FOR(p, n) parents[p] = slots[given[ids[p]]];
}

// Hook every component to the component at the other end of its winner, which is its lightest edge,
// and put the winner into the forest.
//
// In       roots[n_roots]: the root of each component;
//          winners[n * words]: the words of the winner of each component (winners.cl);
//          slots[n]: the position of each point in the hierarchy;
//          component[n], labels: the components of single points and of whole nodes
//          (components.cl).
// Out      parents: at each root, the root that it is hooked to, or itself.
// In-out   edges[n]: the forest. The kernel stores the winner's ends as lesser << bits | greater at
//          the index of each root that it hooks;
//          state[count]: the number of hooked roots, 0 before.
// Launch   any.
// Needs    all words of the winners are found.
// Ensures  every component with a winner is hooked, except that if two components have the same
//          winner, only one of them is.
kernel void bvh_boruvka_hook(const global uint *roots, const volatile global uint *winners,
                             const global uint *slots, const global uint *component,
                             const global uint *labels, global uint *parents, global ulong *edges,
                             volatile global uint *state, uint count, uint n_roots, uint n,
                             uint short_ids, uint bits) {
  const components_t components = {labels, component};
  uint n_hooked = 0;
  GRID_FOR(i, n_roots) {
    const uint own = roots[i];
    uint2 edge, of_other;
    parents[own] = own;
    if (!winner_edge(winners, n, own, short_ids, &edge)) continue;
    const uint at_lesser = component_of(&components, slots[edge.x]);
    const uint other = at_lesser == own ? component_of(&components, slots[edge.y]) : at_lesser;
    const bool is_mutual = winner_edge(winners, n, other, short_ids, &of_other) &&
                           of_other.x == edge.x && of_other.y == edge.y;
    if (is_mutual && own < other) continue;
    parents[own] = other;
    edges[own] = (ulong)edge.x << bits | edge.y;
    n_hooked += 1;
  }
  if (n_hooked > 0) atomic_add(state + count, n_hooked);
}

// Pointer jumping after components were hooked. Every old root follows at most MOST_JUMPS parents,
// and then points to the vertex that it has reached. This is its new root, or else another launch
// continues from there. Also list the new roots.
//
// In       roots[n_roots]: the old roots.
// In-out   parents: for each old root, the root to which it is hooked, or itself. Several
//          work-items may shorten the same path at the same time;
//          state[count]: the length of the list of new roots, 0 before;
//          state[pending]: the number of old roots that do not point to their root yet, 0 before.
// Out      next[n_roots]: the list of new roots;
//          winners[n * words]: the reservations, which hold the lightest edges of components. Those
//          of old roots are reset.
// Launch   any; repeated, with other elements of `state`, until state[pending] stays 0.
// Needs    bvh_boruvka_hook, after which parents form trees: only a root is its own parent.
// Ensures  the tree to which an old root belongs stays the same.
LANES_ATTRIBUTE
kernel void bvh_boruvka_jump(const global uint *roots, volatile global uint *parents,
                             volatile global uint *winners, global uint *next,
                             volatile global uint *state, uint count, uint pending, uint n_roots,
                             uint n, uint short_ids) {
  local uint scratch[WG_SIZE];
  local uint base;
  uint n_pending = 0;
  WG_FOR(first, n_roots) {
    const bool is_there = first + get_local_id(0) < n_roots;
    const uint own = is_there ? roots[first + get_local_id(0)] : 0;
    bool is_root = false;
    if (is_there) {
      uint root = parents[own], over = parents[root];
      is_root = root == own;
      for (uint jump = 0; over != root && jump < MOST_JUMPS; ++jump) {
        root = over;
        over = parents[root];
      }
      parents[own] = root;
      n_pending += over != root;
      winner_clear(winners, n, own, short_ids);
    }
    wg_append(next, state + count, own, is_root, scratch, &base);
  }
  if (n_pending > 0) atomic_add(state + pending, n_pending);
}

// After components were joined, update the component of every point and the label of every leaf,
// which is the component of all its points, or MIXED if they are in several components.
//
// In       parents: for each old root, its new root.
// In-out   component[n]: the root of each point's component, valid only for points of MIXED leaves;
//          labels: the labels of nodes, of which the kernel updates those of leaves.
// Launch   any.
// Needs    bvh_boruvka_jump.
// Ensures  if all points of a leaf are in one component, the leaf is labelled with it. All other
//          leaves are MIXED, and their points have entries in `component`.
kernel void bvh_boruvka_label_leaves(const global uint *parents, global uint *component,
                                     global uint *labels, uint n) {
  const uint n_leaves = (n + LEAF - 1) / LEAF;
  GRID_FOR(leaf, n_leaves) {
    if (labels[leaf] != MIXED) {
      labels[leaf] = parents[labels[leaf]];
      continue;
    }
    const uint first = (uint)leaf * LEAF, end = min(n - first, LEAF) + first;
    bool is_mixed = false;
    uint label = MIXED;
    for (uint slot = first; slot < end; ++slot) {
      const uint root = parents[component[slot]];
      component[slot] = root;
      is_mixed |= slot > first && root != label;
      label = root;
    }
    if (!is_mixed) labels[leaf] = label;
  }
}

// Update the labels of the nodes of some levels of the hierarchy. A label is the component of all
// points of a node, or MIXED if they are in several components.
//
// In       bases: for each level, the index of its first node in `labels`.
// In-out   labels: the kernel reads the entries of level - 1, and writes the entries of the levels
//          from `level` to end - 1.
// Launch   any for one level; one work-group for several levels. Levels are handled in ascending
//          order, beginning with level 1. Level 0 has the leaves.
// Needs    the level below is complete.
// Ensures  the label of a node is the common label of all its children, or MIXED if they differ.
kernel void bvh_boruvka_label_nodes(global uint *labels, const global uint *bases, uint n_leaves,
                                    uint level, uint end) {
  for (; level < end; ++level) {
    const uint n_nodes = tree_width(n_leaves, level), n_below = tree_width(n_leaves, level - 1);
    GRID_FOR(node, n_nodes) {
      const uint first = (uint)node << FANOUT_SHIFT, n_children = min(n_below - first, FANOUT);
      const global uint *below = labels + bases[level - 1] + first;
      uint label = below[0];
      for (uint c = 1; c < n_children; ++c) label = below[c] == label ? label : MIXED;
      labels[bases[level] + node] = label;
    }
    wg_barrier();
  }
}

// Unpack the two endpoints of each edge of the forest from one word of 64 bits.
//
// In       edges[k]: for each edge, the word lesser endpoint << bits | greater endpoint.
// Out      ends[k]: the two endpoints.
// Launch   any.
// Needs    bits <= 32.
// Ensures  ends[i] = (lesser, greater).
kernel void bvh_boruvka_unpack_edges(const global ulong *edges, global uint2 *ends, uint k,
                                     uint bits) {
  const ulong mask = (1ul << bits) - 1;
  GRID_FOR(i, k) ends[i] = (uint2)((uint)(edges[i] >> bits), (uint)(edges[i] & mask));
}

// Compute the weight of each edge of the forest from the coordinates of its ends.
//
// In       planes[dimensions * n]: all first coordinates, then all second ones, and so on, then the
//          core distances if there are any; ends[k]: the two points of each edge.
// Out      weights[k]: the weights.
// Launch   any.
// Needs    ends are numbers of points.
// Ensures  the weights are bit for bit those that the host's method Points.weights_of computes.
kernel void bvh_boruvka_weigh_edges(const global real *planes, const global uint2 *ends,
                                    global real *weights, uint dimensions, uint n, uint k) {
  GRID_FOR(i, k) {
    point_t point;
    point_open(&point, planes, n, ends[i].x, dimensions);
    const real measure = distance_measure(&point, ends[i].y);
    weights[i] = DISTANCE_OF_MEASURE(measure);
  }
}
