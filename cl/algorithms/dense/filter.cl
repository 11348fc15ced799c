// dense: a filter for points of many dimensions, by which most pairs are rejected without computing
// their distances, and the computation of the distances that are still needed.
//
// The filter value of a pair of points approximates their distance before any square root. It is a
// sum of float32 terms, computed from coordinates that were moved and scaled before (pack.cl). It
// increases with the distance, up to a proven error. The exact distance, which is a float64 sum in
// the order of the dimensions, is computed only for pairs that the filter cannot reject.
//
// Proof. Names in backquotes are fields of filter_t, and d is the number of dimensions. Coordinates
// are scaled by a power of two, so that none exceeds 1. This is exact. When a point is rounded to
// float32, it moves by at most 2**-24 times its norm. So a distance changes by at most `slack`,
// which is 2 * 2**-24 times the maximum norm (triangle inequality). A sum of d non-negative float32
// terms has a relative error of at most (d + 3) * 2**-24. The error of the exact distance, computed
// in float64, is far smaller. Both errors together are at most `error`. An underflow in float32
// only lowers a filter value. An underflow in float64 changes a distance by at most `least`.
//
// For METRIC_MINKOWSKI a term is a power, which adds POWER_FLOAT_ERRORS to the relative error of a
// sum. If the power of a difference of coordinates is smaller than the normal floats, it may become
// 0. All lost powers together are less than d * 2**-125, so a distance changes by at most the root
// of that, which `slack` includes. In float64, powers smaller than the normal doubles are lost in
// the same way. `least` bounds this loss.
//
// quotient_filter.cl has the filter values and the proofs of the metrics that divide.
//
// With FILTER_PRODUCTS, a square is computed as |a|^2 + |b|^2 - 2 a.b, which takes half as many
// instructions. Half of this sum is computed, and none of its partial sums exceeds 2 N^2, where N
// is the maximum norm. The halves of the squared norms have relative errors of at most (d + 2) *
// 2**-24. Each of the d products and sums has a relative error of at most 2**-24. So a filter value
// is wrong by at most (6 d + 8) * 2**-24 * N^2. This is `absolute`, with a little added for
// underflow. The error is too large if near points are far from the center of all points, so the
// host first looks at a sample (tiles.py).

// METRIC is one of the METRIC_ constants of distance.cl. It is never 0 here, because the weights
// are always computed from points. WEIGHT_BITS and WEIGHT_KIND describe the metric's distances.
#ifndef METRIC
#define METRIC 1
#define WEIGHT_BITS 64
#define WEIGHT_KIND 2
#endif

#include "algorithms/dense/quotient_filter.cl"
#include "device/distance.cl"

// Indices in the array `scaling`, from which the scale of the float32 coordinates and the bounds of
// errors are computed. Its first word is the maximum biased exponent of a coordinate. Its second
// word has the bits of the maximum norm as a float. For metrics that divide, the first word is
// instead 1 if a coordinate does not suit filter values in float32 (filter_suits), and otherwise 0.
#define SCALING_EXPONENT 0
#define SCALING_NORM 1

// Convert a distance to its plain value, which is the value before any root is taken, and back.
#if METRIC == METRIC_MANHATTAN || METRIC == METRIC_CHEBYSHEV || METRIC_DIVIDES
#define FILTER_PLAIN(distance) (distance)
#define FILTER_ROOT(plain) (plain)
#elif METRIC == METRIC_MINKOWSKI
#define FILTER_PLAIN(distance) power_of(distance)
#define FILTER_ROOT(plain) power_root(plain)
#else
#define FILTER_PLAIN(distance) real_square(distance)
#define FILTER_ROOT(plain) real_sqrt(plain)
#endif

// An addition to the bound of the relative error of a filter value, in units of 2**-24. It is not 0
// if the terms of the sum, one for each dimension, are powers, whose computation has errors of its
// own.
#if METRIC == METRIC_MINKOWSKI
#define FILTER_TERM_ERRORS POWER_FLOAT_ERRORS
#else
#define FILTER_TERM_ERRORS 0
#endif

// 1: squared distances are computed from products of coordinates, as |a|^2 + |b|^2 - 2 a.b. This is
// possible only for metrics that are computed from squares. 0: filter values are computed from
// differences of coordinates.
#ifndef FILTER_PRODUCTS
#define FILTER_PRODUCTS 0
#endif

