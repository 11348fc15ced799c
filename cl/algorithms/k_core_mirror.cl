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
  GRID_FOR(run, ((ulong)n_slots + MIRROR_RUN - 1) / MIRROR_RUN) {
    const uint begin = (uint)run * MIRROR_RUN;
    const uint end = begin + min(n_slots - begin, MIRROR_RUN);
    uint row = wi_find_row(indptr, 0, n, begin), row_end = indptr[row + 1];
    for (uint block = begin; block < end; block += min(end - block, MIRROR_BLOCK)) {
      const uint length = min(end - block, MIRROR_BLOCK);
      uint n_put = 0;
      for (uint slot = block; slot < block + length; ++slot) {
        while (slot == row_end) row_end = indptr[++row + 1];
        const uint column = indices[slot];
        if (column == row) continue;
        both[rows[row + 1] - (row_end - slot)] = column;
        sources[n_put] = row;
        places[n_put++] = column;
      }
      for (uint i = 0; i < n_put; ++i) places[i] = atomic_inc(&cursor[places[i]]);
      for (uint i = 0; i < n_put; ++i) both[places[i]] = sources[i];
    }
  }
}
