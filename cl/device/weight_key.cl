// Order-preserving keys of edge weights, as in clmst/core/weight_keys.py.
//
// A key is an unsigned integer that sorts as its weight does: key(a) < key(b) exactly if a < b.
// -0.0 and 0.0 have the same key. Weights are given as raw bits. So doubles are handled as
// integers, and the device does not have to support doubles.
//
// Example for floats of 32 bits. All bits of a negative number are inverted. For all other numbers,
// the sign bit is set.
//
//     weight    -2.0        -0.0, 0.0    1.0          infinity
//     bits      C0000000    00000000     3F800000     7F800000
//     key       3FFFFFFF    80000000     BF800000     FF800000

#define WEIGHT_UNSIGNED 0
#define WEIGHT_SIGNED 1
#define WEIGHT_FLOAT 2

// Width of a stored weight in bits: 8, 16, 32 or 64.
#ifndef WEIGHT_BITS
#define WEIGHT_BITS 32
#endif

// The kind of number that a weight is: WEIGHT_UNSIGNED, WEIGHT_SIGNED or WEIGHT_FLOAT. There are no
// floats of 8 bits.
#ifndef WEIGHT_KIND
#define WEIGHT_KIND WEIGHT_UNSIGNED
#endif

// 1 if heavier weights have smaller keys, to find maximum spanning forests; else 0.
#ifndef WEIGHT_DESCENDING
#define WEIGHT_DESCENDING 0
#endif

#if WEIGHT_BITS == 8
#define WEIGHT_WORD uchar
#elif WEIGHT_BITS == 16
#define WEIGHT_WORD ushort
#elif WEIGHT_BITS == 32
#define WEIGHT_WORD uint
#else
#define WEIGHT_WORD ulong
#endif
typedef WEIGHT_WORD weight_t;

#define WEIGHT_SIGN ((weight_t)1 << (WEIGHT_BITS - 1))

// The bit pattern of infinity in a float of WEIGHT_BITS bits.
#if WEIGHT_BITS == 16
#define WEIGHT_INFINITY 0x7C00
#elif WEIGHT_BITS == 32
#define WEIGHT_INFINITY 0x7F800000u
#else
#define WEIGHT_INFINITY 0x7FF0000000000000ul
#endif

// Return whether a weight is NaN, which has no position in the order.
static inline bool weight_is_nan(weight_t bits) {
#if WEIGHT_KIND == WEIGHT_FLOAT
  return (bits & (weight_t)~WEIGHT_SIGN) > WEIGHT_INFINITY;
#else
  return false;
#endif
}

// Return the key of a weight, an unsigned integer that sorts as the weight does and has as many
// bits as the weight.
static inline weight_t weight_key(weight_t bits) {
#if WEIGHT_KIND == WEIGHT_SIGNED
  bits ^= WEIGHT_SIGN;
#elif WEIGHT_KIND == WEIGHT_FLOAT
  if (bits == WEIGHT_SIGN) bits = 0;  // -0.0
  bits = (weight_t)(bits & WEIGHT_SIGN ? ~bits : bits | WEIGHT_SIGN);
#endif
#if WEIGHT_DESCENDING
  bits = (weight_t)~bits;
#endif
  return bits;
}

// Return the leading word of a weight's key, which decides most comparisons: the upper 32 bits of a
// 64-bit key, or the whole of a shorter key. (A key is an unsigned integer that sorts as its weight
// does.)
static inline uint weight_key_leading(weight_t bits) {
#if WEIGHT_BITS == 64
  return (uint)(weight_key(bits) >> 32);
#else
  return (uint)weight_key(bits);
#endif
}

#if WEIGHT_BITS == 64
static inline uint weight_key_trailing(weight_t bits) {
  return (uint)weight_key(bits);
}
#endif
