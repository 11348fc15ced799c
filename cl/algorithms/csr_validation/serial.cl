// Whether a caller's CSR is symmetric, found out by lone work-items.
//
// Going over the rows in order meets the slots of every column in order, and those of a row as well.
// So the mirrors of the slots below the diagonal in a column stand one behind the other in the row of
// that number: a cursor for each finds them without a search.
#include "algorithms/csr_validation/verdict.cl"
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Slots of a row from which on the first of some columns is searched for, not walked to.
#define FEW_SLOTS 16

// Slots matched at a time, so that many trips to memory are under way at once.
#define BATCH 1024

// Whether all of a batch of slots, columns[k] in row rows[k], have their mirrors where cursors say.
static inline uint batch_is_matched(const global uint *indices, const global weight_t *weights,
                                    global uint *cursors, uint n_slots, uint length,
                                    const local uint *rows, const local uint *slots,
                                    local uint *mirrors) {
  for (uint k = 0; k < length; ++k) {
    const uint column = indices[slots[k]];
    mirrors[k] = cursors[column];
    cursors[column] = mirrors[k] + 1;
  }
  uint matched = 1;
  for (uint k = 0; k < length; ++k) {
    const uint mirror = min(mirrors[k], n_slots - 1);
    matched &= (indices[mirror] == rows[k]) &
               (weight_key(weights[mirror]) == weight_key(weights[slots[k]]));
  }
  return matched;
}

// Match every slot below the diagonal with the one above it in the other direction.
//
// A work-item does so for the columns from one bound to the next. Cursors that end where their rows
// do have met all that is above the diagonal, and have never left their rows.
//
// In       the graph; bounds[groups + 1]: vertices, rising from 0 to n.
// Out      cursors[n]: where the row's next like has to be.
// In-out   verdict of csr_validation_check_rows and csr_validation_check_slots: FAULT_UNMATCHED. Nothing is done
//          where it has a fault already, nor where nothing is below the diagonal.
// Launch   a work-group of one work-item for each stretch of columns. O(n + n_slots) each.
kernel void csr_validation_serial_match_slots(const global uint *indptr, const global uint *indices,
                                      const global weight_t *weights, const global uint *bounds,
                                      global uint *cursors, volatile global uint *verdict, uint n,
                                      uint n_slots) {
  if ((verdict[VERDICT_FAULTS] & ~FAULT_UNMATCHED) != FAULT_BELOW || verdict[VERDICT_NOT_RISING])
    return;
  const uint low = bounds[get_group_id(0)], high = bounds[get_group_id(0) + 1];
  for (uint v = low; v < high; ++v)
    cursors[v] = wi_find_column(indices, indptr[v], indptr[v + 1], v + 1);
  local uint rows[BATCH], slots[BATCH], mirrors[BATCH];
  uint matched = 1, length = 0;
  for (uint u = low + 1; u < n && matched; ++u) {
    const uint end = indptr[u + 1], stop = min(high, u);
    uint slot = indptr[u];
    if (low > 0 && end - slot > FEW_SLOTS) slot = wi_find_column(indices, slot, end, low);
    while (slot < end && indices[slot] < low) ++slot;
    for (; slot < end && indices[slot] < stop; ++slot) {
      rows[length] = u;
      slots[length] = slot;
      length += 1;
      if (length < BATCH) continue;
      matched &=
          batch_is_matched(indices, weights, cursors, n_slots, length, rows, slots, mirrors);
      length = 0;
    }
  }
  matched &= batch_is_matched(indices, weights, cursors, n_slots, length, rows, slots, mirrors);
  for (uint v = low; v < high; ++v) matched &= cursors[v] == indptr[v + 1];
  note_fault(verdict, matched ? 0 : FAULT_UNMATCHED);
}
