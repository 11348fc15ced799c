// Faults of drivers and compilers that kernels avoid: the name of each, where it was seen, or
// the report of it, what happens, what avoids it, and the test. Those that the host avoids stand in
// clmst/runtime/quirks.py. Whatever avoids one names it, as in "quirk: zink-vec16".
//
// Rules for every kernel:
//
// pocl-conditional-barrier (PoCL 3.1): barriers under a condition are miscompiled, even if it is
//     uniform. No `if (...) barrier`, no early return before one, but in kernels that PoCL cannot
//     build (quirk: pocl-grid-barrier). tests/offline/test_convergence.py
// pocl-local-pointer (PoCL 3.1): all work-groups share one word where a function that is called
//     several times takes a pointer to local memory that is the same in all calls. Such pointers go
//     in a struct, or the function is called once.
// pocl-unused-local-array (PoCL 6.0): a kernel with an unused local array, or a local variable that
//     only a branch on a constant uses, built without optimisation, ends the process by a failed
//     assertion (`isAutomaticLocal`, "isGVarUsedByFunction"). There is none.
//     tests/offline/test_local_memory.py
// llvm-local-structs (LLVM 14 and 15: PoCL, Oclgrind): a local array of structs, copied as structs,
//     loses its contents. Local memory holds vectors.
// oclgrind-struct-by-value (Oclgrind 21.10): kernels whose inlined functions return structs by
//     value cannot be loaded. Such functions write through a pointer. cl/device/lane_group.cl,
//     tests/whole/test_oclgrind.py
// adreno-constant-registers (Adreno's compilers of 2026, GenieX 1284, 1438): a build fails where
//     `get_local_size` meets an argument in one instruction, in its step of a loop, too ("# of
//     constant registers must be < 2"). A work-group's size is the macro WG_SIZE.
//     tests/faults/test_vendors.py::test_no_kernel_asks_for_the_size_of_its_work_group
// xe-endless-kernel (Intel's Arc under Linux's driver xe, compute-runtime 962): a kernel that waits
//     in vain is never ended while its process lives. Each wait for another work-group has a limit
//     of looks (LOOK_PATIENCE, LOCK_PATIENCE, RESIDENT_PATIENCE), behind which it goes on without.
//     tests/primitives/test_chain.py::test_nothing_or_everything_is_published
// intel-wide-elements (Intel's compiler): kernels with sub-groups and elements of 32 bytes and more
//     take up to ten seconds to build. Nothing avoids that.
//
// In one place:
//
// pocl-lanes-apart (PoCL 6.0): functions of sub-groups are wrong where lane groups of a work-group
//     go different ways, and some loops there never end. The trial finds it (`trial_exchange`), and
//     the device is used without lanes. cl/device/trial.cl, tests/runtime/test_trial.py
// llvmpipe-loop-rounds (Mesa's rusticl on llvmpipe 22.3.6): all loops of a work-item end after
//     65,535 rounds in total; lanes beyond a small work-group take part, and reach that end in the
//     first loop whose length depends on data. The trial of such a device fails.
//     cl/device/trial.cl, tests/runtime/test_rusticl.py::test_refused_with_the_reason
// oclgrind-vector-halves (Oclgrind 21.10): halves of vectors (`.lo`, `.hi`) count as uninitialised
//     memory. The vector is stored to an array. cl/algorithms/dense/tile.cl,
//     tests/whole/test_oclgrind.py
// intel-order-of-sums (Intel's compiler for CPUs): the terms of a sum of doubles are added in
//     another order where the loop has 16 rounds or more and its length is not known; sums of
//     vectors keep it. `#pragma clang loop vectorize(disable)` before the loop.
//     cl/device/distance.cl
// intel-swapped-pointers (Intel's compiler for GPUs, ocloc 22.43): a build ends the process by a
//     segmentation fault where pointers to global memory change places in a loop with barriers. They
//     are offsets. cl/algorithms/dense/one_group.cl, tests/offline/test_compile.py
// cpu-vector-choices (compilers for CPUs): choices between vectors become branches. `choose` avoids
//     them. cl/device/monoid.cl
// intel-lane-width (Intel's compilers): kernels that use sub-groups get another width than the code
//     assumes. They carry LANES_ATTRIBUTE, which is SUB_GROUPS_OF. cl/device/quirks.cl
// zink-vec16 (Mesa's rusticl over zink 25.0.7): the build of a kernel that takes 16 bytes as one
//     vector for words crashes ("emit_alu: not implemented (vec16)"). BYTES_AS_UINT4 loads four
//     vectors of 4. cl/device/quirks.cl,
//     tests/primitives/test_compact.py::test_flags_are_no_vectors_of_16
// Declares the width of the sub-groups of a kernel (quirk: intel-lane-width).
#define SUB_GROUPS_OF(lanes) __attribute__((intel_reqd_sub_group_size(lanes)))

// 16 bytes of global memory, of any alignment, 4 a word, by vectors of 4 (quirk: zink-vec16).
#define BYTES_AS_UINT4(at)                                                        \
  (uint4)(as_uint(vload4(0, at)), as_uint(vload4(1, at)), as_uint(vload4(2, at)), \
          as_uint(vload4(3, at)))
