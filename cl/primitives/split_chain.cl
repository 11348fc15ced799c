// Radix sort with one pass for each digit. A first launch counts how often each digit occurs, for
// several passes at once. Then each pass reads every record once and writes it once.
//
// Source: Adinets, Merrill 2022 (Onesweep); Smith, Levien, Owens 2025. A tile is a run of records
// that one work-group handles. Work-groups publish counts for other work-groups in words that are
// called states (tile_state.cl). Here each tile has one state for each value of the digit.
//
// The states of a pass begin with LOOK_WORDS words, of which the first is the number of tiles that
// work-groups have taken. Rows of RADIX words follow, with one word for each value of the digit.
// Row 0 has the prefixes with which all work-groups begin: for each value, the position in the
// sorted array of the first record with this value. Row t + 1 belongs to tile t. At first its words
// are totals, the numbers of the tile's records with each value. Later they are prefixes, the
// positions in the sorted array after these records. Example with 3 tiles and digits of 1 bit:
//
//     digits           1 0 1 | 0 0 1 | 1 1 0
//     row 0            prefix 0, prefix 4          split_chain_start: 4 records have digit 0
//     row 1            total 1, total 2    -> prefix 1, prefix 6
//     row 2            total 2, total 1    -> prefix 3, prefix 7
#include "device/tile_state.cl"
#include "primitives/split_range.cl"

// A radix sort has one pass for each digit, which is a few bits of the key. CHAIN_DIGITS is the
// number of digits that one launch counts. CHAIN_COPIES is the number of histograms of each digit
// in local memory. Neighbouring work-items add to different histograms, so that they seldom wait
// for each other.
#define CHAIN_DIGITS 4
#define CHAIN_COPIES (RADIX > 32 ? 8 : 16)
// Number of rows that a work-item reads together when it looks back at earlier tiles. A row has the
// counts that the work-group of one tile has published, one word for each value of the digit.
#define LOOK_ROWS 4

#if WG_SIZE > 1

// Return the position of the lowest bit of digit k of a key. The key is the key_bits bits from
// start_bit on. It is divided into n_digits digits, whose widths differ by at most one bit.
static inline uint digit_begin(uint k, uint start_bit, uint key_bits, uint n_digits) {
  return start_bit + key_bits * k / n_digits;
}

// Return how many of a tile's records have the value `digit` in the digit, a few bits of the key,
// by which this pass sorts.
static inline uint tile_digit_count(const global uint *in, uint tile, uint n, uint digit,
                                    uint shift, uint mask) {
  const size_t begin = (size_t)tile * TILE, end = min(begin + TILE, (size_t)n);
  uint count = 0;
#pragma unroll 1
  for (size_t i = begin; i < end; ++i) count += record_digit_at(in, i, shift, mask) == digit;
  return count;
}

// Return the index in the sorted array at which the records of `tile` that have a given digit
// begin. The index is computed from the counts that work-groups of earlier tiles have published in
// `rows`. Row 0 says where the records of each digit begin in the sorted array, and row t + 1 has
// the counts of tile t.
static inline uint wi_look_back(const global uint *in, volatile global uint *rows, uint tile,
                                uint n, uint digit, uint shift, uint mask) {
  uint row = tile, sum = 0, looks = 0;  // `sum` has the counts of the rows after `row`
  bool is_whole = false;
  while (!is_whole) {
    uint seen[LOOK_ROWS];
    bool goes_on = true;
#pragma unroll
    for (uint k = 0; k < LOOK_ROWS; ++k)
      seen[k] = state_look(rows + (size_t)(row - min(k, row)) * RADIX + digit);
    const uint from = row;
#pragma unroll
    for (uint k = 0; k < LOOK_ROWS; ++k) {
      const uint kind = seen[k] & STATE_BITS;
      if (goes_on && kind != STATE_NONE) sum += seen[k] & STATE_VALUE;
      is_whole |= goes_on && kind == STATE_PREFIX;
      goes_on = goes_on && kind == STATE_TOTAL;
      row -= goes_on;
    }
    looks = row == from ? looks + 1 : 0;
    if (!is_whole && looks == LOOK_PATIENCE) {  // row 0 is published, so `row` belongs to a tile
      const uint count = tile_digit_count(in, row - 1, n, digit, shift, mask);
      state_publish(rows + (size_t)row * RADIX + digit, STATE_TOTAL, count);
      looks = 0;
    }
  }
  return sum;
}

// Numbers of words in which a work-item keeps the ranks and the digits of its records in a tile,
// with two ranks or four digits in a word. They are packed because registers are scarce if values
// are moved with the records.
#define RANK_PAIRS ((TILE_ITEMS + 1) / 2)
#define DIGIT_QUADS ((TILE_ITEMS + 3) / 4)

