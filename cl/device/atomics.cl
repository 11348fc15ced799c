// Atomic operations that replace a word of global memory by the minimum of the word and a value.
// The operation on 64-bit words exists only if ATOMIC64 is 1. On devices without it, kernels
// compute the same results by several 32-bit operations (reservation.cl).

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
