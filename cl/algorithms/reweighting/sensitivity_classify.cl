// Find the edges that are certainly in the forest, and those that are certainly out of it, as long
// as every weight stays in its sensitivity interval.
//
// Weights have positions on a coarse scale (sensitivity.cl). The position of an edge's reference
// weight is called the edge's reference. `reach` is 2 * slack. Suppose that no position is more
// than `slack` away from its reference. Then an edge is
//   in           if it leads out of a component, and every other edge that leads out of this
//                component has a reference more than `reach` above the edge's. Components are
//                joined by these edges.
//   out          if a path joins its ends, and each edge of the path is in, or has a reference more
//                than `reach` below the edge's;
//   a candidate  if neither is known.
//
// Example, slack 2: the intervals of three parallel edges. a is in, since its interval ends below
// the other two. b and c overlap, but a is a path between their ends, so both are out:
//
//     position    10   11   12   13   14   15   16   17   18   19   20
//     a  12       [---------*---------]
//     b  17                                [---------*---------]
//     c  18                                     [---------*---------]
//
// Only some changes of weights can make this wrong. If an edge is in, or is on one of these paths,
// its weight may not rise by more than the slack. If an edge is not in, its weight may not fall by
// more than the slack.
//
// Source: the cut and the cycle property (Tarjan 1983) on intervals of weights, as in spanning
// trees with uncertain weights (Yaman, Karasan, Pinar 2001). The form for devices is clmst's own.
#include "algorithms/reweighting/sensitivity_state.cl"
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/work_group.cl"

// Two values that stand for the winner of a component, which is the edge that is certainly its
// lightest one. NO_WINNER means that no edge has been found yet. AMBIGUOUS means that several edges
// may be the lightest.
#define NO_WINNER 0xffffffffu
#define AMBIGUOUS 0xfffffffeu

// ------------------------------------------------------------------------- edges that are out

// Assign each edge to a bin, a range of positions on the scale, and reset the states of all edges.
// The edges of the reference forest, which is the forest of the earlier solve, get the bins 0 to
// n_cuts. All other edges get n_cuts + 1 further bins.
//
// In       cuts[n_cuts]: the positions that divide the scale into bins, ascending;
//          reach: 2 * slack, where slack is the distance by which weights may move. Edges whose
//          positions are farther apart than `reach` cannot change their order.
// In-out   records[m]: the position and the state of each edge. The state becomes EDGE_TREE for
//          edges of the reference forest, and EDGE_OUT for all others.
// Out      bins[m]: the bin of each edge;
//          slots[m]: the number of each edge, which is then sorted with its bin.
// Launch   any. O(m log n_cuts).
// Needs    the records of sensitivity_record.
// Ensures  slots[e] = e. If e is an edge of the reference forest, bins[e] is the number of cuts
//          below its position. For any other edge, bins[e] is n_cuts + 1 + the number of cuts that
//          are more than `reach` below its position.
kernel void sensitivity_classify_find_bins(global uint *records, const global uint *cuts,
                                           global uint *bins, global uint *slots, uint n_cuts,
                                           uint reach, uint m) {
  GRID_FOR(e, m) {
    const uint position = records[e] >> 2;
    const bool is_tree = records[e] & EDGE_IS_TREE;
    uint low = 0, high = n_cuts;
    while (low < high) {
      const uint middle = (low + high) / 2;
      if (cuts[middle] + (is_tree ? 0 : reach) < position) low = middle + 1;
      else high = middle;
    }
    bins[e] = is_tree ? low : n_cuts + 1 + low;
    slots[e] = (uint)e;
    records[e] = position << 2 | (is_tree ? EDGE_TREE : EDGE_OUT);
  }
}

// Find where each bin, a range of positions on the scale, begins among the sorted edges.
//
// In       bins[m]: the bin of each edge, sorted.
// Out      starts[n_bins]: the first index of each bin.
// Launch   any.
// Needs    bins ascend.
// Ensures  starts[b] = the first index whose bin is not less than b, or m if there is none.
kernel void sensitivity_classify_find_starts(const global uint *bins, global uint *starts,
                                             uint n_bins, uint m) {
  GRID_FOR(w, n_bins) {
    uint low = 0, high = m;
    while (low < high) {
      const uint middle = low + (high - low) / 2;
      if (bins[middle] < w) low = middle + 1;
      else high = middle;
    }
    starts[w] = low;
  }
}

