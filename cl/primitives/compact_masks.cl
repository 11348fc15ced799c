// Rows of records, and a mask for each row that says which of its records are kept. A lane group is
// a group of lanes that work together. A row has one record for each lane of the group. The mask of
// a row has one bit for each lane, which is set if the lane's record is kept.
//
//     lane            0  1  2  3  4  5  6  7 ...
//     flags of a row  1  0  0  1  1  0  1  0
//     mask            0b...01011001              mask_rank of lane 4: popcount(mask & 0b1111) = 2
//
// If flags in memory say which records are kept, a lane loads the flags of 16 consecutive records
// at once, which are half a row or a whole row. If lanes evaluate a condition on their own records
// instead, the mask of each row takes a ballot. On devices without lanes, masks are exchanged
// through local memory, and all lane groups of a work-group must call these functions together.
#include "device/work_group.cl"
#include "primitives/compact_rule.cl"

// Number of bytes of records and values that a work-item loads before it uses any of them: a
// multiple of 16 up to 128.
#ifndef BYTES_PER_ITEM
#define BYTES_PER_ITEM 64
#endif

// Number of lanes in a lane group, which is a group of lanes that work together: 16 or 32. The mask
// of a row of records has one bit for each lane, and must fit into one 32-bit word.
#define LANE_GROUP (LANES < 32 ? LANES : 32)
// A tile has ROWS rows, each with one record for every lane of a lane group. So each lane has 16
// records of a tile. This is also the number of flags that a lane loads at once.
#define ROWS 16
#define TILE (ROWS * LANE_GROUP)

// BATCH is the number of rows (records of all lanes of a group) that are loaded together. It is a
// power of two that divides ROWS.
#define BATCH_FITS(rows) (BYTES_PER_ITEM >= (rows) * 4 * (RECORD_WORDS + VALUE_WORDS))
#define BATCH (BATCH_FITS(16) ? 16 : BATCH_FITS(8) ? 8 : BATCH_FITS(4) ? 4 : BATCH_FITS(2) ? 2 : 1)

static inline uint lane_group_lane(void) {
  return get_local_id(0) % LANE_GROUP;
}

// -------------------------------------------------------------------------------------- flags

// Load the 16 flags from index `i` on, each a byte. Flags at index `end` and after it are 0.
static inline uint4 flags_load(const global uchar *flags, size_t i, size_t end) {
  if (i + 16 <= end) return *(const global uint4 *)(flags + i);
  ulong low = 0, high = 0;
  for (uint b = 0; i + b < end; ++b) {
    const ulong flag = (ulong)flags[i + b] << (b % 8 * 8);
    low |= b < 8 ? flag : 0;
    high |= b < 8 ? 0 : flag;
  }
  return as_uint4((ulong2)(low, high));
}

// Return how many of 16 flags, each a byte, are not 0.
static inline uint flags_count(uint4 flags) {
  const uint4 counts = popcount(flags_set(flags));
  return counts.x + counts.y + counts.z + counts.w;
}

// Return a word in which bit b is 1 if flag b of 16 flags, each a byte, is not 0.
static inline uint flags_pack(uint4 flags) {
  const uint4 bits = ((flags_set(flags) >> 7) * 0x10204080u) >> 28;
  return bits.x | bits.y << 4 | bits.z << 8 | bits.w << 12;
}

// Make the flags of a tile, which say which records are kept, available to all lanes of the lane
// group. Each lane passes the 16 flags that it has loaded as 16 bits of `bits`. Return a word that
// the caller passes to flags_masks as `published`.
//
// Scope    a whole lane group; on devices without lanes, the whole work-group.
static inline uint flags_publish(uint bits, local uint *words) {
#if LANES_IMPL == LANES_LOCAL
  barrier(CLK_LOCAL_MEM_FENCE);
  words[get_local_id(0)] = bits;
  barrier(CLK_LOCAL_MEM_FENCE);
  return bits;
#elif LANE_GROUP == 16
  return bits;
#else
  const uint lane = lane_group_lane();
  bits <<= 16 * (lane % 2);
  return bits | lanes_shuffle_u32(bits, lane ^ 1);
#endif
}

// Compute the masks of BATCH rows of records, from row number `row` of a tile on. Bit b of a row's
// mask says whether the record of lane b is kept. `published` is the word that flags_publish has
// returned.
//
// Scope    a whole lane group; on devices without lanes, the whole work-group. The masks are the
//          same in all lanes.
static inline void flags_masks(uint published, uint row, uint *masks, const local uint *words) {
  const uint first = get_local_id(0) - lane_group_lane();
#pragma unroll
  for (uint b = 0; b < BATCH; ++b) {
    const uint from = (row + b) * (LANE_GROUP / 16);
#if LANES_IMPL != LANES_LOCAL
    masks[b] = lanes_shuffle_u32(published, from);
#elif LANE_GROUP == 16
    masks[b] = words[first + from];
#else
    masks[b] = words[first + from] | words[first + from + 1] << 16;
#endif
  }
}

// ------------------------------------------------------------------------------------ ballots

// Compute the masks of BATCH rows of records by an exchange among the lanes. Bit b of a row's mask
// says whether the record of lane b is kept. Each lane passes, in bit r of `bits`, whether its own
// record in row r is kept.
//
// Scope    a whole lane group; on devices without lanes, the whole work-group. The masks are the
//          same in all lanes.
static inline void ballot_masks(uint bits, uint *masks, local uint *words) {
#if LANES_IMPL == LANES_LOCAL
  const uint me = get_local_id(0), lane = lane_group_lane(), first = me - lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  words[me] = bits;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint mask = 0;  // the mask of row number `lane`; the first BATCH lanes compute one mask each
  for (uint other = 0; other < LANE_GROUP; ++other)
    mask |= (words[first + other] >> lane & 1) << other;
  barrier(CLK_LOCAL_MEM_FENCE);
  words[me] = mask;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint b = 0; b < BATCH; ++b) masks[b] = words[first + b];
#else
#pragma unroll
  for (uint b = 0; b < BATCH; ++b) masks[b] = lanes_ballot((bits >> b & 1) != 0);
#endif
}

// Return whether this lane's record in a row is kept, which is this lane's bit in the mask of the
// row.
static inline bool mask_has_own(uint mask) {
  return (mask & 1u << lane_group_lane()) != 0;
}

// Return how many kept records of a row come before this lane's record. They are the bits of lower
// lanes in the mask of the row.
static inline uint mask_rank(uint mask) {
  return popcount(mask & ((1u << lane_group_lane()) - 1));
}
