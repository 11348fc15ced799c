// ECL-MST: copy edges from the graph to a worklist, the list of undecided edges.
//
// Source: SC '23, Algorithm 2, lines 1-11; sections 3.2 (hybrid parallelisation, filtering), 3.3.
// Two things go beyond the paper. First, the kernels also enter the copied edges in the
// reservations, which hold the lightest edge of each set of vertices so far. Every edge of a row is
// entered in the reservation of the set at its other end. In the reservation of the row's own set,
// only the lightest edge of the row is entered. Second, the rows of hubs (vertices with very many
// edges), which would delay the launch, are cut into pieces.
#include "algorithms/ecl/sets.cl"
#include "device/lanes.cl"
#include "device/reservation.cl"
#include "device/stage.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"
#include "device/worklist.cl"

// Number of rows in a tile, which a work-group processes at a time, if work-groups have one
// work-item. In larger work-groups, a tile has one row for each work-item.
#ifndef ROWS_PER_ITEM
#define ROWS_PER_ITEM 256
#endif

// Rows with fewer slots (CSR entries) than this are processed by one work-item each. Longer rows
// are processed by a lane group, which is a group of work-items that work together. The paper uses
// 4.
#ifndef SHORT_ROW
#define SHORT_ROW 4
#endif

// Rows with at least this number of slots (CSR entries) are the rows of hubs. They are cut into
// pieces of this length, and each piece is processed by a lane group (work-items that work
// together).
#ifndef HUB_ROW
#define HUB_ROW 128
#endif

// If HYBRID_ROWS is 1, a short row is processed by one work-item and a longer row by a lane group,
// as SHORT_ROW and HUB_ROW say. If it is 0, every row is processed by one work-item. The value 0 is
// possible only with LANES_LOCAL, where lanes exchange values through local memory.
#ifndef HYBRID_ROWS
#define HYBRID_ROWS 1
#endif

// If SINGLE_DIRECTION is 1, each edge is taken only from its slot (CSR entry) in the row of its
// lesser end. If it is 0, each edge is taken from both of its slots, which needs a graph that
// stores both.
#ifndef SINGLE_DIRECTION
#define SINGLE_DIRECTION 1
#endif

#define TILE_ROWS (WG_SIZE == 1 ? ROWS_PER_ITEM : WG_SIZE)

// What a work-item needs to copy edges to a worklist: the graph, the parents of its disjoint sets,
// the reservation of each set (its lightest edge so far), and the range of weights. A filter pass
// solves the edges in one range of weights.
typedef struct {
  const global uint *indices;
  const global weight_t *weights;
  parents_t parent;
  volatile global uint *reservations;
  uint lightest, heaviest;  // the least and the greatest leading key word of the filter pass
  bool contracted;          // whether sets have been joined before the filter pass
} filter_pass_t;

static inline uint filter_find(const filter_pass_t *filter, uint vertex) {
  return filter->contracted ? wi_find_set(filter->parent, vertex) : vertex;
}

// Return whether the edge in `slot` of `row` belongs to the filter pass, which takes the edges in
// one range of weights that join two sets. If it does, enter it in the reservation of the column's
// set. A reservation holds the lightest edge of a set so far. `row_root` is the root of the row's
// set.
//
// If the edge belongs to the pass, it is stored in *edge, and *least becomes the minimum of *least
// and the edge's first word. So after the last slot of the row, *least belongs to the lightest edge
// of the row, and the caller enters it in the reservation of the row's set.
static inline bool filter_admits(const filter_pass_t *filter, uint row, uint row_root, uint slot,
                                 edge_t *edge, reservation_word_t *least) {
  const uint column = filter->indices[slot];
  if (SINGLE_DIRECTION ? column <= row : column == row) return false;
  const uint key = weight_key_leading(filter->weights[slot]);
  if (key < filter->lightest || key > filter->heaviest) return false;
  const uint column_root = filter_find(filter, column);
  if (row_root == column_root) return false;
  edge->u = IMPLICIT_COMPRESSION ? row_root : row;
  edge->v = IMPLICIT_COMPRESSION ? column_root : column;
  edge->key = key;
  edge->id = slot;
  const reservation_word_t word = reservation_first_word(*edge, filter->weights);
  reservation_lower_first(filter->reservations, column_root, word);
  *least = min(*least, word);
  return true;
}

// Enter the lightest edge of a row, if the row has an edge, in the reservation of the row's set, by
// an atomic minimum. A reservation holds the lightest edge of a set so far. `least` is the first
// word of the row's lightest edge.
//
// Scope    one work-item, which has the whole row.
static inline void filter_enter_row(const filter_pass_t *filter, uint row_root,
                                    reservation_word_t least) {
  if (least != RESERVATION_NONE) reservation_lower_first(filter->reservations, row_root, least);
}