// Begin disjoint sets: make every vertex a set of its own.
//
// Out      parent[n]: the parent of each vertex in its set.
// Launch   any.
// Needs    nothing.
// Ensures  parent[v] = v.
kernel void sensitivity_classify_begin_sets(global uint *parent, uint n) {
  GRID_FOR(v, n) parent[v] = (uint)v;
}

// For each of the k edges of the reference forest that are in one bin, unite the sets of its two
// ends. The reference forest is the forest of an earlier solve, and a bin is a range of positions
// on the scale.
//
// In       slots[first + k]: the slots of edges, sorted by bin. The last k are in this bin.
//          rows[m], indices[m]: the two ends of the edge in each slot.
// In-out   parent[n]: the parents of disjoint sets of vertices.
// Launch   any. O(k).
// Needs    one launch for each bin, in ascending order of bins.
// Ensures  both ends of each of these edges are in one set.
kernel void sensitivity_classify_join_bin(const global uint *slots, const global uint *rows,
                                          const global uint *indices, volatile global uint *parent,
                                          uint first, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[first + i];
    wi_unite(parent, wi_find_halving(parent, rows[slot]), wi_find_halving(parent, indices[slot]));
  }
}

// Among the k edges of one bin (range of positions on the scale), find the candidates, which are
// the edges that may or may not be in the forest. These k edges are outside the forest of the
// earlier solve. Such an edge is a candidate if no path of much lighter edges of that forest joins
// its ends.
//
// In       slots[first + k]: the slots of edges, sorted by bin. The last k are in this bin.
//          rows[m], indices[m]: the two ends of the edge in each slot.
// In-out   parent[n]: the parents of disjoint sets of vertices. Each set is connected by much
//          lighter forest edges.
//          records[m]: the position and the state of each edge.
// Launch   any. O(k).
// Needs    this bin is bin n_cuts + 1 + w, so exactly w cuts (positions that divide the scale) are
//          more than `reach` below its edges. sensitivity_classify_join_bin has been done for
//          exactly the bins 0 to w - 1, whose edges are in the forest of the earlier solve.
// Ensures  an edge whose ends are in different sets is a candidate (EDGE_OTHER). All other edges of
//          the bin stay EDGE_OUT, because their ends are joined by a path of edges that are more
//          than `reach` lighter.
kernel void sensitivity_classify_keep_bin(const global uint *slots, const global uint *rows,
                                          const global uint *indices, volatile global uint *parent,
                                          global uint *records, uint first, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[first + i];
    if (wi_find_halving(parent, rows[slot]) != wi_find_halving(parent, indices[slot]))
      records[slot] |= EDGE_IS_CANDIDATE;
  }
}

// ------------------------------------------------------------------------- edges that are in

// Flag the candidate edges, of which the reference weights do not decide whether they are in the
// forest.
//
// In       records[m]: the position and the state of each edge.
// Out      flags[m]: a flag for each edge.
// Launch   any.
// Needs    sensitivity_classify_keep_bin of all bins.
// Ensures  flags[e] = 1 for candidates, else 0.
kernel void sensitivity_classify_flag_candidates(const global uint *records, global uchar *flags,
                                                 uint m) {
  GRID_FOR(e, m) flags[e] = records[e] & EDGE_IS_CANDIDATE ? 1 : 0;
}

// List the ends and the positions on the scale of the candidates, which are the edges that may or
// may not be in the forest.
//
// In       records[m]: the position and the state of each edge;
//          rows[m], indices[m]: the two ends of the edge in each slot;
//          slots[k]: the slots of the candidates.
// Out      ends[k]: the two ends of each candidate;
//          edges[k]: the position and the slot of each candidate, as a pair.
// Launch   any. O(k).
// Needs    slots are below m.
// Ensures  ends[i] = the two ends; edges[i] = (position, slot).
kernel void sensitivity_classify_list(const global uint *records, const global uint *rows,
                                      const global uint *indices, const global uint *slots,
                                      global uint2 *ends, global uint2 *edges, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[i];
    ends[i] = (uint2)(rows[slot], indices[slot]);
    edges[i] = (uint2)(records[slot] >> 2, slot);
  }
}

