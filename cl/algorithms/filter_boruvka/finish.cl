// filter-boruvka: the end of a phase in one launch of work-groups that wait for one another.
#include "algorithms/filter_boruvka/waiting.cl"

// Do the remaining rounds of a phase in one launch. If another phase follows, find the components
// of all vertices for it.
//
// In       first_depth: the first depth of the phase; settles: whether another phase follows.
// In-out   the worklist, the links and the reservations of `depth`; marks; state: counts, arrivals.
// Out      if `settles`: the links of depth 0, final; the supervertices of depth 1 for the next
//          phase.
// Launch   WG_SIZE; at most as many work-groups as can be resident at once.
// Needs    the reservations of pass 0 at `depth` are complete; arrivals are 0.
// Ensures  arrivals are 0 again. If work-groups waited too long and gave up, arrivals are not 0,
//          and no result is valid.
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
