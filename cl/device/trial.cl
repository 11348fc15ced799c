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

// Let every link lead to the last one, by going from link to link to the end, and count the rounds.
// The first work-item does all of it: loops of many rounds, of which one cannot tell how many.
// In/out: words[length + 1], each the number of the next link, the last one's its own; then the count.
// Launch: any.  Ensures: words[i] is length - 1; the count is length * (length - 1) / 2.
kernel void trial_follow_links(global uint *words, uint length) {
  if (get_global_id(0) != 0) return;
  uint rounds = 0;
  for (uint i = 0; i < length; ++i) {
    // Links behind this one are as they were: it is as far to the end as ever.
    uint link = i, next = words[link];
    while (next != link) {
      link = next;
      next = words[link];
      rounds += 1;
    }
    words[i] = link;
  }
  words[length] = rounds;
}
