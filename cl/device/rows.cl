// Searches in compressed sparse rows (CSR), and a loop over slots (entries of a CSR) that finds the
// row of each slot.

// Return the row of a slot (an entry of a CSR), which is the last row in [low, high) that begins at
// or before the slot.
//
// Scope    one work-item. O(log(high - low)).
// Needs    indptr[low] <= slot < indptr[high].
static inline uint wi_find_row(const global uint *indptr, uint low, uint high, uint slot) {
  while (high - low > 1) {
    const uint middle = low + (high - low) / 2;
    if (indptr[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}

// Return the first slot (entry of a CSR) in [low, high) whose column is at least `column`, or
// `high` if there is none. The search looks at three slots at a time. Their columns are loaded
// together, so the search takes half as long as a binary search.
//
// Scope    one work-item. O(log(high - low)).
// Needs    columns ascend from slot `low` to slot high - 1, which are in one row.
static inline uint wi_find_column(const global uint *indices, uint low, uint high, uint column) {
  while (low < high) {
    const uint length = high - low;
    const uint first = low + length / 4, second = low + length / 2, third = second + length / 4;
    const bool behind_first = indices[first] < column, behind_second = indices[second] < column,
               behind_third = indices[third] < column;
    high = !behind_first ? first : !behind_second ? second : !behind_third ? third : high;
    low = behind_third ? third + 1 : behind_second ? second + 1 : behind_first ? first + 1 : low;
  }
  return low;
}

// Return the first index in [low, high) whose entry in `slots`, a sorted list of numbers of CSR
// entries, is at least `slot`. Return `high` if there is none. The steps of the search double, so
// it is fast if the result is near `low`.
//
// Scope    one work-item. O(log(result - low)).
// Needs    slots ascend.
static inline uint wi_gallop(const global uint *slots, uint low, uint high, uint slot) {
  uint stride = 1;
  while (stride < high - low && slots[low + stride] < slot) {
    low += stride;
    stride *= 2;
  }
  high = min(high - low, stride) + low;
  while (low < high) {
    const uint middle = low + (high - low) / 2;
    if (slots[middle] < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}

// To go over all slots (entries of a CSR), each work-item takes a segment, a range of consecutive
// slots. It searches for the row of its first slot only. SLOT_RUN is the usual number of slots in a
// segment. SLOT_RUNS is the number of segments of a given length that cover all slots.
#define SLOT_RUN 32
#define SLOT_RUNS(n_slots, length) (((ulong)(n_slots) + (length) - 1) / (length))

// A segment of a CSR, the slots (entries) [begin, end) that one work-item goes over. `row` is the
// row of the slot that it has reached, and this row ends before slot row_end.
typedef struct {
  uint begin, end, row, row_end;
} slot_run_t;

static inline void slot_run_open(slot_run_t *run, const global uint *indptr, uint n, uint n_slots,
                                 uint length, uint number) {
  run->begin = number * length;
  run->end = run->begin + min(n_slots - run->begin, length);
  run->row = wi_find_row(indptr, 0, n, run->begin);
  run->row_end = indptr[run->row + 1];
}

// Return the row of a slot (CSR entry) of the segment. Successive calls must ask for the slots in
// ascending order, beginning with the first.
static inline uint slot_run_row(slot_run_t *run, const global uint *indptr, uint slot) {
  while (slot == run->row_end) run->row_end = indptr[++run->row + 1];
  return run->row;
}
