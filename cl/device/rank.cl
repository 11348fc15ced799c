// How a work-group computes the rank of every item of a tile by its digit, which is the value of a
// few bits of its key. This is one step of a radix sort.
//
// A tile is TILE consecutive items. Each work-item has TILE_ITEMS of them: the first is at position
// rank_first, and the others follow at distances of RANK_STRIDE. The rank of an item is its
// position after the tile is sorted by digit. Items with equal digits keep their order. Example
// with 8 items and digits of 2 bits:
//
//     position   0  1  2  3  4  5  6  7
//     digit      2  0  3  0  2  1  0  2
//     starts     digit 0 at 0, 1 at 3, 2 at 4, 3 at 7
//     rank       4  0  7  1  5  3  2  6        = start of the digit + earlier items with the digit
//
// There are two implementations with the same results:
//   RANK_COUNTERS  Every work-item counts the digits of its own consecutive items in a column of
//                  local memory, with two counts in a word. One scan over all columns, digit after
//                  digit, ranks the items (Satish, Harris, Garland 2009; Merrill, Grimshaw 2010).
//                  The device needs no lanes.
//   RANK_BALLOTS   Every lane group counts the digits of its own consecutive items, LANES at a
//                  time. Lanes with equal digits find each other by one ballot for each bit of the
//                  digit, and the last of these lanes counts for all of them (Adinets, Merrill
//                  2022). Longer digits only take more ballots.
#include "device/work_group.cl"

#define RANK_COUNTERS 0
#define RANK_BALLOTS 1

// How the items of a tile are ranked by their digits: RANK_COUNTERS (0) or RANK_BALLOTS (1).
// RANK_BALLOTS needs lanes that exchange values directly (LANES_KHR or LANES_PTX).
#ifndef RANK_BY
#define RANK_BY RANK_COUNTERS
#endif
#if RANK_BY != RANK_COUNTERS && LANES_IMPL == LANES_LOCAL && WG_SIZE > 1
#error "ranking by lanes needs lanes"
#endif

// Number of bits in a digit: 1 to 4 for RANK_COUNTERS, 1 to 8 for RANK_BALLOTS.
#ifndef RADIX_BITS
#define RADIX_BITS 4
#endif
#define RADIX (1 << RADIX_BITS)

// Number of items that a work-item takes from each tile. The items of a tile are ranked together,
// and there must be fewer than 65536 of them.
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#define TILE (WG_SIZE * TILE_ITEMS)

#if WG_SIZE > 1

#if RANK_BY == RANK_COUNTERS

// The counters of digits in local memory, here for RADIX = 16. They form eight rows, and each row
// has one word for each work-item. A word has the counts of two digits:
//
//             31..16     15..0       The word of work-item `me` in row r has the index
//   row 0     digit 8    digit 0     r * RANK_ROW_WORDS + rank_counter(me). After every 32 words,
//   row 1     digit 9    digit 1     one word is unused, so that words that neighbouring
//   ...                              work-items read at the same time lie in different banks.
//   row 7     digit 15   digit 7
#define RANK_ROWS (RADIX / 2)
#define RANK_ROW_WORDS (WG_SIZE + WG_SIZE / 32)
// Number of words of local memory that wg_rank needs for its counters of digits.
#define RANK_WORDS (RANK_ROWS * RANK_ROW_WORDS)

// rank_first returns the position in the tile of the first item of work-item `me`. The next items
// of this work-item follow at distances of RANK_STRIDE.
#define RANK_STRIDE 1
static inline uint rank_first(uint me) {
  return me * TILE_ITEMS;
}

// Return the index in local memory of counter number i, a word that counts digits. Counters are
// numbered row by row. One word is unused after every 32 counters.
static inline uint rank_counter(uint i) {
  return i + i / 32;
}

