// Check whether a caller's CSR can be used as it is. Its arrays must be well formed, the columns of
// each row must ascend, and the matrix must be symmetric or upper triangular.
#include "algorithms/csr_validation/fingerprint.cl"
#include "device/verdict.cl"
#include "device/row_fill.cl"
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Number of consecutive slots (CSR entries) that a work-item processes at a time: SLOTS_OF_ONE in
// work-groups of one work-item, SLOTS_OF_MANY in larger work-groups.
#define SLOTS_OF_ONE 4096
#define SLOTS_OF_MANY 16

// Number of consecutive slots (entries of the CSR) in a tile, the range of slots that a work-group
// checks at a time. For each tile, it searches once for the row of the tile's first slot.
#define CHECK_TILE (WG_SIZE == 1 ? SLOTS_OF_ONE : SLOTS_OF_MANY * WG_SIZE)

// Combine the findings of the work-items of a work-group, and add the result to the verdict in
// global memory. The fault bits are combined by OR, and the words of the fingerprint by XOR.
//
// Temp     words: VERDICT_WORDS words of local memory.
// Scope    the whole work-group.
static inline void add_finding(volatile global uint *verdict, finding_t found,
                               volatile local uint *words) {
  const uint low = (uint)found.fingerprint, high = (uint)(found.fingerprint >> 32);
#if WG_SIZE == 1
  if (found.faults) atomic_or(verdict + VERDICT_FAULTS, found.faults);
  atomic_xor(verdict + VERDICT_FINGERPRINT_LOW, low);
  atomic_xor(verdict + VERDICT_FINGERPRINT_HIGH, high);
#else
  const uint me = get_local_id(0);
  if (me < VERDICT_WORDS) words[me] = 0;
  wg_barrier_local();
  if (found.faults) atomic_or(words + VERDICT_FAULTS, found.faults);
  atomic_xor(words + VERDICT_FINGERPRINT_LOW, low);
  atomic_xor(words + VERDICT_FINGERPRINT_HIGH, high);
  wg_barrier_local();
  if (me == VERDICT_FAULTS && words[me]) atomic_or(verdict + me, words[me]);
  if (me > VERDICT_FAULTS && me < VERDICT_WORDS) atomic_xor(verdict + me, words[me]);
#endif
}

// Check the slots [begin, end), which are entries of the CSR, and add their faults and their words
// of the fingerprint to *found. The first of these slots is in row `row`.
//
// Scope    one work-item.
static inline void wi_check_slots(finding_t *found, secret_t secret, uint n,
                                  const global uint *indptr, const global uint *indices,
                                  const global weight_t *weights, uint row, size_t begin,
                                  size_t end) {
  uint row_end = indptr[row + 1], before = begin > 0 ? indices[begin - 1] : 0;
  bool is_first = begin == indptr[row];
  for (size_t slot = begin; slot < end; ++slot) {
    while (row_end <= slot) {  // ends at the last row or before
      row_end = indptr[++row + 1];
      is_first = true;
    }
    const uint column = indices[slot];
    wi_check_slot(found, secret, n, row, column, weights[slot], is_first, before);
    before = column;
    is_first = false;
  }
}

#if WG_SIZE == 1

// Check the slots (CSR entries) [begin, end) of a tile. The checks are the same as in
// wi_check_slots, but most slots are checked several at a time by vector operations.
//
// Temp     rows: SLOTS_OF_ONE + ROW_FILL words of local memory, for the row of each slot.
// Scope    one work-item.
static inline void wi_check_tile(finding_t *found, secret_t secret, uint n,
                                 const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, uint row, size_t begin, size_t end,
                                 local uint *rows) {
  wi_fill_rows(rows, indptr, row, (uint)begin, (uint)end);
  const size_t vectors = (end - begin - 1) / VECTOR, rest = begin + 1 + vectors * VECTOR;
  wi_check_slots(found, secret, n, indptr, indices, weights, row, begin, begin + 1);
  ulong8 words = 0;
  for (size_t slot = begin + 1; slot < rest; slot += VECTOR)
    wi_check_vector(found, &words, secret, n, indices + slot, weights + slot,
                    rows + (slot - begin));
  ulong parts[VECTOR];
  vstore8(words, 0, parts);
  for (uint k = 0; k < VECTOR; ++k) found->fingerprint ^= parts[k];
  if (rest < end)
    wi_check_slots(found, secret, n, indptr, indices, weights, rows[rest - begin], rest, end);
}

#endif

// Check the row offsets, columns and weights of a CSR, and compute its fingerprint. The fingerprint
// is a hash that is 0 if the matrix is symmetric (fingerprint.cl).
//
// In       indptr[n + 1]: the row offsets;
//          indices[n_slots]: the column of each slot (CSR entry);
//          weights[n_slots]: the weight of each slot;
//          key_of_ends, key_of_weights: the secret keys of the fingerprint.
// In-out   verdict[3]: the FAULT_ bits that are found, and the two words of the fingerprint. All
//          are 0 before the launch.
// Launch   any. O(n + n_slots).
// Needs    n > 0, n_slots > 0. The arrays may hold any values, because the kernel does not use
//          columns as indices.
// Ensures  if no fault except FAULT_BELOW is set, columns ascend in each row, columns are vertices,
//          and no weight is NaN. Then the matrix is upper triangular if FAULT_BELOW is not set. It
//          is symmetric if FAULT_BELOW is set and the fingerprint is 0.
kernel void csr_validation_check(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, volatile global uint *verdict,
                                 uint n, uint n_slots, ulong key_of_ends, ulong key_of_weights) {
  finding_t found = {0, 0};
  const secret_t secret = {key_of_ends, key_of_weights};
  GRID_FOR(row, n) {
    if (indptr[row + 1] < indptr[row]) found.faults |= FAULT_INDPTR;
  }
  local uint words[VERDICT_WORDS];
#if WG_SIZE == 1
  local uint rows[SLOTS_OF_ONE + ROW_FILL];
#endif
  for (size_t tile = (size_t)get_group_id(0) * CHECK_TILE; tile < n_slots;
       tile += (size_t)get_num_groups(0) * CHECK_TILE) {
    const size_t tile_end = min(tile + CHECK_TILE, (size_t)n_slots);
#if WG_SIZE == 1
    const uint row = wi_find_row(indptr, 0, n, (uint)tile);
    wi_check_tile(&found, secret, n, indptr, indices, weights, row, tile, tile_end, rows);
#else
    if (get_local_id(0) < 2) {  // find the rows of the first and the last slot
      const size_t slot = get_local_id(0) == 0 ? tile : tile_end - 1;
      words[get_local_id(0)] = wi_find_row(indptr, 0, n, (uint)slot);
    }
    wg_barrier_local();
    const size_t begin = tile + get_local_id(0) * SLOTS_OF_MANY;
    const size_t end = min(begin + SLOTS_OF_MANY, tile_end);
    if (begin < end) {
      const uint row = wi_find_row(indptr, words[0], max(words[0], words[1]) + 1, (uint)begin);
      wi_check_slots(&found, secret, n, indptr, indices, weights, row, begin, end);
    }
    wg_barrier_local();
#endif
  }
  add_finding(verdict, found, words);
}
