// Work-group scope: the stable rank of every item of a tile by its digit.
//
// A tile is TILE_ITEMS items of every work-item, TILE in all; rank_first tells which ones. Ranks are
// positions in the tile sorted by digit, items with equal digits in the tile's order.
//
// Two ways to one result:
//   RANK_COUNTERS  every work-item counts its own consecutive items in a column of local memory, two
//                  digits to a word; one scan over all columns, digit after digit, ranks them
//                  (Satish, Harris, Garland 2009; Merrill, Grimshaw 2010). Needs no lanes.
//   RANK_BALLOTS,  every lane group counts its own consecutive items, LANES at a time: lanes with
//   RANK_MATCH     equal digits find each other, by a ballot a bit or by PTX's match, and the last of
//                  them counts for all (Adinets, Merrill 2022). Wider digits at the same cost.
#ifndef CLMST_DEVICE_RANK
#define CLMST_DEVICE_RANK

#include "device/work_group.cl"

#define RANK_COUNTERS 0
#define RANK_BALLOTS 1
#define RANK_MATCH 2

// RANK_COUNTERS (0), RANK_BALLOTS (1: lanes of LANES_KHR or LANES_PTX) or RANK_MATCH (2: LANES_PTX).
#ifndef RANK_BY
#define RANK_BY RANK_COUNTERS
#endif
#if RANK_BY != RANK_COUNTERS && LANES_IMPL == LANES_LOCAL && WG_SIZE > 1
#error "ranking by lanes needs lanes"
#endif

// Bits of a digit: 1 to 4 for RANK_COUNTERS, else 1 to 8.
#ifndef RADIX_BITS
#define RADIX_BITS 4
#endif
#define RADIX (1 << RADIX_BITS)

// Items that a work-item takes from each tile; the tile must have fewer than 65536.
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#define TILE (WG_SIZE * TILE_ITEMS)

#if WG_SIZE > 1

#if RANK_BY == RANK_COUNTERS

// A row of counters, one a work-item, for every two digits. In memory a word is left out after every
// 32, so that runs of counters, a work-item each, meet all banks.
#define RANK_ROWS (RADIX / 2)
#define RANK_ROW_WORDS (WG_SIZE + WG_SIZE / 32)
// Words of local memory that ranking needs.
#define RANK_WORDS (RANK_ROWS * RANK_ROW_WORDS)

// Where in the tile the first item of work-item `me` is, and from each of its items to the next.
#define RANK_STRIDE 1
static inline uint rank_first(uint me) {
  return me * TILE_ITEMS;
}

// The counter that is so many behind the first, counting row after row.
static inline uint rank_counter(uint i) {
  return i + i / 32;
}

// The row that counts a digit, and by how many bits the count is shifted: the lower half of the
// digits are in lower halves of words.
static inline uint rank_row(uint digit) {
  return digit % RANK_ROWS * RANK_ROW_WORDS;
}

static inline uint rank_shift(uint digit) {
  return digit / RANK_ROWS * 16;
}

// Where the items of a digit begin in the sorted tile; of RADIX, its length.
static inline uint rank_start(const local uint *ranking, uint digit) {
  return digit < RADIX ? ranking[rank_row(digit)] >> rank_shift(digit) & 0xffff : TILE;
}

// Rank the items of a tile by their digits: items[j] is a digit first and a rank then, between the
// two a digit below what its rank has come to. Must be reached by the whole work-group; `me` is this
// work-item's number in it. `ranking` has RANK_WORDS, from which rank_start reads until the next
// barrier; `scratch` has WG_SIZE words.
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
  before += total << 16;  // upper digits come behind all lower ones
#pragma unroll 1  // all counts at once are more than Intel's registers hold
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

// Digits whose starts a work-item computes.
#define RANK_DIGITS ((RADIX + WG_SIZE - 1) / WG_SIZE)
// Words of local memory that ranking needs: starts of digits, and 16-bit counts of lane groups.
#define RANK_WORDS (RADIX + 1 + WG_LANE_GROUPS * RADIX / 2)

