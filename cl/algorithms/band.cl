// Edges whose place is known as long as every weight stays near what it was.
//
// Weights are measured on a coarse scale that rises with them (band_scale). As long as no edge's
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
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// A noted edge is a word: its place on the scale in the upper 30 bits, what is known of it below.
// Of the forest that was noted: EDGE_IN or EDGE_TREE; of the others: EDGE_OUT or EDGE_OTHER.
#define EDGE_OUT 0u
#define EDGE_IN 1u
#define EDGE_OTHER 2u  // a candidate
#define EDGE_TREE 3u   // a candidate
#define EDGE_STATE 3u
#define EDGE_IS_TREE 1u
#define EDGE_IS_CANDIDATE 2u

// What holds no edge, or cannot tell which of several.
#define NO_HOLDER 0xffffffffu
#define BLOCKED 0xfffffffeu

// Steps on the scale from a weight to its double: so many bits, of a scale of 30.
#if WEIGHT_KIND == WEIGHT_FLOAT && WEIGHT_BITS == 64
#define OCTAVE_BITS 18
#else
#define OCTAVE_BITS 21
#endif
#define SCALE_TOP 0x3fffffffu

// The upper bits of a weight's key as a float, whatever the dtype. A conversion to float rounds,
// but never changes an order.
static inline uint band_leading(weight_t bits) {
#if WEIGHT_KIND == WEIGHT_FLOAT
#if WEIGHT_BITS == 16
  return (uint)weight_key(bits) << 11;
#else
  return weight_key_leading(bits) >> 2;
#endif
#else
#if WEIGHT_KIND == WEIGHT_UNSIGNED
  const float value = bits;
#elif WEIGHT_BITS == 8
  const float value = as_char(bits);
#elif WEIGHT_BITS == 16
  const float value = as_short(bits);
#elif WEIGHT_BITS == 32
  const float value = as_int(bits);
#else
  const float value = as_long(bits);
#endif
  uint word = as_uint(value);
  word = word & 0x80000000u ? ~word : word | 0x80000000u;
  return (WEIGHT_DESCENDING ? ~word : word) >> 2;
#endif
}

// The place of a weight on the scale: not above that of another one whose key is not less. It is
// nearly logarithmic, so that weights of all sizes move as far if they change by the same share:
// between powers of two log2(1 + x) is about x + 11/32 x (1 - x), which is off by 1 % at most, and
// whose integer below rises with x.
static inline uint band_scale(weight_t bits) {
  const uint word = band_leading(bits), top = SCALE_TOP / 2 + 1;
  const uint flip = (word < top) != WEIGHT_DESCENDING ? SCALE_TOP : 0;  // where less is more
  const uint octave = 1u << OCTAVE_BITS, x = (word ^ flip) & (octave - 1);
  const uint bulge = mul_hi(x << (31 - OCTAVE_BITS), (octave - x) << (31 - OCTAVE_BITS));
  return ((word ^ flip) + (bulge * 11 >> (35 - OCTAVE_BITS))) ^ flip;
}

// The same, where all that is lighter than `floor` counts as that: the least weights are few, and
// by a step of integers they move by octaves.
static inline uint band_place(weight_t bits, uint floor) {
  return max(band_scale(bits), floor);
}

// Note weights, and which edges are in their forest.
//
// In       weights[m], in_forest[m], floor.
// Out      noted[m]: EDGE_TREE or EDGE_OUT.
// Launch   any. O(m).
kernel void band_note(const global weight_t *weights, const global uchar *in_forest,
                      global uint *noted, uint floor, uint m) {
  GRID_FOR(e, m) {
    noted[e] = band_place(weights[e], floor) << 2 | (in_forest[e] ? EDGE_TREE : EDGE_OUT);
  }
}

// Weights that a work-item looks at together, so that as many trips to memory are under way.
#define WEIGHTS_AT_ONCE (WG_SIZE == 1 ? 1 : 4)
#define WEIGHTS_TILE (WEIGHTS_AT_ONCE * GRID_TILE)

