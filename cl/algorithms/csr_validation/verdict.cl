// The verdict on a caller's CSR: the words that the kernels of the validation write.
#ifndef CLMST_ALGORITHMS_CSR_VALIDATION_VERDICT
#define CLMST_ALGORITHMS_CSR_VALIDATION_VERDICT

// Words of a verdict, all 0 at first.
#define VERDICT_FAULTS 0      // bits as below
#define VERDICT_NOT_RISING 1  // slots whose column does not exceed the one before, modulo 2^32
#define VERDICT_ONE_SIDED 2   // slots of one orientation less slots of the other, modulo 2^32

#define FAULT_INDPTR 1u      // indptr falls
#define FAULT_COLUMN 2u      // a column is no vertex
#define FAULT_NAN 4u         // a weight is NaN
#define FAULT_BELOW 8u       // a slot is below the diagonal; no fault if the matrix is symmetric
#define FAULT_UNMATCHED 16u  // a slot without a mirror slot

static inline void raise_fault(volatile global uint *verdict, uint fault) {
  if (fault) atomic_or(verdict + VERDICT_FAULTS, fault);
}

#endif
