// Searches in compressed sparse rows.
#ifndef CLMST_DEVICE_ROWS
#define CLMST_DEVICE_ROWS

// The row of a slot, which is one of [low, high): the last that begins at or before it; row `low`
// does.
static inline uint wi_find_row(const global uint *indptr, uint low, uint high, uint slot) {
  while (high - low > 1) {
    const uint middle = low + (high - low) / 2;
    if (indptr[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}

// The first of the slots [low, high) of a row whose column is not less than `column`, or `high`.
static inline uint wi_find_column(const global uint *indices, uint low, uint high, uint column) {
  while (low < high) {
    const uint middle = low + (high - low) / 2;
    if (indices[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low;
}

#endif
