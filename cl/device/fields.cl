// Records with named fields: structs with the layout of a NumPy dtype. The expressions that a
// caller passes to a primitive take and return these structs.
//
// The host defines each struct by macros. For example, for an int8 with a float32 four bytes later:
//
//     #define Record_FIELDS(FIELD) FIELD(char, kind_) FIELD(uchar, Gap1) ... FIELD(float, weight_)
//     RECORD_TYPE(Record, 8, 4, uint, uint2)
//
// A record has three forms. In expressions it is the struct. In registers and local memory it is a
// vector of 32-bit words, of type Record_held_t, which is called its held form. In global memory it
// is an array of integers of type Record_unit_t, called units. A unit is the longest integer type
// that the alignment of the record allows. Kernels read and write records in global memory only as
// units, because a compiler reads some doubles in packed structs wrongly (quirks.cl describes this
// fault; quirk: nvidia-packed-doubles). More macros convert between these forms:
//
//     Record_OF(value_0, value_1)     the struct with these values in its fields
//     Record_FROM(held)               the struct of a record in its held form
//     Record_HELD(record)             the held form of a struct; zeros fill the rest of the vector
//     Record_LOAD(units)              the held form of a record in global memory
//     Record_STORE(units, held)       statements that write a held record to global memory
//     Record_AT(array, at)            the struct of element `at` of an array in global memory
//     Record_PUT(array, at, record)   a statement that writes a struct to element `at`

#define RECORD_FIELD(type, name) type name;

// Define the struct `name` of a record, and functions that load and store it.
//   bytes       the size of the struct; if its size differs, this fails to compile
//   alignment   the address of a record in memory is a multiple of this number of bytes
//   unit        the integer type as which global memory is read and written
//   held        the vector type that holds a record in registers
//
// The struct is packed, and every byte of a gap between two fields is a member.
#define RECORD_TYPE(name, bytes, alignment, unit, held)                                  \
  typedef struct __attribute__((packed, aligned(alignment))) {                           \
    name##_FIELDS(RECORD_FIELD)                                                          \
  } name;                                                                                \
  typedef unit name##_unit_t;                                                            \
  typedef held name##_held_t;                                                            \
  static inline held name##_held_at(const global name *array, size_t at) {               \
    const global unit *units = (const global unit *)(array + at);                        \
    return name##_LOAD(units);                                                           \
  }                                                                                      \
  static inline void name##_put_held(global name *array, size_t at, const held record) { \
    global unit *units = (global unit *)(array + at);                                    \
    name##_STORE(units, record)                                                          \
  }                                                                                      \
  typedef char name##_has_the_size_of_its_dtype[sizeof(name) == (bytes) ? 1 : -1];
