// Which records a selection keeps, and what it writes of them.
#ifndef CLMST_PRIMITIVES_COMPACT_RULE
#define CLMST_PRIMITIVES_COMPACT_RULE

#define KEEP_FLAGGED 0
#define KEEP_HOLDING 1
#define KEEP_HEADS 2

// What is kept: where the byte flag is not 0: KEEP_FLAGGED (0); where PREDICATE holds: KEEP_HOLDING
// (1); what differs from the record before it: KEEP_HEADS (2).
#ifndef KEEP
#define KEEP KEEP_FLAGGED
#endif

#define WRITE_KEPT 0
#define WRITE_ALL 1
#define WRITE_POSITIONS 2

// What is written: the kept records: WRITE_KEPT (0); behind them all others: WRITE_ALL (1); where the
// kept records are: WRITE_POSITIONS (2).
#ifndef WRITE
#define WRITE WRITE_KEPT
#endif

#include "device/record.cl"

// Type by which PREDICATE sees a record: a scalar or vector of RECORD_WORDS words.
#ifndef T
#define T uint
#endif

// Expression that tells of the record `x`, a T, whether it is kept.
#ifndef PREDICATE
#define PREDICATE (x != 0)
#endif

#if KEEP == KEEP_HOLDING
#define RULE_AS(type) RECORD_JOIN(as_, type, )

static inline bool rule_holds(T x) {
  return PREDICATE;
}
#endif

// Whether record i, which is `record`, is kept. KEEP_HEADS: the first record always is.
static inline bool rule_keeps(const global record_t *records, const global uchar *flags, size_t i,
                              record_t record) {
#if KEEP == KEEP_FLAGGED
  return flags[i] != 0;
#elif KEEP == KEEP_HOLDING
  return rule_holds(RULE_AS(T)(record));
#else
  return i == 0 || record_differs(record, records[i - 1]);
#endif
}

#endif
