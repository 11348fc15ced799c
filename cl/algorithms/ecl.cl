// ECL-MST on worklists of edges.
//
// Source: Fallin, Gonzalez, Seo, Burtscher, "A High-Performance MST Implementation for GPUs",
// SC '23, Algorithms 1 and 2. Three things differ from the paper: populating a worklist makes its
// first reservations, so that a phase starts with hooking; two arrays of reservations alternate,
// which spares the kernel that resets them (lines 34-37); linking is randomised (union_find.cl).
#include "device/lanes.cl"
#include "device/reservation.cl"
#include "device/union_find.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"
#include "device/worklist.cl"

// Edges a work-item takes from each tile of a worklist: 1 to 1024; registers on GPUs.
#ifndef EDGES_PER_ITEM
#define EDGES_PER_ITEM 4
#endif

// Edges staged in local memory before they go to the worklist in one piece; at least WG_SIZE.
#ifndef STAGE_CAPACITY
#define STAGE_CAPACITY 1024
#endif

// Rows a work-item takes from each tile when it is a work-group of its own (WG_SIZE 1).
#ifndef ROWS_PER_ITEM
#define ROWS_PER_ITEM 256
#endif

// Rows shorter than this go to one work-item, others to a lane group. The paper's value is 4.
#ifndef SHORT_ROW
#define SHORT_ROW 4
#endif

// 1: rows are shared out as SHORT_ROW says. 0: every row goes to one work-item (LANES_LOCAL only).
#ifndef HYBRID_ROWS
#define HYBRID_ROWS 1
#endif

// 1: take each edge from its upper slot only. 0: from both slots (needs a symmetric graph).
#ifndef SINGLE_DIRECTION
#define SINGLE_DIRECTION 1
#endif

// 1: worklists hold the representatives of endpoints, which compresses paths implicitly, and
// vertices in them are roots. 0: they hold vertices, and finds halve the paths they walk.
#ifndef IMPLICIT_COMPRESSION
#define IMPLICIT_COMPRESSION 1
#endif

#if WG_SIZE == 1
#define TILE_ROWS ROWS_PER_ITEM
#else
#define TILE_ROWS WG_SIZE
#endif
#define TILE_EDGES (WG_SIZE * EDGES_PER_ITEM)

#if IMPLICIT_COMPRESSION
#define wi_find_counted wi_find
typedef const global uint *parents_t;
#else
#define wi_find_counted wi_find_halving
typedef volatile global uint *parents_t;
#endif

// Every vertex its own set, no edge in the forest, nothing reserved, all counts zero.
//
// Source   Algorithm 1.
// Out      parent[n]; held[n], next[n]: reservations; counts[n_counts]: edges in each round's
//          worklist; in_forest[4 * n_flag_words]: a byte a slot.
// Launch   any.
kernel void ecl_initialise(global uint *parent, global uint *held, global uint *next,
                           global uint *counts, global uint *in_forest, uint n, uint n_counts,
                           uint n_flag_words) {
  GRID_FOR(i, n) {
    parent[i] = (uint)i;
    reservation_clear(held, n, (uint)i);
    reservation_clear(next, n, (uint)i);
  }
  GRID_FOR(i, n_counts) counts[i] = 0;
  GRID_FOR(i, n_flag_words) in_forest[i] = 0;
}

// The leading key words of a sample of slots.
//
// Source   section 3.2 (filtering).
// In       weights[n_slots]; slots[n_samples].  Out  keys[n_samples].
// Launch   any.
kernel void ecl_sample_keys(const global weight_t *weights, const global uint *slots,
                            global uint *keys, uint n_samples) {
  GRID_FOR(i, n_samples)
    keys[i] = weight_key_leading(weights[slots[i]]);
}

// What a populating work-item needs to know of the graph and of the phase.
typedef struct {
  const global uint *indices;
  const global weight_t *weights;
  parents_t parent;
  volatile global uint *reservations;
  uint n;
  uint lightest, heaviest;  // leading key words that belong to this phase, both included
  bool contracted;          // whether sets have been joined before this phase
} phase_t;

