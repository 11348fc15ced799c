// How a work-group finds out what comes before its tile: look-back over tile states.
//
// LOOK_BACK_LANES lanes of the work-group look together, each at a few consecutive states:
//
//     tile       8        9        10       11       12       13       14       15       16
//     state      prefix   total    prefix   total    total    none     total    total    own tile
//     distance   8        7        6        5        4        3        2        1
//
// Here they take the totals of tiles 14 and 15, and look again, from tile 13 on, until its state has
// come. Then they take the totals of 11 to 13 and the prefix of 10, which ends the search. If the
// state does not come, the caller computes that tile's total in its place (tile_state.cl).
//
// states: one word, the number of tiles taken; then, from word LOOK_WORDS on, STATE_WORDS words a
// tile. Each has 16 bits of a sum.
#include "device/tile_state.cl"

// What is added up: its type, its size in whole words (4, 8 or 16 bytes), its identity and its exact operator.
#ifndef LOOK_T
#define LOOK_T uint
#define LOOK_BYTES 4
#define LOOK_IDENTITY 0
#define LOOK_COMBINE(a, b) ((a) + (b))
#endif

// Words of a state: 2, 4 or 8.
#define STATE_WORDS (LOOK_BYTES / 2)
// Consecutive states that a lane looks at together.
#define LOOK_ITEMS (LOOK_WORDS / STATE_WORDS)
// Lanes that look back for their work-group: its first ones, or one work-item where there are no
// lanes (quirk: pocl-grid-barrier).
#define LOOK_BACK_LANES (LANES_IMPL == LANES_LOCAL ? 1 : LANES)

// Whether a work-item is a look-back lane. By a quotient, which shows that it is the same in all
// lanes of a lane group.
static inline bool is_look_back_lane(void) {
  return get_local_id(0) / LOOK_BACK_LANES == 0;
}

typedef union {
  LOOK_T sum;
  uint words[LOOK_BYTES / 4];
} look_parts_t;

// How far look-back lanes have come.
typedef struct {
  LOOK_T after;  // the combination of the tiles from `next` on that come before the own tile
  uint next;     // all tiles before this one are not in `after` yet
  bool is_whole;
} look_t;

// Take the next tile, in the order in which work-groups start.
//
// In-out   states.
// Scope    one work-item of the work-group.
static inline uint wi_take_tile(volatile global uint *states) {
  return atomic_inc(states);
}

// Publish the state of a tile.
static inline void look_publish(volatile global uint *states, uint tile, uint kind, LOOK_T sum) {
  volatile global uint *state = states + LOOK_WORDS + (size_t)tile * STATE_WORDS;
  look_parts_t parts;
  parts.words[0] = 0;  // of which a short sum is a part
  parts.sum = sum;
  for (uint w = 0; w < LOOK_BYTES / 4; ++w) {
    state_publish(state + 2 * w, kind, parts.words[w] & 0xffff);
    state_publish(state + 2 * w + 1, kind, parts.words[w] >> 16);
  }
}

// What a state's words publish, and the *sum: STATE_NONE and the identity if nothing, or if they do
// not agree yet.
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

// The least value of all look-back lanes.
//
// Scope    all look-back lanes; result in each of them, as below.
static inline uint look_back_min(uint value) {
#if LANES_IMPL == LANES_LOCAL
  return value;
#else
  return lanes_min_u32(value);
#endif
}

// The combination of the look-back lanes' values, in order.
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

// Look once at the states of the tiles before tile `next`: LOOK_BACK_LANES * LOOK_ITEMS of them, or a
// few less.
//
// Out      *sum: the combination of the totals that come after the nearest tile that has none, and
//          of this tile's prefix, if it is one.
// Scope    all look-back lanes; *sum and result are the same in each of them.
// Ensures  returns twice the distance from `next` to that nearest tile, and 1 more unless it is a
//          prefix: if nothing is published of it, or if it was not looked at.
static inline uint look_back_once(volatile global uint *states, uint next, LOOK_T *sum) {
  const uint edge = (next + LOOK_ITEMS - 1) / LOOK_ITEMS;
  const uint back = LOOK_BACK_LANES - get_local_id(0);
  const uint first = (edge - back) * LOOK_ITEMS;
  const uint unseen = (edge - LOOK_BACK_LANES) * LOOK_ITEMS - 1;
  // Of the own states, from the nearest one up to the first that is no total.
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
  // Lanes all of whose tiles come before that one do not count.
  const bool counts = nearest / 2 > next - min(first + LOOK_ITEMS, next);
  *sum = look_back_combine(counts ? run : LOOK_IDENTITY);
  return nearest;
}

// Go on to look back, until `at` is whole, or the state of tile `next - 1` does not come. Returns
// whether `at` is whole; else the caller publishes that tile's total, and tells look_take of it.
//
// In-out   states; *at: next is the own tile's number, after the identity, is_whole false at first.
// Scope    all look-back lanes; *at and result are the same in each of them.
static inline bool look_back_find(volatile global uint *states, look_t *at) {
  LOOK_T sum;
  uint looks = 0;
#pragma unroll 1
  while (!at->is_whole && looks < LOOK_PATIENCE) {
    const uint stop = look_back_once(states, at->next, &sum);
    at->after = LOOK_COMBINE(sum, at->after);
    at->is_whole = stop % 2 == 0;
    at->next -= stop / 2 - 1;
    looks = stop == 3 ? looks + 1 : 0;  // 3: nothing is published of the nearest tile
  }
  return at->is_whole;
}

// Publish the total of tile `at->next - 1`, which was computed, and go on before it.
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