// rank_row returns the index of the first word of the row of counters that counts a digit. Each
// word of this row counts two digits: a digit below RADIX / 2 in its lower half, and a digit from
// RADIX / 2 on in its upper half. rank_shift returns the lowest bit of the half that counts the
// digit.
static inline uint rank_row(uint digit) {
  return digit % RANK_ROWS * RANK_ROW_WORDS;
}

static inline uint rank_shift(uint digit) {
  return digit / RANK_ROWS * 16;
}

// Return the position, in the tile sorted by digits, of the first item with a given digit. For
// digit RADIX, return TILE, the end of the tile.
static inline uint rank_start(const local uint *ranking, uint digit) {
  return digit < RADIX ? ranking[rank_row(digit)] >> rank_shift(digit) & 0xffff : TILE;
}

// Rank the items of a tile by their digits.
//
// In-out   items[TILE_ITEMS], private: digits before the call, ranks afterwards. In between, a word
//          is rank << 16 | digit, where the rank is among the earlier items with the same digit.
// Out      ranking[RANK_WORDS]: the counts that rank_start reads, valid until the next barrier.
// Temp     scratch: WG_SIZE words of local memory.
// Scope    the whole work-group; `me` is this work-item's index in it.
static inline void wg_rank(uint me, uint *items, local uint *ranking, local uint *scratch) {
  local uint *own = ranking + rank_counter(me);
  for (uint row = 0; row < RANK_ROWS; ++row) own[row * RANK_ROW_WORDS] = 0;
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    const uint digit = items[j], shift = rank_shift(digit);
    const uint counts = own[rank_row(digit)];
    items[j] = (counts >> shift) << 16 | digit;
    own[rank_row(digit)] = counts + (1u << shift);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  local uint *run = ranking + rank_counter(me * RANK_ROWS);
  uint sum = 0, total;
  for (uint k = 0; k < RANK_ROWS; ++k) sum += run[k];
  uint before = wg_exclusive_sum_u32(sum, &total, scratch);
  before += total << 16;  // the digits of the upper half follow all digits of the lower half
#pragma unroll 1          // if unrolled, the counts do not fit the registers of Intel's devices
  for (uint k = 0; k < RANK_ROWS; ++k) {
    const uint counts = run[k];
    run[k] = before;
    before += counts;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    const uint digit = items[j] & 0xffff;
    items[j] = (items[j] >> 16) + (own[rank_row(digit)] >> rank_shift(digit) & 0xffff);
  }
}

#else

// Number of digits for which each work-item computes the positions at which they begin in the
// sorted tile.
#define RANK_DIGITS ((RADIX + WG_SIZE - 1) / WG_SIZE)
// Number of words of local memory that wg_rank needs to rank items by digits: for the first
// position of each digit, and for a 16-bit count of each digit in each lane group.
#define RANK_WORDS (RADIX + 1 + WG_LANE_GROUPS * RADIX / 2)

// rank_first returns the position in the tile of the first item of work-item `me`. The next items
// of this work-item follow at distances of RANK_STRIDE.
#define RANK_STRIDE LANES
static inline uint rank_first(uint me) {
  return me / LANES * LANES * TILE_ITEMS + me % LANES;
}

// Make each lane's writes to local memory visible to the other lanes of its lane group.
//
// Scope    a whole lane group.
static inline void lanes_sync(void) {
#if LANES_IMPL == LANES_PTX
  __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory");
#else
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// Return a mask of the lanes whose `word` agrees with this lane's word in bit number `bit`.
//
// Scope    a whole lane group; each lane has its own result.
static inline uint lanes_agreeing(uint word, uint bit) {
#if LANES_IMPL == LANES_PTX
  // The comparison and the ballot are in one piece of PTX, so that the flag stays in a predicate
  // register. If the flag were a bool outside, the compiler would add two instructions for each
  // bit.
  uint mask;
  __asm__ volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0;"
                   "  vote.sync.ballot.b32 %0, p, 0xffffffff; @!p not.b32 %0, %0; }"
                   : "=r"(mask)
                   : "r"(word), "r"(1u << bit));
  return mask;
#else
  const bool set = word >> bit & 1;
  const uint mask = lanes_ballot(set);
  return set ? mask : ~mask;
#endif
}