// Whether the edge in `slot` of `row` belongs to the phase; makes its reservations and *edge.
static inline bool phase_admits(const phase_t *phase, uint row, uint row_root, uint slot,
                                edge_t *edge) {
  const uint column = phase->indices[slot];
  if (SINGLE_DIRECTION ? column <= row : column == row) return false;
  const uint key = weight_key_leading(phase->weights[slot]);
  if (key < phase->lightest || key > phase->heaviest) return false;
  const uint column_root =
      phase->contracted ? wi_find_counted(phase->parent, column) : column;
  if (row_root == column_root) return false;
  edge->u = row_root;
  edge->v = column_root;
  edge->key = key;
  edge->id = slot;
  reservation_enter(phase->reservations, phase->n, row_root, *edge, phase->weights, 0);
  reservation_enter(phase->reservations, phase->n, column_root, *edge, phase->weights, 0);
#if !IMPLICIT_COMPRESSION
  edge->u = row;
  edge->v = column;
#endif
  return true;
}

// Copy the staged edges to the end of the worklist, one atomic for all of them.
// Must be reached by the whole work-group.
static inline void stage_flush(const local uint4 *stage, volatile local uint *staged,
                               local uint *base, global uint *worklist, uint capacity,
                               volatile global uint *count) {
  const uint n_staged = min(*staged, (uint)STAGE_CAPACITY);
  if (get_local_id(0) == 0 && n_staged > 0) *base = atomic_add(count, n_staged);
  wg_barrier_local();
  for (uint i = get_local_id(0); i < n_staged; i += WG_SIZE) {
    edge_t edge;
    edge_unpack(stage[i], &edge);
    worklist_store(worklist, capacity, *base + i, edge);
  }
  wg_barrier_local();
  if (get_local_id(0) == 0) *staged = 0;
  wg_barrier_local();
}

#if WG_SIZE == 1
// Stage an edge; a lone work-item can flush whenever the stage is full.
static inline void stage_push(local uint4 *stage, volatile local uint *staged, local uint *base,
                              global uint *worklist, uint capacity, volatile global uint *count,
                              edge_t edge, bool keep) {
  if (!keep) return;
  stage[*staged] = edge_pack(edge);
  *staged += 1;
  if (*staged == STAGE_CAPACITY) stage_flush(stage, staged, base, worklist, capacity, count);
}
#else
// Stage an edge where `keep` is set, or put it straight on the worklist if the stage is full.
// Must be reached by all lanes of a group together.
static inline void stage_push(local uint4 *stage, volatile local uint *staged, local uint *base,
                              global uint *worklist, uint capacity, volatile global uint *count,
                              edge_t edge, bool keep) {
  const uint at = lanes_claim_local(staged, keep);
  const bool spill = keep && at >= STAGE_CAPACITY;
  if (keep && !spill) stage[at] = edge_pack(edge);
  const uint place = lanes_claim_global(count, spill);
  if (spill) worklist_store(worklist, capacity, place, edge);
}
#endif

