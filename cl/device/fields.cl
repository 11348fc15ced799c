// Records with named fields: structs of the layout of a NumPy dtype, which expressions of a caller
// take and make. They come before the caller's own functions.
//
// The host gives each struct as macros. An int8, a float32 three bytes later and its constructor:
//
//     #define Record_FIELDS(FIELD, GAP) FIELD(char, kind_) GAP(1, 3) FIELD(float, weight_)
//     RECORD_TYPE(Record, 8, 8)
//     #define Record_OF(value_0, value_1) ((Record){.kind_ = (value_0), .weight_ = (value_1)})

#define RECORD_FIELD(type, name) type name;
#define RECORD_GAP(k, bytes) uchar Gap##k[bytes];

// Defines a struct of a number of bytes, which memory has at multiples of `alignment`. It is packed,
// as every gap is a field. A compiler that packs otherwise fails here.
#define RECORD_TYPE(name, bytes, alignment)                    \
  typedef struct __attribute__((packed, aligned(alignment))) { \
    name##_FIELDS(RECORD_FIELD, RECORD_GAP)                    \
  } name;                                                      \
  typedef char name##_has_the_size_of_its_dtype[sizeof(name) == (bytes) ? 1 : -1];
