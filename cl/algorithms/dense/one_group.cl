// dense for few vertices: one work-group does whole rounds of Borůvka's algorithm in one launch.
// For very few vertices, one launch does all rounds. Otherwise each launch does one round, and
// between the rounds another kernel, which runs in many work-groups, reads blocks of the matrix
// again.
#include "algorithms/dense/steps.cl"

// Pointers to the arrays in `scratch`, which is the memory that all launches of a solve share. The
// contents of these arrays are described at dense_one_group_solve.
typedef struct {
  volatile global uint *winners;
  global dense_key_t *keys;
  global uint *columns, *list, *components;
} group_t;

static inline void group_open(group_t *group, global ulong *scratch, uint n, uint n_blocks) {
  const size_t n_entries = (size_t)n * n_blocks;
  group->winners = (volatile global uint *)scratch;
  group->keys = (global dense_key_t *)(scratch + 2 * (size_t)n);
  group->columns = (global uint *)(group->keys + n_entries);
  group->list = group->columns + n_entries;
  group->components = group->list + n_entries;
}

// Return the array that has the root of each vertex at the beginning of a round. Two arrays
// alternate: the parents that a round writes are the components of the next round. An index selects
// the array, because exchanging pointers fails on a driver (quirk: intel-swapped-pointers).
static inline global uint *group_components(const group_t *group, uint n, uint round) {
  return group->components + round % 2 * (size_t)n;
}

// Find the lightest cell of every block, before the first round. A block is a range of `width`
// cells of one row of the matrix.
//
// In       cells: all rows of weights, or for points all coordinates.
// Temp     scratch: the memory of dense_one_group_solve, which gets the key and the column of each
//          block's lightest cell.
// Launch   any; a lane group (lanes that work together) takes a block.
// Needs    n * n_blocks < 2**32.
// Ensures  scratch has the lightest cells of all blocks.
LANES_ATTRIBUTE
kernel void dense_one_group_scan(const global cell_t *cells, global ulong *scratch, uint n,
                                 uint dimensions, uint width, uint n_blocks) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  group_t group;
  group_open(&group, scratch, n, n_blocks);
  grid_dense_scan_blocks(cells, group.keys, group.columns, 0, n, n, dimensions, width, n_blocks,
                         lane_keys, lane_columns);
}

// Read the listed blocks again, each a range of cells of one row. In each block, find the lightest
// cell that leaves the component of the block's row. Enter this cell in the component's
// reservation, which holds the component's lightest edge so far.
//
// In       cells: all rows of weights, or for points all coordinates; result: for each round, the
//          number of listed blocks.
// Temp     scratch: the memory of dense_one_group_solve, with the list of blocks, their lightest
//          cells and the reservations.
// Launch   any; a lane group (lanes that work together) takes a block.
// Needs    dense_one_group_solve has done all rounds before `round`.
// Ensures  the lightest cells of listed blocks lead to other components.
LANES_ATTRIBUTE
kernel void dense_one_group_rescan(const global cell_t *cells, global ulong *scratch,
                                   const global ulong *result, uint n, uint dimensions, uint width,
                                   uint n_blocks, uint short_ids, uint round) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  group_t group;
  group_open(&group, scratch, n, n_blocks);
  grid_dense_rescan_blocks(cells, group.keys, group.columns, group_components(&group, n, round),
                           group.winners, group.list, (const global uint *)(result + n), 2 * round,
                           0, n, n, dimensions, width, n_blocks, short_ids, lane_keys,
                           lane_columns);
}

