// The operator of a primitive, such as a scan or a reduction: an associative COMBINE with its
// IDENTITY, on elements of type T.
//
// The caller of a primitive defines these macros. By default they give the sum of 32-bit integers.

// The type of an element in the registers of a kernel: a scalar of 8 to 64 bits, or a vector of 2,
// 4, 8 or 16 scalars. A record (fields.cl) is a vector of 32-bit words there.
#ifndef T
#define T uint
#endif

// Size in bytes of an element of type T: 1, 2, 4, 8, 16, 32 or 64.
#ifndef T_BYTES
#define T_BYTES 4
#endif

// If elements are records, the caller defines further macros: T_RECORD is the struct type,
// T_MEMORY_BYTES is its size in bytes, and RECORD_IDENTITY is the identity as a struct. T_BYTES is
// then T_MEMORY_BYTES, rounded up to a power of two. COMBINE takes and returns structs.
//
// COMBINE may be an operator that only chooses one of its two arguments, such as a minimum. Then
// the caller may also define CHOICE(a, b, left, right). It compares the structs a and b, but
// returns `left` or `right`, which are the same two records as vectors of words. If kernels chose
// between the structs, compilers would keep the structs in memory, which takes 1.5 times as long on
// CPUs.
#ifdef T_RECORD
#define IDENTITY monoid_identity()
#define ELEMENT_IS_T (T_MEMORY_BYTES == T_BYTES)
#else
#define ELEMENT_IS_T 1
#endif

// The identity element: combined with any element, on either side, it gives that element.
#ifndef IDENTITY
#define IDENTITY ((T)0)
#endif

// Expression that combines two elements a and b, where a comes before b. It must be associative.
#ifndef COMBINE
#define COMBINE(a, b) ((a) + (b))
#endif

// 1 if COMBINE(a, b) equals COMBINE(b, a) for all elements, else 0.
#ifndef COMMUTATIVE
#define COMMUTATIVE 1
#endif

// This line fails to compile unless T has the size that the host expects.
typedef char monoid_element_has_the_size_of_its_dtype[sizeof(T) == T_BYTES ? 1 : -1];

// Number of 32-bit words that an element takes. It is 1 for an element of fewer than four bytes.
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

// The type of the elements in global memory. There a record takes T_MEMORY_BYTES bytes. In
// registers it is a vector of words, which may have more bytes. element_load and element_store
// convert between the two forms.
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

// Return `yes` if the condition holds, else `no`, without a branch. This is for conditions whose
// result a CPU cannot predict (quirk: cpu-vector-choices).
static inline T choose(bool condition, T yes, T no) {
  union {
    T element;
    uint words[T_WORDS];
  } chosen, other;
  const uint mask = -(uint)condition;
  chosen.words[0] = other.words[0] = 0;  // an element of fewer than four bytes fills only a part
  chosen.element = yes;
  other.element = no;
  for (uint w = 0; w < T_WORDS; ++w)
    chosen.words[w] = (chosen.words[w] & mask) | (other.words[w] & ~mask);
  return chosen.element;
}
