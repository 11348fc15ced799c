// Update the minimum spanning forest of a graph whose edges come and go. After a change, the
// kernels list the edges that may enter or leave the forest because of the change, and solve only
// these. Edges are stored in the arrays u, v, weights and flags. A row is an index of these arrays,
// and stands for an edge (state.cl).
//
// Source: the cut property and the cycle property (Tarjan 1983). The clusters that the rounds of
// Borůvka's algorithm have made are kept from change to change. They take the place of the
// rake-and-compress trees of Acar, Anderson, Blelloch and Dhulipala, "Parallel Batch-Dynamic Trees
// via Change Propagation", ESA 2020.
#include "algorithms/changes/state.cl"

// -------------------------------------------------------------------------------- rows

// Store the edges that the host has changed. A row is the index of an edge in the arrays. List the
// rows with the flag ROW_FRESH, which are new or lighter edges. Dissolve all clusters that contain
// an end of a row with the flag ROW_MARKED, because the edges that were chosen in these clusters
// may be wrong now.
//
// In       words[(WEIGHT_BITS == 64 ? 6 : 5) * k]: the numbers of k rows, then their lesser ends,
//          their greater ends, their flags, the lower words of their weights, and, for 64 bits, the
//          upper words.
// In-out   nodes[n]: the clusters (state.cl), some of which are dissolved;
//          count: the number of listed rows, 0 before.
// Out      u, v, weights, flags: the ends, the weights and the flags, at the indices of these rows;
//          rows: the rows with the flag ROW_FRESH, in any order.
// Launch   any. O(k + the number of dissolved clusters). A work-item stops at a cluster that is
//          already dissolved, because the work-item that dissolved it goes on from there.
// Needs    the rows are distinct.
// Ensures  every cluster of two or more vertices that contains an end of a marked edge is
//          dissolved.
LANES_ATTRIBUTE
kernel void changes_store(const global uint *words, global uint *u, global uint *v,
                          global weight_t *weights, global uchar *flags, global node_t *nodes,
                          global uint *rows, volatile global uint *count, uint k) {
  const size_t size = k;
  WG_FOR(first, k) {
    const size_t i = first + get_local_id(0);
    uint row = 0, flag = 0;
    if (i < k) {
      row = words[i];
      flag = words[3 * size + i];
      u[row] = words[size + i];
      v[row] = words[2 * size + i];
      flags[row] = (uchar)(flag & ~ROW_MARKED);
#if WEIGHT_BITS == 64
      weights[row] = (ulong)words[5 * size + i] << 32 | words[4 * size + i];
#else
      weights[row] = (weight_t)words[4 * size + i];
#endif
      if (flag & ROW_MARKED) {
        wi_dissolve(nodes, words[size + i]);
        wi_dissolve(nodes, words[2 * size + i]);
      }
    }
    const uint at = lanes_claim_global(count, flag & ROW_FRESH);
    if (flag & ROW_FRESH) rows[at] = row;
  }
}

// List the edges that are in the forest, by their rows (indices in the arrays of edges).
//
// In       flags[m]: the flags of each row.
// In-out   count: the number of listed rows so far.
// Out      rows: the rows in the forest, in any order.
// Launch   any.
// Needs    rows has space for all rows of the forest.
// Ensures  what the fields above say.
LANES_ATTRIBUTE
kernel void changes_list_forest(const global uchar *flags, global uint *rows,
                                volatile global uint *count, uint m) {
  WG_FOR(first, m) {
    const size_t row = first + get_local_id(0);
    const bool keep = row < m && (flags[row] & ROW_FOREST);
    const uint at = lanes_claim_global(count, keep);
    if (keep) rows[at] = (uint)row;
  }
}

// ---------------------------------------------------------------------------- clusters

// Make every vertex a cluster of its own, before the forest is contracted from the beginning.
//
// Out      nodes[n]: the clusters (state.cl); sets[n]: the parent pointers of disjoint sets of
//          vertices.
// Launch   any.
// Needs    nothing.
// Ensures  every vertex is its own top (the root of its greatest cluster), and a set of its own.
kernel void changes_part(global node_t *nodes, global uint *sets, uint n) {
  GRID_FOR(x, n) {
    nodes[x].parent = sets[x] = (uint)x;
    nodes[x].level = nodes[x].dissolved = NO_LEVEL;
  }
}

