// Faults of drivers and compilers that kernels work around. The list has for each fault its name,
// where it was seen or reported, what happens, what kernels do about it, and the test. Faults that
// the host works around are in clmst/runtime/quirks.py. Code that works around a fault names it, as
// in "quirk: zink-vec16".
//
// Rules for every kernel:
//
// pocl-conditional-barrier (PoCL 3.1): barriers under a condition are miscompiled, even if all
//     work-items agree on it. So there is no `if (...) barrier`, and no early return before a
//     barrier, except in kernels that PoCL cannot build anyway (quirk: pocl-grid-barrier).
//     tests/offline/test_convergence.py
// pocl-local-pointer (PoCL 3.1): if a function is called several times with the same pointer to
//     local memory, all work-groups share one word. The pointer is put in a struct, or the function
//     is called once.
// pocl-unused-local-array (PoCL 6.0): a build without optimisation crashes the process by a failed
//     assertion (`isAutomaticLocal`, "isGVarUsedByFunction") if a kernel has an unused local array,
//     or a local variable that is used only in a branch on a constant. Kernels have neither.
//     tests/offline/test_local_memory.py
// llvm-local-structs (LLVM 14 and 15: PoCL, Oclgrind): a local array of structs, copied as structs,
//     loses its contents. Local memory holds vectors instead.
// oclgrind-struct-by-value (Oclgrind 21.10): kernels whose inlined functions return structs by
//     value cannot be loaded. These functions write through a pointer. cl/device/lane_group.cl,
//     tests/whole/test_oclgrind.py
// adreno-constant-registers (Adreno's compilers of 2026, GenieX 1284, 1438): a build fails if one
//     instruction, such as the step of a loop, combines `get_local_size` with an argument ("# of
//     constant registers must be < 2"). The size of work-groups is the macro WG_SIZE instead.
//     tests/faults/test_vendors.py::test_no_kernel_asks_for_the_size_of_its_work_group
// xe-endless-kernel (Intel's Arc under Linux's driver xe, compute-runtime 962): a kernel that waits
//     in vain runs as long as its process lives. So each wait for another work-group is limited to
//     a number of looks (LOOK_PATIENCE, LOCK_PATIENCE, RESIDENT_PATIENCE), after which the
//     work-group continues without it.
//     tests/primitives/test_chain.py::test_nothing_or_everything_is_published
// nvidia-packed-doubles (NVIDIA's driver 580): some kernels read a double of a packed struct in
//     global memory as 0, if its address is not a multiple of 4 bytes (the compiler assembles it by
//     "bfi.b64"). Kernels read and write records in global memory as integers.
//     cl/device/fields.cl, tests/primitives/test_function.py::test_doubles_of_packed_records
// intel-wide-elements (Intel's compiler): kernels with sub-groups and elements of 32 bytes or more
//     take up to ten seconds to build. Nothing is done about it.
//
// Quirks that matter in one place only:
//
// pocl-lanes-apart (PoCL 6.0): functions of sub-groups give wrong results if the lane groups of a
//     work-group take different branches, and some loops there never end. The trial finds this
//     (`trial_exchange`), and the device is used without lanes. cl/device/trial.cl,
//     tests/runtime/test_trial.py
// llvmpipe-loop-rounds (Mesa's rusticl on llvmpipe 22.3.6): all loops of a work-item end after
//     65,535 rounds in total. If a work-group is smaller than the width of the device, the lanes
//     without a work-item execute the kernel, too, and reach that limit in the first loop whose
//     length depends on data. The trial of the device fails.
//     cl/device/trial.cl, tests/runtime/test_rusticl.py::test_refused_with_the_reason
// oclgrind-vector-halves (Oclgrind 21.10): halves of vectors (`.lo`, `.hi`) count as uninitialised
//     memory. The vector is stored to an array instead. cl/algorithms/dense/tile.cl,
//     tests/whole/test_oclgrind.py
// intel-order-of-sums (Intel's compiler for CPUs): the terms of a sum of doubles are added in
//     another order if the loop has 16 rounds or more and the compiler does not know its length.
//     Sums of vectors keep their order. `#pragma clang loop vectorize(disable)` precedes the loop.
//     cl/device/distance.cl
// intel-swapped-pointers (Intel's compiler for GPUs, ocloc 22.43): a build crashes the process by a
//     segmentation fault if pointers to global memory are swapped in a loop with barriers. Kernels
//     swap offsets instead. cl/algorithms/dense/one_group.cl, tests/offline/test_compile.py
// cpu-vector-choices (compilers for CPUs): a choice between two vectors by a condition becomes a
//     branch, which a CPU may predict wrongly. The function `choose` avoids branches.
//     cl/device/monoid.cl
// intel-lane-width (Intel's compilers): kernels that use sub-groups are compiled for another width
//     than the code assumes. These kernels have LANES_ATTRIBUTE, which is SUB_GROUPS_OF(LANES).
//     cl/device/quirks.cl
// zink-vec16 (Mesa's rusticl over zink 25.0.7): if a kernel loads 16 bytes as one vector, to use
//     them as words, its build crashes ("emit_alu: not implemented (vec16)"). BYTES_AS_UINT4 loads
//     four vectors of 4 bytes. cl/device/quirks.cl,
//     tests/primitives/test_compact.py::test_flags_are_no_vectors_of_16

// The attribute of a kernel that declares the width of its sub-groups. Without it, Intel's
// compilers may choose another width (quirk: intel-lane-width).
#define SUB_GROUPS_OF(lanes) __attribute__((intel_reqd_sub_group_size(lanes)))

// Load 16 bytes of global memory, of any alignment, as four words. This takes four small loads,
// because a driver fails to build one load of 16 bytes (quirk: zink-vec16).
#define BYTES_AS_UINT4(at)                                                        \
  (uint4)(as_uint(vload4(0, at)), as_uint(vload4(1, at)), as_uint(vload4(2, at)), \
          as_uint(vload4(3, at)))
