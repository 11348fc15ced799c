// Make rows with both directions of every edge, for a graph that stores each edge once.
//
// A row of the result first has the mirror slots, which are the other directions of edges from
// vertices with lower numbers, and then the row of the graph. The columns of both parts ascend,
// because the mirror slots were sorted stably by the vertex from which they lead. So the columns of
// the result ascend. A self-loop has a mirror slot, too, which does no harm if rows are only read.
//
//     stored    row 0: 1 2    row 1: 2    row 2: -
//     result    row 0: 1 2    row 1: 0 2  row 2: 0 1
#include "device/rows.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// A mirror slot, also called image, is the other direction of an edge that is stored once: the
// vertex to which it leads, and its weight, which then need not be looked up.
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

// List the mirror slot of each slot (CSR entry) of the graph, which is the other direction of its
// edge.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph.
// Out      sources[n_slots]: the vertex from which each mirror slot leads;
//          images[n_slots]: the vertex to which each mirror slot leads, and its weight.
// Launch   any. O(n_slots + n_slots log n / SLOT_RUN).
// Needs    each edge is stored once.
// Ensures  sources[slot] = the slot's column; images[slot] = its row and its weight.
kernel void prim_mirror_list(const global uint *indptr, const global uint *indices,
                             const global weight_t *weights, global uint *sources,
                             global image_t *images, uint n, uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t segment;
    slot_run_open(&segment, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = segment.begin; slot < segment.end; ++slot) {
      const uint row = slot_run_row(&segment, indptr, slot);
      sources[slot] = indices[slot];
      images[slot] = IMAGE(row, weights[slot]);
    }
  }
}

// Find where each row of the result begins. The rows of the result have both directions of every
// edge.
//
// In       indptr[n + 1]: where the graph's rows begin;
//          sources[n_slots]: the vertex from which each mirror slot leads, sorted. A mirror slot is
//            the other direction of a slot's edge.
// Out      rows[n + 1]: where the rows of the result begin.
// Launch   any. O(n log n_slots).
// Needs    sources ascend.
// Ensures  rows[v] = the number of slots and mirror slots in rows before v.
kernel void prim_mirror_find_rows(const global uint *indptr, const global uint *sources,
                                  global uint *rows, uint n, uint n_slots) {
  GRID_FOR(v, (ulong)n + 1) rows[v] = indptr[v] + wi_find_column(sources, 0, n_slots, (uint)v);
}

// Store the mirror slots, which are the other directions of the graph's edges, into the rows of the
// result.
//
// In       indptr[n + 1]: where the graph's rows begin;
//          sources[n_slots]: the vertex from which each mirror slot leads, sorted;
//          images[n_slots]: the vertex to which each mirror slot leads, and its weight, in the
//            order of sources.
// Out      both[2 n_slots], both_weights[2 n_slots]: the columns and weights of the result, written
//          at the positions of mirror slots.
// Launch   any.
// Needs    prim_mirror_list and a stable sort by source.
// Ensures  a mirror slot comes after all earlier mirror slots and all slots of earlier rows.
kernel void prim_mirror_put_images(const global uint *indptr, const global uint *sources,
                                   const global image_t *images, global uint *both,
                                   global weight_t *both_weights, uint n_slots) {
  GRID_FOR(i, n_slots) {
    const uint at = indptr[sources[i]] + (uint)i;
    both[at] = IMAGE_TARGET(images[i]);
    both_weights[at] = IMAGE_WEIGHT(images[i]);
  }
}

// Store the slots (CSR entries) of the graph into the rows of the result, which have both
// directions of every edge.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph;
//          rows[n + 1]: where the rows of the result begin.
// Out      both[2 n_slots], both_weights[2 n_slots]: the columns and weights of the result, written
//          at the positions of the graph's slots.
// Launch   any. O(n_slots + n_slots log n / SLOT_RUN).
// Needs    prim_mirror_find_rows.
// Ensures  a slot comes after all earlier slots, and after the mirror slots of its row and of
//          earlier rows.
kernel void prim_mirror_put_slots(const global uint *indptr, const global uint *indices,
                                  const global weight_t *weights, const global uint *rows,
                                  global uint *both, global weight_t *both_weights, uint n,
                                  uint n_slots) {
  GRID_FOR(number, SLOT_RUNS(n_slots, SLOT_RUN)) {
    slot_run_t segment;
    slot_run_open(&segment, indptr, n, n_slots, SLOT_RUN, (uint)number);
    for (uint slot = segment.begin; slot < segment.end; ++slot) {
      const uint row = slot_run_row(&segment, indptr, slot);
      const uint at = slot + (rows[row + 1] - segment.row_end);
      both[at] = indices[slot];
      both_weights[at] = weights[slot];
    }
  }
}
