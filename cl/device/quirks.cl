// Faults of drivers and compilers that kernels work around: the rules, and the macros that follow
// them. clmst/runtime/quirks.py has what happens, where it was seen, and which test holds the rule.
//
// In every kernel:
//   quirk: pocl-conditional-barrier    no `if (...) barrier`, no return before a barrier
//   quirk: pocl-local-pointer          pointers to local memory go in a struct, or to one call only
//   quirk: pocl-unused-local-array     no local array that is not used, none that a constant decides on
//   quirk: llvm-local-structs          local memory holds vectors, no structs
//   quirk: oclgrind-struct-by-value    a struct is returned through a pointer
//   quirk: adreno-constant-registers   the size of a work-group is WG_SIZE, no get_local_size
//   quirk: xe-endless-kernel           each wait for another work-group ends after so many looks
//   quirk: intel-wide-elements         elements of 32 bytes and more build slowly with sub-groups
//
// In one place, named there:
//   quirk: pocl-lanes-apart, llvmpipe-loop-rounds    the trial finds them (device/trial.cl)
//   quirk: oclgrind-vector-halves                    a vector becomes an array (dense/tile.cl)
//   quirk: intel-order-of-sums                       a pragma on each loop (device/distance.cl)
//   quirk: cpu-vector-choices                        `choose` (device/monoid.cl)

// quirk: intel-lane-width
// Declares the width of the sub-groups of a kernel.
#define SUB_GROUPS_OF(lanes) __attribute__((intel_reqd_sub_group_size(lanes)))

// quirk: zink-vec16
// 16 bytes of global memory, of any alignment, 4 a word, by vectors of 4.
#define BYTES_AS_UINT4(at)                                                        \
  (uint4)(as_uint(vload4(0, at)), as_uint(vload4(1, at)), as_uint(vload4(2, at)), \
          as_uint(vload4(3, at)))
