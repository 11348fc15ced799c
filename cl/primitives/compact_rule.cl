// Which records a selection keeps, and what it writes.
#ifndef CLMST_PRIMITIVES_COMPACT_RULE
#define CLMST_PRIMITIVES_COMPACT_RULE

#define KEEP_FLAGGED 0
#define KEEP_HOLDING 1
#define KEEP_HEADS 2

// Which records are kept. KEEP_FLAGGED (0): those with a byte flag that is not 0. KEEP_HOLDING (1):
// those for which PREDICATE holds. KEEP_HEADS (2): the first, and those that differ from the one
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

#include "device/record.cl"

// Type as which PREDICATE sees a record: a scalar or vector of RECORD_WORDS words.
#ifndef T
#define T uint
#endif

// Expression that tells whether the record `x`, a T, is kept.
#ifndef PREDICATE
#define PREDICATE (x != 0)
#endif

#if KEEP == KEEP_HOLDING
#define RULE_JOIN(a, b) a##b
#define RULE_AS_TYPE(type) RULE_JOIN(as_, type)

static inline bool rule_holds(T x) {
  return PREDICATE;
}
#endif

#if KEEP != KEEP_FLAGGED
// Whether a record is kept. `previous` is the one before it; only KEEP_HEADS looks at it.
static inline bool rule_keeps(const record_chunk_t *record, const record_chunk_t *previous) {
#if KEEP == KEEP_HEADS
  return record_differs(record, previous);
#elif RECORD_WORDS == 16
  return rule_holds(RULE_AS_TYPE(T)((uint16)(record[0], record[1], record[2], record[3])));
#elif RECORD_WORDS == 8
  return rule_holds(RULE_AS_TYPE(T)((uint8)(record[0], record[1])));
#else
  return rule_holds(RULE_AS_TYPE(T)(record[0]));
#endif
}
#endif

// The arrays that a selection reads and writes; null where there is none.
typedef struct {
  const global record_chunk_t *records;
  const global uchar *flags;
  const global value_chunk_t *values;
  global record_chunk_t *out;
  global value_chunk_t *values_out;
  uint bound;  // capacity of `out`; no record is written beyond it
} selection_t;

#endif
