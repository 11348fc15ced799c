// The operator of a primitive: an associative COMBINE with its IDENTITY, on elements of type T.
//
// The caller of a primitive gives these macros. The defaults are the sum of 32-bit integers.

// Type of an element: a scalar of 8 to 64 bits, or a vector of 2, 4, 8 or 16 of them.
#ifndef T
#define T uint
#endif

// Size of an element in bytes: 1, 2, 4, 8, 16, 32 or 64.
#ifndef T_BYTES
#define T_BYTES 4
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

static inline T combine(T left, T right) {
  return COMBINE(left, right);
}

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
