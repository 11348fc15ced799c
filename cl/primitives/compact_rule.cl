// The rule of a selection of records: which records it keeps (macro KEEP), and what it writes
// (macro WRITE).

#define KEEP_FLAGGED 0
#define KEEP_HOLDING 1
#define KEEP_HEADS 2

// Which records are kept:
//   KEEP_FLAGGED (0)  records whose flag, a byte in an array of flags, is not 0
//   KEEP_HOLDING (1)  records for which EXPRESSION is true
//   KEEP_HEADS (2)    the first record, and every record that differs from the record before it
#ifndef KEEP
#define KEEP KEEP_FLAGGED
#endif

#define WRITE_KEPT 0
#define WRITE_ALL 1
#define WRITE_POSITIONS 2

// What is written:
//   WRITE_KEPT (0)       the kept records
//   WRITE_ALL (1)        the kept records, then all other records
//   WRITE_POSITIONS (2)  the positions of the kept records; only with KEEP_FLAGGED
#ifndef WRITE
#define WRITE WRITE_KEPT
#endif

#include "device/function.cl"
#include "device/record.cl"

// The arrays of a selection of records: those that it reads (records, flags, values) and those that
// it writes (out, values_out). The pointer of an array that a selection does not use is null.
typedef struct {
  const global record_chunk_t *records;
  const global uchar *flags;
  const global value_chunk_t *values;
  global record_chunk_t *out;
  global value_chunk_t *values_out;
  uint bound;     // capacity of `out` in records; nothing is written beyond it
  given_t given;  // arguments of EXPRESSION
} selection_t;

// Return 0x80 in each byte of `flags` that is not 0, and 0 in all other bytes.
static inline uint4 flags_set(uint4 flags) {
  return (((flags & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | flags) & 0x80808080u;
}

#if KEEP != KEEP_FLAGGED
#if KEEP == KEEP_HOLDING
#ifdef Record_FROM
typedef Record_held_t rule_element_t;
#else
typedef T rule_element_t;
#endif

// One record in two forms: as the chunks (words or vectors of words) that kernels move, and as the
// element that EXPRESSION takes. The type after the union fails to compile unless both forms have
// the same size.
typedef union {
  record_chunk_t chunks[RECORD_CHUNKS];
  rule_element_t element;
} rule_record_t;
typedef char
    rule_element_has_the_size_of_its_record[sizeof(T) == RECORD_WORDS * RECORD_UNIT ? 1 : -1];
#endif

// Return whether the selection keeps record i. With KEEP_HEADS, a record is kept if it differs from
// the record before it, which is `previous`. Otherwise `previous` is not read.
static inline bool rule_keeps(const selection_t *of, size_t i, const record_chunk_t *record,
                              const record_chunk_t *previous) {
#if KEEP == KEEP_HEADS
  return record_differs(record, previous);
#else
  rule_record_t own;
  bool holds;
#pragma unroll
  for (uint c = 0; c < RECORD_CHUNKS; ++c) own.chunks[c] = record[c];
#ifdef Record_FROM
  const T element = Record_FROM(own.element);
#else
  const T element = own.element;
#endif
  function_of(element, (uint)i, &of->given, &holds);
  return holds;
#endif
}
#endif
