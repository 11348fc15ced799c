// The trial by which a device shows that it can build and run a kernel at all.
#include "device/work_group.cl"
#include "device/atomics.cl"

// Take the minimum of value(i) = (length - i) << 32 | i over all i < length, by the widest atomics.
//
// In-out   words[2]: all ones before.
// Launch   any.
// Needs    length > 0; `words` is aligned to 8 bytes.
// Ensures  words[] = value(length - 1), the low word first.
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

// Replace every pointer by the last one, by pointer jumping, and count the jumps. The first
// work-item does all of it: these are long loops whose length the compiler cannot know.
//
// In-out   words[length + 1]: words[i] = min(i + 1, length - 1) for i < length before.
// Launch   any.
// Needs    length > 0.
// Ensures  words[i] = length - 1 for i < length; words[length] = length * (length - 1) / 2, the
//          number of jumps.
kernel void trial_jump_pointers(global uint *words, uint length) {
  if (get_global_id(0) != 0) return;
  uint rounds = 0;
  for (uint i = 0; i < length; ++i) {
    // Later pointers are still as they were, so it is as far to the end as before.
    uint vertex = i, next = words[vertex];
    while (next != vertex) {
      vertex = next;
      next = words[vertex];
      rounds += 1;
    }
    words[i] = vertex;
  }
  words[length] = rounds;
}
