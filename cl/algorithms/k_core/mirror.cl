// k-core: the neighbours of every vertex as rows, of a graph that stores each edge once.
//
// Rows of the result have what leads to lesser vertices first, in any order, since who is peeled
// first of a level decides nothing; then the row as it was. Loops are left out.
#include "device/rows.cl"
#include "device/work_group.cl"

// Consecutive slots that a work-item takes at a time, having searched for the row of the first.
#define MIRROR_RUN (WG_SIZE == 1 ? 256u : 32u)
// Slots of those for which places are claimed before anything is put there: on CPUs an atomic waits
// for all stores before it, each of which goes to another cache line.
#define MIRROR_BLOCK (WG_SIZE == 1 ? 256u : 1u)

// Put both directions of every edge into the rows of the result.
//
// In       indptr, indices[n_slots]: rows that rise, column >= row; rows[n + 1]: where those of the
//          result begin.
// In-out   cursor[n]: as rows before; behind the last neighbour put in front then.
// Out      both[rows[n]].
// Launch   any. O(n_slots + n_slots log n / MIRROR_RUN).
kernel void k_core_mirror_put(const global uint *indptr, const global uint *indices,
                              const global uint *rows, volatile global uint *cursor,
                              global uint *both, uint n, uint n_slots) {
  uint sources[MIRROR_BLOCK], places[MIRROR_BLOCK];
  GRID_FOR(number, SLOT_RUNS(n_slots, MIRROR_RUN)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, n_slots, MIRROR_RUN, (uint)number);
    for (uint block = run.begin; block < run.end; block += min(run.end - block, MIRROR_BLOCK)) {
      const uint length = min(run.end - block, MIRROR_BLOCK);
      uint n_put = 0;
      for (uint slot = block; slot < block + length; ++slot) {
        const uint row = slot_run_row(&run, indptr, slot), column = indices[slot];
        if (column == row) continue;
        both[rows[row + 1] - (run.row_end - slot)] = column;
        sources[n_put] = row;
        places[n_put++] = column;
      }
      for (uint i = 0; i < n_put; ++i) places[i] = atomic_inc(&cursor[places[i]]);
      for (uint i = 0; i < n_put; ++i) both[places[i]] = sources[i];
    }
  }
}
