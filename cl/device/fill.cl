// Fill large buffers, on devices whose drivers fail to do it (quirk: nvidia-large-fill).
#include "device/work_group.cl"

// Fill a buffer with copies of a pattern of eight bytes.
//
// In       pattern: the eight bytes, the first one lowest.
// Out      words[ceil(n_bytes / 8)]: the buffer, of which the first n_bytes bytes are written.
// Launch   any.
// Needs    `words` is aligned to 8 bytes.
// Ensures  byte i = byte i % 8 of the pattern, for i < n_bytes; later bytes are unchanged.
kernel void fill_bytes(global ulong *words, ulong pattern, ulong n_bytes) {
  GRID_FOR(i, n_bytes / 8) words[i] = pattern;
  if (get_global_id(0) == 0)
    for (ulong i = n_bytes / 8 * 8; i < n_bytes; ++i)
      ((global uchar *)words)[i] = (uchar)(pattern >> i % 8 * 8);
}
