// Find the rows of consecutive slots (entries of a CSR), on devices whose work-groups have one
// work-item.

// Number of words that one vector store writes when the row of each slot (CSR entry) is stored. All
// slots of a row get the same word, so most rows of sparse graphs take one store. The stores may
// also overwrite up to ROW_FILL words after the last slot.
#define ROW_FILL 16

// Find the row of each of the slots [begin, end), which are entries of a CSR, and store the row
// numbers.
//
// In       indptr: the offsets of the rows;
//          row: the row of slot `begin`, or an earlier row, if all rows between them are empty.
// Out      rows[end - begin + ROW_FILL]: first the row of each slot. The last ROW_FILL words are
//          undefined.
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
