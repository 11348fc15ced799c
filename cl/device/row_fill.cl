// The row of each slot of a block, for a work-item that is alone in its work-group.

// Rows stored at once: most rows of sparse graphs take one store. As many words behind a block's
// rows are written as well.
#define ROW_FILL 16

// Store the rows of the slots [begin, end).
//
// In       row: that of slot `begin`, or one before it with nothing but empty rows between.
// Out      rows[end - begin + ROW_FILL]: of the slots; what is behind them is undefined.
// Scope    one work-item. O(slots + rows).
// Needs    begin < end; some later row offset is `end` or more. Offsets may fall; a slot's row is
//          then one whose offsets could have it.
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
