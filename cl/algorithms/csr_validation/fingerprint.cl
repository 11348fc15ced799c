// The fingerprint of a matrix: a hash that is 0 if the matrix is symmetric. With it, symmetry is
// checked without a search for the mirror slot of each slot, which is the CSR entry of the same
// edge in the other direction.
//
// Every slot off the diagonal has a random word of 64 bits. The word depends on the slot's two
// vertices in either order, on its weight, and on two secret keys. The fingerprint is the exclusive
// or of all words:
//
//     slots        (0, 1) weight 5    (1, 0) weight 5    (1, 2) weight 3    (2, 1) weight 4
//     words        A                  A                  B                  C
//     fingerprint  A ^ A ^ B ^ C = B ^ C, not 0: one edge has two weights
//
// If the columns of each row ascend, no slot occurs twice. Then in a symmetric matrix every word
// occurs exactly twice, and the fingerprint is 0. In any other matrix some words occur only once.
// Their exclusive or is 0 with a probability of 2^-64. The keys are new in every process, so no one
// can construct a matrix that passes wrongly.
//
// Source: G. L. Steele Jr., D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014, for the function that mixes bits.
#include "device/verdict.cl"
#include "device/weight_key.cl"

// What a work-item has found: FAULT_ bits, and the exclusive or of the words of the entries that it
// has checked.
typedef struct {
  uint faults;
  ulong fingerprint;
} finding_t;

// The secret keys of this process, from which the random words of the slots are computed. One key
// is for the two ends of a slot, and one for its weight.
typedef struct {
  ulong ends, weights;
} secret_t;

#define MIX_FIRST 0xBF58476D1CE4E5B9ul
#define MIX_SECOND 0x94D049BB133111EBul

// Scramble the bits of a 64-bit word. Different words have different results, and every bit of a
// result depends on all bits of the word.
static inline ulong mix_bits(ulong word) {
  word = (word ^ (word >> 30)) * MIX_FIRST;
  word = (word ^ (word >> 27)) * MIX_SECOND;
  return word ^ (word >> 31);
}

// Check a slot (CSR entry) and note its faults in *found. Also combine the slot's random word with
// the fingerprint in *found, by XOR. The word depends on the slot's two ends, its weight and the
// secret keys. `before` is the column of the slot before this one in the same row. It is not used
// if `is_first` says that the slot is the first of its row.
//
// Scope    one work-item.
static inline void wi_check_slot(finding_t *found, secret_t secret, uint n, uint row, uint column,
                                 weight_t weight, bool is_first, uint before) {
  found->faults |= (column >= n ? FAULT_COLUMN : 0) | (column < row ? FAULT_BELOW : 0) |
                   (weight_is_nan(weight) ? FAULT_NAN : 0) |
                   (!is_first && column < before ? FAULT_ORDER : 0) |
                   (!is_first && column == before ? FAULT_TWICE : 0);
  const ulong ends = (ulong)min(row, column) << 32 | max(row, column);
  const ulong word = mix_bits(mix_bits(ends ^ secret.ends) + (weight_key(weight) ^ secret.weights));
  found->fingerprint ^= column == row ? 0 : word;
}

#if WG_SIZE == 1

// Number of slots (entries of the CSR) that are checked at once by vector types. The code uses
// vector types because compilers do not vectorise the loop by themselves.
#define VECTOR 8

static inline ulong8 mix_vectors(ulong8 words) {
  words = (words ^ (words >> 30)) * MIX_FIRST;
  words = (words ^ (words >> 27)) * MIX_SECOND;
  return words ^ (words >> 31);
}

// Check VECTOR consecutive slots (CSR entries) and note their faults in *found. Also combine the
// random word of each slot with *words, by XOR. A slot's random word depends on its ends, its
// weight and the secret keys. None of the slots is the first slot of the matrix.
//
// In       rows[-1 .. VECTOR - 1]: the row of the slot before the first one, and then the row of
//          each of the slots.
// Scope    one work-item.
static inline void wi_check_vector(finding_t *found, ulong8 *words, secret_t secret, uint n,
                                   const global uint *indices, const global weight_t *weights,
                                   const local uint *rows) {
  const uint8 column = vload8(0, indices), before = vload8(0, indices - 1);
  const uint8 row = vload8(0, rows), row_before = vload8(0, rows - 1);
  ulong keys[VECTOR];
  uint nan = 0;
  for (uint k = 0; k < VECTOR; ++k) {
    keys[k] = weight_key(weights[k]);
    nan |= weight_is_nan(weights[k]);
  }
  const int8 is_within = row == row_before;
  found->faults |= (any(column >= n) ? FAULT_COLUMN : 0) | (any(column < row) ? FAULT_BELOW : 0) |
                   (nan ? FAULT_NAN : 0) | (any(is_within & (column < before)) ? FAULT_ORDER : 0) |
                   (any(is_within & (column == before)) ? FAULT_TWICE : 0);
  const ulong8 ends = convert_ulong8(min(row, column)) << 32 | convert_ulong8(max(row, column));
  const ulong8 word =
      mix_vectors(mix_vectors(ends ^ secret.ends) + (vload8(0, keys) ^ secret.weights));
  *words ^= select(word, (ulong8)0, convert_long8(row == column));
}

#endif