// Do the rounds [round, end) of Borůvka's algorithm: find the lightest edge of each component, hook
// components by these edges, and find the new roots. At its end, each round also begins the next
// one: it enters the recorded lightest cells in the reservations, and lists the blocks that have to
// be read again. If a round hooks no component, or leaves only one, further rounds do nothing. A
// barrier lies between a store of a work-item and the reads of other work-items.
//
// In       cells: all rows of weights, or for points all coordinates; `apart`: 1 if
//          dense_one_group_rescan has read the blocks listed for `round`, which is then the only
//          round.
// Temp     scratch[3 n + 2 * n * n_blocks]: the lightest cells of all blocks, from
//          dense_one_group_scan; the lightest edge of each component; the root of each vertex; and
//          a list of blocks.
// In-out   result: n edges of the forest, lesser << bits | greater, each at the root that was
//          hooked, or no_edge. Then two 32-bit words per round: the number of blocks that were read
//          again, and the number of components that were hooked. Then two words that serve as
//          counters during the launch. Then, for points with core distances, the weights of the n
//          edges.
// Launch   one work-group; again with the next round, until no more components are hooked.
// Needs    no_edge is a value that does not stand for an edge. `most_rounds`, the number of rounds
//          for which `result` has words, is at least `end`.
// Ensures  the edges of all rounds so far are in result. The words of rounds that did not take
//          place are 0.
LANES_ATTRIBUTE
kernel void dense_one_group_solve(const global cell_t *cells, global ulong *scratch,
                                  global ulong *result, uint n, uint dimensions, uint width,
                                  uint n_blocks, uint short_ids, uint bits, ulong no_edge,
                                  uint most_rounds, uint round, uint end, uint apart) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  group_t group;
  group_open(&group, scratch, n, n_blocks);
  global uint *state = (global uint *)(result + n);
  const volatile global uint *counts = state;
  const uint n_words = KEY_WORDS + (short_ids ? 1 : 2), pass_words = ATOMIC64 ? 2 : 1;
  // Two further words of the result serve as counters here. `pending` counts the vertices that have
  // not reached their root. It is not read, because enough jumps are made for all of them. `none`
  // stays 0 and serves as the length of an empty list.
  const uint pending = 2 * most_rounds, none = pending + 1;
  const uint n_begun = round == 0 ? n : 0;
  grid_dense_begin(group.components, group.winners, result, state, n_begun, short_ids, no_edge,
                   round == 0 ? none + 1 : 0);
  wg_barrier();
  grid_dense_bound_rows(group.keys, group.columns, group.components, group.winners, n_begun,
                        n_blocks, short_ids);
  wg_barrier();
  uint n_left = n;
  for (uint before = 0; before < round; ++before)
    n_left = counts[2 * before + 1] ? n_left - counts[2 * before + 1] : 0;
  for (; round < end && n_left > 1; ++round) {
    global uint *component = group_components(&group, n, round);
    global uint *parents = group_components(&group, n, round + 1);
    grid_dense_rescan_blocks(cells, group.keys, group.columns, component, group.winners, group.list,
                             state, apart ? none : 2 * round, 0, n, n, dimensions, width, n_blocks,
                             short_ids, lane_keys, lane_columns);
    wg_barrier();
    for (uint word = pass_words; word < n_words; word += pass_words) {
      grid_dense_reserve_word(group.keys, group.columns, component, group.winners, n, n_blocks,
                              short_ids, word);
      wg_barrier();
    }
    grid_dense_hook_components(group.winners, component, parents, result, state, 2 * round + 1, n,
                               short_ids, bits);
    wg_barrier();
    n_left = counts[2 * round + 1] ? n_left - counts[2 * round + 1] : 0;
    for (uint reached = 1; reached < n; reached *= DENSE_JUMPS) {
      grid_dense_jump_pointers(parents, group.winners, state, pending, n, short_ids);
      wg_barrier();
    }
    const uint n_next = n_left > 1 && round + 1 < most_rounds ? n : 0;
    grid_dense_bound_rows(group.keys, group.columns, parents, group.winners, n_next, n_blocks,
                          short_ids);
    wg_barrier();
    grid_dense_list_blocks(group.keys, group.columns, parents, group.winners, group.list, state,
                           2 * round + 2, n_next, n_blocks);
    wg_barrier();
  }
#if CORE_DISTANCES
  GRID_FOR(u, n) {
    if (result[u] == no_edge) continue;
    point_t point;
    point_open(&point, cells, n, (uint)(result[u] >> bits), dimensions);
    const real measure = distance_measure(&point, (uint)(result[u] & ((1ul << bits) - 1)));
    result[n + most_rounds + 1 + u] = real_bits(measure);
  }
#endif
}
