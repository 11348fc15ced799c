// How a work-group appends many edges together to a worklist, which lists the edges that are still
// undecided. The edges are first collected (staged) in local memory. Then one atomic addition to
// the worklist's counter reserves the positions of all of them.
#include "device/lanes.cl"
#include "device/work_group.cl"
#include "device/worklist.cl"

// Maximum number of edges that a work-group stages in local memory, at least WG_SIZE.
#ifndef STAGE_CAPACITY
#define STAGE_CAPACITY 1024
#endif

// A stage: the edges that one work-group has collected in local memory, and the worklist (the list
// of undecided edges) to which they are appended.
typedef struct {
  local uint4 *edges;           // [STAGE_CAPACITY], by edge_pack
  volatile local uint *staged;  // number of edges since the last flush
  local uint *base;             // temporary: the position in the worklist of the first flushed edge
  global uint *worklist;
  uint capacity;                // maximum number of edges in the worklist
  volatile global uint *count;  // number of edges in the worklist
} stage_t;

// Empty the stage, which is the local memory in which a work-group collects edges for a worklist.
//
// Scope    the whole work-group, before the first push; ends with a barrier.
static inline void stage_open(const stage_t *stage) {
  if (get_local_id(0) == 0) *stage->staged = 0;
  wg_barrier_local();
}

// Append all edges that the work-group has staged in local memory to the worklist, with one atomic
// addition.
//
// Scope    the whole work-group, every work-item in the same control flow
//          (quirk: pocl-conditional-barrier). Begins and ends with a barrier.
// Ensures  the stage is empty.
static inline void stage_flush(const stage_t *stage) {
  wg_barrier_local();
  const uint n_staged = min(*stage->staged, (uint)STAGE_CAPACITY);
  if (get_local_id(0) == 0 && n_staged > 0) *stage->base = atomic_add(stage->count, n_staged);
  wg_barrier_local();
  for (uint i = get_local_id(0); i < n_staged; i += WG_SIZE) {
    edge_t edge;
    edge_unpack(stage->edges[i], &edge);
    worklist_store(stage->worklist, stage->capacity, *stage->base + i, edge);
  }
  wg_barrier_local();
  if (get_local_id(0) == 0) *stage->staged = 0;
  wg_barrier_local();
}

#if WG_SIZE == 1

// If `keep` is set, add `edge` to the stage, the memory that collects edges for a worklist (list of
// undecided edges). If the stage is then full, append its edges to the worklist.
//
// Scope    one work-item, since WG_SIZE is 1 here.
static inline void stage_push(const stage_t *stage, edge_t edge, bool keep) {
  if (!keep) return;
  stage->edges[*stage->staged] = edge_pack(edge);
  *stage->staged += 1;
  if (*stage->staged == STAGE_CAPACITY) stage_flush(stage);
}

#else

// If `keep` is set, add `edge` to the stage, the local memory that collects edges for a worklist
// (list of undecided edges). If the stage is full, append the edge to the worklist directly.
//
// Scope    a whole lane group.
static inline void stage_push(const stage_t *stage, edge_t edge, bool keep) {
  const uint at = lanes_claim_local(stage->staged, keep);
  const bool spill = keep && at >= STAGE_CAPACITY;
  if (keep && !spill) stage->edges[at] = edge_pack(edge);
  const uint index = lanes_claim_global(stage->count, spill);
  if (spill) worklist_store(stage->worklist, stage->capacity, index, edge);
}

#endif
