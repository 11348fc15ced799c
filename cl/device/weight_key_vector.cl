// Compute the keys (integers that sort as the weights do) of several consecutive weights at once,
// for compilers that do not vectorise loops. The results are equal to the results of weight_key.
#include "device/weight_key.cl"

// Number of weight keys that are computed at once. They fill 64 bytes: a key takes 64 bits for
// 64-bit weights and 32 bits for all others.
#if WEIGHT_BITS == 64
#define KEYS_AT_ONCE 8
typedef ulong8 keys_t;
typedef long8 keys_mask_t;
#define KEYS_LOAD vload8
#define KEYS_STORE vstore8
#define KEYS_LANES (ulong8)(0, 1, 2, 3, 4, 5, 6, 7)
typedef long mask_t;
#define KEYS_CONVERT(bits) (bits)
typedef ulong8 weights_t;
#else
#define KEYS_AT_ONCE 16
typedef uint16 keys_t;
typedef int16 keys_mask_t;
#define KEYS_LOAD vload16
#define KEYS_STORE vstore16
#define KEYS_LANES (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
typedef int mask_t;
#define KEYS_CONVERT(bits) convert_uint16(bits)
#if WEIGHT_BITS == 32
typedef uint16 weights_t;
#elif WEIGHT_BITS == 16
typedef ushort16 weights_t;
#else
typedef uchar16 weights_t;
#endif
#endif

// Return the keys, which are integers that sort as the weights do, of KEYS_AT_ONCE weights from
// `weights` on.
//
// Scope    one work-item.
static inline keys_t weight_keys(const global weight_t *weights) {
  weights_t bits = KEYS_LOAD(0, weights);
#if WEIGHT_KIND != WEIGHT_UNSIGNED
  const weights_t sign = (weights_t)(weight_t)WEIGHT_SIGN;
#endif
#if WEIGHT_KIND == WEIGHT_SIGNED
  bits ^= sign;
#elif WEIGHT_KIND == WEIGHT_FLOAT
  bits = select(bits, (weights_t)(weight_t)0, bits == sign);  // -0.0 becomes 0.0
  const weights_t negative = (weights_t)(weight_t)0 - (bits >> (weights_t)(WEIGHT_BITS - 1));
  bits ^= negative | sign;
#endif
#if WEIGHT_DESCENDING
  bits = ~bits;
#endif
  return KEYS_CONVERT(bits);
}