// Where in the tile the first item of work-item `me` is, and from each of its items to the next.
#define RANK_STRIDE LANES
static inline uint rank_first(uint me) {
  return me / LANES * LANES * TILE_ITEMS + me % LANES;
}

// Order the local memory of a lane group among its lanes.
static inline void lanes_sync(void) {
#if LANES_IMPL == LANES_PTX
  __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory");
#else
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// The lanes that have the same bit in a word as this lane, one bit each.
static inline uint lanes_agreeing(uint word, uint bit) {
#if LANES_IMPL == LANES_PTX
  // In PTX as a whole: from a bool the compiler makes two more instructions a bit.
  uint mask;
  __asm__ volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0;"
                   "  vote.sync.ballot.b32 %0, p, 0xffffffff; @!p not.b32 %0, %0; }"
                   : "=r"(mask) : "r"(word), "r"(1u << bit));
  return mask;
#else
  const bool set = word >> bit & 1;
  const uint mask = lanes_ballot(set);
  return set ? mask : ~mask;
#endif
}

// The lanes whose digit equals this lane's, one bit each.
static inline uint lanes_match(uint digit) {
  uint peers = ~0u >> (32 - LANES);
#if RANK_BY == RANK_MATCH
  __asm__ volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(peers) : "r"(digit));
#else
#pragma unroll
  for (uint bit = 0; bit < RADIX_BITS; ++bit) peers &= lanes_agreeing(digit, bit);
#endif
  return peers;
}

// Where the items of a digit begin in the sorted tile; of RADIX, its length.
static inline uint rank_start(const local uint *ranking, uint digit) {
  return ranking[digit];
}

// Count a lane group's digits, and rank its items among those of the same lane group and digit.
static inline void lanes_rank_digits(uint *items, volatile local ushort *counts) {
  const uint below = (1u << lanes_id()) - 1;
  for (uint d = lanes_id(); d < RADIX; d += LANES) counts[d] = 0;
  lanes_sync();
  uint peers = lanes_match(items[0]);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j) {
    const uint digit = items[j];
    const uint count = counts[digit];
    // Found out while the count is on its way.
    const uint next_peers = j + 1 < TILE_ITEMS ? lanes_match(items[j + 1]) : 0;
    const uint rank = count + popcount(peers & below);
    lanes_sync();
    if (peers >> lanes_id() == 1) counts[digit] = rank + 1;
    items[j] = rank << 16 | digit;
    lanes_sync();
    peers = next_peers;
  }
}

// Rank the items of a tile by their digits: items[j] is a digit first and a rank then, between the
// two a digit below what its rank has come to. Must be reached by the whole work-group; `me` is this
// work-item's number in it. `ranking` has RANK_WORDS, from which rank_start reads until the next
// barrier; `scratch` has WG_SIZE words.
static inline void wg_rank(uint me, uint *items, local uint *ranking, local uint *scratch) {
  local uint *starts = ranking;
  local ushort *counts = (local ushort *)(ranking + RADIX + 1);
  local ushort *own_counts = counts + me / LANES * RADIX;
  lanes_rank_digits(items, own_counts);
  barrier(CLK_LOCAL_MEM_FENCE);
  // From here on counts become starts: of each lane group's items of each digit.
  uint held[RANK_DIGITS][WG_LANE_GROUPS], sum = 0, total;
#pragma unroll
  for (uint k = 0; k < RANK_DIGITS; ++k) {
    const uint d = me * RANK_DIGITS + k;
#pragma unroll
    for (uint g = 0; g < WG_LANE_GROUPS; ++g) {
      held[k][g] = d < RADIX ? counts[g * RADIX + d] : 0;
      sum += held[k][g];
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
      start += held[k][g];
    }
  }
  if (me == 0) starts[RADIX] = TILE;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint j = 0; j < TILE_ITEMS; ++j)
    items[j] = (items[j] >> 16) + own_counts[items[j] & 0xffff];
}

#endif

#endif

#endif
