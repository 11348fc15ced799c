// dense: filter values of the metrics that divide (quotient.cl).
//
// Coordinates are neither moved nor scaled, because these metrics depend on the origin. If float32
// does not suit the coordinates (filter_suits), every filter value is 0, the bound of its error is
// infinite, and all distances are computed exactly.
//
// Proof. Let u be 2**-24. A division in float32 has a relative error of at most 5 u.
//
// METRIC_HAMMING and METRIC_JACCARD: all counts are below 2**24, so they are exact. Only the
// division is rounded. The number of coordinates that matter to a pair is |A| + |B| + |A xor B|
// divided by 2, where |A| is the number of coordinates of A that are not 0. The halves of |A| and
// |B| are stored. For METRIC_HAMMING they are d / 2.
//
// METRIC_CANBERRA: coordinates a and b have a relative error of u each. So the numerator of a term
// is wrong by at most u (|a| + |b|) and by the rounding of the difference, the denominator has a
// relative error of 2 u, and the term, which is at most 1, is wrong by at most 10 u. The sum of `d`
// terms adds a relative error of d u.
//
// METRIC_BRAYCURTIS: no coordinate is negative. So the numerator is wrong by at most u times the
// denominator, and by a relative error of (d + 1) u. The denominator is the sum of the norms of
// both points, with a relative error of (d + 5) u.
#include "device/distance.cl"

#if METRIC_DIVIDES

#define FILTER_FUNCTION static inline __attribute__((overloadable))

// The factor by which the bound of a relative error grows with the number of dimensions, and what
// is added to this number, both in units of u; and the bound of the absolute error, in the same way.
#if METRIC == METRIC_BRAYCURTIS
#define FILTER_ERRORS(d) (2 * (d) + 14)
#define FILTER_ABSOLUTE_ERRORS(d) 2u
#elif METRIC == METRIC_CANBERRA
#define FILTER_ERRORS(d) ((d) + 4)
#define FILTER_ABSOLUTE_ERRORS(d) (11 * (d))
#else
#define FILTER_ERRORS(d) 6u
#define FILTER_ABSOLUTE_ERRORS(d) 0u
#endif

// Return whether a filter value can be computed from this coordinate in float32. The coordinates of
// METRIC_HAMMING must be floats, because they are only compared.
static inline bool filter_suits(real coordinate) {
#if METRIC == METRIC_JACCARD
  return true;
#elif METRIC == METRIC_HAMMING
  return real_bits(real_from_float(real_to_float(coordinate))) == real_bits(coordinate);
#else
  if (METRIC == METRIC_BRAYCURTIS && real_less(coordinate, REAL_ZERO)) return false;
  const uint exponent = (uint)(real_bits(coordinate) >> 52) & 0x7ff;
  return real_equal(coordinate, REAL_ZERO) || (exponent >= 1023 - 100 && exponent < 1023 + 100);
#endif
}

// Return a coordinate as a float. For METRIC_JACCARD, the float has the bits of the word.
static inline float filter_coordinate(real coordinate) {
#if METRIC == METRIC_JACCARD
  return as_float((uint)real_bits(coordinate));
#else
  return real_to_float(coordinate);
#endif
}

// Return the share of a coordinate in the norm of its point. Half the norms of both points give the
// denominator of their filter value.
static inline float filter_share(float coordinate) {
#if METRIC == METRIC_JACCARD
  return popcount(as_uint(coordinate));
#elif METRIC == METRIC_HAMMING
  return 1;
#else
  return fabs(coordinate);
#endif
}

// Define the term of one dimension, and the filter value that follows from a sum of terms and from
// halves of the norms of both points, for vectors of `n` pairs.
#if METRIC == METRIC_JACCARD
#define FILTER_TERM(n, own, others) convert_float##n(popcount(as_uint##n(own) ^ as_uint##n(others)))
#elif METRIC == METRIC_HAMMING
#define FILTER_TERM(n, own, others) convert_float##n((as_int##n(own) != as_int##n(others)) & 1)
#elif METRIC == METRIC_CANBERRA
#define FILTER_TERM(n, own, others) \
  (fabs((own) - (others)) / fmax(fabs(own) + fabs(others), (float##n)FLT_MIN))
#else
#define FILTER_TERM(n, own, others) fabs((own) - (others))
#endif

#if METRIC == METRIC_JACCARD
#define FILTER_QUOTIENT(n, sum, norms) ((sum) / fmax((norms) + 0.5f * (sum), (float##n)1))
#elif METRIC == METRIC_HAMMING
#define FILTER_QUOTIENT(n, sum, norms) ((sum) / (norms))
#elif METRIC == METRIC_CANBERRA
#define FILTER_QUOTIENT(n, sum, norms) (sum)
#else
#define FILTER_QUOTIENT(n, sum, norms) ((sum) / fmax(2 * (norms), (float##n)FLT_MIN))
#endif

#define FILTER_OF_VECTORS(n)                                                          \
  FILTER_FUNCTION float##n filter_step(float##n sum, float##n own, float##n others) { \
    return sum + FILTER_TERM(n, own, others);                                         \
  }                                                                                   \
  FILTER_FUNCTION float##n filter_end(float##n sum, float own, float##n others) {     \
    return FILTER_QUOTIENT(n, sum, own + others);                                     \
  }

FILTER_OF_VECTORS(8)
FILTER_OF_VECTORS(16)

#endif