// Add the term of one dimension to a sum. The term is the absolute value, the square or another
// power of `difference`, depending on the metric. For METRIC_CHEBYSHEV the result is the maximum
// instead of the sum. This macro is used for norms, and for filter values (approximate distances
// before any square root) that are computed from differences. The arguments are floats or vectors
// of floats.
#if METRIC == METRIC_MANHATTAN
#define FILTER_ADD(sum, difference) ((sum) + fabs(difference))
#elif METRIC == METRIC_CHEBYSHEV
#define FILTER_ADD(sum, difference) fmax((sum), fabs(difference))
#elif METRIC == METRIC_MINKOWSKI
#define FILTER_ADD(sum, difference) ((sum) + power_of_floats(fabs(difference)))
#elif defined(FP_FAST_FMAF) || LANES_IMPL == 2  // NVIDIA's compiler does not define the macro
#define FILTER_ADD(sum, difference) fma((difference), (difference), (sum))
#else
#define FILTER_ADD(sum, difference) ((sum) + (difference) * (difference))
#endif

// Return the norm of a point with the share of one dimension added.
#if METRIC_DIVIDES
#define FILTER_NORM_ADD(norm, coordinate) ((norm) + filter_share(coordinate))
#else
#define FILTER_NORM_ADD(norm, coordinate) FILTER_ADD(norm, coordinate)
#endif

// The three steps of computing a filter value, which is the approximate distance of two points
// before any square root. FILTER_BEGIN gives the initial sum, which is the sum of half the squared
// norm of each point if FILTER_PRODUCTS is 1, else 0. FILTER_STEP adds one dimension. FILTER_END
// gives the final value.
#if FILTER_PRODUCTS
#define FILTER_BEGIN(own, others) ((own) + (others))
#define FILTER_STEP(sum, own, others) fma(-(own), (others), (sum))
#define FILTER_END(sum, own, others) fmax((sum) + (sum), 0.0f)
#elif METRIC_DIVIDES
#define FILTER_BEGIN(own, others) ((void)(own), (void)(others), 0.0f)
#define FILTER_STEP(sum, own, others) filter_step(sum, own, others)
#define FILTER_END(sum, own, others) filter_end(sum, own, others)
#else
#define FILTER_BEGIN(own, others) ((void)(own), (void)(others), 0.0f)
#define FILTER_STEP(sum, own, others) FILTER_ADD(sum, (others) - (own))
#define FILTER_END(sum, own, others) ((void)(own), (void)(others), (sum))
#endif

typedef struct {
  real scale, slack, error, absolute, least;
} filter_t;

// Return the power of two by which coordinates are multiplied, so that none exceeds 1.
static inline real filter_scale(const global uint *scaling) {
  if (METRIC_DIVIDES) return REAL_ONE;  // these coordinates are not scaled
  return real_power_of_two(min(1022 - (int)scaling[SCALING_EXPONENT], 1000));
}

// Return whether the filter drops no pair, because coordinates do not suit float32.
static inline bool filter_is_off(const global uint *scaling) {
#if METRIC_DIVIDES
  return scaling[SCALING_EXPONENT] != 0;
#else
  return false;
#endif
}

static inline void filter_open(filter_t *filter, const global uint *scaling, uint d) {
  filter->scale = filter_scale(scaling);
  const real norm = real_from_float(as_float(scaling[SCALING_NORM]));
  const real terms = real_from_uint(d + 4 + (uint)FILTER_TERM_ERRORS);
  filter->slack = real_add(real_multiply(REAL(0x1.01p-23, 0x3e80100000000000), norm),
                           REAL(1e-30, 0x39b4484bfeebc2a0));
  filter->error =
      FILTER_PRODUCTS ? REAL_ZERO : real_multiply(REAL(0x1.1p-24, 0x3e71000000000000), terms);
  const real per_square = real_multiply(REAL(0x6.1p-24, 0x3e98400000000000), terms);
  const real of_products = real_multiply(real_multiply(per_square, norm), norm);
  filter->absolute =
      FILTER_PRODUCTS ? real_add(of_products, REAL(1e-30, 0x39b4484bfeebc2a0)) : REAL_ZERO;
#if METRIC == METRIC_MINKOWSKI
  const real lost = real_multiply(real_from_uint(d), REAL(0x1p-125, 0x3820000000000000));
  filter->slack = real_add(filter->slack, power_root(lost));
  filter->least = power_root(real_multiply(real_from_uint(d), REAL(0x1p-1021, 0x20000000000000)));
#elif METRIC_DIVIDES
  filter->slack = filter->least = REAL_ZERO;
  filter->error =
      real_multiply(REAL(0x1.1p-24, 0x3e71000000000000), real_from_uint(FILTER_ERRORS(d)));
  filter->absolute = filter_is_off(scaling)
                         ? REAL_INFINITY
                         : real_multiply(REAL(0x1.1p-24, 0x3e71000000000000),
                                         real_from_uint(FILTER_ABSOLUTE_ERRORS(d)));
#else
  filter->least = real_multiply(REAL(4e-162, 0x1e6ccb0536608d61), real_sqrt(real_from_uint(d)));
#endif
}

