// Functions of a lane group: the smallest group of work-items that can compute a prefix sum in
// order. Its size depends on the device:
//
//     device with lanes               LANES work-items of a sub-group or warp
//     device without lanes            the whole work-group, through local memory
//     work-group of one work-item     that work-item
//
// All work-items of a lane group call a lane_group_ function together. If the lane group is the
// work-group, all work-items of the work-group call it.
//
// Scans are segmented if SEGMENTED is 1. Then a head flag marks the first element of a segment, and
// nothing is carried across it. Pairs (sum, head) form a monoid (Blelloch 1990):
//
//     (a, p) + (b, q) = (q ? b : a + b,  p | q)
//
//     items    3  1  4  1  5         inclusive scan by segments    3  4  4  5  5
//     heads    1  0  1  0  1         exclusive                     0  3  0  4  0
#include "device/monoid.cl"
#include "device/work_group.cl"

// 1 if scans are segmented, else 0. A segmented scan reads a head flag for each element, and starts
// anew at each element whose flag is set.
#ifndef SEGMENTED
#define SEGMENTED 0
#endif

#if WG_SIZE > 1 && LANES_IMPL == LANES_LOCAL
#define LANE_GROUP WG_SIZE
#elif WG_SIZE > 1
#define LANE_GROUP LANES
#else
#define LANE_GROUP 1
#endif
#define LANE_GROUPS (WG_SIZE / LANE_GROUP)

// Number of elements that lane_group_scan needs in each of its two arrays in local memory.
#define LANE_GROUP_SCRATCH (LANE_GROUP == WG_SIZE ? WG_SIZE : 1)

// lane_group_item returns the index of this work-item in its lane group. lane_group_id returns the
// index of the lane group in its work-group.
static inline uint lane_group_item(void) {
  return get_local_id(0) % LANE_GROUP;
}

static inline uint lane_group_id(void) {
  return get_local_id(0) / LANE_GROUP;
}

// The partial result of a segmented scan over consecutive elements: the combination of those
// elements that come from the last head flag on, and whether there is a head flag. A head flag
// begins a segment. Partial results are passed by pointer (quirk: oclgrind-struct-by-value).
typedef struct {
  T sum;
  bool head;
} partial_t;

// Set *run to the partial result of a scan over no elements. Appending this result to another one,
// or the other one to it, changes nothing.
static inline void partial_clear(partial_t *run) {
  run->sum = IDENTITY;
  run->head = false;
}

// Append to a partial result of a scan: *run, the partial result of some consecutive elements,
// becomes the partial result of these elements and the elements of `next`, which follow them.
static inline void partial_append(partial_t *run, partial_t next) {
  run->sum = SEGMENTED && next.head ? next.sum : combine(run->sum, next.sum);
  run->head = run->head || next.head;
}

// Prepend to a partial result of a scan: *run, the partial result of some consecutive elements,
// becomes the partial result of the elements of `previous`, which come before them, and of these
// elements.
static inline void partial_prepend(partial_t *run, partial_t previous) {
  if (!SEGMENTED || !run->head) run->sum = combine(previous.sum, run->sum);
  run->head = run->head || previous.head;
}

#if LANE_GROUP > 1 && LANES_IMPL != LANES_LOCAL
// Return the value that lane number `lane` passes as `value`. It is moved word by word, because
// lanes exchange 32-bit words.
//
// Scope    a whole lane group; each lane may pass another `lane`.
static inline T lanes_shuffle(T value, uint lane) {
  union {
    T value;
    uint words[T_WORDS];
  } moved;
  moved.words[0] = 0;  // because an element shorter than a word sets only part of it
  moved.value = value;
  for (uint w = 0; w < T_WORDS; ++w) moved.words[w] = lanes_shuffle_u32(moved.words[w], lane);
  return moved.value;
}
#endif

// Compute the exclusive prefix sums of a segmented scan over a lane group, in the order of its
// work-items.
//
// In-out   *run: before the call, the partial result of this work-item's own elements; afterwards,
//          the partial result of the elements of all earlier work-items.
// Out      *total: the partial result of all elements of the lane group.
// Temp     sums, heads: LANE_GROUP_SCRATCH elements of local memory, which may be reused after the
//          call.
// Scope    a whole lane group; results in every work-item of it.
static inline void lane_group_scan(partial_t *run, partial_t *total, local T *sums,
                                   local uint *heads) {
#if LANE_GROUP == 1
  *total = *run;
  partial_clear(run);
#elif LANES_IMPL == LANES_LOCAL
  const uint me = get_local_id(0);
  sums[me] = run->sum;
  heads[me] = run->head;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = 1; stride < WG_SIZE; stride *= 2) {
    const uint from = me >= stride ? me - stride : me;
    const partial_t left = {sums[from], heads[from] != 0};
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me >= stride) partial_prepend(run, left);
    sums[me] = run->sum;
    heads[me] = run->head;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  total->sum = sums[WG_SIZE - 1];
  total->head = heads[WG_SIZE - 1] != 0;
  partial_clear(run);
  if (me > 0) {
    run->sum = sums[me - 1];
    run->head = heads[me - 1] != 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  const uint lane = lanes_id();
  const uint head_mask = SEGMENTED ? lanes_ballot(run->head) : 0;
  // `first` is the nearest lane with a head flag among this lane and the lanes below it, or 0 if
  // there is none. A segment begins in this lane, so the sum does not include lanes before it.
  const uint below = head_mask & (~0u >> (31 - lane));
  const uint first = below == 0 ? 0 : 31 - clz(below);
  T sum = run->sum;
  for (uint stride = 1; stride < LANES; stride *= 2) {
    const T left = lanes_shuffle(sum, (lane - stride) % LANES);
    if (lane >= first + stride) sum = combine(left, sum);
  }
  total->sum = lanes_shuffle(sum, LANES - 1);
  total->head = head_mask != 0;
  const T left = lanes_shuffle(sum, (lane - 1) % LANES);
  run->sum = lane > 0 ? left : IDENTITY;
  run->head = (below & ~(1u << lane)) != 0;
#endif
}
