// How one work-item sorts its range of the records by one digit of their keys (a split). CPU
// devices use this file. It is also the sequential counterpart of split_range.cl.
//
// A split stores records one by one, to as many places as there are digits. On a CPU this is slow
// for two reasons. Each store to a new cache line first reads the line. And there are more places
// than entries in the buffer for the translation of addresses (TLB). So if STAGED is 1, the records
// of each digit are gathered in a cache line of private memory, and full lines are stored to memory
// past the caches (Wassenberg, Sanders 2011).
#include "device/line.cl"
#include "device/rank.cl"
#include "primitives/split_record.cl"

// 1: gather the records of each digit in a cache line before they are stored. This is for
// work-groups of one work-item on CPUs. 0: store each record by itself.
#ifndef STAGED
#define STAGED 0
#endif

#if WG_SIZE == 1

// The address space of the array next_index, which has for each digit the index at which the next
// record with this digit is written. On CPUs it is private, because compilers optimise private
// memory best. On GPUs it is local, because private memory of this size would be reserved for every
// work-item that runs.
#if STAGED
#define SERIAL_MEMORY private
#else
#define SERIAL_MEMORY local
#endif

// Number of counters for each digit. Consecutive records use different counters. So if two
// consecutive records have the same digit, the second need not wait for the count of the first.
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

// IS_STAGED says whether elements of n_words words are gathered in a stage before they are stored.
// The stage is private memory with a cache line for each digit. Elements are staged if a whole
// number of them fills a line. STAGE_WORDS is the number of words of the stage.
#define IS_STAGED(n_words) (STAGED && (n_words) > 0 && LINE_WORDS % (n_words) == 0)
#define STAGE_WORDS(n_words) (IS_STAGED(n_words) ? RADIX * LINE_WORDS : 1)

// Write an element with a given digit to index `at` of the output. If elements are staged, it first
// goes into the digit's line of the stage, private memory that gathers a cache line for each digit.
// The line is stored when it is full. `first` is the index of the digit's first element, so `at` is
// at least `first`.
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

// Write the elements that are still in a digit's line of the stage to the output. The stage is
// private memory that gathers a cache line for each digit. The digit's first element has the index
// `first`, and its last one the index end - 1.
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
