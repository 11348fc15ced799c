// How far weights are from noted ones, on a coarse scale that rises with them.
//
// band_settle.cl says what is known as long as they are near.
#include "algorithms/band_state.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

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

// Look at some edges.
//
// In       noted[m].
// Out      sample[n_samples]: evenly spread.
// Launch   any.
kernel void band_sample(const global uint *noted, global uint *sample, uint m, uint n_samples) {
  GRID_FOR(i, n_samples) sample[i] = noted[(size_t)i * m / n_samples];
}