// Put the edges of a phase on a worklist, with their pass-0 reservations.
//
// Source   Algorithm 2, lines 1-11; sections 3.2 (hybrid parallelisation, filtering) and 3.3.
// In       indptr[n + 1], indices[n_slots], weights[n_slots]; parent[n]: of use if `contracted`;
//          lightest, heaviest: the window of leading key words.
// In-out   reservations[n]; *count: zero before, the number of edges after.
// Out      worklist[*count].
// Launch   WG_SIZE; any number of work-groups.
// Needs    capacity >= the number of edges admitted.
// Ensures  every admitted edge that joins two sets stands once in the worklist, in any order.
LANES_ATTRIBUTE
kernel void ecl_populate_worklist(const global uint *indptr, const global uint *indices,
                                  const global weight_t *weights, global uint *parent,
                                  global uint *reservations, global uint *worklist,
                                  global uint *counts, uint round, uint n, uint capacity,
                                  uint lightest, uint heaviest, uint contracted) {
  local uint4 stage[STAGE_CAPACITY];
  local uint staged, base;
  volatile global uint *count = &counts[round];
  const phase_t phase = {indices, weights, parent, reservations, n, lightest, heaviest,
                         contracted != 0};
  edge_t edge = {0, 0, 0, 0};

  if (get_local_id(0) == 0) staged = 0;
  wg_barrier_local();

#if WG_SIZE == 1
  for (size_t tile = (size_t)get_group_id(0) * TILE_ROWS; tile < n;
       tile += (size_t)get_num_groups(0) * TILE_ROWS) {
    const uint last_row = (uint)min(tile + TILE_ROWS, (size_t)n);
    for (uint row = (uint)tile; row < last_row; ++row) {
      const uint begin = indptr[row], end = indptr[row + 1];
      if (begin == end) continue;
      const uint root = contracted ? wi_find_counted(phase.parent, row) : row;
      for (uint slot = begin; slot < end; ++slot) {
        const bool keep = phase_admits(&phase, row, root, slot, &edge);
        stage_push(stage, &staged, &base, worklist, capacity, count, edge, keep);
      }
    }
  }
  stage_flush(stage, &staged, &base, worklist, capacity, count);
#else
  local uint row_begin[WG_SIZE], row_end[WG_SIZE], row_root[WG_SIZE];
  const uint me = get_local_id(0);
  for (size_t tile = (size_t)get_group_id(0) * TILE_ROWS; tile < n;
       tile += (size_t)get_num_groups(0) * TILE_ROWS) {
    const bool valid = tile + me < n;
    const uint row = (uint)(tile + me);
    const uint begin = valid ? indptr[row] : 0, end = valid ? indptr[row + 1] : 0;
    const uint root = valid && contracted ? wi_find_counted(phase.parent, row) : row;
    row_begin[me] = begin;
    row_end[me] = end;
    row_root[me] = root;
    wg_barrier_local();

    // Rows that a work-item takes alone. The lanes of a group make the same number of steps.
    const bool alone = !HYBRID_ROWS || end - begin < SHORT_ROW;
    const uint steps = HYBRID_ROWS ? SHORT_ROW - 1 : end - begin;
    for (uint i = 0; i < steps; ++i) {
      const bool keep =
          alone && i < end - begin && phase_admits(&phase, row, root, begin + i, &edge);
      stage_push(stage, &staged, &base, worklist, capacity, count, edge, keep);
    }

    // The other rows of the lane group, one after the other, by all its lanes.
    const uint group = me - lanes_id();
    for (uint k = group; HYBRID_ROWS && k < group + LANES; ++k) {
      const uint first = row_begin[k], degree = row_end[k] - first;
      if (degree < SHORT_ROW) continue;  // the same for all lanes
      for (size_t step = 0; step < degree; step += LANES) {
        const size_t i = step + lanes_id();
        const bool keep = i < degree && phase_admits(&phase, (uint)tile + k, row_root[k],
                                                     first + (uint)i, &edge);
        stage_push(stage, &staged, &base, worklist, capacity, count, edge, keep);
      }
    }

    // Every tile ends with a flush: PoCL 3.1 miscompiles barriers that stand under a condition.
    wg_barrier_local();
    stage_flush(stage, &staged, &base, worklist, capacity, count);
  }
#endif
}

