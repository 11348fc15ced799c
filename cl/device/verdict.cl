// The verdict on a CSR that a caller has passed. The kernels that validate the CSR write it as a
// few words. A solve that is enqueued after these kernels reads the words.

// Indices of the words of a verdict on a CSR. All words are 0 at first.
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

// Return whether the CSR of a verdict is valid: a graph that stores both directions of every edge
// if `symmetric` is set, else a graph that stores each edge once, in its upper triangle.
static inline bool verdict_is_sound(const global uint *verdict, bool symmetric) {
  const uint differs = verdict[VERDICT_FINGERPRINT_LOW] | verdict[VERDICT_FINGERPRINT_HIGH];
  return symmetric ? verdict[VERDICT_FAULTS] == FAULT_BELOW && !differs : !verdict[VERDICT_FAULTS];
}