// Write the records of a tile, which are sorted in local memory, to global memory. In digits[],
// store the digit of each record that this work-item writes, four digits in a word, because the
// values of the records will be written to the same places.
static inline void chain_write_records(uint me, const local uint *sorted, uint valid, uint shift,
                                       uint mask, const local uint *next_index, uint *digits,
                                       global uint *out) {
  const uint left = tile_left(valid, me);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    uint record[RECORD_WORDS];
#pragma unroll
    for (uint w = 0; w < RECORD_WORDS; ++w) record[w] = (sorted + me)[w * TILE + j * WG_SIZE];
    const uint digit = record_digit(record, shift, mask);
    digits[j / 4] = (j % 4 == 0 ? 0 : digits[j / 4]) | digit << (j % 4 * 8);
    const uint to = next_index[digit] - left + j * WG_SIZE;
    if (j * WG_SIZE < left) words_store(out, to, RECORD_WORDS, record);
  }
}

#if VALUE_WORDS > 0
// Write the values of a tile to the indices at which chain_write_records has written their records.
// Before that, sort the values in local memory, in the same way as the records.
//
// Scope    the whole work-group. Begins with a barrier.
static inline void wg_write_values(uint me, const uint *values, const uint *rank_pairs,
                                   local uint *sorted, uint valid, const uint *digits,
                                   const local uint *next_index, global uint *out) {
  const uint left = tile_left(valid, me);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    const uint rank = rank_pairs[j / 2] >> (j % 2 * 16) & 0xffff;
#pragma unroll
    for (uint w = 0; w < VALUE_WORDS; ++w) sorted[w * TILE + rank] = values[j * VALUE_WORDS + w];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    uint value[VALUE_WORDS];
#pragma unroll
    for (uint w = 0; w < VALUE_WORDS; ++w) value[w] = (sorted + me)[w * TILE + j * WG_SIZE];
    const uint to = next_index[digits[j / 4] >> (j % 4 * 8) & 0xff] - left + j * WG_SIZE;
    if (j * WG_SIZE < left) words_store(out, to, VALUE_WORDS, value);
  }
}
#endif

// Count how many records have each value of a digit, for CHAIN_DIGITS digits from number
// `first_digit` on. A radix sort has one pass for each digit, which is a few bits of the key.
//
// In       in[n]: the records;
//          start_bit, key_bits: the lowest bit of the key, and its number of bits;
//          n_digits: the number of digits into which the key is divided.
// In-out   states: for each digit, `stride` words by which the work-groups of its pass exchange
//          counts, all 0 before the launch. Row 0 of these, with one word for each value of the
//          digit, gets the counts.
// Launch   any.
// Needs    n < 2**30.
// Ensures  row 0 of each of these digits = the number of records with each value of the digit.
kernel void split_chain_count(const global uint *in, volatile global uint *states, uint n,
                              ulong stride, uint start_bit, uint key_bits, uint n_digits,
                              uint first_digit) {
  local uint parts[CHAIN_DIGITS * RADIX * CHAIN_COPIES];
  const uint me = get_local_id(0), last = min(n_digits - first_digit, (uint)CHAIN_DIGITS);
  for (uint i = me; i < CHAIN_DIGITS * RADIX * CHAIN_COPIES; i += WG_SIZE) parts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint shifts[CHAIN_DIGITS], masks[CHAIN_DIGITS];
  for (uint k = 0; k < CHAIN_DIGITS; ++k) {
    const uint digit = first_digit + min(k, last - 1);
    shifts[k] = digit_begin(digit, start_bit, key_bits, n_digits);
    masks[k] = (1u << (digit_begin(digit + 1, start_bit, key_bits, n_digits) - shifts[k])) - 1;
  }
  TILES_FOR(tile, n, TILE) {
    const uint left = tile_left((uint)min(n - tile, (size_t)TILE), me);
    const global uint *from = in + (tile + me) * RECORD_WORDS;
    local uint *own = parts + me % CHAIN_COPIES;
#if RECORD_WORDS <= 2
    uint records[TILE_ITEMS * RECORD_WORDS];
#pragma unroll
    for (uint j = 0; j < TILE_ITEMS; ++j)
      words_load_or_clear(from, j * WG_SIZE, j * WG_SIZE < left, RECORD_WORDS,
                          records + j * RECORD_WORDS);
#endif
#pragma unroll
    for (uint j = 0; j < TILE_ITEMS; ++j)
#pragma unroll
      for (uint k = 0; k < CHAIN_DIGITS; ++k)
        if (j * WG_SIZE < left && k < last) {
#if RECORD_WORDS <= 2
          const uint digit = record_digit(records + j * RECORD_WORDS, shifts[k], masks[k]);
#else
          const uint digit = record_digit_at(from, j * WG_SIZE, shifts[k], masks[k]);
#endif
          atomic_inc(own + (k * RADIX + digit) * CHAIN_COPIES);
        }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = me; i < last * RADIX; i += WG_SIZE) {
    uint count = 0;
    for (uint c = 0; c < CHAIN_COPIES; ++c)
      count += parts[i * CHAIN_COPIES + (c + i) % CHAIN_COPIES];
    if (count > 0)
      atomic_add(states + (first_digit + i / RADIX) * stride + LOOK_WORDS + i % RADIX, count);
  }
}