// List the open edges of the forest, by their rows. These are the edges by which clusters were
// joined to greater clusters that the change has dissolved.
//
// In       nodes[n]: the clusters (state.cl).
// In-out   count: the number of listed rows so far.
// Out      rows: the rows of the open edges, in any order;
//          pieces[n], unless it is null: for each vertex, the next vertex on its path to its top
//          (the root of its greatest cluster that is not dissolved), or the vertex itself if it is
//          a top.
// Launch   any.
// Needs    changes_store.
// Ensures  what the fields above say.
LANES_ATTRIBUTE
kernel void changes_list_open(const global node_t *nodes, global uint *rows,
                              volatile global uint *count, global uint *pieces, uint n) {
  WG_FOR(first, n) {
    const size_t x = first + get_local_id(0);
    bool keep = false;
    uint row = NO_ROW;
    if (x < n) {
      const node_t node = nodes[x];
      bool is_within = false;
      if (node.level != NO_LEVEL) {
        const node_t above = nodes[node.parent];
        keep = above.dissolved <= node.level;
        is_within = node_is_within(node, above);
        row = node.chosen;
      }
      if (pieces) pieces[x] = is_within ? node.parent : (uint)x;
    }
    const uint at = lanes_claim_global(count, keep);
    if (keep) rows[at] = row;
  }
}

// For each listed edge, find the tops of its two ends. The top of a vertex is the root of its
// greatest cluster that is not dissolved.
//
// In       rows[end]: the rows of edges; u, v: the ends of all edges, by row; nodes[n]: the
//          clusters (state.cl).
// Out      list[first .. end - 1]: (top of u, top of v, row, 0) of each edge.
// Launch   any.
// Needs    nothing.
// Ensures  what the fields above say.
kernel void changes_enter(const global uint *rows, const global uint *u, const global uint *v,
                          const global node_t *nodes, global uint4 *list, uint first, uint end) {
  GRID_FOR(i, end - first) {
    const uint row = rows[first + i];
    list[first + i] = (uint4)(wi_top(nodes, u[row]), wi_top(nodes, v[row]), row, 0);
  }
}

// Prepare the ends of the listed edges for the rounds of a contraction. These ends are tops (roots
// of greatest clusters). Each becomes a cluster that is neither merged into another one nor
// dissolved.
//
// In       list[first .. end - 1]: edges as (top, top, row, 0).
// Out      nodes, sets: the node (state.cl) of each of these ends, and its parent pointer in the
//          disjoint sets;
//          even, odd: the edge that each of these ends chooses in rounds of even and of odd number;
//          sizes[MOST_SIZES]: the number of listed edges in each round, which is `end` in the first
//          round and 0 in all others.
// Launch   any. Ends of several edges are written several times, always with the same values.
// Needs    changes_enter of these edges is complete.
// Ensures  each end is a top and a set of its own, and has chosen no edge.
kernel void changes_begin(const global uint4 *list, global node_t *nodes, global uint *sets,
                          global uint *even, global uint *odd, global uint *sizes, uint first,
                          uint end) {
  GRID_FOR(r, MOST_SIZES) sizes[r] = r == 0 ? end : 0;
  GRID_FOR(i, 2 * (size_t)(end - first)) {
    const uint4 edge = list[first + i / 2];
    const uint x = i % 2 ? edge.y : edge.x;
    nodes[x].level = nodes[x].dissolved = NO_LEVEL;
    sets[x] = x;
    even[x] = odd[x] = NO_ROW;
  }
}

// ------------------------------------------------------------------------------ pieces

// Unite the sets of tops (roots of greatest clusters) that are connected by edges which stay in the
// forest. The resulting sets are the pieces into which the loss of edges has broken the forest.
//
// In       list[k]: edges as (top, top, row, 0); flags: the flags of each row.
// In-out   sets[n]: the parent pointers of disjoint sets of tops.
// Launch   any.
// Needs    changes_begin of all k edges.
// Ensures  two tops are in one set if edges that stay in the forest connect them.
kernel void changes_join_kept(const global uint4 *list, const global uchar *flags,
                              volatile global uint *sets, uint k) {
  GRID_FOR(i, k) {
    const uint4 edge = list[i];
    if (flags[edge.z] & ROW_FOREST)
      wi_unite(sets, wi_find_halving(sets, edge.x), wi_find_halving(sets, edge.y));
  }
}

