// Both directions of edges as rows, of a graph that stores each edge once.
//
// Rows of the result: first the mirror images, which lead to lesser vertices, then the row as it was.
// Both parts rise, since the images were sorted stably by the vertex that they lead from; so the
// result does. A loop has an image, too, which does no harm where rows are only looked at.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// Consecutive slots that a work-item takes at a time, having searched for the row of the first.
#define MIRROR_RUN 32

// List the images: the vertex that each leads from, the one that it leads to, and its slot.
//
// In       indptr, indices[n_slots].
// Out      sources[n_slots], images[n_slots]: target << 32 | slot.
// Launch   any. O(n_slots + n_slots log n / MIRROR_RUN).
kernel void prim_mirror_list(const global uint *indptr, const global uint *indices,
                             global uint *sources, global ulong *images, uint n, uint n_slots) {
  GRID_FOR(run, ((ulong)n_slots + MIRROR_RUN - 1) / MIRROR_RUN) {
    const uint begin = (uint)run * MIRROR_RUN;
    const uint end = begin + min(n_slots - begin, (uint)MIRROR_RUN);
    uint row = wi_find_row(indptr, 0, n, begin), row_end = indptr[row + 1];
    for (uint slot = begin; slot < end; ++slot) {
      while (slot == row_end) row_end = indptr[++row + 1];
      sources[slot] = indices[slot];
      images[slot] = (ulong)row << 32 | slot;
    }
  }
}

// Find where rows of the result begin.
//
// In  indptr[n + 1]; sources[n_slots], sorted.  Out  rows[n + 1].  Launch  any. O(n log n_slots).
kernel void prim_mirror_find_rows(const global uint *indptr, const global uint *sources,
                                  global uint *rows, uint n, uint n_slots) {
  GRID_FOR(v, (ulong)n + 1)
    rows[v] = indptr[v] + wi_find_column(sources, 0, n_slots, (uint)v);
}

// Fill the rows of the result.
//
// In       indptr, weights: the graph; sources, images[n_slots]: sorted; rows[n + 1].
// Out      both, both_weights[2 n_slots]: columns and weights of the result.
// Launch   any.
// Ensures  an image stands behind the images before it and all earlier rows; a slot behind itself,
//          and all images that do not lead from a later row.
kernel void prim_mirror_fill(const global uint *indptr, const global weight_t *weights,
                             const global uint *sources, const global ulong *images,
                             const global uint *rows, global uint *both,
                             global weight_t *both_weights, uint n_slots) {
  GRID_FOR(i, n_slots) {
    const uint slot = (uint)images[i], target = (uint)(images[i] >> 32);
    const uint image_at = indptr[sources[i]] + (uint)i;
    const uint slot_at = slot + (rows[target + 1] - indptr[target + 1]);
    const weight_t weight = weights[slot];
    both[image_at] = target;
    both_weights[image_at] = weight;
    both[slot_at] = sources[i];
    both_weights[slot_at] = weight;
  }
}