// For each component, find the minimum position on the scale of its candidate edges (edges that may
// or may not be in the forest).
//
// In       ends[k]: the two components that each candidate joins;
//          edges[k]: the (position, slot) of each candidate.
// In-out   lightest[n]: the minimum position for each component so far, all ones before.
// Launch   any. O(k).
// Needs    each end is a component.
// Ensures  lightest[c] = the minimum position of a candidate that leads out of component c.
kernel void sensitivity_classify_find_lightest(const global uint2 *ends, const global uint2 *edges,
                                               volatile global uint *lightest, uint k) {
  GRID_FOR(i, k) {
    const uint2 pair = ends[i];
    const uint scale = edges[i].x;
    reservation_lower_u32(lightest + pair.x, scale);
    reservation_lower_u32(lightest + pair.y, scale);
  }
}

static inline void reserve_edge(volatile global uint *winners, const global uint *lightest,
                                uint component, uint scale, uint i, uint reach) {
  if (scale > lightest[component] + reach) return;
  const uint seen = atomic_cmpxchg(winners + component, NO_WINNER, i);
  if (seen != NO_WINNER) atomic_xchg(winners + component, AMBIGUOUS);
}

// For every component, find the candidate edges that may be its lightest edge under the new
// weights. If there is only one, it is the component's winner. Candidates are edges that may or may
// not be in the forest.
//
// In       ends[k]: the two components that each candidate joins;
//          edges[k]: the (position, slot) of each candidate;
//          lightest[n]: the minimum position of each component's candidates;
//          reach: 2 * slack. Edges whose positions are farther apart than this cannot change their
//          order.
// In-out   winners[n]: the index in edges[] of each component's winner, NO_WINNER before.
// Launch   any. O(k).
// Needs    sensitivity_classify_find_lightest.
// Ensures  winners[c] = the index of the only candidate of c whose position is at most lightest[c]
//          + reach, or AMBIGUOUS if there are several.
kernel void sensitivity_classify_reserve(const global uint2 *ends, const global uint2 *edges,
                                         const global uint *lightest, volatile global uint *winners,
                                         uint reach, uint k) {
  GRID_FOR(i, k) {
    reserve_edge(winners, lightest, ends[i].x, edges[i].x, (uint)i, reach);
    reserve_edge(winners, lightest, ends[i].y, edges[i].x, (uint)i, reach);
  }
}

// Put the winners into the forest, and join the components of their two ends. A winner is an edge
// that is certainly the lightest of a component.
//
// In       ends[k]: the two components that each candidate edge joins;
//          edges[k]: the (position, slot) of each candidate;
//          winners[n]: the index in edges[] of each component's winner, or NO_WINNER or AMBIGUOUS.
// In-out   records[m]: the position and the state of each edge;
//          parent[n]: the parents of disjoint sets, which are the components.
// Launch   any. O(k).
// Needs    sensitivity_classify_reserve.
// Ensures  every winner is EDGE_IN, and its ends are in one set.
kernel void sensitivity_classify_join_winners(const global uint2 *ends, const global uint2 *edges,
                                              const global uint *winners, global uint *records,
                                              volatile global uint *parent, uint k) {
  GRID_FOR(i, k) {
    const uint2 pair = ends[i], edge = edges[i];
    if (winners[pair.x] != (uint)i && winners[pair.y] != (uint)i) continue;
    records[edge.y] = edge.x << 2 | EDGE_IN;
    wi_unite(parent, wi_find_racing(parent, pair.x), wi_find_racing(parent, pair.y));
  }
}