// How far one weight has moved from the noted one in the ways that matter: as an edge of the noted
// forest up, as a candidate of it down as well, as another one down. UINT_MAX if it is NaN.
static inline uint band_move(weight_t weight, uint noted, uint floor) {
  const uint before = noted >> 2, now = band_place(weight, floor), state = noted & EDGE_STATE;
  const uint rise = state & EDGE_IS_TREE ? max(now, before) - before : 0;
  const uint fall = state == EDGE_IN ? 0 : before - min(now, before);
  return weight_is_nan(weight) ? UINT_MAX : max(rise, fall);
}

// How far the weights that are a work-item's have moved, at most.
static inline uint band_farthest_move(const global weight_t *weights, const global uint *noted,
                                      uint floor, uint m) {
  uint farthest = 0;
  for (size_t tile = (size_t)get_group_id(0) * WEIGHTS_TILE; tile < m;
       tile += (size_t)get_num_groups(0) * WEIGHTS_TILE) {
    if (WG_SIZE == 1 || tile + WEIGHTS_TILE > m) {
      for (size_t e = tile + get_local_id(0); e < min(tile + WEIGHTS_TILE, (size_t)m);
           e += WG_SIZE)
        farthest = max(farthest, band_move(weights[e], noted[e], floor));
      continue;
    }
    weight_t some[WEIGHTS_AT_ONCE];
    uint before[WEIGHTS_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < WEIGHTS_AT_ONCE; ++k) {
      const size_t e = tile + k * WG_SIZE + get_local_id(0);
      some[k] = weights[e];
      before[k] = noted[e];
    }
#pragma unroll
    for (uint k = 0; k < WEIGHTS_AT_ONCE; ++k)
      farthest = max(farthest, band_move(some[k], before[k], floor));
  }
  return farthest;
}

// The look before the atomic races with those of others. The word only rises, so what is read is too
// small at worst.
static inline void band_note_farthest(volatile global uint *farthest, uint move) {
  if (move > *farthest) atomic_max(farthest, move);
}

// Several store the same.
static inline void band_note_stray(volatile global uint *strays) {
  *strays = 1;
}

// Find how far weights have moved from the noted ones.
//
// In       weights[m], noted[m], floor.
// In-out   farthest: the greatest move.
// Launch   any. O(m).
kernel void band_find_farthest(const global weight_t *weights, const global uint *noted,
                               volatile global uint *farthest, uint floor, uint m) {
  const uint far = band_farthest_move(weights, noted, floor, m);
  band_note_farthest(farthest, far);
}

// Find whether all weights are near enough to the noted ones.
//
// In       weights[m], noted[m], floor, slack.
// In-out   strays: not 0 if one has moved farther than it may.
// Launch   any. O(m).
kernel void band_verify(const global weight_t *weights, const global uint *noted,
                        volatile global uint *strays, uint floor, uint slack, uint m) {
  if (band_farthest_move(weights, noted, floor, m) > slack) band_note_stray(strays);
}

// ------------------------------------------------------------------------- what is out

// Look at some edges.
//
// In       noted[m].
// Out      sample[n_samples]: evenly spread.
// Launch   any.
kernel void band_sample(const global uint *noted, global uint *sample, uint m, uint n_samples) {
  GRID_FOR(i, n_samples) sample[i] = noted[(size_t)i * m / n_samples];
}