// Contract a worklist: drop the edges inside a set, put the others on the next worklist between
// the representatives of their endpoints, and make their pass-0 reservations.
//
// Source   Algorithm 2, lines 13-23.
// In       source[counts[round]].
// In-out   parent[n]: changed only if paths are halved; reservations[n]; counts[round + 1]: zero
//          before.
// Out      target[counts[round + 1]].
// Launch   WG_SIZE; any number of work-groups.
// Ensures  one atomic a tile on the counter; order is not kept across tiles.
LANES_ATTRIBUTE
kernel void ecl_contract_worklist(const global uint *source, global uint *target,
                                  const global weight_t *weights, global uint *parent,
                                  global uint *reservations, global uint *counts, uint round,
                                  uint n, uint capacity) {
  local uint scratch[WG_SIZE];
  local uint base;
  const uint n_source = counts[round];
  edge_t edges[EDGES_PER_ITEM];

  for (size_t tile = (size_t)get_group_id(0) * TILE_EDGES; tile < n_source;
       tile += (size_t)get_num_groups(0) * TILE_EDGES) {
    uint keeps = 0;
    for (uint i = 0; i < EDGES_PER_ITEM; ++i) {
      const size_t at = tile + i * WG_SIZE + get_local_id(0);
      edges[i].u = edges[i].v = 0;
      if (at >= n_source) continue;
      edge_t edge;
      worklist_load(source, capacity, (uint)at, &edge);
      const uint u = edge.u, v = edge.v;
      edge.u = wi_find_counted((parents_t)parent, u);
      edge.v = wi_find_counted((parents_t)parent, v);
      if (edge.u == edge.v) continue;
      reservation_enter(reservations, n, edge.u, edge, weights, 0);
      reservation_enter(reservations, n, edge.v, edge, weights, 0);
#if !IMPLICIT_COMPRESSION
      edge.u = u;
      edge.v = v;
#endif
      edges[i] = edge;
      ++keeps;
    }
    uint total;
    const uint before = wg_exclusive_sum_u32(keeps, &total, scratch);
    if (get_local_id(0) == 0) base = total ? atomic_add(&counts[round + 1], total) : 0;
    wg_barrier_local();
    uint at = base + before;
    for (uint i = 0; i < EDGES_PER_ITEM; ++i)
      if (edges[i].u != edges[i].v) worklist_store(target, capacity, at++, edges[i]);
    wg_barrier_local();
  }
}

// Make the reservations of a later pass (see reservation.cl): the words before it are settled.
//
// In       worklist[counts[round]]; parent[n].  In-out  reservations[n].
// Launch   any.
// Needs    1 <= pass < RESERVATION_PASSES, in rising order.
kernel void ecl_refine_reservations(const global uint *worklist, const global weight_t *weights,
                                    const global uint *parent, global uint *reservations,
                                    const global uint *counts, uint round, uint n, uint capacity,
                                    uint pass) {
  GRID_FOR(at, counts[round]) {
    edge_t edge;
    worklist_load(worklist, capacity, (uint)at, &edge);
    const uint u = IMPLICIT_COMPRESSION ? edge.u : wi_find(parent, edge.u);
    const uint v = IMPLICIT_COMPRESSION ? edge.v : wi_find(parent, edge.v);
    reservation_enter(reservations, n, u, edge, weights, pass);
    reservation_enter(reservations, n, v, edge, weights, pass);
  }
}

// Join the sets that an edge holds a reservation of; that edge belongs to the forest.
//
// Source   Algorithm 2, lines 27-33, and, for the other array of reservations, 34-37.
// In       worklist[counts[round]]; held[n]: this round's reservations.
// In-out   parent[n]; in_forest[n_slots]: a byte a slot.
// Out      next[n]: cleared for every representative in the worklist, which next round's are among.
// Launch   any.
// Ensures  every set with an edge in the worklist is joined to another. Where worklists hold
//          vertices, a find may race with links and end at a set that has just taken u's over: the
//          edge is then left for the next round, when u's old set has been joined all the same.
kernel void ecl_hook_components(const global uint *worklist, global uint *parent,
                                const global uint *held, global uint *next,
                                global uchar *in_forest, const global uint *counts, uint round,
                                uint n, uint capacity) {
  GRID_FOR(at, counts[round]) {
    edge_t edge;
    worklist_load(worklist, capacity, (uint)at, &edge);
#if IMPLICIT_COMPRESSION
    const uint u = edge.u, v = edge.v;
    reservation_clear(next, n, u);
    reservation_clear(next, n, v);
#else
    const uint u = wi_find_racing(parent, edge.u), v = wi_find_racing(parent, edge.v);
#endif
    if (reservation_holds(held, n, u, edge) || reservation_holds(held, n, v, edge)) {
      wi_unite(parent, u, v);
      in_forest[edge.id] = 1;
    }
  }
}
