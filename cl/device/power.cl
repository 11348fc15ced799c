// Powers and roots of Minkowski's distance, with the same bits on every device and in NumPy.
//
// The built-in function pow() rounds differently on every device. Powers are therefore products of
// repeated squares and repeated square roots, in a fixed order. Each operation is rounded as IEEE
// 754 defines, so a power never decreases when its base increases. A root is defined by the powers:
// it is the greatest double whose power is at most the given sum. So every way of searching for a
// root finds the same bits. clmst/core/powers.py computes the same powers and roots.
#include "device/real.cl"

// The integer part of p, the exponent of Minkowski's distance: 1 to 64.
#ifndef POWER_WHOLE
#define POWER_WHOLE 3
#endif
// The fraction of p, the exponent of Minkowski's distance, is stored as a 64-bit integer, the
// fraction times 2**64. This macro has the upper 32 bits of the integer.
#ifndef POWER_FRACTION_HIGH
#define POWER_FRACTION_HIGH 0
#endif
// The lower 32 bits of the fraction of p times 2**64, where p is the exponent of Minkowski's
// distance.
#ifndef POWER_FRACTION_LOW
#define POWER_FRACTION_LOW 0
#endif
#define POWER_FRACTION ((ulong)POWER_FRACTION_HIGH << 32 | (ulong)POWER_FRACTION_LOW)

#define POWER_FUNCTION static inline __attribute__((overloadable))

// The smallest normal double. Powers below it lose bits, so the root of a smaller sum is defined as
// 0.
#define POWER_LEAST REAL(0x1p-1022, 0x0010000000000000)
// A double times this factor is above the next greater double, but by a few units in the last place
// only.
#define POWER_ABOVE REAL(1 + 0x1p-51, 0x3ff0000000000002)

// Define a function `name` that raises numbers, which must not be negative, to the power p. `type`
// is the type of a number or of a vector of numbers, and `one` is the number 1. `digits` is the
// fraction of p times 2**64. `multiply` and `take_root` are the operations on the type.
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

// 1 if the fraction of p has more than 8 binary digits. A power then takes many square roots.
// power_below takes only POWER_FIRST_DIGITS of them. With 8 first digits instead of 4, a tree of
// 6,000 points of 10 dimensions took 1.2 times as long on a CPU.
#define POWER_FIRST_DIGITS 4
#define POWER_IS_LONG (POWER_FRACTION_LOW != 0 || (POWER_FRACTION_HIGH & 0xffffff) != 0)

// Define the function power_below(base): a lower bound of power_of(base).
//
// Proof. The loops compute the same product as power_of, up to the first digits of the fraction.
// power_of multiplies this product by further roots of the base. Their exponents add up to less
// than the exponent of the last root here. If the base is 1 or greater, all of these roots are at
// least 1, and rounding keeps that order. Otherwise they multiply the product by more than the last
// root, except for rounding: at most 52 roots and products are rounded, by 2**-53 each, and each
// root halves the errors of the roots before it. The factor 1 - 2**-40 allows for that. Below the
// least normal double, each operation may also be wrong by 2**-1074, which the last term allows
// for.
#define POWER_BELOW(type)                                                    \
  POWER_FUNCTION type power_below(type base) {                               \
    type power = REAL_ONE, square = base, root = base;                       \
    for (uint whole = POWER_WHOLE; whole; whole >>= 1) {                     \
      if (whole & 1) power = real_multiply(power, square);                   \
      if (whole > 1) square = real_multiply(square, square);                 \
    }                                                                        \
    for (uint digit = 0; digit < POWER_FIRST_DIGITS; ++digit) {              \
      root = real_sqrt(root);                                                \
      if (POWER_FRACTION << digit >> 63) power = real_multiply(power, root); \
    }                                                                        \
    root = real_multiply(real_min(root, (type)REAL_ONE),                     \
                         (type)REAL(1 - 0x1p-40, 0x3fefffffffffe000));       \
    power = real_multiply(power, root);                                      \
    return real_subtract(power, (type)REAL(0x1p-1060, 0x0000000000004000));  \
  }

POWER_BELOW(real)
POWER_BELOW(real8)

// Powers of floats, by which filters estimate distances (filter.cl). They use only the first 26
// binary digits of the fraction of p. If x is a float from the smallest normal one to 2, x to the
// power 2**-26 differs from 1 by less than 24 * 2**-24. So this is the maximum relative error from
// the digits that are left out.
#define POWER_FLOAT_FRACTION (POWER_FRACTION >> 38 << 38)
POWER_OF(power_of_floats, float, 1.0f, POWER_FLOAT_FRACTION, POWER_TIMES, sqrt)
POWER_OF(power_of_floats, float8, 1.0f, POWER_FLOAT_FRACTION, POWER_TIMES, sqrt)
POWER_OF(power_of_floats, float16, 1.0f, POWER_FLOAT_FRACTION, POWER_TIMES, sqrt)

// Maximum relative error of power_of_floats in units of 2**-24, unless the result underflows. A
// product of k factors is rounded k - 1 times. OpenCL allows a square root an error of 3 units in
// the last place, which is at most 6 * 2**-24. Each further square root halves the relative error
// of its operand.
#define POWER_FLOAT_ERRORS \
  (POWER_WHOLE + 14 * popcount(POWER_FLOAT_FRACTION) + (POWER_FRACTION ? 24 : 0))

// Return an approximation of the root (the number whose power is `sum`) of a normal number. Its
// logarithm is computed as a float, so about 13 bits of the result are correct.
static inline real power_near_root(real sum) {
  const ulong bits = real_bits(sum);
  const float p = POWER_WHOLE + (float)POWER_FRACTION * 0x1p-64f;
  const uint fraction = (uint)(bits >> 29) & 0x7fffff;
  const float logarithm = (float)((int)(bits >> 52) - 1023) + log2(as_float(0x3f800000 | fraction));
  const float whole = floor(logarithm / p);
  const real rest = real_from_float(exp2(fma(-whole, p, logarithm) / p));
  return real_multiply(rest, real_power_of_two((int)whole));
}

// Return the root of a number that is not negative: the greatest double whose power is at most the
// number. The root of a number below the smallest normal double is 0, and the root of infinity is
// infinity.
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

// An upper bound of all numbers whose root (power_root) is at most `root`, which is a number or a
// vector. The bound is the power of a double above `root`. So the root of a number above the bound
// is greater than `root`, too.
#define POWER_REACH(root) real_max(power_of(real_multiply(root, POWER_ABOVE)), POWER_LEAST)
