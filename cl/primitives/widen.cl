// Convert records of any number of bytes to records of whole 32-bit words, and back. So kernels
// that move records word by word can move records of any size.
#include "device/work_group.cl"

// Size of a record in bytes: 1 to 64, but not a multiple of 4.
#ifndef RECORD_BYTES
#define RECORD_BYTES 1
#endif

#define WIDE_WORDS ((RECORD_BYTES + 3) / 4)

// Append zero bytes to every record, up to a whole number of words.
//
// In       in[n * RECORD_BYTES]: the records.
// Out      out[n * WIDE_WORDS]: the lengthened records.
// Launch   any.
// Needs    n < 2**32.
// Ensures  record i of `out` = record i of `in`, with the first byte lowest, followed by zeros.
kernel void widen_records(const global uchar *in, global uint *out, uint n) {
  GRID_FOR(i, n) {
    for (uint w = 0; w < WIDE_WORDS; ++w) {
      uint word = 0;
      for (uint b = 4 * w; b < min(4 * w + 4, (uint)RECORD_BYTES); ++b)
        word |= (uint)in[i * RECORD_BYTES + b] << (8 * (b % 4));
      out[i * WIDE_WORDS + w] = word;
    }
  }
}

// Shorten every record to RECORD_BYTES bytes, by removing the zeros that widen_records has
// appended.
//
// In       in[n * WIDE_WORDS]: the lengthened records.
// Out      out[n * RECORD_BYTES]: the records.
// Launch   any.
// Needs    n < 2**32.
// Ensures  record i of `out` = the first RECORD_BYTES bytes of record i of `in`.
kernel void widen_shorten(const global uint *in, global uchar *out, uint n) {
  GRID_FOR(i, n) {
    for (uint b = 0; b < RECORD_BYTES; ++b) {
      const uint word = in[i * WIDE_WORDS + b / 4];
      out[i * RECORD_BYTES + b] = (uchar)(word >> (8 * (b % 4)));
    }
  }
}
