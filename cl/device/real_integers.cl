// Arithmetic on doubles by integer operations on their 64 bits, for devices without doubles
// (real.cl).
#include "device/real.cl"

#if !DOUBLES

// Constants of the 64 bits of a double:
//   REAL_SIGN           the sign bit
//   REAL_MAGNITUDE      all bits but the sign
//   REAL_FRACTION       the bits of the fraction
//   REAL_LEADING        the bit above the fraction, the leading 1 of a normal number's significand
//   REAL_TOP_EXPONENT   the maximum of the exponent field, which stands for infinity and NaN
//   REAL_INFINITE       the bits of infinity
//   REAL_NAN            the bits of a NaN
#define REAL_SIGN 0x8000000000000000ul
#define REAL_MAGNITUDE 0x7ffffffffffffffful
#define REAL_FRACTION 0x000ffffffffffffful
#define REAL_LEADING 0x0010000000000000ul
#define REAL_TOP_EXPONENT 0x7ff
#define REAL_INFINITE 0x7ff0000000000000ul
#define REAL_NAN 0x7ff8000000000000ul

// Functions that are declared by this macro may have the same name for numbers and for vectors.
// Sums, products and comparisons do not branch, so that compilers can compute several numbers at
// once.
#define REAL_FUNCTION static inline __attribute__((overloadable))

// Return `value` shifted to the right. If a bit that is 1 is shifted out, the lowest bit of the
// result is set. So a later rounding, if it removes at least two bits, still sees that the exact
// value is a little greater.
static inline ulong real_shifted(ulong value, uint shift) {
  const ulong shifted = value >> shift;
  return shifted | (ulong)(shifted << shift != value);
}

// Round a number to the nearest double, and return the bits of the double.
//
// The number is significand * 2**(exponent - 1023 - 63), with the sign bit `sign`. The highest bit
// of the significand must be set. The caller has also set its lowest bit if the exact number is a
// little greater.
static inline ulong real_round(ulong sign, int exponent, ulong significand) {
  // If the exponent is below 1, the result is subnormal: the significand is shifted to the right
  // until the exponent is 1, the smallest one, and has fewer bits left.
  const ulong kept = real_shifted(significand, (uint)clamp(1 - exponent, 0, 63));
  const ulong odd = kept >> 11 & 1, rounds_up = ((kept & 0x7ff) + 0x3ff + odd) >> 11;
  // The exponent minus 1 and the rounded significand are added. The leading bit of the significand
  // thus adds 1 to the exponent, and so does a carry of the rounding.
  const ulong bits = ((ulong)(max(exponent, 1) - 1) << 52) + (kept >> 11) + rounds_up;
  return sign | (exponent >= REAL_TOP_EXPONENT ? REAL_INFINITE : bits);
}

// Split a finite number into its biased exponent, which is returned, and its significand. The
// significand is shifted so that its highest bit is set, unless the number is 0. For this, the
// exponent of a subnormal number becomes 0 or less.
static inline int real_split(ulong a, ulong *significand) {
  const int biased = (int)(a >> 52) & REAL_TOP_EXPONENT;
  const ulong bits = ((a & REAL_FRACTION) | (biased > 0 ? REAL_LEADING : 0)) << 11;
  const uint leading = (uint)clz(bits) & 63;
  *significand = bits << leading;
  return max(biased, 1) - (int)leading;
}

static inline bool real_is_nan(ulong a) {
  return (a & REAL_MAGNITUDE) > REAL_INFINITE;
}

static inline bool real_is_infinite(ulong a) {
  return (a & REAL_MAGNITUDE) == REAL_INFINITE;
}

REAL_FUNCTION ulong real_add(ulong a, ulong b) {
  const bool is_swapped = (a & REAL_MAGNITUDE) < (b & REAL_MAGNITUDE);
  const ulong greater = is_swapped ? b : a, lesser = is_swapped ? a : b;
  const ulong differ = (a ^ b) & REAL_SIGN, sign = greater & REAL_SIGN;
  const uint above = (uint)(greater >> 52) & REAL_TOP_EXPONENT;
  const uint below = (uint)(lesser >> 52) & REAL_TOP_EXPONENT;
  // The two significands are shifted so that their leading bits are at bit 62, and their sum does
  // not overflow.
  const ulong first = ((greater & REAL_FRACTION) | (above > 0 ? REAL_LEADING : 0)) << 10;
  const ulong second = ((lesser & REAL_FRACTION) | (below > 0 ? REAL_LEADING : 0)) << 10;
  // The significand of the lesser number is shifted to the exponent of the greater one. Bits are
  // lost only if it is shifted by more than 10 bits. Then the leading bit of the sum is bit 61 or
  // higher, and the rounding that follows removes at least two bits, as real_shifted requires.
  const ulong shifted = real_shifted(second, min(max(above, 1u) - max(below, 1u), 63u));
  const ulong sum = differ ? first - shifted : first + shifted;
  const uint leading = (uint)clz(sum) & 63;
  const ulong rounded = real_round(sign, (int)max(above, 1u) + 1 - (int)leading, sum << leading);
  const ulong finite = sum != 0 ? rounded : differ ? 0 : sign;
  const bool is_nan = real_is_nan(greater) || (differ && real_is_infinite(lesser));
  const ulong special = is_nan ? REAL_NAN : greater;
  return above == REAL_TOP_EXPONENT ? special : finite;
}

