// The elements that a split moves, and the digits of their keys. An element is a record of
// RECORD_WORDS words, and has a value of VALUE_WORDS words. A work-item holds these words in
// private arrays, which compilers keep in registers.
#include "device/record.cl"
#include "device/weight_key.cl"

#define MOST_WORDS (RECORD_WORDS > VALUE_WORDS ? RECORD_WORDS : VALUE_WORDS)

// Where the key of a record is. The key is a number in the record, or the whole record. For a
// number, KEY_BIT is the position of its lowest bit, where bit 0 is the lowest bit of the record's
// first word. The number has WEIGHT_BITS bits, and macros of weight_key.cl say whether it is signed
// or a float. If the key is the whole record, KEY_BIT is -1. The key is then one long unsigned
// integer, whose lowest bits are in the first word.
#ifndef KEY_BIT
#define KEY_BIT (RECORD_WORDS <= 2 ? 0 : -1)
#endif

// If the key of a record is a number in it: KEY_WORD is the first word that has bits of the number,
// KEY_SHIFT is the position of the number's lowest bit in this word, and KEY_WORDS is how many
// words have bits of the number.
#define KEY_WORD (KEY_BIT / 32)
#define KEY_SHIFT (KEY_BIT % 32)
#define KEY_WORDS ((KEY_SHIFT + WEIGHT_BITS + 31) / 32)

#if KEY_BIT >= 0
// Return the key of a record: an unsigned integer that sorts as the number in the record does.
// `words` are the words of the record from KEY_WORD on. All NaNs have the same key, and sort as if
// they were larger than every number.
static inline weight_t record_key(const uint *words) {
#if KEY_WORDS == 1
  const weight_t bits = (weight_t)(words[0] >> KEY_SHIFT);
#else
  weight_t bits = (weight_t)(((ulong)words[1] << 32 | words[0]) >> KEY_SHIFT);
#if KEY_WORDS == 3
  bits |= (weight_t)((ulong)words[2] << (64 - KEY_SHIFT));
#endif
#endif
  return weight_key(weight_is_nan(bits) ? WEIGHT_SIGN - 1 : bits);
}
#endif

// Return the digit of a record, which is the bits of its key by which the current pass sorts:
// key >> shift & mask.
static inline uint record_digit(const uint *words, uint shift, uint mask) {
#if KEY_BIT >= 0
  return (uint)(record_key(words + KEY_WORD) >> shift) & mask;
#else
  ulong pair = 0;
#pragma unroll
  for (uint w = 0; w < RECORD_WORDS; ++w) {
    if (w == shift / 32) pair |= words[w];
    if (w == shift / 32 + 1) pair |= (ulong)words[w] << 32;
  }
  return (uint)(pair >> shift % 32) & mask;
#endif
}

// Load element i of an array whose elements have n_words words. The loads are vectors of up to four
// words, as long as the alignment of the elements allows.
static inline void words_load(const global uint *in, size_t i, uint n_words, uint *words) {
  const global uint *from = in + i * n_words;
  if (n_words % 4 == 0) {
    for (uint w = 0; w < n_words; w += 4) {
      const uint4 piece = *(const global uint4 *)(from + w);
      words[w] = piece.x;
      words[w + 1] = piece.y;
      words[w + 2] = piece.z;
      words[w + 3] = piece.w;
    }
  } else if (n_words % 2 == 0) {
    for (uint w = 0; w < n_words; w += 2) {
      const uint2 piece = *(const global uint2 *)(from + w);
      words[w] = piece.x;
      words[w + 1] = piece.y;
    }
  } else {
    for (uint w = 0; w < n_words; ++w) words[w] = from[w];
  }
}

// Load element i, of n_words words, if `is_there` is set. Otherwise set its words to 0.
static inline void words_load_or_clear(const global uint *in, size_t i, bool is_there, uint n_words,
                                       uint *words) {
  if (is_there) {
    words_load(in, i, n_words, words);
  } else {
    for (uint w = 0; w < n_words; ++w) words[w] = 0;
  }
}

// Store element i, of n_words words. The stores are vectors of up to four words, as long as the
// alignment of the elements allows.
static inline void words_store(global uint *out, size_t i, uint n_words, const uint *words) {
  global uint *to = out + i * n_words;
  if (n_words % 4 == 0) {
    for (uint w = 0; w < n_words; w += 4)
      *(global uint4 *)(to + w) = (uint4)(words[w], words[w + 1], words[w + 2], words[w + 3]);
  } else if (n_words % 2 == 0) {
    for (uint w = 0; w < n_words; w += 2)
      *(global uint2 *)(to + w) = (uint2)(words[w], words[w + 1]);
  } else {
    for (uint w = 0; w < n_words; ++w) to[w] = words[w];
  }
}

// Return the digit of record i, which is key >> shift & mask. Only the words of the record that
// have bits of the digit are loaded.
static inline uint record_digit_at(const global uint *in, size_t i, uint shift, uint mask) {
#if RECORD_WORDS <= 2
  uint words[RECORD_WORDS];
  words_load(in, i, RECORD_WORDS, words);
  return record_digit(words, shift, mask);
#elif KEY_BIT >= 0
  const global uint *from = in + i * RECORD_WORDS + KEY_WORD;
  uint words[KEY_WORDS];
  for (uint w = 0; w < KEY_WORDS; ++w) words[w] = from[w];
  return (uint)(record_key(words) >> shift) & mask;
#else
  // A digit may have bits in two words of the record: word `low` and the next one. If `low` is the
  // last word, the digit has no bits behind it. Then the last word is loaded twice, which does no
  // harm.
  const uint low = shift / 32, high = min(low + 1, (uint)RECORD_WORDS - 1);
  const global uint *record = in + i * RECORD_WORDS;
  return (uint)(((ulong)record[high] << 32 | record[low]) >> shift % 32) & mask;
#endif
}
