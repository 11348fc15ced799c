// Distances between points: the measure by which pairs are compared, and the weight key of a
// distance.
//
// Distances are computed by additions, multiplications, divisions and square roots of doubles only.
// IEEE 754 defines one result for each of these, and contraction to fused operations is off. Devices without
// arithmetic on doubles compute the same results by operations on integers (real.cl). So all
// devices, and NumPy, compute the same bits. A loop that sums over dimensions is not vectorised
// (quirk: intel-order-of-sums).
//
// The measure of a pair of points increases with their distance. For METRIC_EUCLIDEAN,
// METRIC_ROUNDED, METRIC_GREAT_CIRCLE and METRIC_MINKOWSKI the measure is the square or the power
// of the distance, so that most pairs need no root. For all other metrics, and if points have core
// distances, the measure is the distance itself.
#include "device/weight_key.cl"

#define METRIC_EUCLIDEAN 1
#define METRIC_ROUNDED 2
#define METRIC_GREAT_CIRCLE 3
#define METRIC_MANHATTAN 4
#define METRIC_CHEBYSHEV 5
#define METRIC_COSINE 6  // the points have length 1
#define METRIC_MINKOWSKI 7
#define METRIC_HAMMING 8
#define METRIC_JACCARD 9  // a coordinate is a word of 32 bits (quotient.cl)
#define METRIC_CANBERRA 10
#define METRIC_BRAYCURTIS 11

// Where the weights of the graph come from. If METRIC is 0, a stored matrix has them. If METRIC is
// one of the METRIC_ constants, the weights are distances of points in this metric.
#ifndef METRIC
#define METRIC 0
#endif
#if METRIC
#include "device/real.cl"
#endif
#if METRIC == METRIC_MINKOWSKI
#include "device/power.cl"
#endif

// 1 if the metric divides: its distances are quotients of two sums, and are not computed from
// differences of coordinates alone. The distance to a box does not bound the distances to the
// points in it. 0 for all other metrics.
#define METRIC_DIVIDES                                                                  \
  (METRIC == METRIC_HAMMING || METRIC == METRIC_JACCARD || METRIC == METRIC_CANBERRA || \
   METRIC == METRIC_BRAYCURTIS)

// The sum over all dimensions from which the distance of two points is computed, and the sums of 16
// pairs of points. SUM_NOTHING and SUM16_NOTHING are the sums over no dimension.
#if METRIC_DIVIDES
#include "device/quotient.cl"
#elif METRIC
typedef real sum_t;
typedef real16 sum16_t;
#define SUM_NOTHING REAL_ZERO
#define SUM16_NOTHING (real16) REAL_ZERO
#endif

// Number of coordinates of a point if kernels are compiled for this number, which is 2 or 3.
// Otherwise DIMENSION_CLASS is 0, and the number is a kernel argument.
#ifndef DIMENSION_CLASS
#define DIMENSION_CLASS 2
#endif
// The number of coordinates of a point: DIMENSION_CLASS if that is not 0, else the kernel argument
// `given`. Loops over coordinates use the constant if they can. Otherwise some compilers keep the
// coordinates in memory instead of registers.
#if DIMENSION_CLASS
#define DIMENSIONS(given) ((uint)DIMENSION_CLASS)
#else
#define DIMENSIONS(given) (given)
#endif

// 1: the weight of a pair of points is the maximum of their distance and of the core distances of
// both points, which are stored after the coordinates. 0: the weight is the distance.
#ifndef CORE_DISTANCES
#define CORE_DISTANCES 0
#endif

// The maximum distance in METRIC_GREAT_CIRCLE, whose distances are whole kilometres: half the
// circumference of the earth, rounded up.
#define GREAT_CIRCLE_STEPS 20039u

#if WEIGHT_BITS == 64
typedef ulong distance_key_t;
#else
typedef uint distance_key_t;
#endif

// How pairs of points are compared. 1: by their plain values, which are the distances before a root
// is taken or before they are rounded. So most pairs need no root. 0: by their distances.
#if METRIC == METRIC_MANHATTAN || METRIC == METRIC_CHEBYSHEV || METRIC == METRIC_COSINE || \
    METRIC_DIVIDES
#define MEASURE_IS_PLAIN 0
#else
#define MEASURE_IS_PLAIN (!CORE_DISTANCES)
#endif

// Add the term of one dimension, in which two points have the coordinates `a` and `b`, to `sum`.
// The distance of the points is computed from the sum over all dimensions. The arguments are reals
// or vectors of reals.
#if METRIC == METRIC_COSINE
#define DISTANCE_ADD(sum, a, b) real_add(sum, real_multiply(a, b))
#elif METRIC_DIVIDES
#define DISTANCE_ADD(sum, a, b) quotient_add(sum, a, b)
#else
#define DISTANCE_ADD(sum, a, b) DISTANCE_ADD_DIFFERENCE(sum, real_subtract(a, b))
#endif

// Add the term of one dimension, in which two points differ by `difference`, to `sum`. The distance
// of the points is computed from the sum over all dimensions.
#if METRIC == METRIC_MANHATTAN
#define DISTANCE_ADD_DIFFERENCE(sum, difference) real_add(sum, real_fabs(difference))
#elif METRIC == METRIC_CHEBYSHEV
#define DISTANCE_ADD_DIFFERENCE(sum, difference) real_fmax(sum, real_fabs(difference))
#elif METRIC == METRIC_MINKOWSKI
#define DISTANCE_ADD_DIFFERENCE(sum, difference) real_add(sum, power_of(real_fabs(difference)))
#else
#define DISTANCE_ADD_DIFFERENCE(sum, difference) real_add(sum, real_square(difference))
#endif

