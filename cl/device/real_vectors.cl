// Arithmetic on vectors of reals, for devices without doubles (real.cl).
#include "device/real_integers.cl"

#if !DOUBLES

// From `name`, a function of two numbers, define the functions with the same name for two vectors
// of `n` numbers, and for a vector and a number.
#define REAL_OF_VECTORS(name, n)                                         \
  REAL_FUNCTION ulong##n name(ulong##n a, ulong##n b) {                  \
    ulong first[n], second[n];                                           \
    ulong results[n];                                                    \
    vstore##n(a, 0, first);                                              \
    vstore##n(b, 0, second);                                             \
    for (uint i = 0; i < n; ++i) results[i] = name(first[i], second[i]); \
    return vload##n(0, results);                                         \
  }                                                                      \
  REAL_FUNCTION ulong##n name(ulong##n a, ulong b) {                     \
    return name(a, (ulong##n)b);                                         \
  }                                                                      \
  REAL_FUNCTION ulong##n name(ulong a, ulong##n b) {                     \
    return name((ulong##n)a, b);                                         \
  }
#define REAL_OF_VECTOR(name, n)                               \
  REAL_FUNCTION ulong##n name(ulong##n a) {                   \
    ulong values[n];                                          \
    vstore##n(a, 0, values);                                  \
    for (uint i = 0; i < n; ++i) values[i] = name(values[i]); \
    return vload##n(0, values);                               \
  }
#define REAL_COMPARISON_OF_VECTORS(name, n)                                     \
  REAL_FUNCTION long##n name(ulong##n a, ulong##n b) {                          \
    ulong first[n], second[n];                                                  \
    long results[n];                                                            \
    vstore##n(a, 0, first);                                                     \
    vstore##n(b, 0, second);                                                    \
    for (uint i = 0; i < n; ++i) results[i] = -(long)name(first[i], second[i]); \
    return vload##n(0, results);                                                \
  }                                                                             \
  REAL_FUNCTION long##n name(ulong##n a, ulong b) {                             \
    return name(a, (ulong##n)b);                                                \
  }
#define REAL_VECTORS(n)                       \
  REAL_OF_VECTORS(real_add, n)                \
  REAL_OF_VECTORS(real_subtract, n)           \
  REAL_OF_VECTORS(real_multiply, n)           \
  REAL_OF_VECTORS(real_divide, n)             \
  REAL_OF_VECTORS(real_max, n)                \
  REAL_OF_VECTORS(real_min, n)                \
  REAL_OF_VECTORS(real_fmax, n)               \
  REAL_COMPARISON_OF_VECTORS(real_less, n)    \
  REAL_COMPARISON_OF_VECTORS(real_at_most, n) \
  REAL_COMPARISON_OF_VECTORS(real_equal, n)   \
  REAL_OF_VECTOR(real_square, n)              \
  REAL_OF_VECTOR(real_sqrt, n)

REAL_VECTORS(2)
REAL_VECTORS(4)
REAL_VECTORS(8)
REAL_VECTORS(16)

#endif