// Cut the scale into windows, and forget what was settled.
//
// In       cuts[n_cuts]: rising places; reach: 2 * slack.
// In-out   noted[m].
// Out      windows[m]: of an edge of the noted forest, how many cuts are below it; of another one
//          n_cuts + 1 + how many are more than `reach` below it. slots[m]: 0, 1, ...
// Launch   any. O(m log n_cuts).
kernel void band_find_windows(global uint *noted, const global uint *cuts, global uint *windows,
                              global uint *slots, uint n_cuts, uint reach, uint m) {
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
kernel void band_find_starts(const global uint *windows, global uint *starts, uint n_windows,
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
kernel void band_begin_sets(global uint *parent, uint n) {
  GRID_FOR(v, n) parent[v] = (uint)v;
}

// Join the ends of a window's edges.
//
// In       slots[first .. first + k): of edges of the noted forest; rows, indices: the graph.
// In-out   parent[n].
// Launch   any. O(k).
kernel void band_join_window(const global uint *slots, const global uint *rows,
                             const global uint *indices, volatile global uint *parent, uint first,
                             uint k) {
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
kernel void band_keep_window(const global uint *slots, const global uint *rows,
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
kernel void band_flag_candidates(const global uint *noted, global uchar *flags, uint m) {
  GRID_FOR(e, m) flags[e] = noted[e] & EDGE_IS_CANDIDATE ? 1 : 0;
}

// List candidates.
//
// In       noted, rows, indices; slots[k].
// Out      ends[k]; edges[k]: (scale, slot).
// Launch   any. O(k).
kernel void band_list(const global uint *noted, const global uint *rows,
                      const global uint *indices, const global uint *slots, global uint2 *ends,
                      global uint2 *edges, uint k) {
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
kernel void band_find_lightest(const global uint2 *ends, const global uint2 *edges,
                               volatile global uint *lightest, uint k) {
  GRID_FOR(i, k) {
    const uint2 pair = ends[i];
    const uint scale = edges[i].x;
    reservation_lower_u32(lightest + pair.x, scale);
    reservation_lower_u32(lightest + pair.y, scale);
  }
}

static inline void band_hold_edge(volatile global uint *holders, const global uint *lightest,
                                  uint component, uint scale, uint i, uint reach) {
  if (scale > lightest[component] + reach) return;
  const uint held = atomic_cmpxchg(holders + component, NO_HOLDER, i);
  if (held != NO_HOLDER) atomic_xchg(holders + component, BLOCKED);
}

// Let every component hold the one edge that may be its lightest, if there is one only.
//
// In       ends[k], edges[k], lightest[n]; reach: 2 * slack.
// In-out   holders[n]: NO_HOLDER before; then a place on the list, or BLOCKED.
// Launch   any. O(k).
kernel void band_hold(const global uint2 *ends, const global uint2 *edges,
                      const global uint *lightest, volatile global uint *holders, uint reach,
                      uint k) {
  GRID_FOR(i, k) {
    band_hold_edge(holders, lightest, ends[i].x, edges[i].x, (uint)i, reach);
    band_hold_edge(holders, lightest, ends[i].y, edges[i].x, (uint)i, reach);
  }
}

// Let edges that are held be in the forest for certain, and join their ends.
//
// In       ends[k], edges[k], holders[n].
// In-out   noted[m], parent[n].
// Launch   any. O(k).
kernel void band_join_held(const global uint2 *ends, const global uint2 *edges,
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
kernel void band_contract(global uint2 *ends, const global uint2 *edges,
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
static inline void band_flag_component(volatile global uchar *flags, uint component) {
  flags[component] = 1;
}

// Flag the components that edges lead to.
//
// In       ends[k].
// In-out   flags[n]: 0 before.
// Launch   any. O(k).
kernel void band_flag_components(const global uint2 *ends, volatile global uchar *flags, uint k) {
  GRID_FOR(i, k) {
    band_flag_component(flags, ends[i].x);
    band_flag_component(flags, ends[i].y);
  }
}

// Number components.
//
// In       components[k].
// Out      numbers[n], of these.
// Launch   any.
kernel void band_number(const global uint *components, global uint *numbers, uint k) {
  GRID_FOR(i, k) numbers[components[i]] = (uint)i;
}

// Let edges lead to numbers of components, and part with their places on the scale.
//
// In       ends[k], edges[k], numbers[n].
// Out      numbered[k]: the ends; slots[k].
// Launch   any.
kernel void band_finish(const global uint2 *ends, const global uint2 *edges,
                        const global uint *numbers, global uint2 *numbered, global uint *slots,
                        uint k) {
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
kernel void band_show(const global uint *noted, volatile global uint *bits, uint m) {
  GRID_FOR(e, m) {
    if ((noted[e] & EDGE_STATE) == EDGE_IN) atomic_or(bits + e / 32, 1u << e % 32);
  }
}
