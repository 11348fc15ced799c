// Decoupled look-back: how a work-group finds the sum of all tiles before its own. A tile is a run
// of elements that one work-group handles.
//
// The work-group publishes the state of its own tile, where other work-groups read it. At first the
// state is nothing, then the total of the tile, and at last the prefix, which is the sum of all
// tiles up to this one. LOOK_BACK_LANES lanes of the work-group look at the states of earlier tiles
// together, each at a few consecutive ones:
//
//     tile       8        9        10       11       12       13       14       15       16
//     state      prefix   total    prefix   total    total    none     total    total    own tile
//     distance   8        7        6        5        4        3        2        1
//
// Here the lanes take the totals of tiles 14 and 15, and look again from tile 13 back, until the
// state of tile 13 is published. Then they take the totals of tiles 11 to 13 and the prefix of tile
// 10, which ends the search. If a state is not published in time, the caller computes the total of
// that tile itself (tile_state.cl).
//
// The first word of the array `states` is the number of tiles that work-groups have taken. From
// word LOOK_WORDS on, the array has STATE_WORDS words for each tile. Each of these words has 16
// bits of the tile's total or prefix.
#include "device/tile_state.cl"

// LOOK_T is the type of the sums of tiles that work-groups publish. LOOK_BYTES is its size (4, 8 or
// 16 bytes), LOOK_IDENTITY is the identity, and LOOK_COMBINE is the operator. Its results must be
// exact: they must not depend on how the elements are grouped.
#ifndef LOOK_T
#define LOOK_T uint
#define LOOK_BYTES 4
#define LOOK_IDENTITY 0
#define LOOK_COMBINE(a, b) ((a) + (b))
#endif

// The state of a tile is the total or the prefix that its work-group publishes. It takes this
// number of 32-bit words: 2, 4 or 8. Each word has 16 bits of the sum.
#define STATE_WORDS (LOOK_BYTES / 2)
// Number of consecutive tiles whose states, the sums that work-groups publish, one lane reads
// together.
#define LOOK_ITEMS (LOOK_WORDS / STATE_WORDS)
// Number of work-items of a work-group that look back, which means that they read the sums that
// work-groups of earlier tiles have published. These work-items are the first lane group. If the
// device does not have lanes, one work-item looks back (quirk: pocl-grid-barrier).
#define LOOK_BACK_LANES (LANES_IMPL == LANES_LOCAL ? 1 : LANES)

// Return whether this work-item is one of the lanes that look back at the sums of earlier tiles for
// their work-group. The condition is written as a quotient, because then the compiler sees that it
// has the same value in all lanes of a lane group.
static inline bool is_look_back_lane(void) {
  return get_local_id(0) / LOOK_BACK_LANES == 0;
}

typedef union {
  LOOK_T sum;
  uint words[LOOK_BYTES / 4];
} look_parts_t;

// The progress of a look-back, which combines the sums of earlier tiles. It starts at the
// work-group's own tile and goes back from tile to tile, so `next` decreases.
typedef struct {
  LOOK_T after;   // the combination of the tiles from `next` to the one before the own tile
  uint next;      // tiles before this one are not in `after` yet
  bool is_whole;  // whether `after` includes all tiles before the own tile
} look_t;

// Take the next tile for this work-group and return its number. Work-groups get tiles in the order
// in which they start.
//
// In-out   states: the states of the tiles. The first word, which is the number of tiles taken so
//          far, is incremented.
// Scope    one work-item of the work-group.
static inline uint wi_take_tile(volatile global uint *states) {
  return atomic_inc(states);
}

// Publish the state of a tile: its kind, and a sum. For the kind STATE_TOTAL the sum is the total
// of the tile, and for STATE_PREFIX it is the sum of all tiles up to it.
static inline void look_publish(volatile global uint *states, uint tile, uint kind, LOOK_T sum) {
  volatile global uint *state = states + LOOK_WORDS + (size_t)tile * STATE_WORDS;
  look_parts_t parts;
  parts.words[0] = 0;  // because a sum shorter than a word sets only part of it
  parts.sum = sum;
  for (uint w = 0; w < LOOK_BYTES / 4; ++w) {
    state_publish(state + 2 * w, kind, parts.words[w] & 0xffff);
    state_publish(state + 2 * w + 1, kind, parts.words[w] >> 16);
  }
}

// Decode the STATE_WORDS words of the state of a tile. Return its kind (STATE_ constants of
// tile_state.cl), and store its sum in *sum. As long as not all of the words have been published,
// the kind is STATE_NONE and the sum is the identity.
static inline uint look_state(const uint *words, LOOK_T *sum) {
  look_parts_t parts;
  uint kind = words[0] & STATE_BITS;
  for (uint w = 1; w < STATE_WORDS; ++w)
    if ((words[w] & STATE_BITS) != kind) kind = STATE_NONE;
  for (uint w = 0; w < LOOK_BYTES / 4; ++w)
    parts.words[w] = (words[2 * w] & 0xffff) | words[2 * w + 1] << 16;
  *sum = kind == STATE_NONE ? LOOK_IDENTITY : parts.sum;
  return kind;
}

// Return the minimum of the values of all look-back lanes, which are the lanes that look at the
// sums of earlier tiles together.
//
// Scope    all look-back lanes; the result is the same in each of them.
static inline uint look_back_min(uint value) {
#if LANES_IMPL == LANES_LOCAL
  return value;
#else
  return lanes_min_u32(value);
#endif
}

