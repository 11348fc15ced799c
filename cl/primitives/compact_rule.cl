// Which records a selection keeps, and what it writes.

#define KEEP_FLAGGED 0
#define KEEP_HOLDING 1
#define KEEP_HEADS 2

// Which records are kept. KEEP_FLAGGED (0): those with a byte flag that is not 0. KEEP_HOLDING (1):
// those for which EXPRESSION holds. KEEP_HEADS (2): the first, and those that differ from the one
// before.
#ifndef KEEP
#define KEEP KEEP_FLAGGED
#endif

#define WRITE_KEPT 0
#define WRITE_ALL 1
#define WRITE_POSITIONS 2

// What is written. WRITE_KEPT (0): the kept records. WRITE_ALL (1): these, then the others.
// WRITE_POSITIONS (2): the positions of the kept records, KEEP_FLAGGED only.
#ifndef WRITE
#define WRITE WRITE_KEPT
#endif

#include "device/function.cl"
#include "device/record.cl"

// The arrays that a selection reads and writes; null where there is none.
typedef struct {
  const global record_chunk_t *records;
  const global uchar *flags;
  const global value_chunk_t *values;
  global record_chunk_t *out;
  global value_chunk_t *values_out;
  uint bound;     // capacity of `out`; no record is written beyond it
  given_t given;  // arguments of EXPRESSION
} selection_t;

// 0x80 in each byte that is not 0.
static inline uint4 flags_set(uint4 flags) {
  return (((flags & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | flags) & 0x80808080u;
}

#if KEEP != KEEP_FLAGGED
#define RULE_JOIN(a, b) a##b
#define RULE_AS_TYPE(type) RULE_JOIN(as_, type)

// Whether record i is kept. `previous` is the one before it; only KEEP_HEADS looks at it. For
// KEEP_HOLDING a record is a T: a scalar or vector of RECORD_WORDS words.
static inline bool rule_keeps(const selection_t *of, size_t i, const record_chunk_t *record,
                              const record_chunk_t *previous) {
#if KEEP == KEEP_HEADS
  return record_differs(record, previous);
#else
#if RECORD_WORDS == 16
  const uint16 words = (uint16)(record[0], record[1], record[2], record[3]);
#elif RECORD_WORDS == 8
  const uint8 words = (uint8)(record[0], record[1]);
#else
  const record_chunk_t words = record[0];
#endif
  return function_of(RULE_AS_TYPE(T)(words), (uint)i, &of->given) != 0;
#endif
}
#endif