// Convert the sum of the terms of all dimensions to the plain value of a pair of points, which is
// their distance before any square root is taken.
#if METRIC == METRIC_COSINE
#define DISTANCE_PLAIN(sum) real_fmax(real_subtract(REAL_ONE, sum), REAL_ZERO)
#elif METRIC_DIVIDES
#define DISTANCE_PLAIN(sum) quotient_of(sum)
#else
#define DISTANCE_PLAIN(sum) (sum)
#endif

// Convert the plain value of a pair of points, which is the value before any root is taken, to
// their distance. METRIC_ROUNDED and METRIC_GREAT_CIRCLE do not use this macro, because they round
// distances (distance_key).
#if METRIC == METRIC_EUCLIDEAN
#define DISTANCE_OF_PLAIN(plain) real_sqrt(plain)
#elif METRIC == METRIC_MINKOWSKI
#define DISTANCE_OF_PLAIN(plain) power_root(plain)
#else
#define DISTANCE_OF_PLAIN(plain) (plain)
#endif

// DISTANCE_REACH(distance) is an upper bound of the plain value of all pairs whose distance is at
// most `distance`. The plain value is the value before any square root is taken. Because of
// rounding, REACH_FACTOR makes the bound a little greater than the square. The argument is one
// distance or a vector of distances.
#if METRIC == METRIC_EUCLIDEAN
#define REACH_FACTOR REAL(1 + 1e-15, 0x3ff0000000000005)
#define REACH_AT_ZERO REAL(1e-300, 0x1a56e1fc2f8f359)
#define DISTANCE_REACH(distance) \
  real_add(real_multiply(real_square(distance), REACH_FACTOR), REACH_AT_ZERO)
#elif METRIC == METRIC_MINKOWSKI
#define DISTANCE_REACH(distance) POWER_REACH(distance)
#else
#define DISTANCE_REACH(distance) (distance)
#endif

// DISTANCE_MEASURE converts the sum over all dimensions to the measure of a pair, the number by
// which pairs are compared. Core distances are not yet taken into account. DISTANCE_OF_MEASURE
// converts the measure of a pair to its weight, for metrics that do not round distances.
#if MEASURE_IS_PLAIN
#define DISTANCE_MEASURE(sum) DISTANCE_PLAIN(sum)
#define DISTANCE_OF_MEASURE(measure) DISTANCE_OF_PLAIN(measure)
#else
#define DISTANCE_MEASURE(sum) DISTANCE_OF_PLAIN(DISTANCE_PLAIN(sum))
#define DISTANCE_OF_MEASURE(measure) (measure)
#endif

#if METRIC

// One point, and `points`, the array that contains the coordinates of all points. The array holds
// the first coordinates of all points, then the second coordinates of all points, and so on. If
// there are core distances, they follow.
typedef struct {
  const global real *points;
  uint n, vertex, dimensions;
#if DIMENSION_CLASS
  real own[DIMENSION_CLASS];
#endif
#if CORE_DISTANCES
  real core;
#endif
} point_t;

static inline void point_open(point_t *point, const global real *points, uint n, uint vertex,
                              uint dimensions) {
  point->points = points;
  point->n = n;
  point->vertex = vertex;
  point->dimensions = DIMENSIONS(dimensions);
#if DIMENSION_CLASS
#pragma unroll
  for (uint d = 0; d < DIMENSION_CLASS; ++d) point->own[d] = points[(size_t)d * n + vertex];
#endif
#if CORE_DISTANCES
  point->core = points[(size_t)point->dimensions * n + vertex];
#endif
}

// Return coordinate `d` of a point.
static inline real point_at(const point_t *point, uint d) {
#if DIMENSION_CLASS
  return point->own[d];
#else
  return point->points[(size_t)d * point->n + point->vertex];
#endif
}

// Return the measure of a pair of points: a given point and vertex `v`. Pairs are compared by their
// measures, which increase with the distance.
static inline real distance_measure(const point_t *point, uint v) {
  sum_t sum = SUM_NOTHING;
#pragma clang loop vectorize(disable)
  for (uint d = 0; d < DIMENSIONS(point->dimensions); ++d)
    sum = DISTANCE_ADD(sum, point_at(point, d), point->points[(size_t)d * point->n + v]);
  real measure = DISTANCE_MEASURE(sum);
#if CORE_DISTANCES
  const real core = point->points[(size_t)point->dimensions * point->n + v];
  measure = real_fmax(real_fmax(measure, point->core), core);
#endif
  return measure;
}

// Return the weight key (an integer that sorts as the weight does) of a pair of points with a given
// measure. METRIC_GREAT_CIRCLE finds the distance in a table, which is stored after the coordinates
// of the `n` points. The table has the squared chords, in ascending order, at which the distance in
// kilometres increases by 1.
static inline distance_key_t distance_key(real measure, const global real *points, uint n) {
#if !MEASURE_IS_PLAIN
  return weight_key(real_bits(measure));
#elif METRIC == METRIC_EUCLIDEAN || METRIC == METRIC_MINKOWSKI
  return weight_key(real_bits(DISTANCE_OF_PLAIN(measure)));
#elif METRIC == METRIC_ROUNDED
  return weight_key(real_to_uint(real_add(real_sqrt(measure), REAL(0.5, 0x3fe0000000000000))));
#else
  const global real *steps = points + (size_t)3 * n;
  uint low = 0, high = GREAT_CIRCLE_STEPS;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (real_at_most(steps[middle], measure)) low = middle + 1;
    else high = middle;
  }
  return weight_key(low);
#endif
}
#endif
