// A forest whose edges come and go: the edges that a change leaves open are listed, and contracted.
//
// Source: the cut property and the cycle property (Tarjan 1983). Clusters of Borůvka's rounds that
// are kept from change to change serve as the rake-and-compress trees of Acar, Anderson, Blelloch
// and Dhulipala, "Parallel Batch-Dynamic Trees via Change Propagation", ESA 2020.
#include "algorithms/changes/state.cl"

// -------------------------------------------------------------------------------- rows

// Store rows that have changed on the host, list those that are fresh, and dissolve all clusters
// that contain an end of a marked one.
//
// In       words[(WEIGHT_BITS == 64 ? 6 : 5) * k]: for each of k rows its number; then for each its
//          lesser end, its greater end, its flags, and its weight, whose upper words come last.
// In-out   nodes[n]: the clusters, some of which are dissolved; count: the number of listed rows, 0
//          before.
// Out      u, v, weights, flags: the columns, at these rows; rows: the rows with the flag
//          ROW_FRESH, in any order.
// Launch   any. O(k) and the heights of the dissolved clusters.
// Needs    the rows are distinct.
// Ensures  no cluster of two or more vertices that contains an end of a marked edge is a top. A
//          work-item stops at a cluster that is dissolved already: the work-item that dissolved it
//          goes on from there.
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

// List the rows of the forest.
//
// In       flags[m]: the flags of each row.
// In-out   count: the number of listed rows.
// Out      rows: the rows, in any order.
// Launch   any.
// Needs    rows has space for all rows of the forest.
// Ensures  nothing more.
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

// Make every vertex a cluster of its own.
//
// Out      nodes[n]: the clusters; sets[n]: disjoint sets of vertices.
// Launch   any.
// Needs    nothing.
// Ensures  every vertex is its own top, and a set of its own.
kernel void changes_part(global node_t *nodes, global uint *sets, uint n) {
  GRID_FOR(x, n) {
    nodes[x].parent = sets[x] = (uint)x;
    nodes[x].level = nodes[x].dissolved = NO_LEVEL;
  }
}

// List the open edges of the forest, which are the chosen edges of dissolved clusters.
//
// In       nodes[n]: the clusters.
// In-out   count: the number of listed rows.
// Out      rows: the rows of the edges, in any order; pieces[n], unless it is null: for each vertex
//          one that is nearer to its top, or the vertex itself if it is a top.
// Launch   any.
// Needs    changes_store.
// Ensures  nothing more.
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

// Find the tops of both ends of listed edges.
//
// In       rows[end]: the rows of edges; u, v: their ends; nodes[n]: the clusters.
// Out      list[first .. end - 1]: (top of u, top of v, row, 0) of each edge.
// Launch   any.
// Needs    nothing.
// Ensures  nothing more.
kernel void changes_enter(const global uint *rows, const global uint *u, const global uint *v,
                          const global node_t *nodes, global uint4 *list, uint first, uint end) {
  GRID_FOR(i, end - first) {
    const uint row = rows[first + i];
    list[first + i] = (uint4)(wi_top(nodes, u[row]), wi_top(nodes, v[row]), row, 0);
  }
}

// Make the ends of listed edges clusters that are neither merged nor dissolved.
//
// In       list[first .. end - 1]: edges between tops.
// Out      nodes, sets, even, odd: the node of each of these ends, its set, and its choices in
//          rounds of even and of odd number. sizes[MOST_SIZES]: the number of edges of the list in
//          each round, `end` in the first one.
// Launch   any. Ends of several edges are written several times, always with the same values.
// Needs    changes_enter of these edges is complete.
// Ensures  the ends are tops and sets of their own, without a choice.
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

// Join tops by the edges that stay in the forest, to pieces.
//
// In       list[k]: edges between tops; flags: the flags of each row.
// In-out   sets[n]: disjoint sets of tops.
// Launch   any.
// Needs    changes_begin of all k edges.
// Ensures  two tops are in one set if edges of the forest connect them.
kernel void changes_join_kept(const global uint4 *list, const global uchar *flags,
                              volatile global uint *sets, uint k) {
  GRID_FOR(i, k) {
    const uint4 edge = list[i];
    if (flags[edge.z] & ROW_FOREST)
      wi_unite(sets, wi_find_halving(sets, edge.x), wi_find_halving(sets, edge.y));
  }
}

