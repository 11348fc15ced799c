// Metrics that divide: the sums over all dimensions of METRIC_HAMMING, METRIC_JACCARD,
// METRIC_CANBERRA and METRIC_BRAYCURTIS, and the distances that follow from them. The functions
// take numbers, and vectors of 16 numbers. IEEE 754 defines one result for a division, so the bits
// are the same on every device and in NumPy. clmst/core/quotients.py computes the same.
//
// METRIC_HAMMING and METRIC_JACCARD divide one count by another. Both counts are in the bits of one
// `real`, on which there is no arithmetic: the lower COUNT_BITS bits have the number of differing
// coordinates, and the bits above have the number of all coordinates that matter. A coordinate of
// METRIC_JACCARD is a word of 32 bits, which are the lower bits of a `real`. Each bit says whether
// a coordinate of the caller differs from 0.
#include "device/real.cl"

#define COUNT_BITS 26
#define COUNT_ONE (1ul << COUNT_BITS)
#define COUNT_MASK (COUNT_ONE - 1)

#define QUOTIENT_FUNCTION static inline __attribute__((overloadable))

// The bits of 16 numbers as integers, and back.
#if DOUBLES
#define BITS_OF_16(numbers) as_ulong16(numbers)
#define OF_BITS_OF_16(bits) as_double16(bits)
#else
#define BITS_OF_16(numbers) (numbers)
#define OF_BITS_OF_16(bits) (bits)
#endif

#if METRIC == METRIC_BRAYCURTIS
// The sum of all |a - b|, and the sum of all |a + b|.
typedef struct {
  real apart, total;
} sum_t;
typedef struct {
  real16 apart, total;
} sum16_t;
#define SUM_NOTHING {REAL_ZERO, REAL_ZERO}
#define SUM16_NOTHING {(real16)REAL_ZERO, (real16)REAL_ZERO}
#else
typedef real sum_t;
typedef real16 sum16_t;
#define SUM_NOTHING REAL_ZERO
#define SUM16_NOTHING (real16) REAL_ZERO
#endif

#if METRIC == METRIC_HAMMING || METRIC == METRIC_JACCARD

// Return the counts of a sum with the counts of one dimension added.
QUOTIENT_FUNCTION real quotient_add(real sum, real a, real b) {
#if METRIC == METRIC_HAMMING
  const ulong counts = COUNT_ONE + (real_equal(a, b) ? 0 : 1);
#else
  const ulong one = real_bits(a), other = real_bits(b);
  const ulong counts = popcount(one ^ other) + (popcount(one | other) << COUNT_BITS);
#endif
  return real_of_bits(real_bits(sum) + counts);
}

QUOTIENT_FUNCTION real16 quotient_add(real16 sums, real a, real16 b) {
#if METRIC == METRIC_HAMMING
  const ulong16 counts = COUNT_ONE + 1 + as_ulong16(real_equal(b, (real16)a));  // equal ones are -1
#else
  const ulong16 one = BITS_OF_16((real16)a), other = BITS_OF_16(b);
  const ulong16 counts = popcount(one ^ other) + (popcount(one | other) << COUNT_BITS);
#endif
  return OF_BITS_OF_16(BITS_OF_16(sums) + counts);
}

// Return the quotient of the two counts in a sum, or 0 if both are 0.
QUOTIENT_FUNCTION real quotient_of(real sum) {
  const uint differ = (uint)(real_bits(sum) & COUNT_MASK);
  const uint every = (uint)(real_bits(sum) >> COUNT_BITS);
  return real_divide(real_from_uint(differ), real_from_uint(max(every, 1u)));
}

QUOTIENT_FUNCTION real16 quotient_of(real16 sums) {
#if DOUBLES
  const uint16 differ = convert_uint16(as_ulong16(sums) & COUNT_MASK);
  const uint16 every = convert_uint16(as_ulong16(sums) >> COUNT_BITS);
  return convert_double16(differ) / convert_double16(max(every, 1u));
#else
  real values[16];
  vstore16(sums, 0, values);
  for (uint i = 0; i < 16; ++i) values[i] = quotient_of(values[i]);
  return vload16(0, values);
#endif
}

#elif METRIC == METRIC_CANBERRA

// Return a sum with the term of one dimension added, |a - b| / (|a| + |b|). The term is 0 if both
// coordinates are 0.
QUOTIENT_FUNCTION real quotient_add(real sum, real a, real b) {
  const real apart = real_fabs(real_subtract(a, b)), total = real_add(real_fabs(a), real_fabs(b));
  return real_add(sum, real_divide(apart, real_equal(total, REAL_ZERO) ? REAL_ONE : total));
}

QUOTIENT_FUNCTION real16 quotient_add(real16 sums, real a, real16 b) {
  const real16 total = real_add((real16)real_fabs(a), real_fabs(b));
  const long16 is_zero = real_equal(total, (real16)REAL_ZERO);
  const real16 divisor = real_select(total, (real16)REAL_ONE, is_zero);
  return real_add(sums, real_divide(real_fabs(real_subtract((real16)a, b)), divisor));
}

#define quotient_of(sum) (sum)

#else

// Return the two sums with the terms of one dimension added, |a - b| and |a + b|.
QUOTIENT_FUNCTION sum_t quotient_add(sum_t sum, real a, real b) {
  sum.apart = real_add(sum.apart, real_fabs(real_subtract(a, b)));
  sum.total = real_add(sum.total, real_fabs(real_add(a, b)));
  return sum;
}

QUOTIENT_FUNCTION sum16_t quotient_add(sum16_t sums, real a, real16 b) {
  sums.apart = real_add(sums.apart, real_fabs(real_subtract((real16)a, b)));
  sums.total = real_add(sums.total, real_fabs(real_add((real16)a, b)));
  return sums;
}

// Return the quotient of the two sums. It is 0 for equal points, even if all coordinates are 0.
QUOTIENT_FUNCTION real quotient_of(sum_t sum) {
  return real_divide(sum.apart, real_equal(sum.apart, REAL_ZERO) ? REAL_ONE : sum.total);
}

QUOTIENT_FUNCTION real16 quotient_of(sum16_t sums) {
  const long16 is_zero = real_equal(sums.apart, (real16)REAL_ZERO);
  return real_divide(sums.apart, real_select(sums.total, (real16)REAL_ONE, is_zero));
}

#endif
