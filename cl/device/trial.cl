// The trial by which a device shows that it can build and run a kernel at all.
#include "device/work_group.cl"
#include "device/atomics.cl"

// Leave the minimum of value(i) = (length - i) << 32 | i in words[0], by the widest atomic there is.
// In/out: words[2], all ones.  Launch: any.  Ensures: the minimum is value(length - 1).
kernel void trial_take_minimum(volatile global uint *words, uint length) {
  for (uint i = get_global_id(0); i < length; i += get_global_size(0)) {
#if ATOMIC64
    atomic_min_u64((volatile global ulong *)words, (ulong)(length - i) << 32 | i);
#else
    atomic_min_u32(&words[1], length - i);
    if (i + 1 == length) words[0] = i;
#endif
  }
}
