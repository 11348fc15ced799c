// proof: the weights of pairs of vertices of a complete graph, stored or computed from points.
//
// The measure of a pair is a number from which the key of its weight follows. Measures have the
// order of keys, except that different measures may have the same key. The measure of a pair of
// points is that of cl/device/distance.cl, such as the squared distance, or its negative if the
// order is reversed.
#include "device/distance.cl"

#if METRIC
typedef double cell_t;
typedef double measure_t;
#else
typedef weight_t cell_t;
typedef weight_t measure_t;
#endif

typedef distance_key_t cell_key_t;

// Bounds of the rounding error when a distance is squared: the first is relative, the second is
// absolute, for distances near zero.
#define SQUARE_SLACK 1e-14
#define SQUARE_SLACK_AT_ZERO 1e-300

// Return the measure of the pair (u, v), a number from which the key of its weight follows. `cells`
// has either the rows of a matrix from `first_row` on, or the coordinates of points. For points, it
// has all first coordinates, then all second ones, and so on, and then the steps of great-circle
// distances.
static inline measure_t cell_measure(const global cell_t *cells, uint n, uint dimensions,
                                     uint first_row, uint u, uint v) {
#if METRIC
  point_t point;
  point_open(&point, cells, n, u, dimensions);
  const double measure = distance_measure(&point, v);
  return WEIGHT_DESCENDING ? -measure : measure;
#else
  return weight_key(cells[(size_t)(u - first_row) * n + v]);
#endif
}

// Return the key of the weight that belongs to a measure. The key is an unsigned integer that sorts
// as the weight does.
static inline cell_key_t cell_key(const global cell_t *cells, uint n, measure_t measure) {
#if METRIC
  return distance_key(WEIGHT_DESCENDING ? -measure : measure, cells, n);
#else
  return measure;
#endif
}

// Return an upper bound of all measures whose key is `key` or less. The measure of a pair is a
// number from which the key of its weight follows.
static inline measure_t cell_limit(const global cell_t *cells, uint n, cell_key_t key) {
#if METRIC == 0
  return (measure_t)key;
#else
  const cell_key_t ordered = WEIGHT_DESCENDING ? ~key : key;
#if METRIC == METRIC_GREAT_CIRCLE
  const global double *steps = cells + (size_t)3 * n;
  if (WEIGHT_DESCENDING) return ordered > 0 ? -steps[ordered - 1] : INFINITY;
  return ordered < GREAT_CIRCLE_STEPS ? steps[ordered] : INFINITY;
#elif !MEASURE_IS_SQUARE
  const double measure = as_double(ordered & ~WEIGHT_SIGN);  // keys of distances have the sign bit
  return WEIGHT_DESCENDING ? -measure : measure;
#else
#if METRIC == METRIC_EUCLIDEAN
  const double distance = as_double(ordered & ~WEIGHT_SIGN);  // keys of distances have the sign bit
#else
  const double distance = WEIGHT_DESCENDING ? max(ordered - 0.5, 0.0) : ordered + 0.5;
#endif
  const double square = distance * distance;
  return WEIGHT_DESCENDING ? SQUARE_SLACK_AT_ZERO - square * (1 - SQUARE_SLACK)
                           : SQUARE_SLACK_AT_ZERO + square * (1 + SQUARE_SLACK);
#endif
#endif
}
