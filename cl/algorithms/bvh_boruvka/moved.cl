// bvh-boruvka: what is still known of points that have moved a little.
//
// Lists of near points are found once, at the *origins* of the points. Later the points in a list are
// the same, and only their distances are computed again. What a list leaves out is bounded: no
// distance shrinks by more than both of its points have moved.
#include "algorithms/bvh_boruvka/tree.cl"

// Most points of a list; they are sorted in registers.
#define MOST_LISTED 7u

// What is taken off for rounding: a share of every term, and a distance below which squares vanish.
// With u = 2**-53, all distances here have a relative error of at most (dimensions + 4) u: each
// difference, square and sum adds at most u. Squares that vanish add at most sqrt(dimensions) 1e-161.
#define MOVE_SLACK(dimensions) ((DIMENSIONS(dimensions) + 8) * 0x1p-50)
#define MOVE_SLACK_AT_ZERO 1e-150

// What a dimension adds to a movement. Points of METRIC_COSINE have length 1; they move along chords.
#if METRIC == METRIC_COSINE
#define MOVE_ADD(sum, a, b) ((sum) + ((a) - (b)) * ((a) - (b)))
#define MOVE_OF_SUM(sum) sqrt(sum)
#else
#define MOVE_ADD(sum, a, b) DISTANCE_ADD(sum, a, b)
#define MOVE_OF_SUM(sum) DISTANCE_OF_PLAIN(DISTANCE_PLAIN(sum))
#endif

// A bound on the distance of a pair whose distance was at least `lower`, and whose points have moved
// by `moved` in total.
//
// Let d and e be the distances before and after, exactly. By the triangle inequality e >= d - moved.
// Each of the three is computed with a relative error of at most (dimensions + 4) u and an absolute one
// below MOVE_SLACK_AT_ZERO / 10. `slack` is MOVE_SLACK, eight times that relative error and more; so it covers
// that of d, of the movement, of e, and the few operations here.
//
// METRIC_COSINE: of points of length 1, the distance is half the square of their chord, to which the
// triangle inequality applies. Lengths and products are rounded, which adds at most slack / 2.
//
// A distance that is infinite has overflowed, and bounds nothing. fmax takes 0 for what is no number.
static inline double lower_after(double lower, double moved, double slack) {
  if (!(lower < INFINITY)) return 0;
#if METRIC == METRIC_COSINE
  const double chord = sqrt(2 * fmax(lower - slack, 0.0));
  const double left = fmax(chord * (1 - slack) - moved * (1 + slack) - MOVE_SLACK_AT_ZERO, 0.0);
  return fmax(0.5 * left * left * (1 - slack) - slack, 0.0);
#else
  return fmax(lower * (1 - slack) - moved * (1 + slack) - MOVE_SLACK_AT_ZERO, 0.0);
#endif
}

// The greatest value of all work-items, of work-groups of any size.
//
// Temp     scratch: WG_SIZE doubles of local memory, free on return.
// Scope    the whole work-group; valid in each work-item. Ends with a barrier where WG_SIZE > 1.
static inline double wg_max_f64(double value, local double *scratch) {
  const uint me = get_local_id(0);
  scratch[me] = value;
  for (uint width = WG_SIZE, kept; width > 1; width = kept) {
    kept = (width + 1) / 2;
    wg_barrier_local();
    if (me + kept < width) scratch[me] = max(scratch[me], scratch[me + kept]);
  }
  wg_barrier_local();
  const double greatest = scratch[0];
  wg_barrier_local();
  return greatest;
}

// Find how far every point has moved, and the farthest of each work-group.
//
// In       points, origins: by leaf, in the same order.
// Out      moves[n]; farthest[work-groups].
// Launch   any.
// Needs    bvh_boruvka_build_gather, for both.
// Ensures  the farthest movement of a work-group without points is 0.
LANES_ATTRIBUTE
kernel void bvh_boruvka_moved_measure(const global double *points, const global double *origins,
                                      global double *moves, global double *farthest,
                                      uint dimensions, uint n) {
  local double scratch[WG_SIZE];
  double most = 0;
  GRID_FOR(slot, n) {
    const size_t at = (slot >> LEAF_SHIFT) * (DIMENSIONS(dimensions) * LEAF) + slot % LEAF;
    double sum = 0;
#pragma clang loop vectorize(disable)
    for (uint d = 0; d < DIMENSIONS(dimensions); ++d)
      sum = MOVE_ADD(sum, points[at + d * LEAF], origins[at + d * LEAF]);
    const double move = MOVE_OF_SUM(sum);
    moves[slot] = move;
    most = max(most, move);
  }
  most = wg_max_f64(most, scratch);
  if (get_local_id(0) == 0) farthest[get_group_id(0)] = most;
}

// Bring the lists of near points, and the bounds on what they leave out, up to date.
//
// In       points, ids[n]: the tree at the present positions; moves[n]; reach[n]: by slot, no point
//          that the list leaves out was nearer at the origins; farthest: no point has moved farther.
// In-out   lists[n * k]: each is sorted anew; state[0]: how many points may have a nearest point that
//          their list leaves out, 0 before.
// Out      lower[n].
// Launch   any.
// Needs    bvh_boruvka_moved_measure; 1 <= k <= MOST_LISTED.
// Ensures  lists rise by plain sums; no point that a list leaves out is nearer than lower.
kernel void bvh_boruvka_moved_refresh(const global double *points, const global uint *ids,
                                      const global double *moves, const global double *reach,
                                      global uint *lists, global double *lower,
                                      volatile global uint *state, double farthest, uint dimensions,
                                      uint n, uint k) {
  tree_t tree;
  tree_open(&tree, points, 0, ids, 0, 0, dimensions, n, 0);
  const double slack = MOVE_SLACK(dimensions);
  uint n_unsure = 0;
  GRID_FOR(slot, n) {
    search_t search;
    double near[MOST_LISTED];
    uint at[MOST_LISTED];
    search_open(&search, &tree, (uint)slot, INFINITY);
#pragma unroll
    for (uint j = 0; j < MOST_LISTED; ++j) {
      uint other = NO_SLOT;
      double plain = INFINITY;
      if (j < k) {
        other = lists[LIST_AT(slot, j, k, n)];
        plain = search_plain(&search, &tree, other);
      }
#pragma unroll
      for (uint i = 0; i < MOST_LISTED; ++i) {  // indices are known, so the list is in registers
        if (i >= j) continue;
        const bool is_before = plain < near[i];
        const double behind = is_before ? near[i] : plain;
        const uint at_behind = is_before ? at[i] : other;
        near[i] = is_before ? plain : near[i];
        at[i] = is_before ? other : at[i];
        plain = behind;
        other = at_behind;
      }
      near[j] = plain;
      at[j] = other;
    }
#pragma unroll
    for (uint j = 0; j < MOST_LISTED; ++j)
      if (j < k) lists[LIST_AT(slot, j, k, n)] = at[j];
    lower[slot] = lower_after(reach[slot], moves[slot] + farthest, slack);
    n_unsure += lower[slot] <= DISTANCE_OF_PLAIN(near[0]);
  }
  if (n_unsure > 0) atomic_add(state, n_unsure);
}
