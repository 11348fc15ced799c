// The operator of a primitive: an associative COMBINE with its IDENTITY, on elements of type T.
//
// The caller of a primitive gives these macros. The defaults are the sum of 32-bit integers.

// Type in which kernels hold an element: a scalar of 8 to 64 bits, or a vector of 2, 4, 8 or 16 of
// them; a vector of words for a record (fields.cl).
#ifndef T
#define T uint
#endif

// Size of a T in bytes: 1, 2, 4, 8, 16, 32 or 64.
#ifndef T_BYTES
#define T_BYTES 4
#endif

// For a record: T_RECORD, its type; T_MEMORY_BYTES, its size in bytes, of which T_BYTES is the next
// power of two; RECORD_IDENTITY, its identity. COMBINE takes and makes such records. Where it only
// chooses between both, CHOICE(a, b, left, right) takes the records, and chooses between them as they
// are held: compilers choose between structs in memory, which takes 1.5 times as long on CPUs.
#ifdef T_RECORD
#define IDENTITY monoid_identity()
#define ELEMENT_IS_T (T_MEMORY_BYTES == T_BYTES)
#else
#define ELEMENT_IS_T 1
#endif

// The element that COMBINE leaves others unchanged with, on either side.
#ifndef IDENTITY
#define IDENTITY ((T)0)
#endif

// Expression that combines the elements a and b, a being the left one. Associative.
#ifndef COMBINE
#define COMBINE(a, b) ((a) + (b))
#endif

// Whether COMBINE(a, b) and COMBINE(b, a) are the same: 0 or 1.
#ifndef COMMUTATIVE
#define COMMUTATIVE 1
#endif

// Fails to compile unless T has the size that the host takes it to have.
typedef char monoid_element_has_the_size_of_its_dtype[sizeof(T) == T_BYTES ? 1 : -1];

// Words that an element fills, or a part of one.
#define T_WORDS ((T_BYTES + 3) / 4)

#ifdef T_RECORD
static inline T monoid_identity(void) {
  const T_RECORD made = RECORD_IDENTITY;
  return Record_HELD(made);
}

static inline T combine(T left, T right) {
  const T_RECORD first = Record_FROM(left), second = Record_FROM(right);
#ifdef CHOICE
  return CHOICE(first, second, left, right);
#else
  const T_RECORD made = COMBINE(first, second);
  return Record_HELD(made);
#endif
}
#else
static inline T combine(T left, T right) {
  return COMBINE(left, right);
}
#endif

// Elements in global memory, where a record takes no more than its own bytes.
#if ELEMENT_IS_T
typedef T element_t;

static inline T element_load(const global element_t *in, size_t i) {
  return in[i];
}

static inline void element_store(global element_t *out, size_t i, T element) {
  out[i] = element;
}
#else
typedef T_RECORD element_t;

static inline T element_load(const global element_t *in, size_t i) {
  const global Record_unit_t *units = (const global Record_unit_t *)(in + i);
  return Record_LOAD(units);
}

static inline void element_store(global element_t *out, size_t i, T element) {
  global Record_unit_t *units = (global Record_unit_t *)(out + i);
  Record_STORE(units, element)
}
#endif

// One of two elements, without a branch. For conditions that cannot be predicted, on CPUs
// (quirk: cpu-vector-choices).
static inline T choose(bool condition, T yes, T no) {
  union {
    T element;
    uint words[T_WORDS];
  } chosen, other;
  const uint mask = -(uint)condition;
  chosen.words[0] = other.words[0] = 0;  // of which a short element is a part
  chosen.element = yes;
  other.element = no;
  for (uint w = 0; w < T_WORDS; ++w)
    chosen.words[w] = (chosen.words[w] & mask) | (other.words[w] & ~mask);
  return chosen.element;
}
