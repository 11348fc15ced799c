// Powers and roots of Minkowski's distance, with the same bits on every device and in NumPy.
//
// The built-in function pow() rounds differently on every device. Powers are therefore products of
// repeated squares and repeated square roots, in a fixed order. Each operation is rounded as IEEE
// 754 defines, so a power never falls when its base grows. A root is defined by the powers: it is
// the greatest double whose power is at most the given sum. So a root has the same bits however it
// is searched. clmst/core/powers.py computes the same.
#include "device/real.cl"

// The whole part of the power p, from 1 to 64.
#ifndef POWER_WHOLE
#define POWER_WHOLE 3
#endif
// The fraction of p times 2**64: its upper 32 bits, from 0 to 2**32 - 1.
#ifndef POWER_FRACTION_HIGH
#define POWER_FRACTION_HIGH 0
#endif
// The lower 32 bits of the fraction, from 0 to 2**32 - 1.
#ifndef POWER_FRACTION_LOW
#define POWER_FRACTION_LOW 0
#endif
#define POWER_FRACTION ((ulong)POWER_FRACTION_HIGH << 32 | (ulong)POWER_FRACTION_LOW)

#define POWER_FUNCTION static inline __attribute__((overloadable))

// The least normal double. Powers below it lose bits, so smaller sums have the root 0.
#define POWER_LEAST REAL(0x1p-1022, 0x0010000000000000)
// A factor from a double to the next greater one, or to one a little greater.
#define POWER_ABOVE REAL(1 + 0x1p-51, 0x3ff0000000000002)

// Define a function that raises numbers, which must not be negative, to the power p. The arguments
// are a type of numbers or of vectors, the number 1 in this type, the fraction of p times 2**64,
// and the operations on the type.
#define POWER_OF(name, type, one, digits, multiply, take_root)  \
  POWER_FUNCTION type name(type base) {                         \
    type power = (one), square = base, root = base;             \
    for (uint whole = POWER_WHOLE; whole; whole >>= 1) {        \
      if (whole & 1) power = multiply(power, square);           \
      if (whole > 1) square = multiply(square, square);         \
    }                                                           \
    for (ulong fraction = (digits); fraction; fraction <<= 1) { \
      root = take_root(root);                                   \
      if (fraction >> 63) power = multiply(power, root);        \
    }                                                           \
    return power;                                               \
  }
#define POWER_TIMES(a, b) ((a) * (b))

POWER_OF(power_of, real, REAL_ONE, POWER_FRACTION, real_multiply, real_sqrt)
POWER_OF(power_of, real8, REAL_ONE, POWER_FRACTION, real_multiply, real_sqrt)
POWER_OF(power_of, real16, REAL_ONE, POWER_FRACTION, real_multiply, real_sqrt)

// Powers of floats, from which filters estimate distances (filter.cl). Of the fraction of p they
// take 26 digits only. A float from the least normal one to 2 to the power 2**-26 differs from 1 by
// less than 24 * 2**-24.
#define POWER_FLOAT_FRACTION (POWER_FRACTION >> 38 << 38)
POWER_OF(power_of_floats, float, 1.0f, POWER_FLOAT_FRACTION, POWER_TIMES, sqrt)
POWER_OF(power_of_floats, float8, 1.0f, POWER_FLOAT_FRACTION, POWER_TIMES, sqrt)
POWER_OF(power_of_floats, float16, 1.0f, POWER_FLOAT_FRACTION, POWER_TIMES, sqrt)

// Maximum relative error of power_of_floats in units of 2**-24, except for underflow. A product of
// k factors is rounded k - 1 times. OpenCL allows a square root an error of 3 units in the last
// place, which is at most 6 * 2**-24. A further square root halves the error of its operand.
#define POWER_FLOAT_ERRORS \
  (POWER_WHOLE + 14 * popcount(POWER_FLOAT_FRACTION) + (POWER_FRACTION ? 24 : 0))

// Return an approximate root of a normal number. Its logarithm is computed as a float, so the
// result has about 13 right bits.
static inline real power_near_root(real sum) {
  const ulong bits = real_bits(sum);
  const float p = POWER_WHOLE + (float)POWER_FRACTION * 0x1p-64f;
  const uint fraction = (uint)(bits >> 29) & 0x7fffff;
  const float logarithm = (float)((int)(bits >> 52) - 1023) + log2(as_float(0x3f800000 | fraction));
  const float whole = floor(logarithm / p);
  const real rest = real_from_float(exp2(fma(-whole, p, logarithm) / p));
  return real_multiply(rest, real_power_of_two((int)whole));
}

// Return the root of a number, which must not be negative: the greatest double whose power is at
// most the number. It is 0 below the least normal double, and infinite for infinity.
POWER_FUNCTION real power_root(real sum) {
  if (real_less(sum, POWER_LEAST)) return REAL_ZERO;
  if (!real_less(sum, REAL_INFINITY)) return sum;
  const real p =
      real_add(real_from_uint(POWER_WHOLE), real_multiply(real_from_float((float)POWER_FRACTION),
                                                          REAL(0x1p-64, 0x3bf0000000000000)));
  real root = power_near_root(sum);
  for (uint turn = 0; turn < 3; ++turn) {  // steps of Newton's method
    const real power = power_of(root);
    const real slope = real_multiply(real_divide(power, root), p);
    root = real_add(root, real_divide(real_subtract(sum, power), slope));
  }
  while (real_less(sum, power_of(root))) root = real_of_bits(real_bits(root) - 1);
  for (;;) {
    const real next = real_of_bits(real_bits(root) + 1);
    if (!real_at_most(power_of(next), sum)) return root;
    root = next;
  }
}

// Define the function power_root for vectors of `n` numbers.
#define POWER_ROOT_OF_VECTOR(n)                                     \
  POWER_FUNCTION real##n power_root(real##n sums) {                 \
    real values[n];                                                 \
    vstore##n(sums, 0, values);                                     \
    for (uint i = 0; i < n; ++i) values[i] = power_root(values[i]); \
    return vload##n(0, values);                                     \
  }

POWER_ROOT_OF_VECTOR(8)
POWER_ROOT_OF_VECTOR(16)

// Return an upper bound of the numbers whose root is at most `root`, for numbers and for vectors. A
// greater number has a root that is at least the next double.
#define POWER_REACH(root) real_max(power_of(real_multiply(root, POWER_ABOVE)), POWER_LEAST)
