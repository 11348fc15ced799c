// The kernels that test whether a device computes doubles correctly. Some drivers claim to support
// doubles, but lack them or compute them wrongly (quirk: apple-claimed-doubles). Built for a device
// without doubles, they test the operations on integers that take the place of doubles (real.cl).
#include "device/real.cl"
#include "device/work_group.cl"

// Compute sums, products, quotients, square roots, comparisons and extremes of pairs of numbers.
//
// In-out   values[13 * length]: before the launch, the first numbers a[length] of the pairs, then
//          the second numbers b[length].
// Launch   any.
// Needs    length > 0.
// Ensures  after a and b, values[] holds a + b, a - b, a * b, a * b + a, a / b, sqrt(|a|), then 1
//          or 0 for each of a < b, a <= b and a == b, and last the greater and the lesser number,
//          each of `length` elements.
kernel void trial_doubles_compute(global real *values, uint length) {
  for (uint i = get_global_id(0); i < length; i += get_global_size(0)) {
    const real a = values[i], b = values[length + i], product = real_multiply(a, b);
    global real *to = values + 2 * length + i;
    to[0] = real_add(a, b);
    to[length] = real_subtract(a, b);
    to[2 * length] = product;
    to[3 * length] = real_add(product, a);
    to[4 * length] = real_divide(a, b);
    to[5 * length] = real_sqrt(real_fabs(a));
    to[6 * length] = real_less(a, b) ? REAL_ONE : REAL_ZERO;
    to[7 * length] = real_at_most(a, b) ? REAL_ONE : REAL_ZERO;
    to[8 * length] = real_equal(a, b) ? REAL_ONE : REAL_ZERO;
    to[9 * length] = real_fmax(a, b);
    to[10 * length] = real_min(a, b);
  }
}

// Convert numbers to floats and to unsigned integers, and back.
//
// In-out   values[4 * length]: before the launch, the numbers a[length].
// Launch   any.
// Needs    length > 0; 0 <= a < 2**32.
// Ensures  after a, values[] holds a rounded to a float, then a without its fraction, and last the
//          sum of the upper and of the lower 32 bits of a, each taken as an unsigned integer.
kernel void trial_doubles_convert(global real *values, uint length) {
  for (uint i = get_global_id(0); i < length; i += get_global_size(0)) {
    const real a = values[i];
    const uint upper = (uint)(real_bits(a) >> 32), lower = (uint)real_bits(a);
    values[length + i] = real_from_float(real_to_float(a));
    values[2 * length + i] = real_from_uint(real_to_uint(a));
    values[3 * length + i] = real_add(real_from_uint(upper), real_from_uint(lower));
  }
}
