// filter-boruvka in one launch of work-groups that wait for one another (device/resident.cl): the
// whole solve, or the rounds that are left of a phase.
#include "algorithms/filter_boruvka_filter.cl"
#include "algorithms/filter_boruvka_first.cl"
#include "algorithms/filter_boruvka_rounds.cl"
#include "algorithms/filter_boruvka_tiles.cl"
#include "device/resident.cl"

// Local memory of a resident work-group: that of all steps, one after the other.
typedef struct {
  tile_t tile;
  local uint *scratch, *base;
} room_t;

static inline void solve_wait(const solve_t *solve, uint *passed) {
  grid_barrier(solve->state + STATE_ARRIVALS, passed);
}

// Do the rounds of a phase from `depth` on, until no edge is left.
static inline void resident_rounds(const solve_t *solve, uint phase, uint depth,
                                   const room_t *room, uint *passed) {
  while (round_edges(solve, phase, depth) > 0 && depth + 1 < MAX_DEPTHS) {
#if RESERVATION_PASSES > 1
    for (uint pass = 1; pass < RESERVATION_PASSES; ++pass) {
      round_refine(solve, phase, depth, pass);
      solve_wait(solve, passed);
    }
#endif
    round_hook(solve, phase, depth, room->scratch, room->base);
    solve_wait(solve, passed);
    round_follow(solve, phase, depth);
    solve_wait(solve, passed);
    round_contract(solve, phase, depth, room->scratch, room->base);
    solve_wait(solve, passed);
    depth += 1;
  }
}

// From the graph to the first worklist; returns its depth.
static inline uint resident_first_round(const solve_t *solve, uint n_phases, const room_t *room,
                                        uint *passed) {
#if SYMMETRIC
  first_take_minima(solve, n_phases, &room->tile, room->scratch, room->base);
  solve_wait(solve, passed);
  first_join_rows(solve);
  solve_wait(solve, passed);
  first_choose_edges(solve, room->scratch, room->base);
  solve_wait(solve, passed);
  first_follow_choices(solve);
  solve_wait(solve, passed);
  round_contract_slots(solve, room->scratch, room->base);
  solve_wait(solve, passed);
  return 1;
#else
  filter_admit_edges(solve, 0, n_phases, 0, &room->tile, room->scratch, room->base);
  solve_wait(solve, passed);
  return 0;
#endif
}

// From the end of one phase to the first worklist of the next.
static inline void resident_next_phase(const solve_t *solve, uint phase, uint n_phases, uint depth,
                                       const room_t *room, uint *passed) {
  filter_number_components(solve, phase - 1, depth, room->scratch, room->base);
  solve_wait(solve, passed);
  filter_find_components(solve, phase - 1);
  solve_wait(solve, passed);
  filter_begin_components(solve, phase);
  solve_wait(solve, passed);
  filter_admit_edges(solve, phase, n_phases, 1, &room->tile, room->scratch, room->base);
  solve_wait(solve, passed);
}

// The whole solve.
//
// Out      in_forest, counts.
// Launch   WG_SIZE; as many work-groups as can be resident at once.
// Needs    arrivals zero, which the kernel leaves behind as well unless it gave up.
LANES_ATTRIBUTE
kernel void filter_boruvka_solve_resident(SOLVE_PARAMETERS, uint n_phases, uint seed, uint rank_a,
                                          uint rank_b, uint rank_c) {
  local full_key_t keys[TILE_PLACES > SAMPLES ? TILE_PLACES : SAMPLES];
  local uint columns[TILE_PLACES > SAMPLES ? TILE_PLACES : SAMPLES];
  local uint long_rows[MAX_LONG_ROWS], scratch[WG_SIZE], n_long_rows, base;
  const solve_t solve = SOLVE_ARGUMENTS;
  const room_t room = {{keys, columns, long_rows, &n_long_rows}, scratch, &base};
  uint passed = 0;
  solve_prepare(&solve);
  tile_find_rows(&solve);
  for (uint part = get_group_id(0); part < 1 && n_phases > 1; part += get_num_groups(0))
    filter_set_windows(&solve, seed, rank_a, rank_b, rank_c, keys, columns);
  solve_wait(&solve, &passed);
  uint depth = resident_first_round(&solve, n_phases, &room, &passed);
  resident_rounds(&solve, 0, depth, &room, &passed);
  for (uint phase = 1; phase < n_phases; ++phase) {
    resident_next_phase(&solve, phase, n_phases, depth, &room, &passed);
    depth = 1;
    resident_rounds(&solve, phase, depth, &room, &passed);
  }
  grid_leave(solve.state + STATE_ARRIVALS);
}

// The rounds that are left of a phase.
//
// In       the worklist and the reservations of `depth`.
// Out      in_forest, counts, links of all depths from `depth` on.
// Launch   as above.
// Needs    as above.
LANES_ATTRIBUTE
kernel void filter_boruvka_finish_phase(SOLVE_PARAMETERS, uint phase, uint depth) {
  local uint scratch[WG_SIZE], base;
  const solve_t solve = SOLVE_ARGUMENTS;
  const room_t room = {{0, 0, 0, 0}, scratch, &base};
  uint passed = 0;
  resident_rounds(&solve, phase, depth, &room, &passed);
  grid_leave(solve.state + STATE_ARRIVALS);
}
