// Records with named fields: structs with the layout of a NumPy dtype. A caller's expressions take
// and return these structs, which are defined before the caller's own functions.
//
// The host defines each struct by macros. For example, for an int8 with a float32 four bytes later:
//
//     #define Record_FIELDS(FIELD) FIELD(char, kind_) FIELD(uchar, Gap1) ... FIELD(float, weight_)
//     RECORD_TYPE(Record, 8, 4, uint, uint2)
//
// More macros convert between three forms of a record: the struct; its held form, which is a vector
// of words of type Record_held_t, for registers and local memory; and its form in global memory.
//
//     Record_OF(value_0, value_1)     the struct with these values in its fields
//     Record_FROM(held)               the struct of a held record
//     Record_HELD(record)             the held form of a struct; zeros fill the rest of the vector
//     Record_LOAD(units)              the held form of a record in global memory
//     Record_STORE(units, held)       statements that write a held record to global memory
//     Record_AT(array, at)            the struct of an element of an array in global memory
//     Record_PUT(array, at, record)   a statement that writes a struct to such an element
//
// In global memory a record is an array of integers of type Record_unit_t, the longest type that
// the alignment of the record allows. Kernels read and write records there only as these integers
// (quirk: nvidia-packed-doubles).

#define RECORD_FIELD(type, name) type name;

// Define a struct of `bytes` bytes, which stands in memory at multiples of `alignment` bytes. The
// struct is packed, and every byte of a gap between two fields is a member. The last line fails to
// compile if the compiler gives the struct another size.
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
