// Lower bounds of distances, which are computed faster than distances: in float32, for devices
// without doubles, and with fewer square roots, for Minkowski's distance of a long power.
//
// A power is long if its fraction has many binary digits. Each digit takes a square root. A lower
// bound of the power (power_below) takes only the first few digits. The differences of coordinates
// are computed exactly as for the distance, and rounding keeps the order of numbers. So the sum of
// the lower bounds is at most the sum of the powers. It is compared with the same limit.
//
// On devices without doubles, one operation on a double takes tens of instructions, because it is
// computed with integers (real.cl). For most pairs of points, a lower bound in float32 already
// shows that they are too far apart. So only few distances have to be computed exactly.
//
// Proof that no bound in float32 is above the distance. A coordinate x becomes a float by cutting
// off its fraction after 23 bits, so the float differs from x by at most 2**-23 |x| + 2**-125. The
// second term is for numbers below the normal floats, which the device may also replace by 0 before
// and after each operation. So the difference of two coordinates is at least the difference of
// their floats, minus 2**-22 times the sum of the magnitudes of the floats, minus 2**-122. The
// factor 2**-22 covers the errors of the two floats (a little more than 2**-23), the rounding of
// their difference (2**-24), and the roundings of the sum and the product.
//
// In d dimensions, at most d + 3 further operations combine the terms of all dimensions. Each of
// these operations raises the result by a factor of at most 1 + 2**-24. If the device fuses
// operations, there are fewer roundings. Rounding raises a square below the normal floats by at
// most 2**-149. The rounding errors of the distance in doubles are far smaller. A pair is rejected
// only if its bound is above bound_limit(), and this limit is high enough to allow for all these
// errors. The limit begins as a distance that is cut off to a float, which lowers it by a factor of
// at least 1 - 2**-23. Then it is raised by the factor 1 + (d + 4) 2**-21 and by 2**-120.
//
// If a coordinate is too large for a float, its float is infinite or NaN, and so is the sum of
// magnitudes. The bound of the difference then becomes 0. If a square or a sum of squares is
// infinite, the plain value of the pair, which is its distance before any square root, is above
// 2**126. The limit of every plain value from 2**126 on is infinite. So in these cases, too, a pair
// is rejected only if it is too far apart.
#include "device/distance.cl"

// 1 if kernels use the lower bounds of this file, else 0. BOUND_IS_FLOAT is 1 if the bounds are
// floats. Kernels use floats on devices without doubles, with three exceptions. In METRIC_COSINE,
// the distance is not a sum of terms that depend on differences of coordinates. In
// METRIC_MINKOWSKI, powers may leave the range of floats. Metrics that divide are quotients of
// sums.
#if METRIC && !DOUBLES && METRIC != METRIC_COSINE && METRIC != METRIC_MINKOWSKI && !METRIC_DIVIDES
#define BOUNDED 1
#define BOUND_IS_FLOAT 1
#elif METRIC == METRIC_MINKOWSKI && POWER_IS_LONG
#define BOUNDED 1
#define BOUND_IS_FLOAT 0
#else
#define BOUNDED 0
#define BOUND_IS_FLOAT 0
#endif

#if BOUNDED && !BOUND_IS_FLOAT

// The type of a bound, and of eight bounds. The macros below mean the same as those for floats.
typedef real bound_t;
typedef real8 bound8_t;
#define BOUND_ZERO REAL_ZERO
#define BOUND_ADD(sum, difference) real_add(sum, power_below(difference))
#define BOUND_OF(x) (x)
#define BOUND_DIFFERENCE(a, b) real_fabs(real_subtract(a, b))
#define BOUND_GAP(x, x_upper, lower, upper) \
  real_max(real_max(real_subtract(lower, x_upper), real_subtract(x, upper)), REAL_ZERO)
#define BOUND_AT_MOST(a, b) real_at_most(a, b)
#define BOUNDS_AT_MOST(a, b) real_at_most(a, b)
#define bound_limit(plain, d) (plain)

#elif BOUNDED

// The type of a bound, and of eight bounds.
typedef float bound_t;
typedef float8 bound8_t;
#define BOUND_ZERO 0.0f

// A coordinate, or a vector of coordinates, in the form from which bounds are computed.
#define BOUND_OF(x) bound_float(x)

