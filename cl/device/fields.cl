// Records with named fields: structs of the layout of a NumPy dtype, which expressions of a caller
// take and make. They come before the caller's own functions.
//
// The host gives each struct as macros. For example, an int8 with a float32 four bytes later:
//
//     #define Record_FIELDS(FIELD) FIELD(char, kind_) FIELD(uchar, Gap1) ... FIELD(float, weight_)
//     RECORD_TYPE(Record, 8, 4, uint, uint2)
//
// Four more macros make a record of other things, and others of a record:
//
//     Record_OF(value_0, value_1)     the record that has these values in its fields
//     Record_FROM(held)               the record that is held in a vector of words, Record_held_t
//     Record_HELD(record)             that vector; where it is longer than the record, zeros follow
//     Record_LOAD(units)              that vector, of a record in global memory
//     Record_STORE(units, held)       statements that write a held record to global memory
//
// In global memory a record consists of integers of type Record_unit_t, the longest ones that its
// alignment allows.

#define RECORD_FIELD(type, name) type name;

// Defines a struct of a number of bytes, which memory has at multiples of `alignment`. It is packed,
// as every byte between two fields is a field. A compiler that packs otherwise fails here.
#define RECORD_TYPE(name, bytes, alignment, unit, held)        \
  typedef struct __attribute__((packed, aligned(alignment))) { \
    name##_FIELDS(RECORD_FIELD)                                \
  } name;                                                      \
  typedef unit name##_unit_t;                                  \
  typedef held name##_held_t;                                  \
  typedef char name##_has_the_size_of_its_dtype[sizeof(name) == (bytes) ? 1 : -1];
