// Dense Borůvka: minimum spanning forests of graphs in which nearly all pairs of vertices are
// edges.
//
// Source: Ma and Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning Tree
// Computation", section 3.1.2 (CU). CU keeps an adjacency matrix on the device. In each round it
// reads the whole matrix, where the lanes (work-items) of a group read each row together. It finds
// the lightest edge of each component, merges components, and gives vertices the labels of their
// new components.
//
// Here every row is cut into blocks, and the first round records the lightest cell of each block (a
// tournament). A block is stale once its recorded cell lies within a component. Merging components
// only makes fewer cells leave a component, so the recorded weight of a stale block is a lower
// bound. A later round reads a stale block again only if, by this bound, the block may still have
// the lightest edge of its component. So most of the matrix is read once. CU's method, which reads
// all blocks in every round, is kept for comparison. Hooking needs no compare-and-swap, because
// each component is hooked by one work-item.
//
//              block 0    block 1    block 2         entries of row u after the first round:
//     row u    7 3 9 5    8 6 6 4    2 9 9 8         (3, column 1)  (4, column 7)  (2, column 8)
//
// If column 8 joins u's component, block 2 is stale, with the lower bound 2. If the lightest edge
// of the component found so far has weight 2 or less by then, no cell of the block can be lighter,
// and the block is not read.
#include "algorithms/dense/steps.cl"

// Begin a solve: make every vertex a component, clear the reservation of each component (the words
// of its lightest edge so far), and clear the forest.
//
// Out      component[n]: the root of each vertex; winners[n * words]: the reservations, up to 4
//          words for each component; edges[n]: the forest, one edge at each root that is hooked;
//          state[n_state]: counters.
// Launch   any.
// Needs    no_edge is a value that does not stand for an edge.
// Ensures  component[u] = u; all reservations are all ones; edges[u] = no_edge; state[i] = 0.
kernel void dense_begin(global uint *component, volatile global uint *winners, global ulong *edges,
                        global uint *state, uint n, uint short_ids, ulong no_edge, uint n_state) {
  grid_dense_begin(component, winners, edges, state, n, short_ids, no_edge, n_state);
}

// Find the lightest cell of every block of some rows of the matrix. A block is a range of `width`
// cells of one row, which are the weights of edges of one vertex. The diagonal is left out.
//
// In       cells: the n weights of each of n_rows rows from first_row on, or for points all
//          coordinates.
// Out      keys[n * n_blocks], columns[n * n_blocks]: the entry of each block in these rows, which
//          is the key and the column of its lightest cell.
// Launch   any; a lane group (lanes that work together) takes a block of `width` cells.
// Needs    n_rows * n_blocks < 2**32.
// Ensures  the entry of a block is the minimum (key, column) of its cells. The column is NO_VERTEX
//          if the block has no edges.
LANES_ATTRIBUTE
kernel void dense_scan_blocks(const global cell_t *cells, global dense_key_t *keys,
                              global uint *columns, uint first_row, uint n_rows, uint n,
                              uint dimensions, uint width, uint n_blocks) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  grid_dense_scan_blocks(cells, keys, columns, first_row, n_rows, n, dimensions, width, n_blocks,
                         lane_keys, lane_columns);
}

// Begin the search for the lightest edge of each component. Each row has recorded the lightest cell
// of each of its blocks. Among the cells of a row that lead to another component, enter the
// lightest one in the reservation of the row's component, which holds the component's lightest edge
// so far. This pass compares only the first one or two 32-bit words of an edge. Later passes
// (dense_reserve_word) find the other words.
//
// In       keys[n * n_blocks], columns[n * n_blocks]: the key and the column of each block's
//          recorded cell;
//          component[n]: the root of each vertex.
// In-out   winners[n * words]: the reservations (winners.cl), reset before.
// Launch   any.
// Needs    component[u] is the root of u.
// Ensures  the first words of a component's reservation are the minimum of the first words of its
//          recorded cells that leave the component.
kernel void dense_bound_rows(const global dense_key_t *keys, const global uint *columns,
                             const global uint *component, volatile global uint *winners, uint n,
                             uint n_blocks, uint short_ids) {
  grid_dense_bound_rows(keys, columns, component, winners, n, n_blocks, short_ids);
}

// List the blocks of the matrix that have to be read again in this round. A block is listed if two
// things are true. Its recorded lightest cell now lies within a component, and this cell is not
// heavier than the lightest edge of the component found so far. So the block may still have a
// lighter edge.
//
// In       keys[n * n_blocks], columns[n * n_blocks]: the key and the column of each block's
//          recorded lightest cell; component[n]: the root of each vertex; winners[n * words]: the
//          reservations (winners.cl), which hold the lightest edge of each component so far.
// Out      list[n * n_blocks]: vertex * n_blocks + block for each listed block. The order does not
//          affect any result.
// In-out   state[count]: the length of the list; 0 before.
// Launch   any.
// Needs    dense_bound_rows.
// Ensures  every block is listed whose recorded column is in the component of its row, and whose
//          recorded key is at most the component's winner_bound.
kernel void dense_list_blocks(const global dense_key_t *keys, const global uint *columns,
                              const global uint *component, const volatile global uint *winners,
                              global uint *list, volatile global uint *state, uint count, uint n,
                              uint n_blocks) {
  grid_dense_list_blocks(keys, columns, component, winners, list, state, count, n, n_blocks);
}

