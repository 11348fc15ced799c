// dense: a filter that saves most distances of points with many dimensions, and the distances
// themselves.
//
// The filter value of a pair of points approximates their distance before any square root. It is a
// sum of float32 terms, computed from coordinates that were moved and scaled before (pack.cl). It
// increases with the distance, up to a proven error. The exact distance, in float64 and with the
// terms added in the stated order, is computed only for pairs that the filter cannot reject.
//
// Proof. Coordinates are scaled by a power of two, so that none exceeds 1. This is exact. When a
// point is rounded to float32, it moves by at most 2**-24 of its norm. So a distance changes by at
// most `slack`, which is 2 * 2**-24 of the greatest norm (triangle inequality). A sum of `d`
// non-negative float32 terms has a relative error of at most (d + 3) * 2**-24. The error of the
// stated distance is far smaller. Both errors together are at most `error`. An underflow in float32
// only lowers a filter value. An underflow in float64 changes a distance by at most `least`.
//
// For METRIC_MINKOWSKI a term is a power, which adds POWER_FLOAT_ERRORS to the relative error of a
// sum. If its power is below the normal floats, a difference may be lost. All lost powers together
// are less than `d` * 2**-125, so a distance changes by at most the root of that, which `slack`
// includes. Powers below the normal doubles are lost in the same way, which is `least`.
//
// With FILTER_PRODUCTS, a square is computed as |a|^2 + |b|^2 - 2 a.b, which takes half as many
// instructions. Half of this sum is computed, and none of its partial sums exceeds 2 N^2, where N
// is the greatest norm. The halves of the squared norms have relative errors of (d + 2) * 2**-24.
// Each of d products and sums has a relative error of 2**-24. So a filter value is wrong by at most
// (6 d + 8) * 2**-24 * N^2. This is `absolute`, with a little added for underflow. The error is too
// large if near points are far from the center of all points, so the host first looks at a sample
// (tiles.py).

// METRIC is one of the METRIC_ constants of distance.cl. It is never 0 here, because the weights
// are always computed from points. WEIGHT_BITS and WEIGHT_KIND describe the metric's distances.
#ifndef METRIC
#define METRIC 1
#define WEIGHT_BITS 64
#define WEIGHT_KIND 2
#endif

#include "device/distance.cl"

// Indices of the words of the array `scaling`, by which float32 coordinates are scaled and errors
// are bounded: the greatest biased exponent of a coordinate, and the bits of the greatest norm as a
// float.
#define SCALING_EXPONENT 0
#define SCALING_NORM 1

// Convert a distance to its plain value, which is the value before any root is taken, and back.
#if METRIC == METRIC_MANHATTAN || METRIC == METRIC_CHEBYSHEV
#define FILTER_PLAIN(distance) (distance)
#define FILTER_ROOT(plain) (plain)
#elif METRIC == METRIC_MINKOWSKI
#define FILTER_PLAIN(distance) power_of(distance)
#define FILTER_ROOT(plain) power_root(plain)
#else
#define FILTER_PLAIN(distance) real_square(distance)
#define FILTER_ROOT(plain) real_sqrt(plain)
#endif

// What is added to the bound of a term's relative error because the term is a power, in units of
// 2**-24. The term is what one dimension adds to a distance before the root is taken.
#if METRIC == METRIC_MINKOWSKI
#define FILTER_TERM_ERRORS POWER_FLOAT_ERRORS
#else
#define FILTER_TERM_ERRORS 0
#endif

// 1: squares of distances are computed by products of coordinates. This is possible only for
// metrics that are computed from squares. 0: they are computed from differences of coordinates.
#ifndef FILTER_PRODUCTS
#define FILTER_PRODUCTS 0
#endif

// Return the sum with the term of one dimension added: the absolute value or the square of
// `difference`, as the metric needs it. Norms are computed so, and filter values (approximate
// distances before any square root) if they are computed from differences. The arguments are floats
// or vectors of floats.
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

// The three steps of computing a filter value, which is the approximate distance before any square
// root of a pair. FILTER_BEGIN gives its initial value, from halves of the squared norms.
// FILTER_STEP adds one dimension. FILTER_END gives the final value.
#if FILTER_PRODUCTS
#define FILTER_BEGIN(own, others) ((own) + (others))
#define FILTER_STEP(sum, own, others) fma(-(own), (others), (sum))
#define FILTER_END(sum) fmax((sum) + (sum), 0.0f)
#else
#define FILTER_BEGIN(own, others) ((void)(own), (void)(others), 0.0f)
#define FILTER_STEP(sum, own, others) FILTER_ADD(sum, (others) - (own))
#define FILTER_END(sum) (sum)
#endif

typedef struct {
  real scale, slack, error, absolute, least;
} filter_t;

// Return the power of two by which coordinates are multiplied, so that none exceeds 1.
static inline real filter_scale(const global uint *scaling) {
  return real_power_of_two(min(1022 - (int)scaling[SCALING_EXPONENT], 1000));
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
#else
  filter->least = real_multiply(REAL(4e-162, 0x1e6ccb0536608d61), real_sqrt(real_from_uint(d)));
#endif
}

// Return a float that is slightly greater than the given double, or equal to it.
static inline float filter_above(real value) {
  return real_to_float(real_multiply(value, REAL(1 + 0x1p-22, 0x3ff0000040000000)));
}

// Return the maximum filter value, which is an approximate distance before any square root in
// float32, of a pair whose distance is at most `distance`. This is the distance of the metric
// before the metric rounds it.
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

// Return the maximum filter value, which is an approximate distance before any square root in
// float32, of a pair whose distance is at most the distance of some pair with the filter value
// `least`.
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

// Return the plain value of two points, which is their distance before any square root. The points
// are rows of `d` coordinates, whose terms are added in the stated order. Blocks of four keep
// Intel's CPU runtime from vectorising the sum, which would change the order.
static inline real rows_plain(const global real *rows, uint d, uint u, uint v) {
  const global real *a = rows + (size_t)u * d, *b = rows + (size_t)v * d;
  real sum = REAL_ZERO;
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
