// Records: array elements of any size that kernels move and compare word by word, without knowing
// their fields.

// Size in bytes of the words as which a record is moved: 4. If the size of a record is not a
// multiple of 4, it is 2 or 1.
#ifndef RECORD_UNIT
#define RECORD_UNIT 4
#endif

// Size in bytes of the words as which a value is moved. A value is what moves together with a
// record. It is 4, or 2 or 1 if the size of a value is not a multiple of 4.
#ifndef VALUE_UNIT
#define VALUE_UNIT 4
#endif

// Size of a record in words of RECORD_UNIT bytes: 1 to 16.
#ifndef RECORD_WORDS
#define RECORD_WORDS 1
#endif

// Size, in words of VALUE_UNIT bytes, of the value that moves with each record: 1 to 16, or 0 if
// there are no values.
#ifndef VALUE_WORDS
#define VALUE_WORDS 0
#endif

// In private memory, a record is an array of chunks. A chunk is a word, or a vector of 2 or 4
// words, the longest that divides the record. Compilers keep such arrays in registers, but not
// structs of three words.
#if RECORD_UNIT < 4
#define RECORD_CHUNKS RECORD_WORDS
#if RECORD_UNIT == 2
typedef ushort record_chunk_t;
#else
typedef uchar record_chunk_t;
#endif
#elif RECORD_WORDS % 4 == 0
#define RECORD_CHUNKS (RECORD_WORDS / 4)
typedef uint4 record_chunk_t;
#elif RECORD_WORDS % 2 == 0
#define RECORD_CHUNKS (RECORD_WORDS / 2)
typedef uint2 record_chunk_t;
#else
#define RECORD_CHUNKS RECORD_WORDS
typedef uint record_chunk_t;
#endif

#if VALUE_UNIT < 4
#define VALUE_CHUNKS VALUE_WORDS
#if VALUE_UNIT == 2
typedef ushort value_chunk_t;
#else
typedef uchar value_chunk_t;
#endif
#elif VALUE_WORDS % 4 == 0
#define VALUE_CHUNKS (VALUE_WORDS / 4)
typedef uint4 value_chunk_t;
#elif VALUE_WORDS % 2 == 0
#define VALUE_CHUNKS (VALUE_WORDS / 2)
typedef uint2 value_chunk_t;
#else
#define VALUE_CHUNKS VALUE_WORDS
typedef uint value_chunk_t;
#endif

// record_load copies a record, an array element that is moved as a whole, from index i of an array
// to private memory. record_store copies it from there to an array. value_load and value_store do
// the same for the value that moves with each record.
static inline void record_load(const global record_chunk_t *from, size_t i,
                               record_chunk_t *record) {
#pragma unroll
  for (uint c = 0; c < RECORD_CHUNKS; ++c) record[c] = from[i * RECORD_CHUNKS + c];
}

static inline void record_store(global record_chunk_t *to, size_t i, const record_chunk_t *record) {
#pragma unroll
  for (uint c = 0; c < RECORD_CHUNKS; ++c) to[i * RECORD_CHUNKS + c] = record[c];
}

#if VALUE_WORDS > 0
static inline void value_load(const global value_chunk_t *from, size_t i, value_chunk_t *value) {
#pragma unroll
  for (uint c = 0; c < VALUE_CHUNKS; ++c) value[c] = from[i * VALUE_CHUNKS + c];
}

static inline void value_store(global value_chunk_t *to, size_t i, const value_chunk_t *value) {
#pragma unroll
  for (uint c = 0; c < VALUE_CHUNKS; ++c) to[i * VALUE_CHUNKS + c] = value[c];
}
#endif

// Return whether two records differ in any bit.
static inline bool record_differs(const record_chunk_t *left, const record_chunk_t *right) {
  record_chunk_t bits = 0;
#pragma unroll
  for (uint c = 0; c < RECORD_CHUNKS; ++c) bits |= left[c] ^ right[c];
#if RECORD_UNIT == 4 && RECORD_WORDS % 2 == 0
  return any(bits != 0);
#else
  return bits != 0;
#endif
}