// List all blocks of the matrix (ranges of cells of one row) to be read again, as the paper's
// method CU does in every round. The list does not depend on earlier rounds.
//
// Out      list[n_tasks]: the blocks; state[count]: the length of the list.
// Launch   any.
// Needs    list has a capacity of n_tasks.
// Ensures  list[i] = i.
kernel void dense_list_all_blocks(global uint *list, global uint *state, uint count, uint n_tasks) {
  GRID_FOR(i, n_tasks) list[i] = (uint)i;
  if (get_global_id(0) == 0) state[count] = n_tasks;
}

// Read the listed blocks, which are ranges of cells of one row, again. In each block, find the
// lightest cell that leaves the component of its row, and enter it in the component's reservation,
// which holds the component's lightest edge so far.
//
// In       cells: the n_rows rows from first_row on; list, state[count]: the blocks and their
//          number; component[n]: the root of each vertex.
// In-out   keys, columns: the entries of listed blocks, which are their lightest cells, each
//          written by one lane group; winners[n * words]: the reservations (winners.cl).
// Launch   any; a lane group (lanes that work together) takes a block. Launched once for each
//          panel, which is a range of rows that one buffer holds.
// Needs    dense_list_blocks or dense_list_all_blocks.
// Ensures  the entries of listed blocks in these rows are not stale: their columns are in other
//          components.
LANES_ATTRIBUTE
kernel void dense_rescan_blocks(const global cell_t *cells, global dense_key_t *keys,
                                global uint *columns, const global uint *component,
                                volatile global uint *winners, const global uint *list,
                                const global uint *state, uint count, uint first_row, uint n_rows,
                                uint n, uint dimensions, uint width, uint n_blocks,
                                uint short_ids) {
  local dense_key_t lane_keys[WG_SIZE];
  local uint lane_columns[WG_SIZE];
  grid_dense_rescan_blocks(cells, keys, columns, component, winners, list, state, count, first_row,
                           n_rows, n, dimensions, width, n_blocks, short_ids, lane_keys,
                           lane_columns);
}

// Find one more word of the lightest edge of each component. A reservation holds the words of a
// component's lightest edge, and each pass finds one of them. Among the recorded cells of the
// component (the lightest of each block), this pass looks at those that agree with the words found
// so far, and stores the minimum of their next words.
//
// In       keys, columns: [n * n_blocks], the key and the column of each block's recorded cell;
//          component[n]: the root of each vertex.
// In-out   winners[n * words]: the reservations (winners.cl).
// Launch   any; once for each later word, in order.
// Needs    every recorded cell that may be the lightest edge of a component leaves the component;
//          the passes for all earlier words are complete.
// Ensures  word number `word` of each reservation is that minimum.
kernel void dense_reserve_word(const global dense_key_t *keys, const global uint *columns,
                               const global uint *component, volatile global uint *winners, uint n,
                               uint n_blocks, uint short_ids, uint word) {
  grid_dense_reserve_word(keys, columns, component, winners, n, n_blocks, short_ids, word);
}

// Hook every component to the component at the other end of its winner, which is its lightest edge,
// and put the winner into the forest. If two components have the same winner, the one whose root
// has the lower number stays a root. Winners get lighter along a path of hooks, so a cycle can only
// consist of two components with the same winner. A root is hooked at most once in a solve, so its
// winner is stored in `edges` at the root's index.
//
// In       winners[n * words]: the winner of each component (winners.cl); component[n]: the root of
//          each vertex.
// Out      parents[n]: the root that the component is hooked to; roots point to themselves.
// In-out   edges[n]: the forest, in which the winner's ends, lesser << bits | greater, are stored
//          at each root that is hooked; state[count]: the number of components hooked in this
//          round, 0 before; state[0]: the number hooked in all rounds so far.
// Launch   any.
// Needs    all words of the winners are found.
// Ensures  every component with a winner is hooked. If two components have the same winner, one of
//          them stays a root.
kernel void dense_hook_components(const volatile global uint *winners, const global uint *component,
                                  global uint *parents, global ulong *edges,
                                  volatile global uint *state, uint count, uint n, uint short_ids,
                                  uint bits) {
  const uint n_hooked = grid_dense_hook_components(winners, component, parents, edges, state, count,
                                                   n, short_ids, bits);
  if (n_hooked > 0) atomic_add(state, n_hooked);
}

// Pointer jumping after components were hooked: let every vertex point to its root, if DENSE_JUMPS
// jumps along parents lead there. Otherwise let it point to the vertex that these jumps reach, so
// that a jump of the next launch is DENSE_JUMPS times as long. Other work-items read and store
// parents at the same time. A parent that is read is the old or the new one, and both lead to the
// same root. Also reset the reservations, in which the next round finds the lightest edge of each
// component.
//
// In-out   parents[n]: the vertex to which each vertex points; state[count]: the number of vertices
//          that do not point to their root yet, 0 before.
// Out      winners[n * words]: the reservations.
// Launch   any; repeated until state[count] stays 0.
// Needs    the parents form trees, whose roots point to themselves.
// Ensures  no vertex gets a different root; all reservations are all ones.
kernel void dense_jump_pointers(volatile global uint *parents, volatile global uint *winners,
                                volatile global uint *state, uint count, uint n, uint short_ids) {
  grid_dense_jump_pointers(parents, winners, state, count, n, short_ids);
}