// Find the piece of every vertex. A piece is a set of vertices that are connected by edges which
// stay in the forest. Its number is the root of the disjoint set that contains its tops (roots of
// greatest clusters).
//
// In       sets[n]: disjoint sets of tops.
// In-out   pieces[n]: before the launch, for each vertex the next vertex on its path to its top, or
//          the vertex itself if it is a top; afterwards the piece of the vertex. Entries may be
//          replaced while others are read. This does no harm: a replaced entry only shortens the
//          path.
// Launch   any.
// Needs    changes_list_open, changes_join_kept.
// Ensures  vertices have the same piece if edges that stay in the forest connect them.
kernel void changes_find_pieces(const global uint *sets, volatile global uint *pieces, uint n) {
  GRID_FOR(x, n) pieces[x] = wi_find(sets, wi_find_racing(pieces, (uint)x));
}

// For each piece of the broken forest, find the lightest edge that leads to another piece, among
// all edges of at most a given weight.
//
// In       u, v, weights, flags: all m edges, by row;
//          pieces[n]: the piece of each vertex;
//          sets[n]: the parent pointers of disjoint sets of pieces;
//          most: the maximum weight key of an edge that may be chosen;
//          capacity: the number of rows for which `crossing` has space.
// In-out   choices[n]: at the root of each set, the row of its lightest edge so far, NO_ROW before;
//          n_crossing: the number of edges between two sets that have been found so far.
// Out      crossing[capacity]: the rows of the edges between two sets. Rows that do not fit are
//          left out.
// Launch   any. O(m). The ends of an edge are read only if it is outside the forest and light
//          enough.
// Needs    edges that must not be chosen have one of the flags ROW_FOREST, ROW_FRESH and ROW_TAKEN,
//          or are not present. Only edges with the single flag ROW_PRESENT are considered.
// Ensures  `choices` has, at the root of each set, the lightest edge that leaves the set, if its
//          key is at most `most`.
LANES_ATTRIBUTE
kernel void changes_choose_rows(const global uint *u, const global uint *v,
                                const global weight_t *weights, const global uchar *flags,
                                const global uint *pieces, const global uint *sets,
                                global uint *choices, global uint *crossing,
                                volatile global uint *n_crossing, ulong most, uint capacity,
                                uint m) {
  WG_FOR(first, m) {
    const size_t row = first + get_local_id(0);
    bool crosses = row < m && flags[row] == ROW_PRESENT;
    if (crosses && most < WEIGHT_MOST) crosses = weight_key(weights[row]) <= (weight_t)most;
    if (crosses) crosses = wi_choose_row(u, v, weights, pieces, sets, choices, (uint)row);
    if (crossing) {
      const uint at = lanes_claim_global(n_crossing, crosses);
      if (crosses && at < capacity) crossing[at] = (uint)row;
    }
  }
}

// For each piece of the broken forest, find the lightest edge that leads to another piece, among
// the edges that changes_choose_rows has listed.
//
// In       u, v, weights: the ends and weights of all edges, by row;
//          pieces[n]: the piece of each vertex;
//          sets[n]: the parent pointers of disjoint sets of pieces;
//          crossing[k]: the rows of the listed edges.
// In-out   choices[n]: at the root of each set, the row of its lightest edge so far, NO_ROW before.
// Launch   any. O(k).
// Needs    changes_choose_rows has listed all edges between two sets.
// Ensures  `choices` has, at the root of each set, the lightest edge that leaves the set.
kernel void changes_choose_listed(const global uint *u, const global uint *v,
                                  const global weight_t *weights, const global uint *pieces,
                                  const global uint *sets, global uint *choices,
                                  const global uint *crossing, uint k) {
  GRID_FOR(i, k) wi_choose_row(u, v, weights, pieces, sets, choices, crossing[i]);
}

