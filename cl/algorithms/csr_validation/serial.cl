// Whether a caller's CSR is symmetric, by single work-items with cursors.
//
// A pass over the rows in order meets the slots of every column in order, and those of every row
// too. So the mirror slots of a column's slots below the diagonal are consecutive in the row of
// that number: one cursor a row finds them without a search.
//
//     row 0    . 1 2 .        pass over rows 1, 2, 3, slots below the diagonal:
//     row 1    1 . . 3          (1,0) -> cursor of row 0 at (0,1)
//     row 2    2 . . .          (2,0) -> cursor of row 0 at (0,2)
//     row 3    . 3 . .          (3,1) -> cursor of row 1 at (1,3)
#include "algorithms/csr_validation/verdict.cl"
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Slots of a row above which its first column is found by a search, not by a walk.
#define FEW_SLOTS 16

// Slots that are matched at a time, so that many loads are under way at once.
#define BATCH 1024

// Whether all slots of a batch, in rows rows[k], have their mirror slots at the cursors.
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

// Match every slot below the diagonal with its mirror slot above it.
//
// Every work-item does so for the columns between two bounds. If the cursors end where their rows
// end, they have met all slots above the diagonal, and have never left their rows.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph; bounds[work-groups + 1]:
//          vertices, rising from 0 to n.
// Temp     cursors[n]: where the next mirror slot of a row has to be.
// In-out   verdict[3]: FAULT_UNMATCHED.
// Launch   work-groups of one work-item, one for each range of columns. O(n + n_slots) each.
// Needs    csr_validation_check_rows and csr_validation_check_slots.
// Ensures  nothing is done if the verdict has a fault, or if no slot is below the diagonal. Else
//          the matrix is symmetric if FAULT_UNMATCHED is not set.
kernel void csr_validation_serial_match_slots(const global uint *indptr, const global uint *indices,
                                              const global weight_t *weights,
                                              const global uint *bounds, global uint *cursors,
                                              volatile global uint *verdict, uint n, uint n_slots) {
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
      matched &= batch_is_matched(indices, weights, cursors, n_slots, length, rows, slots, mirrors);
      length = 0;
    }
  }
  matched &= batch_is_matched(indices, weights, cursors, n_slots, length, rows, slots, mirrors);
  for (uint v = low; v < high; ++v) matched &= cursors[v] == indptr[v + 1];
  raise_fault(verdict, matched ? 0 : FAULT_UNMATCHED);
}
