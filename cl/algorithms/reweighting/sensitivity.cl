// Measure how far weights have moved from their reference weights, which are the weights of an
// earlier solve. Distances are measured on a coarse scale.
//
// A position on the scale is an integer of 30 bits, which increases with the weight. The scale is
// nearly logarithmic, so that a change by a given percentage is nearly the same number of steps at
// any weight. For floats of 32 bits, a weight and its double are 2**21 steps apart:
//
//   weight       1.0            1.05           2.0            2.1            4.0
//   position     p              p + 0.07 s     p + s          p + 1.07 s     p + 2 s     s = 2**21
//
// An edge's sensitivity interval reaches from p - slack to p + slack, where p is the position of
// its reference weight. sensitivity_classify.cl finds edges that are certainly in the forest, and
// edges that are certainly not in it, as long as no weight leaves its interval in a direction that
// matters.
#include "algorithms/reweighting/sensitivity_state.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// VECTOR_ITEMS is the number of weights that a work-item handles at a time: one, or a vector of 16
// on CPUs. The same code serves for both, because VECTOR(uint) is uint or uint16. The code avoids
// conditional expressions, because compilers for CPUs turn them into branches.
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#if WG_SIZE == 1
#define VECTOR_ITEMS 16
#define VECTOR(name) PASTE(name, 16)
#define LOAD(array, e) vload16(0, (array) + (e))
#define STORE(values, array, e) vstore16(values, 0, (array) + (e))
#else
#define VECTOR_ITEMS 1
#define VECTOR(name) name
#define LOAD(array, e) (array)[e]
#define STORE(values, array, e) (array)[e] = (values)
#endif

typedef VECTOR(uint) words_t;
typedef VECTOR(WEIGHT_WORD) weights_t;

// The header of a loop over m weights in vectors of VECTOR_ITEMS weights, which are divided among
// work-items. VECTOR_AT is the index of the first weight of vector v. If the last vector would not
// be full, it overlaps the vector before it. So m must be at least VECTOR_ITEMS.
#define VECTOR_FOR(v, m) GRID_FOR(v, ((size_t)(m) + VECTOR_ITEMS - 1) / VECTOR_ITEMS)
#define VECTOR_AT(v, m) min((v) * VECTOR_ITEMS, (size_t)(m) - VECTOR_ITEMS)

// A vector of words: all bits are 1 in each word whose highest bit is set in `words`, and each
// other word is 0.
#define ALL_IF_TOP(words) VECTOR(as_uint)(VECTOR(as_int)(words) >> 31)
#define TOP_BIT 0x80000000u

// Weights are placed on a coarse scale, whose positions are integers of SCALE_BITS bits. A weight
// and its double are 1 << OCTAVE_BITS steps of the scale apart.
#define SCALE_BITS 30
#define SCALE_TOP ((1u << SCALE_BITS) - 1)
#if WEIGHT_KIND == WEIGHT_FLOAT && WEIGHT_INFINITY == 0x7C00
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

