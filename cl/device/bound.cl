// Lower bounds of distances in float32, for devices without doubles.
//
// There an operation on reals takes tens of instructions (real.cl). A bound shows for most pairs of
// points that they are too far apart, so that few distances are computed.
//
// Proof. x~ is the float of a coordinate x without the bits of its fraction that do not fit, so
// |x - x~| <= 2**-23 |x| + 2**-125. The last term is for numbers that are smaller than all normal
// floats, which the device may also replace by 0 before and after each operation. So the difference
// a - b is at least |a~ - b~| minus 2**-22 (|a~| + |b~|) minus 2**-122: of the factor 2**-22, the
// floats take a little more than 2**-23, the rounding of their difference takes 2**-24, and 2**-24
// are left for the other roundings. The last operation rounds the result, or its square, or their
// sum, by a factor of at most 1 + 2**-24 each, d + 2 times in all for d dimensions. Fused operations
// round less often. A square that is too small for a float becomes 0, or loses bits below 2**-149,
// which only matters if the sum of all terms is below 2**-122. The distance in doubles is rounded
// far less. bound_limit() raises the limit with which a bound is compared by more than all that,
// and by 2**-120.
//
// If a coordinate is too great for floats, its float is infinite. Then a difference, less what is
// taken from it, is NaN or -infinity, and the bound of it is 0. If a square or a sum is infinite,
// the distance is above 2**127, and limits of 2**126 or more are infinite, too. So no pair is
// rejected by a number that is not finite unless it is too far apart.
#include "device/distance.cl"

// 1 if kernels use bounds: on devices without doubles. The terms of METRIC_COSINE cannot be
// bounded by differences of coordinates.
#if METRIC && !DOUBLES && METRIC != METRIC_COSINE
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

// What is taken from a difference of two floats, relative to the sum of their magnitudes, and in
// addition.
#define BOUND_SLACK 0x1p-22f
#define BOUND_SLACK_AT_ZERO 0x1p-122f

// Biased exponents: what an exponent of a double exceeds that of a float by, moved to the place of
// a float's exponent.
#define BOUND_EXPONENTS (896ul << 23)
#define BOUND_FLOAT_INFINITY 0x7f800000ul

// Return a coordinate as a float, or 8 or 16 coordinates as floats. Bits that do not fit are cut
// off.
REAL_FUNCTION float bound_float(ulong x) {
  const ulong magnitude = (x & REAL_MAGNITUDE) >> 29;
  const ulong moved = max(magnitude, BOUND_EXPONENTS) - BOUND_EXPONENTS;
  const uint sign = (uint)(x >> 32) & 0x80000000u;
  return as_float((uint)min(moved, BOUND_FLOAT_INFINITY) | sign);
}

REAL_FUNCTION float8 bound_float(ulong8 x) {
  const ulong8 magnitude = (x & REAL_MAGNITUDE) >> 29;
  const ulong8 moved = max(magnitude, BOUND_EXPONENTS) - BOUND_EXPONENTS;
  const uint8 sign = convert_uint8(x >> 32) & 0x80000000u;
  return as_float8(convert_uint8(min(moved, BOUND_FLOAT_INFINITY)) | sign);
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

// Return a difference less the errors of two floats, whose magnitudes have the sum `magnitudes`.
REAL_FUNCTION float bound_less(float difference, float magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

REAL_FUNCTION float8 bound_less(float8 difference, float8 magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

REAL_FUNCTION float16 bound_less(float16 difference, float16 magnitudes) {
  return fmax(difference - (magnitudes * BOUND_SLACK + BOUND_SLACK_AT_ZERO), 0.0f);
}

// Return the limit for the bounds of pairs in `d` dimensions: if the bound of a pair is above it,
// the plain value of the pair, which is the distance before any square root, is above `plain`.
REAL_FUNCTION float bound_limit(ulong plain, uint d) {
  const float limit = bound_float(plain);
  return limit < 0x1p126f ? limit * (1 + (d + 4) * 0x1p-21f) + 0x1p-120f : INFINITY;
}

REAL_FUNCTION float8 bound_limit(ulong8 plain, uint d) {
  const float8 limit = bound_float(plain);
  const float8 raised = limit * (1 + (d + 4) * 0x1p-21f) + 0x1p-120f;
  return select((float8)INFINITY, raised, limit < (float8)0x1p126f);
}

#endif
