// Searches in compressed sparse rows, and loops over all slots with their rows.

// Return the row of a slot, that is, the last row in [low, high) that begins at or before the slot.
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

// Return the first of the slots [low, high) of a row whose column is at least `column`, or `high`
// if there is none. Three probes at a time, loaded together, take half the memory latency of a
// binary search.
//
// Scope    one work-item. O(log(high - low)).
// Needs    columns rise from slot `low` to slot high - 1.
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

// Return the first index in [low, high) whose slot is at least `slot`, or `high` if there is none.
//
// Scope    one work-item. The work is the logarithm of the distance from `low`.
// Needs    slots rise.
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

// A segment is a range of consecutive slots for one work-item, which searches only for the row of
// the first. SLOT_RUN is the usual length. SLOT_RUNS is the number of segments of a given length.
#define SLOT_RUN 32
#define SLOT_RUNS(n_slots, length) (((ulong)(n_slots) + (length) - 1) / (length))

// The slots [begin, end), and the row of the present slot, which ends at slot row_end.
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

// Return the row of a slot of the segment. Slots must be asked for in rising order, from the first.
static inline uint slot_run_row(slot_run_t *run, const global uint *indptr, uint slot) {
  while (slot == run->row_end) run->row_end = indptr[++run->row + 1];
  return run->row;
}