// Return a mask of the lanes that have the same digit as this lane.
//
// Scope    a whole lane group; each lane has its own result.
static inline uint lanes_match(uint digit) {
  uint peers = ~0u >> (32 - LANES);
#pragma unroll
  for (uint bit = 0; bit < RADIX_BITS; ++bit) peers &= lanes_agreeing(digit, bit);
  return peers;
}

// Return the position, in the tile sorted by digits, of the first item with a given digit. For
// digit RADIX, return TILE, the end of the tile.
static inline uint rank_start(const local uint *ranking, uint digit) {
  return ranking[digit];
}

// Count the digits of a lane group's items, and rank each item among those items of the lane group
// that have the same digit.
//
// In-out   items[TILE_ITEMS], private: before the call the digits, afterwards the words
//          rank << 16 | digit.
// Out      counts[RADIX], in local memory: the number of the lane group's items with each digit.
// Scope    a whole lane group; ends with lanes_sync.
static inline void lanes_rank_digits(uint *items, volatile local ushort *counts) {
  const uint below = (1u << lanes_id()) - 1;
  for (uint d = lanes_id(); d < RADIX; d += LANES) counts[d] = 0;
  lanes_sync();
  uint peers = lanes_match(items[0]);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    const uint digit = items[j];
    const uint count = counts[digit];
    // Find the lanes whose next items have equal digits already now, while the count for this item
    // is being loaded from local memory.
    const uint next_peers = j + 1 < TILE_ITEMS ? lanes_match(items[j + 1]) : 0;
    const uint rank = count + popcount(peers & below);
    lanes_sync();
    if (peers >> lanes_id() == 1) counts[digit] = rank + 1;
    items[j] = rank << 16 | digit;
    lanes_sync();
    peers = next_peers;
  }
}

// Rank the items of a tile by their digits. The parameters and results are the same as for the
// function wg_rank above, which implements RANK_COUNTERS.
//
// Scope    the whole work-group.
static inline void wg_rank(uint me, uint *items, local uint *ranking, local uint *scratch) {
  local uint *starts = ranking;
  local ushort *counts = (local ushort *)(ranking + RADIX + 1);
  local ushort *own_counts = counts + me / LANES * RADIX;
  lanes_rank_digits(items, own_counts);
  barrier(CLK_LOCAL_MEM_FENCE);
  // Replace each count by the sum of all counts before it. Counts are in the order of digits and,
  // for one digit, in the order of lane groups. The sum is the position, in the sorted tile, of the
  // lane group's first item with the digit.
  uint own[RANK_DIGITS][WG_LANE_GROUPS], sum = 0, total;
#pragma unroll
  for (uint k = 0; k < RANK_DIGITS; ++k) {
    const uint d = me * RANK_DIGITS + k;
#pragma unroll
    for (uint g = 0; g < WG_LANE_GROUPS; ++g) {
      own[k][g] = d < RADIX ? counts[g * RADIX + d] : 0;
      sum += own[k][g];
    }
  }
  uint start = wg_exclusive_sum_u32(sum, &total, scratch);
#pragma unroll
  for (uint k = 0; k < RANK_DIGITS; ++k) {
    const uint d = me * RANK_DIGITS + k;
    if (d < RADIX) starts[d] = start;
#pragma unroll
    for (uint g = 0; g < WG_LANE_GROUPS; ++g) {
      if (d < RADIX) counts[g * RADIX + d] = start;
      start += own[k][g];
    }
  }
  if (me == 0) starts[RADIX] = TILE;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) items[j] = (items[j] >> 16) + own_counts[items[j] & 0xffff];
}

#endif

#endif
