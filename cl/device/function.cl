// The function that a primitive, such as a map or a compaction, computes for each element of an
// array. It is given by the macro EXPRESSION, and may have arguments whose values are given at run
// time.
//
// The caller of a primitive defines the macros of this file. By default the function is the
// identity on 32-bit integers and takes no arguments.

// The type of an element of the array that a primitive reads: a scalar of 8 to 64 bits, a vector of
// 2, 4, 8 or 16 scalars, or a record (fields.cl).
#ifndef T
#define T uint
#endif

// The type of the value that the caller's function returns for an element. As the elements
// themselves, the value is a scalar, a vector or a record.
#ifndef R
#define R uint
#endif

// T_AT(array, at) is the element with index `at` of an array of T. For records, the host defines it
// by a macro of fields.cl.
#ifndef T_AT
#define T_AT(array, at) ((array)[at])
#endif

// R_PUT(array, at, value) is a statement that stores `value` in the element with index `at` of an
// array of R. For records, the host defines it by a macro of fields.cl.
#ifndef R_PUT
#define R_PUT(array, at, value) (array)[at] = (value)
#endif

// The caller's expression, which gives the function's value for one element. It may use the element
// `x` of type T, its index `i`, and the arguments, by their names.
#ifndef EXPRESSION
#define EXPRESSION (x)
#endif

// The arguments of the caller's EXPRESSION, as a list. Each item is SCALAR(type, name) or
// ARRAY(type, name). Other macros expand this list three times: to parameters of the kernel
// (GIVEN_PARAMETERS), to the members of the struct given_t, and to the values (GIVEN) with which
// the kernel fills that struct. For each array of records the host also defines a macro
// AT_name(at), by which EXPRESSION reads element `at` of the array `name`.
#ifndef ARGUMENTS
#define ARGUMENTS(SCALAR, ARRAY)
#endif

#define GIVEN_SCALAR(type, name) , const type Given_##name
#define GIVEN_ARRAY(type, name) , const global type *Given_##name
#define GIVEN_PARAMETERS ARGUMENTS(GIVEN_SCALAR, GIVEN_ARRAY)

#define GIVEN_VALUE(type, name) , Given_##name
#define GIVEN {0 ARGUMENTS(GIVEN_VALUE, GIVEN_VALUE)}

#define SCALAR_MEMBER(type, name) type name;
#define ARRAY_MEMBER(type, name) const global type *name;

typedef struct {
  uint Nothing;  // because C has no empty structs
  ARGUMENTS(SCALAR_MEMBER, ARRAY_MEMBER)
} given_t;

// These macros define variables with the caller's names for the arguments, for use in EXPRESSION.
// The casts to (void) avoid warnings about arguments that EXPRESSION does not use.
#define NAMED_SCALAR(type, name) \
  const type name = Given->name; \
  (void)name;
#define NAMED_ARRAY(type, name)          \
  const global type *name = Given->name; \
  (void)name;

// Compute *Value = the caller's EXPRESSION for the element x with index i. `Given` has the further
// arguments. The value is returned through a pointer, because it may be a struct
// (quirk: oclgrind-struct-by-value). Names of arguments are lower-case, so none of them can be
// `Given` or `Value`.
static inline void function_of(T x, uint i, const given_t *Given, R *Value) {
  ARGUMENTS(NAMED_SCALAR, NAMED_ARRAY)
  *Value = EXPRESSION;
}
