// The kernel that tests whether a device computes doubles correctly. Some drivers claim to support
// doubles, but lack them or compute them wrongly (quirk: apple-claimed-doubles).
#include "device/work_group.cl"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

// Compute two sums, a product, a quotient, a square root and a comparison of each pair of numbers.
//
// In-out   values[8 * length]: before, the first numbers a[length] of the pairs, then the second
//          numbers b[length].
// Launch   any.
// Needs    length > 0.
// Ensures  after a and b, values[] holds a + b, a - b, a * b + a, a / b, sqrt(|a|), and 1 if a < b
//          and 0 otherwise, each of `length` elements.
kernel void trial_doubles_compute(global double *values, uint length) {
  for (uint i = get_global_id(0); i < length; i += get_global_size(0)) {
    double a = values[i], b = values[length + i];
    values[2 * length + i] = a + b;
    values[3 * length + i] = a - b;
    values[4 * length + i] = a * b + a;
    values[5 * length + i] = a / b;
    values[6 * length + i] = sqrt(fabs(a));
    values[7 * length + i] = a < b ? 1.0 : 0.0;
  }
}
