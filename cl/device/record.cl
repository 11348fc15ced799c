// Records: elements that are moved and compared word by word, whatever their fields mean.
#ifndef CLMST_DEVICE_RECORD
#define CLMST_DEVICE_RECORD

// Size of a record in words of 32 bits: 1 to 16.
#ifndef RECORD_WORDS
#define RECORD_WORDS 1
#endif

// Size of what goes along with each record, likewise; 0: nothing goes along.
#ifndef VALUE_WORDS
#define VALUE_WORDS 0
#endif

// Vectors where they exist, for their wide loads and stores.
typedef uint words_1_t;
typedef uint2 words_2_t;
typedef struct { uint words[3]; } words_3_t;
typedef uint4 words_4_t;
typedef struct { uint words[5]; } words_5_t;
typedef struct { uint words[6]; } words_6_t;
typedef struct { uint words[7]; } words_7_t;
typedef uint8 words_8_t;
typedef struct { uint words[9]; } words_9_t;
typedef struct { uint words[10]; } words_10_t;
typedef struct { uint words[11]; } words_11_t;
typedef struct { uint words[12]; } words_12_t;
typedef struct { uint words[13]; } words_13_t;
typedef struct { uint words[14]; } words_14_t;
typedef struct { uint words[15]; } words_15_t;
typedef uint16 words_16_t;

#define RECORD_JOIN(a, b, c) a##b##c
#define RECORD_OF_WORDS(n) RECORD_JOIN(words_, n, _t)

typedef RECORD_OF_WORDS(RECORD_WORDS) record_t;
#if VALUE_WORDS > 0
typedef RECORD_OF_WORDS(VALUE_WORDS) value_t;
#else
typedef uint value_t;  // never moved
#endif

// Whether two records differ in any bit.
static inline bool record_differs(record_t left, record_t right) {
#if RECORD_WORDS == 1
  return left != right;
#elif RECORD_WORDS == 2 || RECORD_WORDS == 4 || RECORD_WORDS == 8 || RECORD_WORDS == 16
  return any(left != right);
#else
  uint bits = 0;
  for (uint w = 0; w < RECORD_WORDS; ++w) bits |= left.words[w] ^ right.words[w];
  return bits != 0;
#endif
}

#endif
