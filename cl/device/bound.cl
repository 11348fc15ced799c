// Lower bounds of distances in float32, for devices without doubles.
//
// On such devices, one operation on a real number takes tens of instructions (real.cl). A lower
// bound in float32 shows for most pairs of points that they are too far apart, so only few
// distances have to be computed.
//
// Proof. The float of a coordinate x is cut off after 23 bits of its fraction, so it differs from x
// by at most 2**-23 |x| + 2**-125. The last term is for numbers below the normal floats, which the
// device may also replace by 0 before and after each operation. So the difference of two
// coordinates is at least the difference of their floats, minus 2**-22 times the sum of their
// magnitudes, minus 2**-122. The factor 2**-22 covers the errors of the two floats (a little more
// than 2**-23), the rounding of their difference (2**-24), and the roundings of the sum and the
// product.
//
// In d dimensions there are at most d + 3 further operations. Each of them raises the result by a
// factor of at most 1 + 2**-24. Fused operations round less often. A square below the normal floats
// is raised by at most 2**-149. The distance in doubles is rounded far less. bound_limit() makes up
// for all this: it cuts off the bits of its number, which lowers the number by at most the factor 1
// - 2**-23, and then raises it by the factor 1 + (d + 4) 2**-21 and by 2**-120.
//
// If a coordinate is too great for a float, its float is infinite or NaN. Then the sum of
// magnitudes is infinite or NaN, too. The difference minus a part of this sum is NaN or -infinity,
// and the bound becomes 0. If a square or a sum of squares is infinite, the plain value is above
// 2**126, and the limit of plain values from 2**126 on is infinite. So such a pair is rejected only
// if it is too far apart.
#include "device/distance.cl"

// 1 if kernels use bounds: on devices without doubles. The terms of METRIC_COSINE cannot be
// bounded by differences of coordinates. The powers of METRIC_MINKOWSKI may leave the range of
// floats.
#if METRIC && !DOUBLES && METRIC != METRIC_COSINE && METRIC != METRIC_MINKOWSKI
#define BOUNDED 1
#else
#define BOUNDED 0
#endif

#if BOUNDED

// Add the lower bound of the distance in one dimension to a bound, for floats and for vectors of
// floats.
#if METRIC == METRIC_MANHATTAN
#define BOUND_ADD(sum, difference) ((sum) + (difference))
#elif METRIC == METRIC_CHEBYSHEV
#define BOUND_ADD(sum, difference) fmax(sum, difference)
#else
#define BOUND_ADD(sum, difference) ((sum) + (difference) * (difference))
#endif

// The bound of the error of a difference of two floats: BOUND_SLACK times the sum of their
// magnitudes, plus BOUND_SLACK_AT_ZERO. The error is subtracted from the difference.
#define BOUND_SLACK 0x1p-22f
#define BOUND_SLACK_AT_ZERO 0x1p-122f

// The upper words (sign, exponent and leading bits) of the least double that is a normal float, and
// of the first double that is too great for a float. The exponent of a float follows from an upper
// word between them by subtracting BOUND_LEAST.
#define BOUND_LEAST 0x38000000u
#define BOUND_MOST 0x47f00000u

// Return a coordinate as a float, or 8 or 16 coordinates as floats. Bits that do not fit are cut
// off. A number that is too great for a float becomes infinity or NaN.
REAL_FUNCTION float bound_float(ulong x) {
  const uint upper = (uint)(x >> 32), magnitude = upper & 0x7fffffffu;
  const uint moved = clamp(magnitude, BOUND_LEAST, BOUND_MOST) - BOUND_LEAST;
  return as_float((upper & 0x80000000u) | moved << 3 | (uint)x >> 29);
}

REAL_FUNCTION float8 bound_float(ulong8 x) {
  const uint8 upper = convert_uint8(x >> 32), magnitude = upper & 0x7fffffffu;
  const uint8 moved = clamp(magnitude, BOUND_LEAST, BOUND_MOST) - BOUND_LEAST;
  return as_float8((upper & 0x80000000u) | moved << 3 | convert_uint8(x) >> 29);
}

REAL_FUNCTION float16 bound_float(ulong16 x) {
  return (float16)(bound_float(x.lo), bound_float(x.hi));
}

// The lower bound of the difference of two coordinates, given as floats or vectors of floats.
#define BOUND_DIFFERENCE(a, b) bound_less(fabs((a) - (b)), fabs(a) + fabs(b))

// The lower bound of the distance in one dimension between two intervals, [x, x_upper] and
// [lower, upper], whose ends are given as floats or vectors of floats.
#define BOUND_GAP(x, x_upper, lower, upper)            \
  bound_less(fmax((lower) - (x_upper), (x) - (upper)), \
             fmax(fabs(lower), fabs(upper)) + fmax(fabs(x), fabs(x_upper)))

// Return a lower bound of an exact difference: the computed difference of two floats minus the
// greatest possible error, or 0 if the error is greater. `magnitudes` is the sum of the magnitudes
// of the two floats.
REAL_FUNCTION float bound_less(float difference, float magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

REAL_FUNCTION float8 bound_less(float8 difference, float8 magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

REAL_FUNCTION float16 bound_less(float16 difference, float16 magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

// Return a limit for lower bounds in `d` dimensions. If the lower bound of a pair of points is
// above this limit, the pair's plain value, which is its distance before any square root, is above
// `plain`.
REAL_FUNCTION float bound_limit(ulong plain, uint d) {
  const float limit = bound_float(plain);
  return limit < 0x1p126f ? limit * (1 + (d + 4) * 0x1p-21f) + 0x1p-120f : INFINITY;
}

REAL_FUNCTION float8 bound_limit(ulong8 plain, uint d) {
  const float8 limit = bound_float(plain);
  const float8 raised = limit * (1 + (d + 4) * 0x1p-21f) + 0x1p-120f;
  return select((float8)INFINITY, raised, limit < (float8)0x1p126f);
}

// Return a limit for lower bounds in `d` dimensions: a pair whose lower bound is above it has a
// measure above `measure`.
static inline float bound_limit_of_measure(ulong measure, uint d) {
  return bound_limit(MEASURE_IS_PLAIN ? measure : DISTANCE_REACH(measure), d);
}

// Return the lower bound of the plain value, which is the distance before any square root, of the
// pair that consists of a point and vertex `v`.
static inline float point_bound(const point_t *point, uint v) {
  float bound = 0;
  for (uint d = 0; d < DIMENSIONS(point->dimensions); ++d) {
    const float own = bound_float(point_at(point, d));
    const float other = bound_float(point->points[(size_t)d * point->n + v]);
    bound = BOUND_ADD(bound, BOUND_DIFFERENCE(own, other));
  }
  return bound;
}

#endif
