// Whether a caller's CSR can be used as it is: well formed, rising rows, and symmetric or upper
// triangular.
#include "algorithms/csr_validation/verdict.cl"
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Slots of a tile: for so many, a work-group searches once for the first row.
#define MATCH_TILE (WG_SIZE == 1 ? 1024 : 8 * WG_SIZE)

// Check the row offsets.
//
// In       indptr[n + 1]: the first is 0, the last n_slots; indices[n_slots].
// In-out   verdict[3]: FAULT_INDPTR, FAULT_BELOW (correct if rows rise); VERDICT_NOT_RISING falls
//          by 1 for every row whose first column does not exceed the last column of the row before.
// Launch   any. O(n).
// Needs    verdict is 0 before the first kernel.
// Ensures  together with csr_validation_check_slots, VERDICT_NOT_RISING is 0 if all rows rise.
kernel void csr_validation_check_rows(const global uint *indptr, const global uint *indices,
                                      volatile global uint *verdict, uint n, uint n_slots) {
  uint fault = 0, not_rising = 0;
  GRID_FOR(row, n) {
    const uint begin = indptr[row], end = indptr[row + 1];
    if (end < begin) fault |= FAULT_INDPTR;
    if (end <= begin || begin >= n_slots) continue;
    if (indices[begin] < row) fault |= FAULT_BELOW;
    not_rising += begin > 0 && indices[begin] <= indices[begin - 1];
  }
  raise_fault(verdict, fault);
  if (not_rising) atomic_sub(verdict + VERDICT_NOT_RISING, not_rising);
}

// Check columns and weights.
//
// In       indices[n_slots], weights[n_slots].
// In-out   verdict[3]: FAULT_COLUMN, FAULT_NAN; VERDICT_NOT_RISING grows by 1 for every slot whose
//          column does not exceed that of the slot before, in whatever row.
// Launch   any. O(n_slots).
// Needs    verdict is 0 before the first kernel.
// Ensures  as csr_validation_check_rows.
kernel void csr_validation_check_slots(const global uint *indices, const global weight_t *weights,
                                       volatile global uint *verdict, uint n, uint n_slots) {
  uint fault = 0, not_rising = 0;
  GRID_FOR(slot, n_slots) {
    const uint column = indices[slot];
    if (column >= n) fault |= FAULT_COLUMN;
    if (weight_is_nan(weights[slot])) fault |= FAULT_NAN;
    not_rising += slot > 0 && column <= indices[slot - 1];
  }
  raise_fault(verdict, fault);
  if (not_rising) atomic_add(verdict + VERDICT_NOT_RISING, not_rising);
}

// Whether a slot (row, column) has its mirror slot: a slot (column, row) of equal weight.
static inline bool is_matched(const global uint *indptr, const global uint *indices,
                              const global weight_t *weights, uint slot, uint row, uint column) {
  const uint end = indptr[column + 1];
  const uint low = wi_find_column(indices, indptr[column], end, row);
  return low < end && indices[low] == row && weight_key(weights[low]) == weight_key(weights[slot]);
}

// Search for the mirror slot of every slot that leads to a row no longer than its own.
//
// Only slots from the greater to the lesser vertex in the order of (length of row, vertex) are
// searched for, which spares long rows. Rows rise, so each finds another mirror slot. If all do,
// and there are as many slots in the other direction, those are the mirror slots, and the matrix is
// symmetric.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph.
// In-out   verdict[3]: FAULT_UNMATCHED, VERDICT_ONE_SIDED.
// Launch   any. O(n_slots log n).
// Needs    csr_validation_check_rows and csr_validation_check_slots.
// Ensures  nothing is done if the verdict has a fault, or if no slot is below the diagonal. Else
//          the matrix is symmetric if FAULT_UNMATCHED is not set and VERDICT_ONE_SIDED is 0.
kernel void csr_validation_match_slots(const global uint *indptr, const global uint *indices,
                                       const global weight_t *weights,
                                       volatile global uint *verdict, uint n, uint n_slots) {
  if ((verdict[VERDICT_FAULTS] & ~FAULT_UNMATCHED) != FAULT_BELOW || verdict[VERDICT_NOT_RISING])
    return;
  uint fault = 0, one_sided = 0;
  local uint bounds[2];
  for (size_t tile = (size_t)get_group_id(0) * MATCH_TILE; tile < n_slots;
       tile += (size_t)get_num_groups(0) * MATCH_TILE) {
    const size_t end = min(tile + MATCH_TILE, (size_t)n_slots);
    if (get_local_id(0) == 0) {
      bounds[0] = wi_find_row(indptr, 0, n, (uint)tile);
      bounds[1] = wi_find_row(indptr, bounds[0], n, (uint)(end - 1)) + 1;
    }
    wg_barrier_local();
    uint row = bounds[0];
    for (size_t slot = tile + get_local_id(0); slot < end; slot += WG_SIZE) {
#if WG_SIZE == 1
      while (indptr[row + 1] <= slot) ++row;
#else
      row = wi_find_row(indptr, row, bounds[1], (uint)slot);
#endif
      const uint column = indices[slot];
      if (column == row) continue;
      const uint length = indptr[row + 1] - indptr[row];
      const uint other = indptr[column + 1] - indptr[column];
      const bool looks = other < length || (other == length && column < row);
      one_sided += looks ? 1 : -1;
      if (looks && !is_matched(indptr, indices, weights, (uint)slot, row, column))
        fault = FAULT_UNMATCHED;
    }
    wg_barrier_local();
  }
  raise_fault(verdict, fault);
  if (one_sided) atomic_add(verdict + VERDICT_ONE_SIDED, one_sided);
}