// Find out, for each digit of a radix sort, where the records with each value of the digit begin in
// the array that is sorted by this digit.
//
// In-out   states: for each digit, `stride` words. Before the launch, row 0 of these has the number
//          of records with each value of the digit; afterwards the exclusive prefix sums of these
//          numbers.
// Launch   one work-group for each digit.
// Needs    split_chain_count has run for all digits.
// Ensures  row 0 of each digit = for each value of the digit, the number of records with lower
//          values, as a prefix.
LANES_ATTRIBUTE
kernel void split_chain_start(volatile global uint *states, ulong stride) {
  local uint scratch[WG_SIZE];
  volatile global uint *row = states + get_group_id(0) * stride + LOOK_WORDS;
  const uint first = get_local_id(0) * DIGITS_EACH;
  uint own = 0, all;
  for (uint d = first; d < min(first + DIGITS_EACH, (uint)RADIX); ++d) own += row[d];
  uint before = wg_exclusive_sum_u32(own, &all, scratch);
  for (uint d = first; d < min(first + DIGITS_EACH, (uint)RADIX); ++d) {
    const uint count = row[d];
    row[d] = STATE_PREFIX | before;
    before += count;
  }
}

// Write every record of a tile, and its value, to its index in the array that is sorted by one
// digit, a few bits of the key.
//
// In       in[n]: the records;
//          values[n]: a value for each record, read only if VALUE_WORDS > 0;
//          offset: the index in `states` of the first word of this pass;
//          shift: the lowest bit of the digit in the key;
//          mask: its lowest bits are set, as many as the digit has.
// In-out   states: from index `offset` on, LOOK_WORDS + RADIX * (1 + number of tiles) words by
//          which the work-groups of this pass exchange counts. Row 0 has the index at which the
//          records of each digit begin.
// Out      out[n], values_out[n]: the sorted records and their values. They must not be arrays that
//          are read.
// Launch   one work-group for each tile.
// Needs    split_chain_start has run; n < 2**30.
// Ensures  `out` is `in` sorted by the digit. Records with equal digits keep their order.
LANES_ATTRIBUTE
kernel void split_chain_scatter(const global uint *in, global uint *out, const global uint *values,
                                global uint *values_out, volatile global uint *states, uint n,
                                ulong offset, uint shift, uint mask) {
  local uint next_index[RADIX], ranking[RANK_WORDS], scratch[WG_SIZE], sorted[TILE * MOST_WORDS];
  const uint me = get_local_id(0);
  states += offset;
  if (me == 0) scratch[0] = atomic_inc(states);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint tile = scratch[0];
  volatile global uint *rows = states + LOOK_WORDS;
  const size_t begin = (size_t)tile * TILE;
  const uint valid = (uint)min(n - begin, (size_t)TILE);
  uint records[TILE_ITEMS * RECORD_WORDS], ranks[TILE_ITEMS];
  uint rank_pairs[RANK_PAIRS], digits[DIGIT_QUADS], starts[DIGITS_EACH], counts[DIGITS_EACH];
  tile_load(me, in + begin * RECORD_WORDS, RECORD_WORDS, valid, records);
  barrier(CLK_LOCAL_MEM_FENCE);
  wg_rank_records(me, records, valid, shift, mask, ranks, ranking, scratch);
#pragma unroll
  for (uint k = 0; k < DIGITS_EACH; ++k) {
    const uint d = me + k * WG_SIZE;
    if (d < RADIX) {
      starts[k] = rank_start(ranking, d);
      counts[k] = rank_start(ranking, d + 1) - starts[k];
      if (d == RADIX - 1) counts[k] -= TILE - valid;  // missing records are counted as this digit
      if (!state_is_starved(tile))
        state_publish(rows + (tile + (size_t)1) * RADIX + d, STATE_TOTAL, counts[k]);
    }
  }
  tile_exchange(records, RECORD_WORDS, ranks, sorted);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j)
    rank_pairs[j / 2] = j % 2 == 0 ? ranks[j] : rank_pairs[j / 2] | ranks[j] << 16;
#if VALUE_WORDS > 0 && LANES_IMPL == LANES_PTX
  // Values are loaded to registers later, when the registers of the records are free. Here they are
  // only fetched into the cache.
  for (uint i = 32 * me; i < valid * VALUE_WORDS; i += 32 * WG_SIZE)
    __asm__ volatile("prefetch.global.L2 [%0];" : : "l"(values + begin * VALUE_WORDS + i));
#endif
#pragma unroll
  for (uint k = 0; k < DIGITS_EACH; ++k) {
    const uint d = me + k * WG_SIZE;
    if (d < RADIX) {
      const uint first = wi_look_back(in, rows, tile, n, d, shift, mask);
      if (!state_is_starved(tile))
        state_publish(rows + (tile + (size_t)1) * RADIX + d, STATE_PREFIX, first + counts[k]);
      next_index[d] = valid + first - starts[k];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  chain_write_records(me, sorted, valid, shift, mask, next_index, digits, out);
#if VALUE_WORDS > 0
  uint moved[TILE_ITEMS * VALUE_WORDS];
  tile_load(me, values + begin * VALUE_WORDS, VALUE_WORDS, valid, moved);
  wg_write_values(me, moved, rank_pairs, sorted, valid, digits, next_index, values_out);
#endif
}

#endif