// Enter the lightest edge of a row in the reservation of the row's set, by an atomic minimum. A
// reservation holds the lightest edge of a set so far. The lanes (work-items) of a lane group have
// searched the row together. `least` is the first word of the lightest edge that this lane has
// found. With LANES_LOCAL, where lanes cannot exchange values directly, each lane enters its own
// `least`.
//
// Scope    a whole lane group.
static inline void filter_enter_shared_row(const filter_pass_t *filter, uint row_root,
                                           reservation_word_t least) {
#if LANES_IMPL != LANES_LOCAL
  least = lanes_min_word(least);
  if (lanes_id() > 0) return;
#endif
  filter_enter_row(filter, row_root, least);
}

// Collect the edges of a filter pass from `length` slots (CSR entries) of a row, from slot `first`
// on. A filter pass takes the edges in one range of weights that join two sets. The edges are
// copied to the stage, a buffer in local memory, whose content stage_flush appends to the worklist
// later.
//
// Scope    a whole lane group.
static inline void filter_stage_slots(const filter_pass_t *filter, const stage_t *stage, uint row,
                                      uint row_root, uint first, uint length) {
  edge_t edge = {0, 0, 0, 0};
  reservation_word_t least = RESERVATION_NONE;
  for (uint step = 0; step < length; step += LANES) {
    const uint i = step + lanes_id();
    const bool keep = i < length && filter_admits(filter, row, row_root, first + i, &edge, &least);
    stage_push(stage, edge, keep);
  }
  filter_enter_shared_row(filter, row_root, least);
}

// Append the edges of a filter pass to a worklist. A filter pass takes the edges in one range of
// weights that join two sets of vertices. Enter each edge in the reservations of both of its sets,
// by an atomic minimum. A reservation holds the lightest edge of a set so far. Here only the first
// words of edges are compared, which is pass 0 of several (reservation.cl). The rows of hubs, which
// have at least HUB_ROW slots, are not copied here, but are cut into pieces for
// ecl_populate_from_hubs.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph as a CSR;
//          lightest, heaviest: the range of weights, as the upper 32 bits of weight keys, both
//            inclusive.
// In-out   parent[n]: the parents of the disjoint sets, read if `contracted`, changed only if paths
//            are halved;
//          reservations[n * RESERVATION_WORDS]: the reservation of each set;
//          counts[round]: the number of edges in the worklist, 0 before the launch;
//          counts[hub_round]: the number of pieces of hubs, 0 before the launch.
// Out      worklist: counts[round] edges;
//          pieces: counts[hub_round] pairs (row, index of the piece in its row).
// Launch   any.
// Needs    capacity for all edges of the filter pass, and for 2 * n_slots / HUB_ROW pieces.
// Ensures  the worklist has, once each, all edges of the filter pass that join two sets, except
//          those in the rows of hubs. The order of edges is arbitrary.
LANES_ATTRIBUTE
kernel void ecl_populate_from_rows(const global uint *indptr, const global uint *indices,
                                   const global weight_t *weights, global uint *parent,
                                   global uint *reservations, global uint *worklist,
                                   global uint2 *pieces, global uint *counts, uint round,
                                   uint hub_round, uint n, uint capacity, uint lightest,
                                   uint heaviest, uint contracted) {
  local uint4 staged_edges[STAGE_CAPACITY];
  local uint staged, base;
  const stage_t stage = {staged_edges, &staged, &base, worklist, capacity, &counts[round]};
  const filter_pass_t filter = {indices,  weights,  parent,    reservations,
                                lightest, heaviest, contracted};
  edge_t edge = {0, 0, 0, 0};
  stage_open(&stage);

#if WG_SIZE == 1
  TILES_FOR(tile, n, TILE_ROWS) {
    const uint last_row = (uint)min(tile + TILE_ROWS, (size_t)n);
    for (uint row = (uint)tile; row < last_row; ++row) {
      const uint begin = indptr[row], end = indptr[row + 1];
      if (begin == end) continue;
      const uint root = filter_find(&filter, row);
      reservation_word_t least = RESERVATION_NONE;
      for (uint slot = begin; slot < end; ++slot) {
        const bool keep = filter_admits(&filter, row, root, slot, &edge, &least);
        stage_push(&stage, edge, keep);
      }
      filter_enter_row(&filter, root, least);
    }
  }
  stage_flush(&stage);
#else
  local uint row_begin[WG_SIZE], row_end[WG_SIZE], row_root[WG_SIZE];
  const uint me = get_local_id(0);
  TILES_FOR(tile, n, TILE_ROWS) {
    const uint row = (uint)tile + me;
    const bool valid = tile + me < n;
    const uint begin = valid ? indptr[row] : 0, end = valid ? indptr[row + 1] : 0;
    const uint root = begin < end ? filter_find(&filter, row) : row, degree = end - begin;
    row_begin[me] = begin;
    row_end[me] = end;
    row_root[me] = root;
    wg_barrier_local();

    // Process the short rows, each by one work-item. All lanes of a group make the same number of
    // steps, because all of them must call stage_push together.
    const bool is_short = !HYBRID_ROWS || degree < SHORT_ROW;
    const uint steps = HYBRID_ROWS ? SHORT_ROW - 1 : degree;
    reservation_word_t least = RESERVATION_NONE;
    for (uint i = 0; i < steps; ++i) {
      const bool keep =
          is_short && i < degree && filter_admits(&filter, row, root, begin + i, &edge, &least);
      stage_push(&stage, edge, keep);
    }
    filter_enter_row(&filter, root, least);

#if HYBRID_ROWS
    if (degree >= HUB_ROW) {
      const uint n_pieces = (degree - 1) / HUB_ROW + 1;
      const uint at = atomic_add(&counts[hub_round], n_pieces);
      for (uint i = 0; i < n_pieces; ++i) pieces[at + i] = (uint2)(row, i);
    }
    // Process the rows of medium length. The lanes of a group process each of these rows together,
    // one row after the other.
    const uint group = LANES_FIRST;
    for (uint k = group; k < group + LANES; ++k) {
      const uint length = row_end[k] - row_begin[k];  // has one value in all lanes
      if (length >= SHORT_ROW && length < HUB_ROW)
        filter_stage_slots(&filter, &stage, (uint)tile + k, row_root[k], row_begin[k], length);
    }
#endif
    stage_flush(&stage);
  }
#endif
}

