// Both directions of edges as rows, of a graph that stores each edge once.
//
// Rows of the result: first the mirror images, which lead to lesser vertices, then the row as it
// was. Both parts rise, since the images were sorted stably by the vertex that they lead from; so
// the result does. A loop has an image, too, which does no harm where rows are only looked at.
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// An image: the vertex that it leads to, and its weight, which goes along lest it be looked up.
#if WEIGHT_BITS == 64
typedef ulong2 image_t;
#define IMAGE(target, weight) ((image_t)(target, weight))
#define IMAGE_TARGET(image) ((uint)(image).x)
#define IMAGE_WEIGHT(image) ((image).y)
#else
typedef ulong image_t;
#define IMAGE(target, weight) ((ulong)(target) << 32 | (weight))
#define IMAGE_TARGET(image) ((uint)((image) >> 32))
#define IMAGE_WEIGHT(image) ((weight_t)(image))
#endif

// List the images, and the vertex that each leads from.
//
// In       indptr, indices, weights[n_slots].
// Out      sources, images[n_slots].
// Launch   any. O(n_slots + n_slots log n / SLOT_RUN).
kernel void prim_mirror_list(const global uint *indptr, const global uint *indices,
                             const global weight_t *weights, global uint *sources,
                             global image_t *images, uint n, uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = run.begin; slot < run.end; ++slot) {
      const uint row = slot_run_row(&run, indptr, slot);
      sources[slot] = indices[slot];
      images[slot] = IMAGE(row, weights[slot]);
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

// Put the images into the rows of the result.
//
// In       indptr[n + 1]; sources, images[n_slots]: sorted.
// Out      both, both_weights[2 n_slots]: at the columns and weights of images.
// Launch   any.
// Ensures  an image stands behind the images before it and all slots of earlier rows.
kernel void prim_mirror_put_images(const global uint *indptr, const global uint *sources,
                                   const global image_t *images, global uint *both,
                                   global weight_t *both_weights, uint n_slots) {
  GRID_FOR(i, n_slots) {
    const uint at = indptr[sources[i]] + (uint)i;
    both[at] = IMAGE_TARGET(images[i]);
    both_weights[at] = IMAGE_WEIGHT(images[i]);
  }
}

// Put the slots of the graph into the rows of the result.
//
// In       indptr, indices, weights: the graph; rows[n + 1].
// Out      both, both_weights[2 n_slots]: at the columns and weights of slots.
// Launch   any. O(n_slots + n_slots log n / SLOT_RUN).
// Ensures  a slot stands behind all earlier ones and the images of its row and of earlier ones.
kernel void prim_mirror_put_slots(const global uint *indptr, const global uint *indices,
                                  const global weight_t *weights, const global uint *rows,
                                  global uint *both, global weight_t *both_weights, uint n,
                                  uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t run;
    slot_run_open(&run, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = run.begin; slot < run.end; ++slot) {
      const uint row = slot_run_row(&run, indptr, slot);
      const uint at = slot + (rows[row + 1] - run.row_end);
      both[at] = indices[slot];
      both_weights[at] = weights[slot];
    }
  }
}
