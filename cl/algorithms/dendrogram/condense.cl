// dendrogram: condense a dendrogram, with one launch for each step. Condensing finds the clusters
// that have at least a minimum number of points.
#include "algorithms/dendrogram/condense_steps.cl"

// Do step number `step` of the n_steps steps that condense a dendrogram. Condensing finds the
// clusters of at least `least` points, and where each point leaves its last cluster
// (condense_steps.cl).
//
// In       children[2 m]: the two nodes below each merge. Nodes 0 .. n - 1 are vertices, and node n
//            + i is merge i.
//          sizes[m]: the number of vertices below each merge;
//          order[m]: the index of the edge of each merge;
//          heights[m]: the bits of each edge's weight.
// Temp     scratch[n + 3 m]: parent pointers of the nodes, and the clusters that begin at merges;
//          count[1]: the number of clusters so far, 0 before the first step.
// Out      result: the number of clusters, in the first 64-bit word. Then, for each point, a 64-bit
//          word with the height at which it leaves its last cluster. Then, for each point, a 32-bit
//          word with this cluster. Then, from the next 64-bit word on, a struct condense_cluster_t
//          for each cluster.
// Launch   any.
// Needs    m == n - 1 > 0, so all vertices are joined; least > 1; n_steps is so large that all
//          paths upwards end. A step divides the lengths of these paths by at least
//          DENDROGRAM_HOPS.
// Ensures  `result` is complete after the last step.
kernel void dendrogram_condense_steps(const global uint *children, const global uint *sizes,
                                      const global uint *order, const global ulong *heights,
                                      global uint *scratch, global uint *count,
                                      global ulong *result, uint n, uint least, uint step,
                                      uint n_steps) {
  condense_t run;
  condense_open(&run, children, sizes, order, heights, scratch, count, result, n, least);
  grid_condense_steps(&run, result, step, step + 1, n_steps);
}