REAL_FUNCTION ulong real_subtract(ulong a, ulong b) {
  return real_add(a, real_negate(b));
}

REAL_FUNCTION ulong real_multiply(ulong a, ulong b) {
  const ulong sign = (a ^ b) & REAL_SIGN;
  ulong first, second;
  const int exponent = real_split(a, &first) + real_split(b, &second);
  const ulong lower = first * second, upper = mul_hi(first, second);
  const ulong product = upper | (ulong)(lower != 0);
  const uint leading = (uint)(product >> 63 ^ 1);
  const ulong rounded = real_round(sign, exponent - 1022 - (int)leading, product << leading);
  const bool is_zero = first == 0 || second == 0;
  const bool is_infinite = real_is_infinite(a) || real_is_infinite(b);
  const bool is_nan = real_is_nan(a) || real_is_nan(b) || (is_infinite && is_zero);
  const ulong finite = is_zero ? sign : rounded;
  return is_nan ? REAL_NAN : is_infinite ? sign | REAL_INFINITE : finite;
}

REAL_FUNCTION ulong real_square(ulong a) {
  return real_multiply(a, a);
}

// Return the quotient of two numbers, computed bit by bit as in long division.
REAL_FUNCTION ulong real_divide(ulong a, ulong b) {
  const ulong sign = (a ^ b) & REAL_SIGN;
  ulong rest, divisor, quotient = 0;
  int exponent = real_split(a, &rest);
  exponent += 1023 - real_split(b, &divisor);
  const bool is_zero = rest == 0, divides_by_zero = divisor == 0;
  rest >>= 11;
  divisor >>= 11;
  exponent -= rest < divisor;
  rest <<= rest < divisor;
  for (uint digit = 0; digit < 55; ++digit) {
    const bool is_one = rest >= divisor;
    quotient = quotient << 1 | is_one;
    rest = (rest - (is_one ? divisor : 0)) << 1;
  }
  const ulong rounded = real_round(sign, exponent, quotient << 9 | (ulong)(rest != 0));
  const bool of_infinite = real_is_infinite(a), by_infinite = real_is_infinite(b);
  const bool is_nan = real_is_nan(a) || real_is_nan(b) || (of_infinite && by_infinite) ||
                      (is_zero && divides_by_zero);
  if (is_nan) return REAL_NAN;
  if (of_infinite || (divides_by_zero && !by_infinite)) return sign | REAL_INFINITE;
  return is_zero || by_infinite ? sign : rounded;
}

// Return the square root of a number. Two steps of Newton's method begin with an estimate in
// float32, whose relative error must be at most 2**-20. The resulting root is wrong by at most 1 in
// its last bit. Then its square is compared with the number to make it exact. Integers stand for
// fractions here, and comments say how many of their bits are after the binary point.
REAL_FUNCTION ulong real_sqrt(ulong a) {
  if ((a & REAL_MAGNITUDE) == 0 || a == REAL_INFINITE) return a;
  if (real_is_nan(a) || a & REAL_SIGN) return REAL_NAN;
  ulong square;  // 62 bits; from 1 to 4
  const int exponent = real_split(a, &square);
  square >>= exponent & 1;  // the remaining power of two has an even exponent
  // The first step of Newton's method computes `inverse`, the reciprocal of the root, from an
  // estimate r: r (3 - square r**2) / 2.
  const float estimate = rsqrt((float)square * 0x1p-62f) * 0x1p32f;
  const ulong rough = min((ulong)estimate, 0xfffffffful);                     // 32 bits
  const ulong factor = 0xc000000000000000ul - mul_hi(square, rough * rough);  // 62 bits
  const ulong inverse = mul_hi(rough << 31, factor);                          // 62 bits
  // The second step starts from `below`, a number just below the root, and `missing`, the
  // difference between the argument and the square of `below`.
  const ulong below = (mul_hi(square, inverse) >> 12) - 1;  // 48 bits
  const ulong missing = (square << 34) - below * below;     // 96 bits, without the upper ones
  const ulong more = mul_hi(missing, inverse) >> 35;        // 60 bits
  ulong root = ((below << 12) + more) >> 7;                 // 53 bits
  long rest = (long)((square << 44) - root * root);         // 106 bits, without the upper ones
  if (rest < 0) {
    root -= 1;
    rest += (long)(2 * root + 1);
  } else if (rest > (long)(2 * root)) {
    rest -= (long)(2 * root + 1);
    root += 1;
  }
  return real_round(0, (exponent + 1023) >> 1, root << 10 | (ulong)(rest != 0));
}

