// filter-boruvka: the end of a phase in one launch of work-groups that wait for one another.
#include "algorithms/filter_boruvka/waiting.cl"

// The remaining rounds of a phase in one launch and, if another phase follows, the step to it.
//
// In       first_depth: the phase's first; settles: whether another phase follows.
// In-out   the worklist, the links and the reservations of `depth`; marks; state: counts, arrivals.
// Out      if it settles: links of depth 0, final; supervertices of depth 1 for the next phase.
// Launch   WG_SIZE; as many work-groups as can be resident at once.
// Needs    the reservations of pass 0 at `depth`; arrivals zero.
// Ensures  arrivals are zero again, unless it gave up: then nothing else is valid.
LANES_ATTRIBUTE
kernel void filter_boruvka_finish_phase(SOLVE_PARAMETERS, uint phase, uint depth, uint first_depth,
                                        uint settles) {
  local uint scratch[WG_SIZE], counts[MAX_DEPTHS], base;
  local few_word_t least[FEW_SUPERVERTICES];
  const solve_t solve = SOLVE_ARGUMENTS;
  workspace_t workspace = {{0}, scratch, &base, 0, counts, least};
  if (solve.state[STATE_GAVE_UP]) return;  // a launch before this one did not finish
  if (resident_rounds(&solve, phase, depth, &workspace) && settles &&
      resident_settle(&solve, phase, first_depth, &workspace) && solve_wait(&solve, &workspace))
    filter_begin_links(&solve, phase + 1);
  grid_leave(solve.state + STATE_ARRIVALS);
}