// For each weight of a vector, return 32 bits that compare as a float does. For a float these are
// its upper 32 bits. For an integer these are the bits of the nearest float. Conversion to the
// nearest float keeps the order of integers.
static inline words_t sensitivity_float_bits(weights_t bits) {
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

// For each weight of a vector, return all ones if the weight is NaN, else 0.
static inline words_t sensitivity_nan(weights_t bits) {
#if WEIGHT_KIND != WEIGHT_FLOAT
  return (words_t)0;
#elif WEIGHT_BITS == 64
  const weights_t above = 0x7FF0000000000000ul - (bits & 0x7FFFFFFFFFFFFFFFul);
  return VECTOR(convert_uint)(above >> 63) * UINT_MAX;
#else
  const uint infinity = (uint)WEIGHT_INFINITY << (32 - WEIGHT_BITS);
  return ALL_IF_TOP(infinity - (sensitivity_float_bits(bits) & ~TOP_BIT));
#endif
}

// For each weight of a vector, return the upper SCALE_BITS bits of its key, an unsigned integer
// that sorts as the weight does. An integer has the key of the nearest float.
static inline words_t sensitivity_leading(weights_t bits) {
  words_t word = sensitivity_float_bits(bits);
  word *= min(word ^ TOP_BIT, 1u);  // -0.0 becomes 0.0
  word ^= ALL_IF_TOP(word) | TOP_BIT;
  return (WEIGHT_DESCENDING ? ~word : word) >> (32 - SCALE_BITS);
}

// Return the position of each weight of a vector on the coarse scale, on which a change by a given
// percentage is nearly the same number of steps at any weight. A greater key never has a lower
// position. Between powers of two, log2(1 + x) is computed as x + 11/32 x (1 - x). The error is at
// most 1 %, and the computed integers never fall when x increases.
static inline words_t sensitivity_scale(weights_t bits) {
  const words_t word = sensitivity_leading(bits);
  const words_t upper = ALL_IF_TOP(word << (32 - SCALE_BITS));
  // For negative weights (or, in a maximum forest, for positive ones) a lesser word stands for a
  // greater magnitude. For these weights, the SCALE_BITS lower bits of `flip` are 1, and the
  // exclusive or with `flip` inverts the word.
  const words_t flip = (WEIGHT_DESCENDING ? upper : ~upper) & SCALE_TOP;
  const words_t x = (word ^ flip) & ((1u << OCTAVE_BITS) - 1);
  const words_t rest = (1u << OCTAVE_BITS) - x;
  const words_t correction = mul_hi(x << (31 - OCTAVE_BITS), rest << (31 - OCTAVE_BITS));
  return ((word ^ flip) + (correction * 11 >> (35 - OCTAVE_BITS))) ^ flip;
}

// Return the position of each weight of a vector on the coarse scale, or `floor` if the position is
// lower than that. The floor is for the smallest weights. Without it, the position of an integer
// weight such as 1 would move by a whole octave (the distance between a weight and its double) when
// the weight changes by 1.
static inline words_t sensitivity_position(weights_t bits, uint floor) {
  return max(sensitivity_scale(bits), floor);
}

// Store for each edge its reference: the position of its present weight on the coarse scale, and
// whether it is in the forest of these weights. Later weights are compared with this reference.
//
// In       weights[m]: the present weight of each edge;
//          in_forest[m]: 1 if the edge is in the forest of these weights, else 0.
// Out      records[m]: for each edge the word position << 2 | state. The state is EDGE_TREE for
//          edges in the forest, EDGE_OUT for all others.
// Launch   any. O(m).
// Needs    m >= 16 (a whole vector). `floor` is the minimum position to store; lower ones are
//          replaced by it.
// Ensures  records[e] = position << 2 | state.
kernel void sensitivity_record(const global weight_t *weights, const global uchar *in_forest,
                               global uint *records, uint floor, uint m) {
  VECTOR_FOR(v, m) {
    const size_t e = VECTOR_AT(v, m);
    const words_t state = VECTOR(convert_uint)(LOAD(in_forest, e)) * EDGE_TREE;
    STORE(sensitivity_position(LOAD(weights, e), floor) << 2 | state, records, e);
  }
}

// Return how far each weight of a vector has moved, on the coarse scale, from its reference weight,
// which is its weight in an earlier solve. Return UINT_MAX for NaN. The state of an edge in
// `records` decides which moves count, because only some moves can change the forest:
//   EDGE_IN     (certainly in the forest)                           rises
//   EDGE_TREE   (in the reference forest, but its place is open)    rises and falls
//   all others                                                      falls
static inline words_t weight_move(weights_t weights, words_t records, uint floor) {
  const words_t before = records >> 2, now = sensitivity_position(weights, floor);
  const words_t state = records & EDGE_STATE, is_tree = 0u - (state & EDGE_IS_TREE);
  const words_t may_fall = 0u - min(state ^ EDGE_IN, 1u);
  const words_t rise = max(now, before) - before, fall = before - min(now, before);
  return max(rise & is_tree, fall & may_fall) | sensitivity_nan(weights);
}

// Number of weights that a work-item loads together, before it compares them, in work-groups of
// many work-items.
#define WEIGHTS_AT_ONCE 4
#define WEIGHTS_TILE (WEIGHTS_AT_ONCE * WG_SIZE)

// Return the maximum distance on the coarse scale by which a weight has moved from its reference
// weight, among the weights that this work-item handles. `records` has the positions of the
// reference weights, and the states of the edges.
static inline uint farthest_move(const global weight_t *weights, const global uint *records,
                                 uint floor, uint m) {
  words_t farthest = 0;
#if WG_SIZE == 1
  VECTOR_FOR(v, m) {
    const size_t e = VECTOR_AT(v, m);
    farthest = max(farthest, weight_move(LOAD(weights, e), LOAD(records, e), floor));
  }
  uint each[VECTOR_ITEMS];
  STORE(farthest, each, 0);
  for (uint k = 1; k < VECTOR_ITEMS; ++k) each[0] = max(each[0], each[k]);
  return each[0];
#else
  TILES_FOR(tile, m, WEIGHTS_TILE) {
    if (tile + WEIGHTS_TILE > m) {
      for (size_t e = tile + get_local_id(0); e < m; e += WG_SIZE)
        farthest = max(farthest, weight_move(weights[e], records[e], floor));
      continue;
    }
    weight_t some[WEIGHTS_AT_ONCE];
    uint before[WEIGHTS_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < WEIGHTS_AT_ONCE; ++k) {
      const size_t e = tile + k * WG_SIZE + get_local_id(0);
      some[k] = weights[e];
      before[k] = records[e];
    }
#pragma unroll
    for (uint k = 0; k < WEIGHTS_AT_ONCE; ++k)
      farthest = max(farthest, weight_move(some[k], before[k], floor));
  }
  return farthest;
#endif
}

// Replace the global word *farthest by the maximum of *farthest and `move`, a distance on the
// scale. A read comes first, because it often saves the atomic operation. It may give an old value.
// This does no harm: the word only rises, so an old value is too small and causes at most one
// needless atomic operation.
static inline void sensitivity_raise_farthest(volatile global uint *farthest, uint move) {
  if (move > *farthest) atomic_max(farthest, move);
}

// Record that a weight has left its sensitivity interval, in which the forest stays the same. All
// writers store the same value, so their race is benign.
static inline void sensitivity_flag_violation(volatile global uint *violations) {
  *violations = 1;
}

// Find how far weights have moved, on a coarse scale, from their reference weights, which are the
// weights of an earlier solve. Only moves that can change the forest count (weight_move).
//
// In       weights[m]: the present weight of each edge;
//          records[m]: for each edge the position of its reference weight on the scale, and its
//            state.
// In-out   farthest[1]: becomes the maximum of its value before and of all moves, where a NaN
//          counts as UINT_MAX.
// Launch   any. O(m).
// Needs    m >= 16 (a whole vector); `floor` as in sensitivity_record.
// Ensures  farthest[0] is at least the move of every weight.
kernel void sensitivity_find_farthest(const global weight_t *weights, const global uint *records,
                                      volatile global uint *farthest, uint floor, uint m) {
  const uint far = farthest_move(weights, records, floor, m);
  sensitivity_raise_farthest(farthest, far);
}

// Find whether a weight has left its sensitivity interval, which extends by `slack` steps of the
// coarse scale on both sides of its reference weight. The reference weight is its weight in an
// earlier solve.
//
// In       weights[m]: the present weight of each edge;
//          records[m]: for each edge the position of its reference weight on the scale, and its
//            state.
// In-out   violations[1]: set to 1 if a weight has moved by more than `slack` in a direction that
//          can change the forest, else unchanged.
// Launch   any. O(m).
// Needs    m >= 16 (a whole vector); `floor` as in sensitivity_record.
// Ensures  if violations[0] is still 0, the classification of edges holds for these weights.
kernel void sensitivity_verify(const global weight_t *weights, const global uint *records,
                               volatile global uint *violations, uint floor, uint slack, uint m) {
  if (farthest_move(weights, records, floor, m) > slack) sensitivity_flag_violation(violations);
}

// Take a sample of the records of edges: every (m / n_samples)-th record.
//
// In       records[m]: for each edge one word, the position of its reference weight on the scale,
//          and its state.
// Out      sample[n_samples]: the sampled records.
// Launch   any.
// Needs    m > 0 if n_samples > 0.
// Ensures  sample[i] = records[i * m / n_samples].
kernel void sensitivity_sample(const global uint *records, global uint *sample, uint m,
                               uint n_samples) {
  GRID_FOR(i, n_samples) sample[i] = records[(size_t)i * m / n_samples];
}