// Return an integer that sorts as the number with the 64 bits `a` does. It is 0 for both 0.0 and
// -0.0.
static inline long real_rank(ulong a) {
  const long sign = (long)a >> 63;
  return ((long)(a & REAL_MAGNITUDE) ^ sign) - sign;
}

REAL_FUNCTION int real_less(ulong a, ulong b) {
  return real_rank(a) < real_rank(b) && !real_is_nan(a) && !real_is_nan(b);
}

REAL_FUNCTION int real_at_most(ulong a, ulong b) {
  return real_rank(a) <= real_rank(b) && !real_is_nan(a) && !real_is_nan(b);
}

REAL_FUNCTION int real_equal(ulong a, ulong b) {
  return real_rank(a) == real_rank(b) && !real_is_nan(a) && !real_is_nan(b);
}

REAL_FUNCTION ulong real_max(ulong a, ulong b) {
  return real_rank(a) < real_rank(b) ? b : a;
}

REAL_FUNCTION ulong real_min(ulong a, ulong b) {
  return real_rank(b) < real_rank(a) ? b : a;
}

REAL_FUNCTION ulong real_fmax(ulong a, ulong b) {
  return real_is_nan(a) ? b : real_is_nan(b) ? a : real_max(a, b);
}

static inline ulong real_from_uint(uint a) {
  const ulong bits = (ulong)a << 32;
  const uint leading = (uint)clz(bits) & 63;
  return a == 0 ? 0 : real_round(0, 1023 + 31 - (int)leading, bits << leading);
}

static inline uint real_to_uint(ulong a) {
  const int exponent = (int)(a >> 52 & REAL_TOP_EXPONENT) - 1023;
  const ulong significand = (a & REAL_FRACTION) | REAL_LEADING;
  return exponent < 0 ? 0 : (uint)(significand >> clamp(52 - exponent, 0, 63));
}

static inline ulong real_from_float(float a) {
  const uint bits = as_uint(a), biased = bits >> 23 & 0xff;
  const ulong sign = (ulong)(bits >> 31) << 63;
  const ulong fraction = (ulong)(bits & 0x7fffff) << 29;
  const uint leading = clz(bits & 0x7fffff) - 9;  // number of zeros before the first bit of it
  const ulong subnormal =
      ((ulong)(896 - leading) << 52) + ((fraction << (leading + 1)) & REAL_FRACTION);
  const ulong finite = biased > 0 ? ((ulong)(biased + 896) << 52) + fraction : subnormal;
  const ulong special = fraction ? REAL_NAN : REAL_INFINITE;
  return sign | (biased == 0xff ? special : bits << 1 == 0 ? 0 : finite);
}

static inline float real_to_float(ulong a) {
  const int exponent = (int)(a >> 52 & REAL_TOP_EXPONENT) - 896;
  const ulong significand = ((a & REAL_FRACTION) | REAL_LEADING) << 11;
  const ulong kept = real_shifted(significand, (uint)clamp(1 - exponent, 0, 63));
  const ulong odd = kept >> 40 & 1,
              rounds_up = ((kept & 0xfffffffffful) + 0x7ffffffffful + odd) >> 40;
  const uint finite = ((uint)(max(exponent, 1) - 1) << 23) + (uint)(kept >> 40) + (uint)rounds_up;
  const uint bits = real_is_nan(a) ? 0x7fc00000u : exponent >= 0xff ? 0x7f800000u : finite;
  return as_float((uint)(a >> 32) & 0x80000000u | bits);
}

static inline ulong real_power_of_two(int k) {
  return k < -1022 ? 1ul << (k + 1074) : (ulong)(k + 1023) << 52;
}

#endif