#if WG_SIZE > 1 && HYBRID_ROWS
// Append the edges in the rows of hubs (vertices with very many edges) to the worklist of a filter
// pass. A filter pass takes the edges in one range of weights that join two sets of vertices. Enter
// each edge in the reservations of both of its sets, by an atomic minimum. A reservation holds the
// lightest edge of a set so far. Each lane group takes one piece of a row at a time.
//
// In       indptr[n + 1], indices[n_slots], weights[n_slots]: the graph as a CSR;
//          pieces: pairs (row, index of the piece in its row) from ecl_populate_from_rows;
//          lightest, heaviest: the range of weights, as the upper 32 bits of weight keys, both
//            inclusive.
// In-out   parent[n]: the parents of the disjoint sets, read if `contracted`, changed only if paths
//            are halved;
//          reservations[n * RESERVATION_WORDS]: the reservation of each set;
//          counts[round]: the number of edges in the worklist;
//          counts[hub_round]: the number of pieces, only read.
// Out      worklist: the edges are appended to it.
// Launch   any.
// Needs    ecl_populate_from_rows of the same filter pass.
// Ensures  every edge of the filter pass that joins two sets is now in the worklist once, in any
//          order.
LANES_ATTRIBUTE
kernel void ecl_populate_from_hubs(const global uint *indptr, const global uint *indices,
                                   const global weight_t *weights, global uint *parent,
                                   global uint *reservations, global uint *worklist,
                                   const global uint2 *pieces, global uint *counts, uint round,
                                   uint hub_round, uint capacity, uint lightest, uint heaviest,
                                   uint contracted) {
  local uint4 staged_edges[STAGE_CAPACITY];
  local uint staged, base;
  const stage_t stage = {staged_edges, &staged, &base, worklist, capacity, &counts[round]};
  const filter_pass_t filter = {indices,  weights,  parent,    reservations,
                                lightest, heaviest, contracted};
  const uint n_pieces = counts[hub_round];
  const uint group = get_local_id(0) / LANES;
  stage_open(&stage);
  TILES_FOR(tile, n_pieces, WG_LANE_GROUPS) {
    if (tile + group < n_pieces) {  // has one value in all lanes
      const uint2 piece = pieces[tile + group];
      const uint first = indptr[piece.x] + piece.y * HUB_ROW;
      const uint length = min(indptr[piece.x + 1] - first, (uint)HUB_ROW);
      const uint root = filter_find(&filter, piece.x);
      filter_stage_slots(&filter, &stage, piece.x, root, first, length);
    }
    stage_flush(&stage);
  }
}
#endif
