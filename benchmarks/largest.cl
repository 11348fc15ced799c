// A regular graph of random structure, made on the device, for benchmarks/largest.py.
//
// Every vertex has a number on a ring of n = 2^bits positions, by a permutation that looks random.
// Two vertices are neighbours if their numbers are one of a few offsets apart, in either direction.
// So each vertex finds its own row, and both ends of an edge agree about it.
//
//     bits = 3, offsets 1 and 2:  number 5 has the neighbours 6, 4, 7 and 3

// Neighbours of a vertex: two for each offset.
#ifndef DEGREE
#define DEGREE 32
#endif

// Odd multipliers, and their inverses modulo 2^32.
#define FIRST 0x9e3779b1u
#define FIRST_INVERSE 0x0e8b2f51u
#define SECOND 0x85ebca6bu
#define SECOND_INVERSE 0xa5cb9243u

// A permutation of the words of so many bits, in three steps that unscramble takes back.
static inline uint scramble(uint x, uint bits) {
  const uint mask = (1u << bits) - 1, shift = (bits + 1) / 2;
  x = x * FIRST & mask;
  x ^= x >> shift;
  x = x * SECOND & mask;
  x ^= x >> shift;
  x = x * FIRST & mask;
  return x ^ x >> shift;
}

// The word that scramble maps to x.
static inline uint unscramble(uint x, uint bits) {
  const uint mask = (1u << bits) - 1, shift = (bits + 1) / 2;
  x ^= x >> shift;
  x = x * FIRST_INVERSE & mask;
  x ^= x >> shift;
  x = x * SECOND_INVERSE & mask;
  x ^= x >> shift;
  return x * FIRST_INVERSE & mask;
}

// The weight of the edge between two vertices, 0 to 2^31 - 1, whichever end asks.
static inline int edge_weight(uint u, uint v) {
  ulong word = (ulong)min(u, v) << 32 | max(u, v);
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ul;
  word = (word ^ word >> 27) * 0x94d049bb133111ebul;
  return (int)((word ^ word >> 31) & INT_MAX);
}

// Write the graph as a symmetric CSR with rising rows. One edge makes way for a loop, so that 2^32
// slots come to 2^32 - 1.
//
// In       offsets[DEGREE / 2]: different numbers from 1 to n / 2 - 1.
// Out      indptr[n + 1], indices[n * DEGREE - 1], weights[n * DEGREE - 1].
// Launch   n work-items.
// Needs    1 <= bits <= 30.
// Ensures  the edge from vertex 0 over the first offset is missing; vertex 0 has a loop instead.
kernel void largest_fill_rows(const global uint *offsets, global uint *indptr, global uint *indices,
                              global int *weights, uint bits) {
  const uint v = get_global_id(0), mask = (1u << bits) - 1, number = scramble(v, bits);
  const uint far = unscramble((scramble(0, bits) + offsets[0]) & mask, bits);
  uint columns[DEGREE], length = 0;
  for (uint k = 0; k < DEGREE; ++k) {
    const uint offset = k % 2 ? 0u - offsets[k / 2] : offsets[k / 2];
    uint column = unscramble((number + offset) & mask, bits);
    if (v == far && column == 0) continue;
    if (v == 0 && column == far) column = 0;
    uint at = length++;
    for (; at > 0 && columns[at - 1] > column; --at) columns[at] = columns[at - 1];
    columns[at] = column;
  }
  const ulong begin = (ulong)v * DEGREE - (v > far);
  indptr[v] = (uint)begin;
  if (v == mask) indptr[v + 1] = (uint)(begin + length);
  for (uint k = 0; k < length; ++k) {
    indices[begin + k] = columns[k];
    weights[begin + k] = edge_weight(v, columns[k]);
  }
}