// Whether a bound is at most a limit, and a mask of the lanes in which bounds are.
#define BOUND_AT_MOST(bound, limit) ((bound) <= (limit))
#define BOUNDS_AT_MOST(bounds, limits) convert_long8((bounds) <= (limits))

// Add the term of one dimension to `sum`, the lower bound of a distance before any square root. In
// this dimension the two points differ by at least `difference`. Both arguments are floats or
// vectors of floats.
#if METRIC == METRIC_MANHATTAN
#define BOUND_ADD(sum, difference) ((sum) + (difference))
#elif METRIC == METRIC_CHEBYSHEV
#define BOUND_ADD(sum, difference) fmax(sum, difference)
#else
#define BOUND_ADD(sum, difference) ((sum) + (difference) * (difference))
#endif

// The computed difference of two floats exceeds the exact difference of their coordinates by at
// most BOUND_SLACK times the sum of the floats' magnitudes, plus BOUND_SLACK_AT_ZERO. A lower bound
// is the computed difference minus this error.
#define BOUND_SLACK 0x1p-22f
#define BOUND_SLACK_AT_ZERO 0x1p-122f

// The upper words (sign, exponent and leading bits) of two doubles. BOUND_LEAST is the upper word
// of 2**-127, whose exponent becomes the exponent bits 0 of a float. BOUND_MOST is the upper word
// of 2**128, which is too large for a float. The exponent of a float follows from an upper word
// between the two by subtracting BOUND_LEAST.
#define BOUND_LEAST 0x38000000u
#define BOUND_MOST 0x47f00000u

// Convert a coordinate, or a vector of 8 or 16 coordinates, to float. A coordinate is given as the
// 64 bits of a double. Bits of its fraction that do not fit are cut off. A number that is too large
// for a float becomes infinity or NaN.
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

// A lower bound of the absolute difference of two coordinates. The arguments `a` and `b` are the
// coordinates after bound_float() has cut them off to floats, or vectors of such floats.
#define BOUND_DIFFERENCE(a, b) bound_less(fabs((a) - (b)), fabs(a) + fabs(b))

// A lower bound of the gap in one dimension between two intervals, [x, x_upper] and [lower, upper],
// such as two sides of bounding boxes. The arguments are the ends after bound_float() has cut them
// off to floats, or vectors of such floats.
#define BOUND_GAP(x, x_upper, lower, upper)            \
  bound_less(fmax((lower) - (x_upper), (x) - (upper)), \
             fmax(fabs(lower), fabs(upper)) + fmax(fabs(x), fabs(x_upper)))

// Return a lower bound of the exact difference of two coordinates. The argument `difference` is the
// difference that was computed after bound_float() had cut both coordinates off to floats. It may
// contain an error. The result is `difference` minus the greatest possible error, or 0 if that is
// negative. `magnitudes` is the sum of the magnitudes of the two floats.
REAL_FUNCTION float bound_less(float difference, float magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

REAL_FUNCTION float8 bound_less(float8 difference, float8 magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

REAL_FUNCTION float16 bound_less(float16 difference, float16 magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

// Return the limit with which lower bounds of distances in `d` dimensions are compared. If the
// lower bound of a pair of points is above this limit, the pair's plain value is above `plain`. The
// plain value is the distance before any square root.
REAL_FUNCTION float bound_limit(ulong plain, uint d) {
  const float limit = bound_float(plain);
  return limit < 0x1p126f ? limit * (1 + (d + 4) * 0x1p-21f) + 0x1p-120f : INFINITY;
}

REAL_FUNCTION float8 bound_limit(ulong8 plain, uint d) {
  const float8 limit = bound_float(plain);
  const float8 raised = limit * (1 + (d + 4) * 0x1p-21f) + 0x1p-120f;
  return select((float8)INFINITY, raised, limit < (float8)0x1p126f);
}

// Return the limit with which lower bounds of distances in `d` dimensions are compared. If the
// lower bound of a pair of points is above this limit, the pair's measure is above `measure`. The
// measure is the number by which pairs are compared (distance.cl).
static inline float bound_limit_of_measure(ulong measure, uint d) {
  return bound_limit(MEASURE_IS_PLAIN ? measure : DISTANCE_REACH(measure), d);
}

// Return a lower bound of the plain value of a pair of points: a given point and vertex `v`. The
// plain value is the distance before any square root.
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