// Join each piece of the broken forest to another piece by its lightest edge, and list these edges.
//
// In       list[k]: edges as (top, top, row, 0), where tops are roots of clusters. The roots of all
//          pieces are among these tops.
//          choices[n]: at the root of each piece, the row of the lightest edge that leaves the
//          piece;
//          u, v: the ends of all edges, by row;
//          pieces[n]: the piece of each vertex.
// In-out   sets[n]: the parent pointers of disjoint sets of pieces;
//          count: the number of listed rows so far.
// Out      rows: the chosen rows, appended to the `count` rows that were listed before.
// Launch   any.
// Needs    changes_choose_rows.
// Ensures  an edge that two pieces have chosen is listed once, because only one union of their sets
//          succeeds. Chosen edges do not close a cycle, because no two edges are equal in the order
//          of edges.
LANES_ATTRIBUTE
kernel void changes_join_pieces(const global uint4 *list, const global uint *choices,
                                const global uint *u, const global uint *v,
                                const global uint *pieces, volatile global uint *sets,
                                global uint *rows, volatile global uint *count, uint k) {
  WG_FOR(first, 2 * (size_t)k) {
    const size_t i = first + get_local_id(0);
    bool keep = false;
    uint row = NO_ROW;
    if (i < 2 * (size_t)k) {
      const uint4 edge = list[i / 2];
      row = choices[i % 2 ? edge.y : edge.x];
      if (row != NO_ROW) {
        const uint a = wi_find_racing(sets, pieces[u[row]]);
        const uint b = wi_find_racing(sets, pieces[v[row]]);
        keep = wi_unite(sets, a, b);
      }
    }
    const uint at = lanes_claim_global(count, keep);
    if (keep) rows[at] = row;
  }
}

// Clear the edges that the pieces of the broken forest have chosen, before the next round of
// choices.
//
// In       list[k]: edges as (top, top, row, 0). The roots of all pieces are among these tops.
// Out      choices: at each of these tops, the row of the edge that it has chosen.
// Launch   any.
// Needs    changes_join_pieces.
// Ensures  `choices` is NO_ROW at the tops of the list.
kernel void changes_forget(const global uint4 *list, global uint *choices, uint k) {
  GRID_FOR(i, 2 * (size_t)k) {
    const uint4 edge = list[i / 2];
    choices[i % 2 ? edge.y : edge.x] = NO_ROW;
  }
}

// Drop from a list the edges that are neither in the forest nor fresh (new, or lighter than
// before). The change has removed these edges.
//
// In       flags: the flags of each row.
// In-out   list[k]: edges as (top, top, row, 0); rows[k]: the row of each edge.
// Launch   any.
// Needs    nothing.
// Ensures  a dropped edge has equal ends in `list`, and NO_ROW in `rows`.
kernel void changes_drop_lost(const global uchar *flags, global uint4 *list, global uint *rows,
                              uint k) {
  GRID_FOR(i, k) {
    if (flags[list[i].z] & (ROW_FOREST | ROW_FRESH)) continue;
    list[i].y = list[i].x;
    rows[i] = NO_ROW;
  }
}

// ---------------------------------------------------------------------------- forest

// Decide about the listed edges. An edge that a cluster has chosen (ROW_TAKEN) is in the forest
// from now on, and any other listed edge is not. List the edges that enter or leave the forest.
//
// In       rows[k]: the rows of the listed edges, or NO_ROW for edges that were dropped.
// In-out   flags: the flags of each row;
//          changed[0]: the number of edges that enter or leave the forest, 0 before.
// Out      changed[1 ...]: the rows of these edges, in any order.
// Launch   any.
// Needs    all rounds are complete. A row is listed once.
// Ensures  ROW_FRESH and ROW_TAKEN are not set in the flags of the listed rows.
LANES_ATTRIBUTE
kernel void changes_settle(const global uint *rows, global uchar *flags,
                           volatile global uint *changed, uint k) {
  WG_FOR(first, k) {
    const size_t i = first + get_local_id(0);
    const uint row = i < k ? rows[i] : NO_ROW;
    bool differs = false;
    if (row != NO_ROW) {
      const uchar before = flags[row];
      const bool was = before & ROW_FOREST, is_now = before & ROW_TAKEN;
      flags[row] = (uchar)(ROW_PRESENT | (is_now ? ROW_FOREST : 0));
      differs = was != is_now;
    }
    const uint at = lanes_claim_global(changed, differs);
    if (differs) changed[at + 1] = row;
  }
}
