// Distances between points: measures, by which pairs are compared, and the weight keys of distances.
//
// Distances are made of additions, multiplications and square roots of doubles only. IEEE 754 gives
// each of these one result, and contraction to fused operations is off. So all devices, and NumPy,
// compute the same bits. A loop that sums over dimensions is not vectorised
// (quirk: intel-order-of-sums).
//
// The measure of a pair rises with its distance. Of METRIC_EUCLIDEAN, METRIC_ROUNDED and
// METRIC_GREAT_CIRCLE it is the square, so that most pairs need no root. Of all others, and where
// points have core distances, it is the distance itself.
#include "device/weight_key.cl"

#define METRIC_EUCLIDEAN 1
#define METRIC_ROUNDED 2
#define METRIC_GREAT_CIRCLE 3
#define METRIC_MANHATTAN 4
#define METRIC_CHEBYSHEV 5
#define METRIC_COSINE 6  // of points of length 1

// Where weights come from: 0, a stored matrix, or the METRIC_ of points; these need doubles.
#ifndef METRIC
#define METRIC 0
#endif

// Coordinates of a point: 2 or 3, or 0 for any number from 2 on, which kernels take at run time.
#ifndef DIMENSION_CLASS
#define DIMENSION_CLASS 2
#endif
// How many there are, of what a kernel takes: a constant where it can be one. Loops say so, too: else
// some compilers keep coordinates in memory instead of registers.
#if DIMENSION_CLASS
#define DIMENSIONS(given) ((uint)DIMENSION_CLASS)
#else
#define DIMENSIONS(given) (given)
#endif

// 1: the weight of a pair is the greatest of its distance and the core distances of its points,
// which come after the coordinates.
#ifndef CORE_DISTANCES
#define CORE_DISTANCES 0
#endif

// Distances of METRIC_GREAT_CIRCLE end here, in kilometres: half the earth's circumference.
#define GREAT_CIRCLE_STEPS 20039u

#if WEIGHT_BITS == 64
typedef ulong distance_key_t;
#else
typedef uint distance_key_t;
#endif

#if METRIC == METRIC_MANHATTAN || METRIC == METRIC_CHEBYSHEV || METRIC == METRIC_COSINE
#define MEASURE_IS_SQUARE 0
#else
#define MEASURE_IS_SQUARE (!CORE_DISTANCES)
#endif

// What a dimension adds to the sum of those before it: for doubles, and for vectors of doubles.
#if METRIC == METRIC_MANHATTAN
#define DISTANCE_ADD(sum, a, b) ((sum) + fabs((a) - (b)))
#elif METRIC == METRIC_CHEBYSHEV
#define DISTANCE_ADD(sum, a, b) fmax((sum), fabs((a) - (b)))
#elif METRIC == METRIC_COSINE
#define DISTANCE_ADD(sum, a, b) ((sum) + (a) * (b))
#else
#define DISTANCE_ADD(sum, a, b) ((sum) + ((a) - (b)) * ((a) - (b)))
#endif

// What a sum over all dimensions amounts to, before any root; it rises with the distance.
#if METRIC == METRIC_COSINE
#define DISTANCE_PLAIN(sum) fmax(1.0 - (sum), 0.0)
#else
#define DISTANCE_PLAIN(sum) (sum)
#endif

// The distance, where it is not rounded.
#if METRIC == METRIC_EUCLIDEAN
#define DISTANCE_OF_PLAIN(plain) sqrt(plain)
#else
#define DISTANCE_OF_PLAIN(plain) (plain)
#endif

// The measure that a sum stands for, core distances aside.
#if MEASURE_IS_SQUARE
#define DISTANCE_MEASURE(sum) DISTANCE_PLAIN(sum)
#else
#define DISTANCE_MEASURE(sum) DISTANCE_OF_PLAIN(DISTANCE_PLAIN(sum))
#endif

#if METRIC
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

// A point, and where its coordinates are: `points` has all first coordinates, then all second ones,
// and so on, then all core distances if there are any.
typedef struct {
  const global double *points;
  uint n, vertex, dimensions;
#if DIMENSION_CLASS
  double own[DIMENSION_CLASS];
#endif
#if CORE_DISTANCES
  double core;
#endif
} point_t;

static inline void point_open(point_t *point, const global double *points, uint n, uint vertex,
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

// Coordinate `d` of a point.
static inline double point_at(const point_t *point, uint d) {
#if DIMENSION_CLASS
  return point->own[d];
#else
  return point->points[(size_t)d * point->n + point->vertex];
#endif
}

// The measure of the pair of a point and point `v`.
static inline double distance_measure(const point_t *point, uint v) {
  double sum = 0;
#pragma clang loop vectorize(disable)
  for (uint d = 0; d < DIMENSIONS(point->dimensions); ++d)
    sum = DISTANCE_ADD(sum, point_at(point, d), point->points[(size_t)d * point->n + v]);
  double measure = DISTANCE_MEASURE(sum);
#if CORE_DISTANCES
  measure =
      fmax(fmax(measure, point->core), point->points[(size_t)point->dimensions * point->n + v]);
#endif
  return measure;
}

// The key of the weight that a measure stands for. METRIC_GREAT_CIRCLE: the squares at which the
// rounded distance steps up, rising, come after the `n` points.
static inline distance_key_t distance_key(double measure, const global double *points, uint n) {
#if !MEASURE_IS_SQUARE
  return weight_key(as_ulong(measure));
#elif METRIC == METRIC_EUCLIDEAN
  return weight_key(as_ulong(sqrt(measure)));
#elif METRIC == METRIC_ROUNDED
  return weight_key((uint)(sqrt(measure) + 0.5));
#else
  const global double *steps = points + (size_t)3 * n;
  uint low = 0, high = GREAT_CIRCLE_STEPS;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (steps[middle] <= measure) low = middle + 1;
    else high = middle;
  }
  return weight_key(low);
#endif
}
#endif
