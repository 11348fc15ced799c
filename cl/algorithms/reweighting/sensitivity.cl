// How far weights are from noted ones, on a coarse scale that rises with them.
//
// sensitivity_classify.cl says what is known as long as they are near.
#include "algorithms/reweighting/sensitivity_state.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// What a work-item looks at together: one weight, or as a lone one a vector of them. Both are
// written once, as VECTOR(uint) is uint or uint16; and without choices, of which compilers for CPUs
// make branches.
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#if WG_SIZE == 1
#define SENSITIVITY_LANES 16
#define VECTOR(name) PASTE(name, 16)
#define SENSITIVITY_LOAD(array, e) vload16(0, (array) + (e))
#define SENSITIVITY_STORE(values, array, e) vstore16(values, 0, (array) + (e))
#else
#define SENSITIVITY_LANES 1
#define VECTOR(name) name
#define SENSITIVITY_LOAD(array, e) (array)[e]
#define SENSITIVITY_STORE(values, array, e) (array)[e] = (values)
#endif

typedef VECTOR(uint) sensitivity_words;
typedef VECTOR(WEIGHT_WORD) sensitivity_weights;

// Share out weights: the header of a loop over their vectors, and where each begins. The last one
// reaches back where there is no whole one left.
#define SENSITIVITY_FOR(v, m) GRID_FOR(v, ((size_t)(m) + SENSITIVITY_LANES - 1) / SENSITIVITY_LANES)
#define SENSITIVITY_AT(v, m) min((v) * SENSITIVITY_LANES, (size_t)(m) - SENSITIVITY_LANES)

// All bits of words whose top bit is set, none of others.
#define ALL_IF_TOP(words) VECTOR(as_uint)(VECTOR(as_int)(words) >> 31)
#define TOP_BIT 0x80000000u

// The scale has so many bits, and from a weight to its double it is 1 << OCTAVE_BITS.
#define SCALE_BITS 30
#define SCALE_TOP ((1u << SCALE_BITS) - 1)
#if WEIGHT_KIND == WEIGHT_FLOAT && WEIGHT_BITS == 16
#define OCTAVE_BITS 24
#elif WEIGHT_KIND == WEIGHT_FLOAT && WEIGHT_BITS == 64
#define OCTAVE_BITS 18
#else
#define OCTAVE_BITS 21
#endif

#if WEIGHT_BITS == 8
#define AS_SIGNED as_char
#elif WEIGHT_BITS == 16
#define AS_SIGNED as_short
#elif WEIGHT_BITS == 32
#define AS_SIGNED as_int
#else
#define AS_SIGNED as_long
#endif

// The upper bits of a float; of an integer those of the nearest one, which never changes an order.
static inline sensitivity_words sensitivity_float_bits(sensitivity_weights bits) {
#if WEIGHT_KIND == WEIGHT_UNSIGNED
  return VECTOR(as_uint)(VECTOR(convert_float)(bits));
#elif WEIGHT_KIND == WEIGHT_SIGNED
  return VECTOR(as_uint)(VECTOR(convert_float)(VECTOR(AS_SIGNED)(bits)));
#elif WEIGHT_BITS == 16
  return VECTOR(convert_uint)(bits) << 16;
#elif WEIGHT_BITS == 32
  return bits;
#else
  return VECTOR(convert_uint)(bits >> 32);
#endif
}

// All bits of a word if a weight is NaN, else none.
static inline sensitivity_words sensitivity_nan(sensitivity_weights bits) {
#if WEIGHT_KIND != WEIGHT_FLOAT
  return (sensitivity_words)0;
#elif WEIGHT_BITS == 64
  const sensitivity_weights above = 0x7FF0000000000000ul - (bits & 0x7FFFFFFFFFFFFFFFul);
  return VECTOR(convert_uint)(above >> 63) * UINT_MAX;
#else
  const uint infinity = WEIGHT_BITS == 16 ? 0x7C000000u : 0x7F800000u;
  return ALL_IF_TOP(infinity - (sensitivity_float_bits(bits) & ~TOP_BIT));
#endif
}

// The upper bits of a weight's key, or of the nearest float's.
static inline sensitivity_words sensitivity_leading(sensitivity_weights bits) {
  sensitivity_words word = sensitivity_float_bits(bits);
  word *= min(word ^ TOP_BIT, 1u);  // -0.0 is 0.0
  word ^= ALL_IF_TOP(word) | TOP_BIT;
  return (WEIGHT_DESCENDING ? ~word : word) >> (32 - SCALE_BITS);
}

// The place of a weight on the scale: not above that of another one whose key is not less. It is
// nearly logarithmic, so that weights of all sizes move as far if they change by the same share:
// between powers of two log2(1 + x) is about x + 11/32 x (1 - x), which is off by 1 % at most, and
// whose integer below rises with x.
static inline sensitivity_words sensitivity_scale(sensitivity_weights bits) {
  const sensitivity_words word = sensitivity_leading(bits);
  const sensitivity_words upper = ALL_IF_TOP(word << (32 - SCALE_BITS));
  const sensitivity_words flip = (WEIGHT_DESCENDING ? upper : ~upper) & SCALE_TOP;  // where less is more
  const sensitivity_words x = (word ^ flip) & ((1u << OCTAVE_BITS) - 1);
  const sensitivity_words rest = (1u << OCTAVE_BITS) - x;
  const sensitivity_words bulge = mul_hi(x << (31 - OCTAVE_BITS), rest << (31 - OCTAVE_BITS));
  return ((word ^ flip) + (bulge * 11 >> (35 - OCTAVE_BITS))) ^ flip;
}

