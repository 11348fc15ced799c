// Numbers of type `real`, which are doubles, whether the device can compute with doubles or not.
//
// Coordinates and distances are doubles. A device without arithmetic on doubles computes the same
// bits by integer operations on the 64 bits of each number. This is possible because IEEE 754
// defines one result for each operation: the exact result, rounded to the nearest double. If two
// doubles are equally near, the even one is the result. Subnormal numbers, infinities, NaN and the
// sign of zero are as in IEEE 754. Only the bits of a NaN may differ: the integer operations always
// give the same NaN, while devices with doubles may give different ones.
//
// Kernels are written once, with the names below. If the device has doubles, each name is a macro
// for the plain operation. The operations take numbers, and most of them also take vectors of 2, 4,
// 8 or 16 numbers, or a vector and a number. Comparisons of vectors return a vector of longs, in
// which -1 means true.
//
//     real_add, real_subtract, real_multiply    for vectors, too
//     real_divide                               for vectors, too
//     real_max, real_min                        without NaN; for vectors, too
//     real_fmax                                 the other number, if one is NaN; for vectors, too
//     real_less, real_at_most, real_equal       a < b, a <= b, a == b; for vectors, too
//     real_negate, real_fabs, real_square       for vectors, too
//     real_sqrt                                 for vectors, too
//     real_select(a, b, which)                  vectors only: b where `which` is -1, else a
//     real_bits, real_of_bits                   the 64 bits of a number as an integer, and back
//     real_from_float, real_to_float            to_float rounds to the nearest float
//     real_from_uint, real_to_uint              to_uint cuts off the fraction
//     real_power_of_two(k)                      2**k, for -1074 <= k <= 1023
//     real_is_infinite
//     REAL(value, bits)                         a constant, and its bits
//     REAL_ZERO, REAL_ONE, REAL_INFINITY        constants

// 1 if kernels of the device compute with doubles, else 0.
#ifndef DOUBLES
#define DOUBLES 1
#endif

#if DOUBLES

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef double real;
typedef double2 real2;
typedef double4 real4;
typedef double8 real8;
typedef double16 real16;

#define REAL(value, bits) (value)
#define REAL_ZERO 0.0
#define REAL_ONE 1.0
#define REAL_INFINITY ((double)INFINITY)
#define real_add(a, b) ((a) + (b))
#define real_subtract(a, b) ((a) - (b))
#define real_multiply(a, b) ((a) * (b))
#define real_square(a) ((a) * (a))
#define real_divide(a, b) ((a) / (b))
#define real_negate(a) (-(a))
#define real_fabs(a) fabs(a)
#define real_sqrt(a) sqrt(a)
#define real_max(a, b) max(a, b)
#define real_min(a, b) min(a, b)
#define real_fmax(a, b) fmax(a, b)
#define real_less(a, b) ((a) < (b))
#define real_at_most(a, b) ((a) <= (b))
#define real_equal(a, b) ((a) == (b))
#define real_select(a, b, which) select(a, b, which)
#define real_bits(a) as_ulong(a)
#define real_of_bits(bits) as_double(bits)
#define real_from_float(a) ((double)(a))
#define real_to_float(a) ((float)(a))
#define real_from_uint(a) ((double)(a))
#define real_to_uint(a) ((uint)(a))
#define real_power_of_two(k) ldexp(1.0, k)
#define real_is_infinite(a) isinf(a)

#else

typedef ulong real;
typedef ulong2 real2;
typedef ulong4 real4;
typedef ulong8 real8;
typedef ulong16 real16;

#define REAL(value, bits) ((ulong)(bits))
#define REAL_ZERO 0ul
#define REAL_ONE 0x3ff0000000000000ul
#define REAL_INFINITY REAL_INFINITE
#define real_bits(a) (a)
#define real_of_bits(bits) (bits)
#define real_negate(a) ((a) ^ REAL_SIGN)
#define real_fabs(a) ((a) & REAL_MAGNITUDE)
#define real_select(a, b, which) select(a, b, which)

#endif

#if !DOUBLES
#include "device/real_integers.cl"
#include "device/real_vectors.cl"
#endif
