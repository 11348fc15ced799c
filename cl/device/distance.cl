// Distances between points: squares, by which pairs are compared, and the weight keys of distances.
//
// Distances are made of additions, multiplications and square roots of doubles only. IEEE 754 gives
// each of these one result, and contraction to fused operations is off. So all devices, and NumPy,
// compute the same bits.
#ifndef CLMST_DEVICE_DISTANCE
#define CLMST_DEVICE_DISTANCE

#include "device/weight_key.cl"

#define METRIC_EUCLIDEAN 1
#define METRIC_ROUNDED 2
#define METRIC_GREAT_CIRCLE 3

// Where weights come from: 0, a stored matrix, or the METRIC_ of points; these need doubles.
#ifndef METRIC
#define METRIC 0
#endif

// Coordinates of a point: 2 or 3.
#ifndef DIMENSIONS
#define DIMENSIONS 2
#endif

// Distances of METRIC_GREAT_CIRCLE end here, in kilometres: half the earth's circumference.
#define GREAT_CIRCLE_STEPS 20039u

#if WEIGHT_BITS == 64
typedef ulong distance_key_t;
#else
typedef uint distance_key_t;
#endif

#if METRIC
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

// The square of the distance from (x, y, z) to point `v` of `n`. `points`: all first coordinates,
// then all second ones, then all third ones if there are any.
static inline double distance_square(double x, double y, double z, const global double *points,
                                     uint n, uint v) {
  const double dx = x - points[v], dy = y - points[(size_t)n + v];
  double square = dx * dx + dy * dy;
#if DIMENSIONS > 2
  const double dz = z - points[(size_t)2 * n + v];
  square = square + dz * dz;
#endif
  return square;
}

// The key of the weight that a square stands for. METRIC_GREAT_CIRCLE: the squares at which the
// rounded distance steps up, rising, come after the `n` points.
static inline distance_key_t distance_key(double square, const global double *points, uint n) {
#if METRIC == METRIC_EUCLIDEAN
  return weight_key(as_ulong(sqrt(square)));
#elif METRIC == METRIC_ROUNDED
  return weight_key((uint)(sqrt(square) + 0.5));
#else
  const global double *steps = points + (size_t)3 * n;
  uint low = 0, high = GREAT_CIRCLE_STEPS;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (steps[middle] <= square) low = middle + 1;
    else high = middle;
  }
  return weight_key(low);
#endif
}
#endif

#endif
