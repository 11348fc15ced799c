// filter-boruvka: the last rounds of a phase, which solves one range of the order of edges, in one
// launch of work-groups that wait for one another.
#include "algorithms/filter_boruvka/waiting.cl"

// Do the remaining rounds of a phase in one launch. A phase solves one range of the order of edges.
// If another phase follows, also find the components of all vertices for it.
//
// In       first_depth: the first depth (number of contractions) of the phase;
//          settles: whether another phase follows.
// In-out   worklist of `depth`: its undecided edges;
//          links of `depth`: they lead from each vertex to its supervertex;
//          reservations of `depth`: the lightest edge of each supervertex so far;
//          marks: a bit for each slot (CSR entry), set if its edge is in the forest;
//          state: the counts of each depth, and the number of arrivals at the barrier.
// Out      if `settles`: the links of depth 0, which get the component of each vertex, and the
//          supervertices of depth 1 for the next phase.
// Launch   WG_SIZE; at most as many work-groups as can be resident at once.
// Needs    the reservations of `depth` are complete in pass 0, which compares the first word of
//          edges; the number of arrivals is 0.
// Ensures  the number of arrivals is 0 again. If work-groups waited too long and gave up, it is not
//          0, and no result is valid.
LANES_ATTRIBUTE
kernel void filter_boruvka_finish_phase(SOLVE_PARAMETERS, uint phase, uint depth, uint first_depth,
                                        uint settles) {
  local uint scratch[WG_SIZE], counts[MAX_DEPTHS], base;
  local few_word_t least[FEW_SUPERVERTICES];
  const solve_t solve = SOLVE_ARGUMENTS;
  workspace_t workspace = {{0}, scratch, &base, 0, counts, least};
  if (solve.state[STATE_GAVE_UP]) return;  // an earlier launch did not finish
  if (resident_rounds(&solve, phase, depth, &workspace) && settles &&
      resident_settle(&solve, phase, first_depth, &workspace) && solve_wait(&solve, &workspace))
    filter_begin_links(&solve, phase + 1);
  grid_leave(solve.state + STATE_ARRIVALS);
}
