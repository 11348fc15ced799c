// How a work-group sorts its range of the records by one digit of their keys (a split), tile by
// tile.
//
// A tile is first sorted in local memory. Records with one digit are then neighbours, and
// neighbouring work-items write them. Example with 8 records and digits of 1 bit, where next[d] is
// the index in the output of the next record with digit d:
//
//     tile      a1 b0 c1 d1 e0 f1 g0 h0
//     sorted    b0 e0 g0 h0 a1 c1 d1 f1      in local memory (rank.cl)
//     out       b0 e0 g0 h0 -> from next[0] on;  a1 c1 d1 f1 -> from next[1] on
//
// Records and values are moved through the same local memory, first the records and then the
// values, word by word. When lanes move one word each, they use all memory banks, however large a
// record is.
#include "device/rank.cl"
#include "primitives/split_record.cl"

#if WG_SIZE > 1

// Return how many of the indices from `first` on are below `valid`. A work-item tests its elements
// first + c, for constants c, by comparing c with this number. So compilers need no register for
// each sum first + c.
static inline uint tile_left(uint valid, uint first) {
  return valid > first ? valid - first : 0;
}

// Number of counters for each digit in local memory. Neighbouring work-items use different
// counters, so that they seldom wait for each other.
#define COPIES (RADIX > 32 ? 8 : 32)
#define PARTS ((RADIX + 1) * COPIES)

// Count how many of the records [begin, end) have each digit, which is a few bits of the key. Each
// digit has COPIES counters, so that work-items seldom wait for each other. Records that are
// missing in the last tile count as digit RADIX. The loop runs backwards. So the scatter, which
// comes next and runs forwards, begins with the records that were read last here, which are in the
// cache.
//
// Scope    the whole work-group; ends with a barrier.
static inline void range_count(const global uint *in, size_t begin, size_t end, uint shift,
                               uint mask, local uint *counts) {
  const uint me = get_local_id(0);
  for (uint i = me; i < PARTS; i += WG_SIZE) counts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t tiles = begin < end ? (end - begin - 1) / TILE + 1 : 0; tiles > 0; --tiles) {
    const size_t tile = begin + (tiles - 1) * TILE;
    const uint left = tile_left((uint)min(end - tile, (size_t)TILE), me);
    const global uint *from = in + (tile + me) * RECORD_WORDS;
    uint digits[TILE_ITEMS];
#pragma unroll
    for (uint j = 0; j < TILE_ITEMS; ++j)
      digits[j] = j * WG_SIZE < left ? record_digit_at(from, j * WG_SIZE, shift, mask) : RADIX;
#pragma unroll
    for (uint j = 0; j < TILE_ITEMS; ++j) atomic_inc(counts + digits[j] * COPIES + me % COPIES);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Return how many records have a given digit: the sum of the digit's COPIES counters. Neighbouring
// work-items sum neighbouring digits. They begin with different counters, which are in different
// banks of local memory.
static inline uint range_digit_count(const local uint *counts, uint digit) {
  uint sum = 0;
  for (uint c = 0; c < COPIES; ++c) sum += counts[digit * COPIES + (c + digit) % COPIES];
  return sum;
}

// Number of digits for which each work-item keeps an index, to which the next record with the digit
// goes. Work-item i of the work-group does this for the digits i, i + WG_SIZE, i + 2 * WG_SIZE and
// so on.
#define DIGITS_EACH ((RADIX + WG_SIZE - 1) / WG_SIZE)

// Compute next[k], the index in the sorted array to which this work-group's first record with the
// digit i + k * WG_SIZE goes. Here i is the number of this work-item in its work-group. Each
// work-item keeps such indices for several digits.
//
// In       counts: first, for each digit and each work-group, the number of records with the digit
//          in earlier work-groups. Then, for each digit, the number of all records with the digit.
//          If `counts` is null, there are no other work-groups, and next[k] is 0.
// Temp     starts[RADIX], scratch[WG_SIZE]: local memory. `starts` may be reused after a barrier.
// Scope    the whole work-group.
static inline void wg_first_indices(const global uint *counts, uint *next, local uint *starts,
                                    local uint *scratch) {
  const size_t groups = get_num_groups(0);
  const uint me = get_local_id(0);
  uint totals[DIGITS_EACH], sum = 0, total;
#pragma unroll
  for (uint k = 0; k < DIGITS_EACH; ++k) {
    const uint d = me * DIGITS_EACH + k;
    totals[k] = counts != 0 && d < RADIX ? counts[RADIX * groups + d] : 0;
    sum += totals[k];
  }
  uint start = wg_exclusive_sum_u32(sum, &total, scratch);
#pragma unroll
  for (uint k = 0; k < DIGITS_EACH; ++k) {
    const uint d = me * DIGITS_EACH + k;
    if (d < RADIX) starts[d] = start;
    start += totals[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < DIGITS_EACH; ++k) {
    const uint d = me + k * WG_SIZE;
    next[k] = 0;
    if (counts != 0 && d < RADIX) next[k] = starts[d] + counts[d * groups + get_group_id(0)];
  }
}

// Load this work-item's elements of a tile. The tile has `valid` elements of n_words words each.
// Elements that are missing in the last tile become zero.
static inline void tile_load(uint me, const global uint *in, uint n_words, uint valid,
                             uint *items) {
  const uint left = tile_left(valid, rank_first(me));
  const global uint *from = in + (size_t)rank_first(me) * n_words;
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j)
    words_load_or_clear(from, j * RANK_STRIDE, j * RANK_STRIDE < left, n_words,
                        items + j * n_words);
}

// Compute the rank of each of this work-item's records, which is its index in the tile sorted by
// the digit. The last tile may have too few records. Missing records are ranked after all others,
// as records with the highest digit.
//
// Scope    the whole work-group.
static inline void wg_rank_records(uint me, const uint *records, uint valid, uint shift, uint mask,
                                   uint *ranks, local uint *ranking, local uint *scratch) {
  const uint left = tile_left(valid, rank_first(me));
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    const uint digit = record_digit(records + j * RECORD_WORDS, shift, mask);
    ranks[j] = j * RANK_STRIDE < left ? digit : RADIX - 1;
  }
  wg_rank(me, ranks, ranking, scratch);
}

