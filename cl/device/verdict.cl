// The verdict on a CSR: a few words that say whether a graph that a caller has passed is valid. The
// kernels that check the CSR write these words. A solve that is enqueued after these kernels reads
// them.

// Indices of the words of a verdict, which says whether a CSR is valid. All words are 0 before the
// CSR is checked.
#define VERDICT_FAULTS 0           // the fault bits below
#define VERDICT_FINGERPRINT_LOW 1  // of all slots off the diagonal: 0 if the matrix is symmetric
#define VERDICT_FINGERPRINT_HIGH 2
#define VERDICT_WORDS 3

#define FAULT_INDPTR 1u  // indptr falls
#define FAULT_COLUMN 2u  // a column is not a vertex
#define FAULT_NAN 4u     // a weight is NaN
#define FAULT_BELOW 8u   // a slot is below the diagonal, which only a symmetric matrix may have
#define FAULT_ORDER 16u  // a column is less than the one before it in its row
#define FAULT_TWICE 32u  // a column equals the one before it in its row

// Return whether `verdict` says that a CSR is valid. If `symmetric` is set, a valid CSR stores both
// directions of every edge. Otherwise it stores each edge once, above the diagonal.
static inline bool verdict_is_sound(const global uint *verdict, bool symmetric) {
  const uint differs = verdict[VERDICT_FINGERPRINT_LOW] | verdict[VERDICT_FINGERPRINT_HIGH];
  return symmetric ? verdict[VERDICT_FAULTS] == FAULT_BELOW && !differs : !verdict[VERDICT_FAULTS];
}