// The same, where all that is lighter than `floor` counts as that: the least weights are few, and
// by a step of integers they move by octaves.
static inline sensitivity_words sensitivity_place(sensitivity_weights bits, uint floor) {
  return max(sensitivity_scale(bits), floor);
}

// Note weights, and which edges are in their forest.
//
// In       weights[m], in_forest[m]: 0 or 1, floor.
// Out      noted[m]: EDGE_TREE or EDGE_OUT.
// Launch   any. O(m).
// Needs    m >= 16.
kernel void sensitivity_note(const global weight_t *weights, const global uchar *in_forest,
                      global uint *noted, uint floor, uint m) {
  SENSITIVITY_FOR(v, m) {
    const size_t e = SENSITIVITY_AT(v, m);
    const sensitivity_words state = VECTOR(convert_uint)(SENSITIVITY_LOAD(in_forest, e)) * EDGE_TREE;
    SENSITIVITY_STORE(sensitivity_place(SENSITIVITY_LOAD(weights, e), floor) << 2 | state, noted, e);
  }
}

// How far weights have moved from the noted ones in the ways that matter: as edges of the noted
// forest up, as candidates of it down as well, as others down. UINT_MAX if one is NaN.
static inline sensitivity_words sensitivity_move(sensitivity_weights weights, sensitivity_words noted, uint floor) {
  const sensitivity_words before = noted >> 2, now = sensitivity_place(weights, floor);
  const sensitivity_words state = noted & EDGE_STATE, is_tree = 0u - (state & EDGE_IS_TREE);
  const sensitivity_words may_fall = 0u - min(state ^ EDGE_IN, 1u);
  const sensitivity_words rise = max(now, before) - before, fall = before - min(now, before);
  return max(rise & is_tree, fall & may_fall) | sensitivity_nan(weights);
}

// Weights that a work-item of several looks at together, so that as many trips to memory are under
// way.
#define WEIGHTS_AT_ONCE 4
#define WEIGHTS_TILE (WEIGHTS_AT_ONCE * WG_SIZE)

// How far the weights that are a work-item's have moved, at most.
static inline uint sensitivity_farthest_move(const global weight_t *weights, const global uint *noted,
                                      uint floor, uint m) {
  sensitivity_words farthest = 0;
#if WG_SIZE == 1
  SENSITIVITY_FOR(v, m) {
    const size_t e = SENSITIVITY_AT(v, m);
    farthest = max(farthest, sensitivity_move(SENSITIVITY_LOAD(weights, e), SENSITIVITY_LOAD(noted, e), floor));
  }
  uint each[SENSITIVITY_LANES];
  SENSITIVITY_STORE(farthest, each, 0);
  for (uint k = 1; k < SENSITIVITY_LANES; ++k) each[0] = max(each[0], each[k]);
  return each[0];
#else
  for (size_t tile = (size_t)get_group_id(0) * WEIGHTS_TILE; tile < m;
       tile += (size_t)get_num_groups(0) * WEIGHTS_TILE) {
    if (tile + WEIGHTS_TILE > m) {
      for (size_t e = tile + get_local_id(0); e < m; e += WG_SIZE)
        farthest = max(farthest, sensitivity_move(weights[e], noted[e], floor));
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
      farthest = max(farthest, sensitivity_move(some[k], before[k], floor));
  }
  return farthest;
#endif
}

// The look before the atomic races with those of others. The word only rises, so what is read is
// too small at worst.
static inline void sensitivity_raise_farthest(volatile global uint *farthest, uint move) {
  if (move > *farthest) atomic_max(farthest, move);
}

// Several store the same.
static inline void sensitivity_flag_violation(volatile global uint *strays) {
  *strays = 1;
}

// Find how far weights have moved from the noted ones.
//
// In       weights[m], noted[m], floor.
// In-out   farthest: the greatest move.
// Launch   any. O(m).
// Needs    m >= 16.
kernel void sensitivity_find_farthest(const global weight_t *weights, const global uint *noted,
                               volatile global uint *farthest, uint floor, uint m) {
  const uint far = sensitivity_farthest_move(weights, noted, floor, m);
  sensitivity_raise_farthest(farthest, far);
}

// Find whether all weights are near enough to the noted ones.
//
// In       weights[m], noted[m], floor, slack.
// In-out   strays: not 0 if one has moved farther than it may.
// Launch   any. O(m).
// Needs    m >= 16.
kernel void sensitivity_verify(const global weight_t *weights, const global uint *noted,
                        volatile global uint *strays, uint floor, uint slack, uint m) {
  if (sensitivity_farthest_move(weights, noted, floor, m) > slack) sensitivity_flag_violation(strays);
}

// Look at some edges.
//
// In       noted[m].
// Out      sample[n_samples]: evenly spread.
// Launch   any.
kernel void sensitivity_sample(const global uint *noted, global uint *sample, uint m, uint n_samples) {
  GRID_FOR(i, n_samples) sample[i] = noted[(size_t)i * m / n_samples];
}