// Compute next_index[d] for each digit d, from which the index of a record in the output is
// computed. If record i of the sorted tile has digit d, it goes to next_index[d] - (valid - i). The
// formula contains valid - i because the work-item that writes the record has this difference in a
// register already.
static inline void tile_index(uint me, uint *next, const local uint *ranking, uint valid,
                              bool alone, local uint *next_index) {
#pragma unroll
  for (uint k = 0; k < DIGITS_EACH; ++k) {
    const uint d = me + k * WG_SIZE;
    if (d < RADIX) {
      const uint start = rank_start(ranking, d);
      next_index[d] = valid + (alone ? 0 : next[k] - start);
      next[k] += rank_start(ranking, d + 1) - start;
    }
  }
}

// Store this work-item's elements of a tile in local memory, each at its rank in the tile sorted by
// the digit.
static inline void tile_exchange(const uint *items, uint n_words, const uint *ranks,
                                 local uint *sorted) {
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j)
    for (uint w = 0; w < n_words; ++w) sorted[w * TILE + ranks[j]] = items[j * n_words + w];
}

// Write the records of the tile, which are sorted in local memory, to global memory. In to[j],
// store the index in the output of the j-th record that this work-item writes.
static inline void tile_write_records(uint me, const local uint *sorted, uint valid, uint shift,
                                      uint mask, const local uint *next_index, uint *to,
                                      global uint *out) {
  const uint left = tile_left(valid, me);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    uint record[RECORD_WORDS];
#pragma unroll
    for (uint w = 0; w < RECORD_WORDS; ++w) record[w] = (sorted + me)[w * TILE + j * WG_SIZE];
    to[j] = next_index[record_digit(record, shift, mask)] - left + j * WG_SIZE;
    if (j * WG_SIZE < left) words_store(out, to[j], RECORD_WORDS, record);
  }
}

#if VALUE_WORDS > 0
// Write the values of the tile, which are sorted in local memory, to the output. to[j] is the index
// at which tile_write_records has written the record of this work-item's j-th value.
static inline void tile_write_values(uint me, const local uint *sorted, uint valid, const uint *to,
                                     global uint *out) {
  const uint left = tile_left(valid, me);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    uint value[VALUE_WORDS];
#pragma unroll
    for (uint w = 0; w < VALUE_WORDS; ++w) value[w] = (sorted + me)[w * TILE + j * WG_SIZE];
    if (j * WG_SIZE < left) words_store(out, to[j], VALUE_WORDS, value);
  }
}
#endif

#endif
