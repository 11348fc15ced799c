// Edges whose place is known as long as every weight stays near what it was.
//
// Weights are measured on a coarse scale that rises with them (sensitivity.cl). As long as no edge's
// place on it is farther than `slack` from the noted one, an edge is
//   in    the forest for certain, if it leads out of a component and every other edge that does
//         was noted more than 2 * slack above it; components are joined by such edges;
//   out   of it for certain, if its ends are joined by a path of edges all of which were noted
//         more than 2 * slack below it, or are in for certain;
//   a candidate, if neither is known.
// Only some moves can undo that: an edge that is in or on a path may not rise too far, one that is
// not in may not fall too far.
//
// Source: the cut and the cycle rule (Tarjan 1983) on intervals of weights, as in spanning trees
// with uncertain weights (Yaman, Karasan, Pinar 2001); on devices it is clmst's own.
#include "algorithms/reweighting/sensitivity_state.cl"
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/work_group.cl"

// What holds no edge, or cannot tell which of several.
#define NO_WINNER 0xffffffffu
#define BLOCKED 0xfffffffeu

// ------------------------------------------------------------------------- what is out

// Cut the scale into windows, and forget what was settled.
//
// In       cuts[n_cuts]: rising places; reach: 2 * slack.
// In-out   noted[m].
// Out      windows[m]: of an edge of the noted forest, how many cuts are below it; of another one
//          n_cuts + 1 + how many are more than `reach` below it. slots[m]: 0, 1, ...
// Launch   any. O(m log n_cuts).
kernel void sensitivity_classify_find_windows(global uint *noted, const global uint *cuts,
                                     global uint *windows, global uint *slots, uint n_cuts,
                                     uint reach, uint m) {
  GRID_FOR(e, m) {
    const uint place = noted[e] >> 2;
    const bool is_tree = noted[e] & EDGE_IS_TREE;
    uint low = 0, high = n_cuts;
    while (low < high) {
      const uint middle = (low + high) / 2;
      if (cuts[middle] + (is_tree ? 0 : reach) < place) low = middle + 1;
      else high = middle;
    }
    windows[e] = is_tree ? low : n_cuts + 1 + low;
    slots[e] = (uint)e;
    noted[e] = place << 2 | (is_tree ? EDGE_TREE : EDGE_OUT);
  }
}

// Find where windows begin.
//
// In       windows[m]: sorted.
// Out      starts[n_windows]: the first place of each window or of one after it, else m.
// Launch   any.
kernel void sensitivity_classify_find_starts(const global uint *windows, global uint *starts, uint n_windows,
                                    uint m) {
  GRID_FOR(w, n_windows) {
    uint low = 0, high = m;
    while (low < high) {
      const uint middle = low + (high - low) / 2;
      if (windows[middle] < w) low = middle + 1;
      else high = middle;
    }
    starts[w] = low;
  }
}

// Let every vertex be a set of its own.
//
// Out      parent[n].
// Launch   any.
kernel void sensitivity_classify_begin_sets(global uint *parent, uint n) {
  GRID_FOR(v, n) parent[v] = (uint)v;
}

// Join the ends of a window's edges.
//
// In       slots[first .. first + k): of edges of the noted forest; rows, indices: the graph.
// In-out   parent[n].
// Launch   any. O(k).
kernel void sensitivity_classify_join_window(const global uint *slots, const global uint *rows,
                                    const global uint *indices, volatile global uint *parent,
                                    uint first, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[first + i];
    wi_unite(parent, wi_find_halving(parent, rows[slot]), wi_find_halving(parent, indices[slot]));
  }
}

// Make candidates of the edges of a window that the paths joined so far do not rule out.
//
// In       slots[first .. first + k): of edges not in the noted forest; rows, indices; parent[n],
//          of which paths are shortened.
// In-out   noted[m].
// Launch   any. O(k).
kernel void sensitivity_classify_keep_window(const global uint *slots, const global uint *rows,
                                    const global uint *indices, volatile global uint *parent,
                                    global uint *noted, uint first, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[first + i];
    if (wi_find_halving(parent, rows[slot]) != wi_find_halving(parent, indices[slot]))
      noted[slot] |= EDGE_IS_CANDIDATE;
  }
}

// ------------------------------------------------------------------------- what is in

// Flag candidates.
//
// In       noted[m].
// Out      flags[m]: 1 for candidates, else 0.
// Launch   any.
kernel void sensitivity_classify_flag_candidates(const global uint *noted, global uchar *flags, uint m) {
  GRID_FOR(e, m) flags[e] = noted[e] & EDGE_IS_CANDIDATE ? 1 : 0;
}

// List candidates.
//
// In       noted, rows, indices; slots[k].
// Out      ends[k]; edges[k]: (scale, slot).
// Launch   any. O(k).
kernel void sensitivity_classify_list(const global uint *noted, const global uint *rows,
                             const global uint *indices, const global uint *slots,
                             global uint2 *ends, global uint2 *edges, uint k) {
  GRID_FOR(i, k) {
    const uint slot = slots[i];
    ends[i] = (uint2)(rows[slot], indices[slot]);
    edges[i] = (uint2)(noted[slot] >> 2, slot);
  }
}

