// proof: the weights of pairs of vertices of a complete graph, stored or computed from points.
//
// Pairs are compared by their measures. The measure of a pair of points is a number that sorts as
// the weight does and takes less time to compute, such as the squared distance
// (cl/device/distance.cl), or its negative if the order is reversed. The key of the weight follows
// from the measure. Different measures may have the same key.
#include "device/distance.cl"

#if METRIC
typedef real cell_t;
typedef real measure_t;
#define MEASURE_GREATER(a, b) real_max(a, b)
#else
typedef weight_t cell_t;
typedef weight_t measure_t;
#define MEASURE_GREATER(a, b) max(a, b)
#endif

typedef distance_key_t cell_key_t;

// Bounds of the rounding errors when a distance is squared: factors by which a square is made
// smaller or larger, and an absolute bound for squares near zero.
#define SQUARE_STRETCH_DOWN REAL(1 - 1e-14, 0x3fefffffffffffa6)
#define SQUARE_STRETCH_UP REAL(1 + 1e-14, 0x3ff000000000002d)
#define SQUARE_SLACK_AT_ZERO REAL(1e-300, 0x1a56e1fc2f8f359)

// Return the measure of the pair (u, v), a number from which the key of its weight follows. `cells`
// has either the rows of a matrix from `first_row` on, or the coordinates of points. For points, it
// has all first coordinates, then all second ones, and so on, and then, for great-circle distances,
// the measures at which the rounded distance increases by 1.
static inline measure_t cell_measure(const global cell_t *cells, uint n, uint dimensions,
                                     uint first_row, uint u, uint v) {
#if METRIC
  point_t point;
  point_open(&point, cells, n, u, dimensions);
  const real measure = distance_measure(&point, v);
  return WEIGHT_DESCENDING ? real_negate(measure) : measure;
#else
  return weight_key(cells[(size_t)(u - first_row) * n + v]);
#endif
}

// Return the key of the weight that belongs to a measure. The key is an unsigned integer that sorts
// as the weight does.
static inline cell_key_t cell_key(const global cell_t *cells, uint n, measure_t measure) {
#if METRIC
  return distance_key(WEIGHT_DESCENDING ? real_negate(measure) : measure, cells, n);
#else
  return measure;
#endif
}

// Return an upper bound of the measures of all pairs whose weight key is at most `key`. The measure
// of a pair is a number from which the key of its weight follows.
static inline measure_t cell_limit(const global cell_t *cells, uint n, cell_key_t key) {
#if METRIC == 0
  return (measure_t)key;
#else
  const cell_key_t ordered = WEIGHT_DESCENDING ? ~key : key;
#if METRIC == METRIC_GREAT_CIRCLE
  const global real *steps = cells + (size_t)3 * n;
  if (WEIGHT_DESCENDING) return ordered > 0 ? real_negate(steps[ordered - 1]) : REAL_INFINITY;
  return ordered < GREAT_CIRCLE_STEPS ? steps[ordered] : REAL_INFINITY;
#elif !MEASURE_IS_PLAIN
  const real measure = real_of_bits(ordered & ~WEIGHT_SIGN);  // keys of distances have the sign bit
  return WEIGHT_DESCENDING ? real_negate(measure) : measure;
#elif METRIC == METRIC_MINKOWSKI
  const real root = real_of_bits(ordered & ~WEIGHT_SIGN);  // keys of distances have the sign bit
  return WEIGHT_DESCENDING ? real_negate(power_of(root)) : POWER_REACH(root);
#else
#if METRIC == METRIC_EUCLIDEAN
  const real distance =
      real_of_bits(ordered & ~WEIGHT_SIGN);  // keys of distances have the sign bit
#else
  const real half_less = real_subtract(real_from_uint(ordered), REAL(0.5, 0x3fe0000000000000));
  const real half_more = real_add(real_from_uint(ordered), REAL(0.5, 0x3fe0000000000000));
  const real distance = WEIGHT_DESCENDING ? real_max(half_less, REAL_ZERO) : half_more;
#endif
  const real square = real_square(distance);
  const real less = real_multiply(square, SQUARE_STRETCH_DOWN);
  const real more = real_multiply(square, SQUARE_STRETCH_UP);
  return WEIGHT_DESCENDING ? real_subtract(SQUARE_SLACK_AT_ZERO, less)
                           : real_add(SQUARE_SLACK_AT_ZERO, more);
#endif
#endif
}
