// Whether a caller's CSR can be used as it is: well formed, rows rising, symmetric or upper
// triangular.
#include "algorithms/csr_validation/verdict.cl"
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Slots that a work-group takes at a time: for so many it searches once for the first row.
#define MATCH_TILE (WG_SIZE == 1 ? 1024 : 8 * WG_SIZE)

// Check where rows begin.
//
// In       indptr[n + 1], of which the first is 0 and the last n_slots; indices[n_slots].
// In-out   verdict: FAULT_INDPTR, FAULT_BELOW (if rows rise); less 1 in VERDICT_NOT_RISING for
//          every row whose first column does not exceed the last one of the row before.
// Launch   any. O(n).
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
  note_fault(verdict, fault);
  if (not_rising) atomic_sub(verdict + VERDICT_NOT_RISING, not_rising);
}

// Check columns and weights.
//
// In       indices[n_slots], weights[n_slots].
// In-out   verdict: FAULT_COLUMN, FAULT_NAN; 1 more in VERDICT_NOT_RISING for every slot whose
//          column does not exceed that of the slot before, in whatever row.
// Launch   any. O(n_slots).
kernel void csr_validation_check_slots(const global uint *indices, const global weight_t *weights,
                                 volatile global uint *verdict, uint n, uint n_slots) {
  uint fault = 0, not_rising = 0;
  GRID_FOR(slot, n_slots) {
    const uint column = indices[slot];
    if (column >= n) fault |= FAULT_COLUMN;
    if (weight_is_nan(weights[slot])) fault |= FAULT_NAN;
    not_rising += slot > 0 && column <= indices[slot - 1];
  }
  note_fault(verdict, fault);
  if (not_rising) atomic_add(verdict + VERDICT_NOT_RISING, not_rising);
}

// Whether a slot (row, column) has its like: a slot (column, row) of equal weight.
static inline bool is_matched(const global uint *indptr, const global uint *indices,
                              const global weight_t *weights, uint slot, uint row, uint column) {
  const uint end = indptr[column + 1];
  const uint low = wi_find_column(indices, indptr[column], end, row);
  return low < end && indices[low] == row &&
         weight_key(weights[low]) == weight_key(weights[slot]);
}

// Look for the like of every slot that leads to a row no longer than its own.
//
// Slots that lead from the greater to the lesser in the order of (length of row, vertex) are looked
// for, which spares long rows. Each finds another like, since rows rise; if all do, and there are
// as many the other way, then those are their likes, and the matrix is symmetric.
//
// In       the graph.
// In-out   verdict of csr_validation_check_rows and csr_validation_check_slots: FAULT_UNMATCHED,
//          VERDICT_ONE_SIDED. Nothing is done where it has a fault already, nor where it has none
//          and nothing is below the diagonal.
// Launch   any. O(n_slots log n).
kernel void csr_validation_match_slots(const global uint *indptr, const global uint *indices,
                                 const global weight_t *weights, volatile global uint *verdict,
                                 uint n, uint n_slots) {
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
  note_fault(verdict, fault);
  if (one_sided) atomic_add(verdict + VERDICT_ONE_SIDED, one_sided);
}