// Return the combination, in the order of the lanes, of the values of all look-back lanes. These
// are the lanes that look at the sums of earlier tiles together.
//
// Scope    all look-back lanes; the result is the same in each of them.
static inline LOOK_T look_back_combine(LOOK_T value) {
#if LANES_IMPL != LANES_LOCAL
  look_parts_t own, other;
  own.words[0] = 0;
  own.sum = value;
  for (uint stride = 1; stride < LANES; stride *= 2) {
    for (uint w = 0; w < LOOK_BYTES / 4; ++w)
      other.words[w] = lanes_shuffle_u32(own.words[w], (lanes_id() + stride) % LANES);
    if (lanes_id() + stride < LANES) own.sum = LOOK_COMBINE(own.sum, other.sum);
  }
  for (uint w = 0; w < LOOK_BYTES / 4; ++w) own.words[w] = lanes_broadcast_u32(own.words[w], 0);
  value = own.sum;
#endif
  return value;
}

// Look once at the states of about LOOK_BACK_LANES * LOOK_ITEMS tiles before tile `next`. The state
// of a tile is its total, its prefix (the sum of all tiles up to it), or nothing yet. A look goes
// back from tile to tile and ends at the first tile whose state is not a total, the stop tile. If
// all states are totals, the stop tile is the first one that is too far back for this look.
//
// Out      *sum: the combination of the totals of the tiles between the stop tile and `next`. If
//          the stop tile publishes a prefix, *sum includes it.
// Scope    all look-back lanes; *sum and the result are the same in each of them.
// Ensures  d is the distance from tile `next` back to the stop tile. The result is 2 d if the state
//          of the stop tile is a prefix, else 2 d + 1.
static inline uint look_back_once(volatile global uint *states, uint next, LOOK_T *sum) {
  const uint edge = (next + LOOK_ITEMS - 1) / LOOK_ITEMS;
  const uint back = LOOK_BACK_LANES - get_local_id(0);
  const uint first = (edge - back) * LOOK_ITEMS;
  const uint unseen = (edge - LOOK_BACK_LANES) * LOOK_ITEMS - 1;
  // Each lane combines in `run` the totals of its LOOK_ITEMS consecutive tiles. It goes back from
  // the nearest tile until it finds a state that is not a total. The position of this state is
  // stored in `stop`, in the same form as the result of this function.
  LOOK_T run = LOOK_IDENTITY;
  uint words[LOOK_WORDS], stop = edge >= back ? UINT_MAX : 2 * (next + 1);  // nothing is before 0
  if (edge >= back) {
    states_look(states + LOOK_WORDS + (size_t)first * STATE_WORDS, words);
#pragma unroll
    for (uint k = LOOK_ITEMS; k-- > 0;) {
      LOOK_T seen;
      const uint kind = look_state(words + k * STATE_WORDS, &seen);
      if (stop == UINT_MAX && first + k < next) {
        run = LOOK_COMBINE(seen, run);
        if (kind != STATE_TOTAL) stop = 2 * (next - (first + k)) + (kind == STATE_NONE);
      }
    }
  }
  const uint nearest = look_back_min(min(stop, 2 * (next - unseen) + 1));
  // `nearest` has the position of the stop tile, at which this look ends. Leave out the totals of a
  // lane if all of its tiles lie before the stop tile.
  const bool counts = nearest / 2 > next - min(first + LOOK_ITEMS, next);
  *sum = look_back_combine(counts ? run : LOOK_IDENTITY);
  return nearest;
}

// Continue a look-back, which combines the sums of earlier tiles in `at`. It ends when all tiles
// before the work-group's own tile are included, or when the state of tile at->next - 1 has not
// been published in time. Return at->is_whole, which is true in the first case. In the second case,
// the caller computes the total of tile at->next - 1 and passes it to look_back_take.
//
// In-out   states: the states that work-groups have published;
//          *at: before the first call, `next` is the number of the work-group's own tile, `after`
//            is the identity, and is_whole is false.
// Scope    all look-back lanes; *at and the result are the same in each of them.
static inline bool look_back_find(volatile global uint *states, look_t *at) {
  LOOK_T sum;
  uint looks = 0;
#pragma unroll 1
  while (!at->is_whole && looks < LOOK_PATIENCE) {
    const uint stop = look_back_once(states, at->next, &sum);
    at->after = LOOK_COMBINE(sum, at->after);
    at->is_whole = stop % 2 == 0;
    at->next -= stop / 2 - 1;
    looks = stop == 3 ? looks + 1 : 0;  // 3: the nearest tile has not published anything
  }
  return at->is_whole;
}

// Continue a look-back with a total that the caller has computed, because the work-group of tile
// at->next - 1 has not published it in time. Publish this total, and combine it with the sum in
// `at`. The look-back then goes on with the tile before. `is_prefix` says that no earlier tile has
// an effect on the sum.
//
// Scope    all look-back lanes.
static inline void look_back_take(volatile global uint *states, look_t *at, LOOK_T total,
                                  bool is_prefix) {
  at->next -= 1;
  at->is_whole = is_prefix || at->next == 0;
  at->after = LOOK_COMBINE(total, at->after);
  if (get_local_id(0) == 0)
    look_publish(states, at->next, at->is_whole ? STATE_PREFIX : STATE_TOTAL, total);
}