// Find where on the scale every component's lightest edge is.
//
// In       ends[k], edges[k].
// In-out   lightest[n]: all ones before.
// Launch   any. O(k).
kernel void sensitivity_classify_find_lightest(const global uint2 *ends, const global uint2 *edges,
                                      volatile global uint *lightest, uint k) {
  GRID_FOR(i, k) {
    const uint2 pair = ends[i];
    const uint scale = edges[i].x;
    reservation_lower_u32(lightest + pair.x, scale);
    reservation_lower_u32(lightest + pair.y, scale);
  }
}

static inline void sensitivity_hold_edge(volatile global uint *holders, const global uint *lightest,
                                  uint component, uint scale, uint i, uint reach) {
  if (scale > lightest[component] + reach) return;
  const uint held = atomic_cmpxchg(holders + component, NO_WINNER, i);
  if (held != NO_WINNER) atomic_xchg(holders + component, BLOCKED);
}

// Let every component hold the one edge that may be its lightest, if there is one only.
//
// In       ends[k], edges[k], lightest[n]; reach: 2 * slack.
// In-out   holders[n]: NO_WINNER before; then a place on the list, or BLOCKED.
// Launch   any. O(k).
kernel void sensitivity_classify_hold(const global uint2 *ends, const global uint2 *edges,
                             const global uint *lightest, volatile global uint *holders, uint reach,
                             uint k) {
  GRID_FOR(i, k) {
    sensitivity_hold_edge(holders, lightest, ends[i].x, edges[i].x, (uint)i, reach);
    sensitivity_hold_edge(holders, lightest, ends[i].y, edges[i].x, (uint)i, reach);
  }
}

// Let edges that are held be in the forest for certain, and join their ends.
//
// In       ends[k], edges[k], holders[n].
// In-out   noted[m], parent[n].
// Launch   any. O(k).
kernel void sensitivity_classify_join_winners(const global uint2 *ends, const global uint2 *edges,
                                  const global uint *holders, global uint *noted,
                                  volatile global uint *parent, uint k) {
  GRID_FOR(i, k) {
    const uint2 pair = ends[i], edge = edges[i];
    if (holders[pair.x] != (uint)i && holders[pair.y] != (uint)i) continue;
    noted[edge.y] = edge.x << 2 | EDGE_IN;
    wi_unite(parent, wi_find_racing(parent, pair.x), wi_find_racing(parent, pair.y));
  }
}

// Contract the list; what has both ends in one component now leaves it, and if it is not in the
// forest, it never will be.
//
// In       edges[k]; parent[n].
// In-out   ends[k]; noted[m].
// Out      stays[k].
// Launch   any. O(k).
kernel void sensitivity_classify_contract(global uint2 *ends, const global uint2 *edges,
                                 const global uint *parent, global uint *noted, global uchar *stays,
                                 uint k) {
  GRID_FOR(i, k) {
    const uint2 pair = ends[i];
    const uint u = wi_find(parent, pair.x), v = wi_find(parent, pair.y), slot = edges[i].y;
    ends[i] = (uint2)(u, v);
    stays[i] = u != v;
    if (u == v && (noted[slot] & EDGE_STATE) != EDGE_IN) noted[slot] &= ~EDGE_STATE;
  }
}

// ---------------------------------------------------------------------- what is handed on

// Several store the same.
static inline void sensitivity_flag_component(volatile global uchar *flags, uint component) {
  flags[component] = 1;
}

// Flag the components that edges lead to.
//
// In       ends[k].
// In-out   flags[n]: 0 before.
// Launch   any. O(k).
kernel void sensitivity_classify_flag_components(const global uint2 *ends, volatile global uchar *flags,
                                        uint k) {
  GRID_FOR(i, k) {
    sensitivity_flag_component(flags, ends[i].x);
    sensitivity_flag_component(flags, ends[i].y);
  }
}

// Number components.
//
// In       components[k].
// Out      numbers[n], of these.
// Launch   any.
kernel void sensitivity_classify_number(const global uint *components, global uint *numbers, uint k) {
  GRID_FOR(i, k) numbers[components[i]] = (uint)i;
}

// Let edges lead to numbers of components, and part with their places on the scale.
//
// In       ends[k], edges[k], numbers[n].
// Out      numbered[k]: the ends; slots[k].
// Launch   any.
kernel void sensitivity_classify_finish(const global uint2 *ends, const global uint2 *edges,
                               const global uint *numbers, global uint2 *numbered,
                               global uint *slots, uint k) {
  GRID_FOR(i, k) {
    numbered[i] = (uint2)(numbers[ends[i].x], numbers[ends[i].y]);
    slots[i] = edges[i].y;
  }
}

// Show what is in the forest for certain, a bit a slot.
//
// In       noted[m].
// In-out   bits: 0 before.
// Launch   any. O(m).
kernel void sensitivity_classify_show(const global uint *noted, volatile global uint *bits, uint m) {
  GRID_FOR(e, m) {
    if ((noted[e] & EDGE_STATE) == EDGE_IN) atomic_or(bits + e / 32, 1u << e % 32);
  }
}
