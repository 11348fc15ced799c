// How one work-item sorts its range of the records by one digit of their keys (a split). CPU
// devices use this file. It is also the sequential counterpart of split_range.cl.
//
// A split stores records one by one, to as many places as there are digits. On a CPU this is slow
// for two reasons: each store first reads a cache line, and there are more places than entries in
// the buffer for the translation of addresses (TLB). So if STAGED is 1, the records of each digit
// are gathered in a cache line of private memory, and full lines are stored past the caches
// (Wassenberg, Sanders 2011).
#include "device/line.cl"
#include "device/rank.cl"
#include "primitives/split_record.cl"

// 1: gather records in lines, for work-groups of one work-item on CPUs. 0: store each record by
// itself.
#ifndef STAGED
#define STAGED 0
#endif

#if WG_SIZE == 1

// The address space of next_index, the array with the index at which the next record of each digit
// is written. On CPUs it is private, which compilers optimise best. On GPUs it is local, because
// private memory of this size would be reserved for every work-item that runs.
#if STAGED
#define SERIAL_MEMORY private
#else
#define SERIAL_MEMORY local
#endif

// Number of counters for each digit. Consecutive records use them in turn, so that a record whose
// digit equals the digit of the record before need not wait for that record's count.
#define COPIES 4
#define PARTS (RADIX * COPIES)

// Count how many of the records [begin, end) have each digit, a few bits of the key. Each digit has
// COPIES counters.
static inline void range_count(const global uint *in, size_t begin, size_t end, uint shift,
                               uint mask, local uint *counts) {
  for (uint i = 0; i < PARTS; ++i) counts[i] = 0;
  size_t i = begin;
  for (; i + COPIES <= end; i += COPIES)
#pragma unroll
    for (uint c = 0; c < COPIES; ++c)
      ++counts[record_digit_at(in, i + c, shift, mask) * COPIES + c];
  for (; i < end; ++i) ++counts[record_digit_at(in, i, shift, mask) * COPIES];
}

// Return how many records have a given digit: the sum of the digit's COPIES counters.
static inline uint range_digit_count(const local uint *counts, uint digit) {
  uint sum = 0;
  for (uint c = 0; c < COPIES; ++c) sum += counts[digit * COPIES + c];
  return sum;
}

// IS_STAGED: whether elements of n_words words are gathered in cache lines of private memory (the
// stage) before they are stored. They are if they fill a line exactly. STAGE_WORDS: the number of
// words of the stage.
#define IS_STAGED(n_words) (STAGED && (n_words) > 0 && LINE_WORDS % (n_words) == 0)
#define STAGE_WORDS(n_words) (IS_STAGED(n_words) ? RADIX * LINE_WORDS : 1)

// Write an element with a given digit at index `at` of the output. If elements are staged, write it
// into the digit's line of the stage, private memory that collects a cache line. `first` is the
// index of the digit's first element, so `at` is at least `first`.
static inline void stage_write(uint *stage, uint digit, global uint *out, size_t at, size_t first,
                               uint n_words, const uint *words) {
  if (!IS_STAGED(n_words)) {
    words_store(out, at, n_words, words);
    return;
  }
  uint *line = stage + digit * LINE_WORDS;
  const uint length = LINE_WORDS / n_words, slot = at % length;
  for (uint w = 0; w < n_words; ++w) line[slot * n_words + w] = words[w];
  if (slot != length - 1) return;
  const size_t begin = at - slot;
  if (begin >= first) {
    wi_store_line(out + begin * n_words, line);
  } else {
    for (size_t i = first; i <= at; ++i) words_store(out, i, n_words, line + (i - begin) * n_words);
  }
}

// Write those elements before index `end` that are still in a digit's line of the stage, the
// private memory that collects a cache line, to the output.
static inline void stage_flush(const uint *stage, uint digit, global uint *out, size_t end,
                               size_t first, uint n_words) {
  if (!IS_STAGED(n_words)) return;
  const uint *line = stage + digit * LINE_WORDS;
  const size_t begin = end - end % (LINE_WORDS / n_words);
  for (size_t i = max(begin, first); i < end; ++i)
    words_store(out, i, n_words, line + (i - begin) * n_words);
}

// Write the records [begin, end), and their values, to their indices in the output. next_index[d]
// is the index at which the next record with digit d is written.
static inline void serial_scatter(const global uint *in, global uint *out,
                                  const global uint *values, global uint *values_out, size_t begin,
                                  size_t end, uint shift, uint mask,
                                  SERIAL_MEMORY uint *next_index) {
  uint records[STAGE_WORDS(RECORD_WORDS)] __attribute__((aligned(LINE_BYTES)));
#if VALUE_WORDS > 0
  uint moved[STAGE_WORDS(VALUE_WORDS)] __attribute__((aligned(LINE_BYTES)));
#endif
  uint firsts[STAGED ? RADIX : 1];
  for (uint d = 0; STAGED && d < RADIX; ++d) firsts[d] = next_index[d];
  for (size_t i = begin; i < end; ++i) {
    uint words[MOST_WORDS];
    words_load(in, i, RECORD_WORDS, words);
    const uint d = record_digit(words, shift, mask);
    const uint at = next_index[d]++, first = STAGED ? firsts[d] : 0;
    stage_write(records, d, out, at, first, RECORD_WORDS, words);
#if VALUE_WORDS > 0
    words_load(values, i, VALUE_WORDS, words);
    stage_write(moved, d, values_out, at, first, VALUE_WORDS, words);
#endif
  }
  for (uint d = 0; STAGED && d < RADIX; ++d) {
    stage_flush(records, d, out, next_index[d], firsts[d], RECORD_WORDS);
#if VALUE_WORDS > 0
    stage_flush(moved, d, values_out, next_index[d], firsts[d], VALUE_WORDS);
#endif
  }
}

#endif
