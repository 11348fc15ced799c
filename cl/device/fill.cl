// Filling of large buffers, where drivers' own filling cannot be relied on.
#include "device/work_group.cl"

// Repeat eight bytes over a buffer.
//
// In  pattern: the bytes, the first one lowest.  Out  words: n_bytes bytes.  Launch  any.
kernel void fill_bytes(global ulong *words, ulong pattern, ulong n_bytes) {
  GRID_FOR(i, n_bytes / 8) words[i] = pattern;
  if (get_global_id(0) == 0)
    for (ulong i = n_bytes / 8 * 8; i < n_bytes; ++i)
      ((global uchar *)words)[i] = (uchar)(pattern >> i % 8 * 8);
}