// Contract the list of candidates, which are the edges that may or may not be in the forest.
// Replace their ends by the components that contain them, and flag the edges between two
// components. All other candidates leave the list, because they are decided now: the winners are
// certainly in the forest, and the others are certainly not in it.
//
// In       edges[k]: the (position, slot) of each candidate;
//          parent[n]: the parents of disjoint sets, which are the components.
// In-out   ends[k]: the two components that each candidate joins;
//          records[m]: the position and the state of each edge.
// Out      stays[k]: a flag for each candidate that stays in the list.
// Launch   any. O(k).
// Needs    sensitivity_classify_join_winners.
// Ensures  ends are roots. If the two ends of edge i differ, stays[i] = 1. Otherwise stays[i] = 0,
//          and the edge is EDGE_IN or EDGE_OUT.
kernel void sensitivity_classify_contract(global uint2 *ends, const global uint2 *edges,
                                          const global uint *parent, global uint *records,
                                          global uchar *stays, uint k) {
  GRID_FOR(i, k) {
    const uint2 pair = ends[i];
    const uint u = wi_find(parent, pair.x), v = wi_find(parent, pair.y), slot = edges[i].y;
    ends[i] = (uint2)(u, v);
    stays[i] = u != v;
    if (u == v && (records[slot] & EDGE_STATE) != EDGE_IN) records[slot] &= ~EDGE_STATE;
  }
}

// ---------------------------------------------------------------------- the candidates

// Set the flag that says that a component has candidate edges (edges that may or may not be in the
// forest). All writers store 1, so their race does no harm.
static inline void flag_component(volatile global uchar *flags, uint component) {
  flags[component] = 1;
}

// Flag the components that have candidate edges (edges that may or may not be in the forest).
//
// In       ends[k]: the two components that each candidate joins.
// In-out   flags[n]: a flag for each component, 0 before.
// Launch   any. O(k).
// Needs    each end is a component.
// Ensures  flags[c] = 1 for every end c.
kernel void sensitivity_classify_flag_components(const global uint2 *ends,
                                                 volatile global uchar *flags, uint k) {
  GRID_FOR(i, k) {
    flag_component(flags, ends[i].x);
    flag_component(flags, ends[i].y);
  }
}

// Give consecutive numbers to the components that have candidate edges (edges that may or may not
// be in the forest).
//
// In       components[k]: the components that have candidates, each once.
// Out      numbers[n]: the number of each component, written for components that have candidates.
// Launch   any.
// Needs    components are below n.
// Ensures  numbers[components[i]] = i.
kernel void sensitivity_classify_number(const global uint *components, global uint *numbers,
                                        uint k) {
  GRID_FOR(i, k) numbers[components[i]] = (uint)i;
}

// For each candidate edge, store the numbers of the components that it joins, and its slot. The
// solve of the candidates needs these, but not the positions on the scale.
//
// In       ends[k]: the two components that each candidate joins;
//          edges[k]: the (position, slot) of each candidate;
//          numbers[n]: the number of each component.
// Out      numbered[k]: the numbers of the two components of each candidate;
//          slots[k]: the slot of each candidate.
// Launch   any.
// Needs    sensitivity_classify_number of all ends.
// Ensures  numbered[i] = the numbers of ends[i]; slots[i] = the slot of edges[i].
kernel void sensitivity_classify_finish(const global uint2 *ends, const global uint2 *edges,
                                        const global uint *numbers, global uint2 *numbered,
                                        global uint *slots, uint k) {
  GRID_FOR(i, k) {
    numbered[i] = (uint2)(numbers[ends[i].x], numbers[ends[i].y]);
    slots[i] = edges[i].y;
  }
}

// Set a bit for each edge that is certainly in the forest, as long as all weights stay in their
// sensitivity intervals.
//
// In       records[m]: the position and the state of each edge.
// In-out   bits[ceil(m / 32)]: a bit for each slot (edge), 0 before.
// Launch   any. O(m).
// Needs    the classification is complete.
// Ensures  bit e is set if edge e is EDGE_IN.
kernel void sensitivity_classify_expand(const global uint *records, volatile global uint *bits,
                                        uint m) {
  GRID_FOR(e, m) {
    if ((records[e] & EDGE_STATE) == EDGE_IN) atomic_or(bits + e / 32, 1u << e % 32);
  }
}
