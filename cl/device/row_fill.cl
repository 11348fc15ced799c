// Find the row of each slot (entry of a CSR) of a range of slots, for work-groups of one work-item.

// The row of each slot (CSR entry) is stored. The slots of one row have equal values, so one vector
// store writes ROW_FILL of them at once, and most rows of sparse graphs take one store. Up to
// ROW_FILL words after the last slot are overwritten, too.
#define ROW_FILL 16

// Find the row of each of the slots [begin, end), which are entries of a CSR, and store the row
// numbers.
//
// In       row: the row of slot `begin`, or an earlier row with only empty rows between the two.
// Out      rows[end - begin + ROW_FILL]: the rows of the slots; later words are undefined.
// Scope    one work-item. O(slots + rows).
// Needs    begin < end; some later row offset is `end` or more. If offsets decrease, a slot's row
//          is any row that contains it by its offsets.
// Ensures  returns the row of the last slot.
static inline uint wi_fill_rows(local uint *rows, const global uint *indptr, uint row, uint begin,
                                uint end) {
  const uint length = end - begin;
  for (uint at = 0;; ++row) {
    const uint row_end = clamp(indptr[row + 1], begin + at, end) - begin;
    for (; at < row_end; at += ROW_FILL) vstore16((uint16)row, 0, rows + at);
    at = row_end;
    if (at == length) return row;
  }
}
