// Atomic minima in global memory. The 64-bit function exists only if ATOMIC64 is 1. Without it,
// kernels compute the same results with 32-bit atomics (reservation.cl).

// Whether the device has 64-bit integer atomics on global memory: 0 or 1.
#ifndef ATOMIC64
#define ATOMIC64 0
#endif

static inline uint atomic_min_u32(volatile global uint *address, uint value) {
  return atomic_min(address, value);
}

#if ATOMIC64
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

static inline ulong atomic_min_u64(volatile global ulong *address, ulong value) {
  return atom_min(address, value);
}
#endif