// Convert a non-negative double to a float that is not smaller, and at most slightly greater.
static inline float filter_above(real value) {
  return real_to_float(real_multiply(value, REAL(1 + 0x1p-22, 0x3ff0000040000000)));
}

// Return an upper bound of the filter values of all pairs of points whose distance is at most
// `distance`. A filter value is an approximate distance in float32, before any square root. If the
// metric rounds distances, `distance` is compared with the distances before this rounding.
static inline float filter_of_distance(const filter_t *filter, real distance, uint d) {
#if METRIC == METRIC_COSINE  // it is half the squared Euclidean distance of points of length 1
  const real slack = real_multiply(real_from_uint(d + 4), REAL(0x1p-51, 0x3cc0000000000000));
  distance = real_sqrt(real_multiply(REAL(2.0, 0x4000000000000000), real_add(distance, slack)));
#endif
  const real scaled = real_multiply(real_add(distance, filter->least), filter->scale);
  const real far = real_add(scaled, filter->slack), stretch = real_add(REAL_ONE, filter->error);
  const real value = real_multiply(FILTER_PLAIN(far), stretch);
  return filter_above(real_add(value, filter->absolute));
}

// Let `least` be the filter value of some pair of points, which is an approximate distance in
// float32, before any square root. Return an upper bound of the filter values of all pairs that are
// not farther apart than this pair.
static inline float filter_of_nearest(const filter_t *filter, float least, uint d) {
  const real stretched = real_multiply(real_from_float(least), real_add(REAL_ONE, filter->error));
  const real plain = real_add(stretched, filter->absolute);
  const real far = real_add(FILTER_ROOT(plain), filter->slack);
  const real reached =
      real_multiply(real_divide(far, filter->scale), REAL(1 + 0x1p-20, 0x3ff0000100000000));
  const real distance = real_add(reached, filter->least);
  if (real_is_infinite(METRIC == METRIC_MINKOWSKI ? FILTER_PLAIN(distance) : real_square(distance)))
    return INFINITY;  // greater distances have the same square or power
#if METRIC == METRIC_ROUNDED
  return filter_of_distance(filter, real_add(distance, REAL_ONE), d);
#elif METRIC == METRIC_COSINE
  const real half_square = real_multiply(real_square(distance), REAL(0.5, 0x3fe0000000000000));
  const real slack = real_multiply(real_from_uint(d + 4), REAL(0x1p-51, 0x3cc0000000000000));
  return filter_of_distance(filter, real_add(half_square, slack), d);
#else
  return filter_of_distance(filter, distance, d);
#endif
}

// Return a lower bound of the filter values, which are approximate distances before any square root
// in float32, of all pairs whose distance is at least the core distance `core`.
static inline float filter_of_core(const filter_t *filter, real core) {
#if METRIC == METRIC_COSINE
  core = real_sqrt(real_multiply(REAL(2.0, 0x4000000000000000), core));
#endif
  const real scaled = real_multiply(core, filter->scale);
  const real plain = FILTER_PLAIN(scaled);
  const real value = real_multiply(plain, REAL(1 - 0x1p-22, 0x3fefffff80000000));
  return real_less(REAL(1e30, 0x46293e5939a08cea), value) ? 1e30f : real_to_float(value);
}

// Return the sum over all dimensions from which the distance of two points is computed. The points
// are rows of `d` coordinates, and the terms are added in the order of the coordinates. The loop
// handles four coordinates at a time, because otherwise Intel's CPU runtime would vectorise the
// sum, which would change the order.
static inline sum_t rows_sum(const global real *rows, uint d, uint u, uint v) {
  const global real *a = rows + (size_t)u * d, *b = rows + (size_t)v * d;
  sum_t sum = SUM_NOTHING;
  uint k = 0;
#pragma clang loop vectorize(disable)
  for (; k + 4 <= d; k += 4) {
    const real4 one = vload4(0, a + k), other = vload4(0, b + k);
    sum = DISTANCE_ADD(sum, one.x, other.x);
    sum = DISTANCE_ADD(sum, one.y, other.y);
    sum = DISTANCE_ADD(sum, one.z, other.z);
    sum = DISTANCE_ADD(sum, one.w, other.w);
  }
#pragma clang loop vectorize(disable)
  for (; k < d; ++k) sum = DISTANCE_ADD(sum, a[k], b[k]);
  return sum;
}
