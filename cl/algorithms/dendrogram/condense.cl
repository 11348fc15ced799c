// dendrogram: condensing, with one launch per step.
#include "algorithms/dendrogram/condense_steps.cl"

// Take one step of condensing, of which there are n_steps.
//
// In       children[2 m]: of each merge; sizes[m]: vertices below each; order[m]: the edge of each;
//          heights[m]: the bits of each edge's weight.
// Temp     scratch[n + 3 m]; count[1], 0 before the first step.
// Out      result: the number of clusters; from the next word of 64 bits on the heights of points;
//          their clusters in words of 32 bits; from the next word of 64 bits on the clusters.
// Launch   any.
// Needs    m == n - 1 > 0: all vertices are joined. least > 1. A jump divides depths by
//          DENDROGRAM_HOPS at least, and n_steps are so many that none is deep in the end.
// Ensures  as above, after the last step.
kernel void dendrogram_condense_steps(const global uint *children, const global uint *sizes,
                                      const global uint *order, const global ulong *heights,
                                      global uint *scratch, global uint *count,
                                      global ulong *result, uint n, uint least, uint step,
                                      uint n_steps) {
  condense_t run;
  condense_open(&run, children, sizes, order, heights, scratch, count, result, n, least);
  grid_condense_steps(&run, result, step, step + 1, n_steps);
}