// Find the piece of every vertex.
//
// In       sets[n]: disjoint sets of tops.
// In-out   pieces[n]: for each vertex one that is nearer to its top, or the top itself. It becomes
//          the root of the set of the top. Work-items that meet a new value take a shorter way.
// Launch   any.
// Needs    changes_list_open, changes_join_kept.
// Ensures  vertices have the same piece if edges that stay in the forest connect them.
kernel void changes_find_pieces(const global uint *sets, volatile global uint *pieces, uint n) {
  GRID_FOR(x, n) pieces[x] = wi_find(sets, wi_find_racing(pieces, (uint)x));
}

// Find the lightest edge that leaves each piece, among the edges up to a weight.
//
// In       u, v, weights, flags: all m rows; pieces[n]: the piece of each vertex; sets[n]: disjoint
//          sets of pieces; most: the greatest key of a weight that counts; capacity: that of
//          `crossing`.
// In-out   choices[n]: the row of the lightest edge of each set's root so far, NO_ROW before;
//          n_crossing: the number of edges between two sets so far.
// Out      crossing[capacity]: the rows of these edges, unless it is null, or there are too many.
// Launch   any. O(m). Ends are read of light edges outside the forest only.
// Needs    no row is in the forest or fresh whose edge must not be chosen.
// Ensures  each root of a set has its lightest edge, if that is light enough.
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

// Find the lightest edge that leaves each piece, among listed edges.
//
// In       u, v, weights: the columns; pieces[n]: the piece of each vertex; sets[n]: disjoint sets
//          of pieces; crossing[k]: the rows of the edges.
// In-out   choices[n]: the row of the lightest edge of each set's root so far, NO_ROW before.
// Launch   any. O(k).
// Needs    changes_choose_rows has listed all edges between two sets.
// Ensures  each root of a set has its lightest edge.
kernel void changes_choose_listed(const global uint *u, const global uint *v,
                                  const global weight_t *weights, const global uint *pieces,
                                  const global uint *sets, global uint *choices,
                                  const global uint *crossing, uint k) {
  GRID_FOR(i, k) wi_choose_row(u, v, weights, pieces, sets, choices, crossing[i]);
}

// Join pieces by the lightest edge that leaves each, and list these edges.
//
// In       list[k]: edges between tops, among which are all roots of pieces; choices[n]: the row of
//          the lightest edge of each root; u, v: the ends of edges; pieces[n]: the piece of each
//          vertex.
// In-out   sets[n]: disjoint sets of pieces; count: the number of listed rows.
// Out      rows: the chosen rows, from the count on.
// Launch   any.
// Needs    changes_choose_rows.
// Ensures  an edge that two pieces chose is listed once, since the union succeeds once. The order
//          of edges is total, so chosen edges close no cycle.
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

// Forget the choices of pieces.
//
// In       list[k]: edges between tops.
// Out      choices: the choices of their ends.
// Launch   any.
// Needs    changes_join_pieces.
// Ensures  the ends have no choice.
kernel void changes_forget(const global uint4 *list, global uint *choices, uint k) {
  GRID_FOR(i, 2 * (size_t)k) {
    const uint4 edge = list[i / 2];
    choices[i % 2 ? edge.y : edge.x] = NO_ROW;
  }
}

// Drop the edges from the list that the forest has lost.
//
// In       flags: the flags of each row.
// In-out   list[k]: edges between tops; rows[k]: their rows.
// Launch   any.
// Needs    nothing.
// Ensures  a lost edge has equal ends in the list, and NO_ROW among the rows.
kernel void changes_drop_lost(const global uchar *flags, global uint4 *list, global uint *rows,
                              uint k) {
  GRID_FOR(i, k) {
    if (flags[list[i].z] & (ROW_FOREST | ROW_FRESH)) continue;
    list[i].y = list[i].x;
    rows[i] = NO_ROW;
  }
}

// ---------------------------------------------------------------------------- forest

// Put the chosen edges into the forest, all other listed edges out of it, and list the edges of
// which that is a change.
//
// In       rows[k]: the listed rows, or NO_ROW.
// In-out   flags: the flags of each row; changed[0]: the number of changes, 0 before.
// Out      changed[1 ...]: the rows of the changes, in any order.
// Launch   any.
// Needs    all rounds are complete. A row is listed once.
// Ensures  ROW_FRESH and ROW_TAKEN are clear.
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
