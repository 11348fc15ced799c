// k-core: make rows with both directions of every edge, for a graph that stores each edge once.
//
// A row of the result has first the neighbours of a vertex with lesser numbers, and then the
// vertex's row of the graph, which has the neighbours with greater numbers. The lesser neighbours
// are in any order, because core numbers do not depend on it. Self-loops are left out.
#include "device/rows.cl"
#include "device/work_group.cl"

// Number of consecutive slots (CSR entries) that a work-item takes at a time. It searches only for
// the row of the first of them.
#define MIRROR_SEGMENT (WG_SIZE == 1 ? 256u : 32u)
// Number of slots (CSR entries) that a work-item handles together. It first reserves the places in
// the result for all of them by atomic operations, and then stores them. On CPUs an atomic
// operation waits for all earlier stores, and each store goes to another cache line. So it would be
// slower to alternate atomic operations and stores.
#define MIRROR_BLOCK (WG_SIZE == 1 ? 256u : 1u)

// Store both directions of every edge into the rows of the result, whose lengths are known.
//
// In       indptr[n + 1], indices[n_slots]: the rows of the graph, with ascending columns, column
//            >= row;
//          rows[n + 1]: where each row of the result begins.
// In-out   cursor[n]: the position of the next entry of each row of the result: before the launch
//          where the row begins, afterwards where its lesser neighbours end.
// Out      both[rows[n]]: the columns of the rows of the result.
// Launch   any. O(n_slots + n_slots log n / MIRROR_SEGMENT).
// Needs    rows[v + 1] - rows[v] = the number of edges at v without self-loops.
// Ensures  both[rows[v] .. rows[v + 1]) = the neighbours of v.
kernel void k_core_mirror_put(const global uint *indptr, const global uint *indices,
                              const global uint *rows, volatile global uint *cursor,
                              global uint *both, uint n, uint n_slots) {
  uint sources[MIRROR_BLOCK], targets[MIRROR_BLOCK];
  GRID_FOR(number, SLOT_RUNS(n_slots, MIRROR_SEGMENT)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, n_slots, MIRROR_SEGMENT, (uint)number);
    for (uint block = run.begin; block < run.end; block += min(run.end - block, MIRROR_BLOCK)) {
      const uint length = min(run.end - block, MIRROR_BLOCK);
      uint n_put = 0;
      for (uint slot = block; slot < block + length; ++slot) {
        const uint row = slot_run_row(&run, indptr, slot), column = indices[slot];
        if (column == row) continue;
        both[rows[row + 1] - (run.row_end - slot)] = column;
        sources[n_put] = row;
        targets[n_put++] = column;
      }
      for (uint i = 0; i < n_put; ++i) targets[i] = atomic_inc(&cursor[targets[i]]);
      for (uint i = 0; i < n_put; ++i) both[targets[i]] = sources[i];
    }
  }
}
