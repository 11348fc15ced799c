// A forest whose edges come and go: the edges that a change leaves open are listed, and contracted.
//
// Source: the cut property and the cycle property (Tarjan 1983). Clusters of Borůvka's rounds that
// are kept from change to change serve as the rake-and-compress trees of Acar, Anderson, Blelloch
// and Dhulipala, "Parallel Batch-Dynamic Trees via Change Propagation", ESA 2020.
#include "algorithms/changes/state.cl"

// -------------------------------------------------------------------------------- rows

// Store rows that have changed on the host.
//
// In       words[(WEIGHT_BITS == 64 ? 6 : 5) * k]: for each of k rows its number; then for each its
//          lesser end, its greater end, its flags, and its weight, whose upper words come last.
// Out      u, v, weights, flags: the columns, at these rows.
// Launch   any. O(k).
// Needs    the rows are distinct.
// Ensures  the rows have these values.
kernel void changes_store(const global uint *words, global uint *u, global uint *v,
                          global weight_t *weights, global uchar *flags, uint k) {
  GRID_FOR(i, k) {
    const size_t row = words[i], size = k;
    u[row] = words[size + i];
    v[row] = words[2 * size + i];
    flags[row] = (uchar)words[3 * size + i];
#if WEIGHT_BITS == 64
    weights[row] = (ulong)words[5 * size + i] << 32 | words[4 * size + i];
#else
    weights[row] = (weight_t)words[4 * size + i];
#endif
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
// Out      parents[n], levels[n], dissolved[n]: the clusters; sets[n]: disjoint sets of vertices.
// Launch   any.
// Needs    nothing.
// Ensures  every vertex is its own top, and a set of its own.
kernel void changes_part(global uint *parents, global uint *levels, global uint *dissolved,
                         global uint *sets, uint n) {
  GRID_FOR(x, n) {
    parents[x] = sets[x] = (uint)x;
    levels[x] = dissolved[x] = NO_LEVEL;
  }
}

// Dissolve all clusters that contain an end of some edges.
//
// In       marked[k]: the rows of these edges; u, v: their ends; parents[n], levels[n]: the
//          clusters.
// In-out   dissolved[n]: the least level of the dissolved clusters of each root.
// Launch   any.
// Needs    nothing.
// Ensures  no cluster of two or more vertices that contains an end is a top any more. A work-item
//          stops at a cluster that is dissolved already: whoever dissolved it goes on from there.
kernel void changes_dissolve(const global uint *marked, const global uint *u, const global uint *v,
                             const global uint *parents, const global uint *levels,
                             volatile global uint *dissolved, uint k) {
  GRID_FOR(i, 2 * (size_t)k) {
    const uint row = marked[i / 2];
    uint x = i % 2 ? v[row] : u[row], level = 0;  // dissolves all clusters whose root is the end
    while (atomic_min(dissolved + x, level) > level && (level = levels[x]) != NO_LEVEL)
      x = parents[x];
  }
}

// List the open edges of the forest, which are the chosen edges of dissolved clusters.
//
// In       parents[n], levels[n], dissolved[n], chosen[n]: the clusters.
// In-out   count: the number of listed rows.
// Out      rows: the rows of the edges, in any order.
// Launch   any.
// Needs    changes_dissolve.
// Ensures  nothing more.
LANES_ATTRIBUTE
kernel void changes_list_open(const global uint *parents, const global uint *levels,
                              const global uint *dissolved, const global uint *chosen,
                              global uint *rows, volatile global uint *count, uint n) {
  WG_FOR(first, n) {
    const size_t x = first + get_local_id(0);
    bool keep = false;
    if (x < n) {
      const uint level = levels[x];
      keep = level != NO_LEVEL && dissolved[parents[x]] <= level;
    }
    const uint at = lanes_claim_global(count, keep);
    if (keep) rows[at] = chosen[x];
  }
}

// Find the tops of both ends of listed edges.
//
// In       rows[end]: the rows of edges; u, v: their ends; parents[n], levels[n], dissolved[n]: the
//          clusters.
// Out      list[first .. end - 1]: (top of u, top of v, row, 0) of each edge.
// Launch   any.
// Needs    nothing.
// Ensures  nothing more.
kernel void changes_enter(const global uint *rows, const global uint *u, const global uint *v,
                          const global uint *parents, const global uint *levels,
                          const global uint *dissolved, global uint4 *list, uint first, uint end) {
  GRID_FOR(i, end - first) {
    const uint row = rows[first + i];
    const uint a = wi_top(parents, levels, dissolved, u[row]);
    const uint b = wi_top(parents, levels, dissolved, v[row]);
    list[first + i] = (uint4)(a, b, row, 0);
  }
}

// Make the ends of listed edges clusters that are neither merged nor dissolved.
//
// In       list[first .. end - 1]: edges between tops.
// Out      levels, dissolved, sets, even, odd: the level of each of these ends, the least level at
//          which it is dissolved, its set, and its choices in rounds of even and of odd number.
// Launch   any. Ends of several edges are written several times, always with the same values.
// Needs    changes_enter of these edges is complete.
// Ensures  the ends are tops and sets of their own, without a choice.
kernel void changes_begin(const global uint4 *list, global uint *levels, global uint *dissolved,
                          global uint *sets, global uint *even, global uint *odd, uint first,
                          uint end) {
  GRID_FOR(i, 2 * (size_t)(end - first)) {
    const uint4 edge = list[first + i / 2];
    const uint x = i % 2 ? edge.y : edge.x;
    levels[x] = dissolved[x] = NO_LEVEL;
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
// In       parents[n], levels[n], dissolved[n]: the clusters; sets[n]: disjoint sets of tops.
// Out      pieces[n]: the root of the set of each vertex's top.
// Launch   any.
// Needs    changes_join_kept.
// Ensures  vertices have the same piece if edges that stay in the forest connect them.
kernel void changes_find_pieces(const global uint *parents, const global uint *levels,
                                const global uint *dissolved, const global uint *sets,
                                global uint *pieces, uint n) {
  GRID_FOR(x, n) pieces[x] = wi_find(sets, wi_top(parents, levels, dissolved, (uint)x));
}

// Find the lightest edge that leaves each piece, among the edges up to a weight.
//
// In       u, v, weights, flags: all m rows; pieces[n]: the piece of each vertex; sets[n]: disjoint
//          sets of pieces; most: the greatest key of a weight that counts.
// In-out   choices[n]: the row of the lightest edge of each set's root so far, NO_ROW before.
// Launch   any. O(m). Ends are read of light edges outside the forest only.
// Needs    no row is in the forest or fresh whose edge must not be chosen.
// Ensures  each root of a set has its lightest edge, if that is light enough.
kernel void changes_choose_rows(const global uint *u, const global uint *v,
                                const global weight_t *weights, const global uchar *flags,
                                const global uint *pieces, const global uint *sets,
                                global uint *choices, ulong most, uint m) {
  GRID_FOR(row, m) {
    if (flags[row] != ROW_PRESENT) continue;
    if (most < WEIGHT_MOST && weight_key(weights[row]) > (weight_t)most) continue;
    uint a = pieces[u[row]], b = pieces[v[row]];
    if (a == b) continue;
    a = wi_find(sets, a);
    b = wi_find(sets, b);
    if (a == b) continue;
    wi_lower_choice(u, v, weights, choices + a, (uint)row);
    wi_lower_choice(u, v, weights, choices + b, (uint)row);
  }
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
// Ensures  an edge that two pieces chose is listed once, since the union succeeds once. The order of
//          edges is total, so chosen edges close no cycle.
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

// ------------------------------------------------------------------------------ rounds

// Find the lightest edge that leaves each cluster.
//
// In       list[sizes[round]]: edges between roots of clusters; u, v, weights: the columns.
// In-out   choices: the row of the lightest edge of each root so far, NO_ROW before.
// Launch   any.
// Needs    nothing.
// Ensures  each root that an edge leaves has the first of its edges, in the order of edges.
kernel void changes_choose(const global uint4 *list, const global uint *sizes, uint round,
                           const global uint *u, const global uint *v,
                           const global weight_t *weights, global uint *choices) {
  GRID_FOR(i, sizes[round]) {
    const uint4 edge = list[i];
    if (edge.x == edge.y) continue;
    wi_lower_choice(u, v, weights, choices + edge.x, edge.z);
    wi_lower_choice(u, v, weights, choices + edge.y, edge.z);
  }
}

// Join clusters by the edges that they have chosen.
//
// In       list[sizes[round]]: edges between roots of clusters; choices: the row that each root has
//          chosen.
// In-out   sets[n]: disjoint sets of roots; flags: ROW_TAKEN is set for chosen edges. Each is in the
//          list once.
// Launch   any.
// Needs    changes_choose.
// Ensures  roots that choices connect are in one set.
kernel void changes_join(const global uint4 *list, const global uint *sizes, uint round,
                         const global uint *choices, volatile global uint *sets,
                         global uchar *flags) {
  GRID_FOR(i, sizes[round]) {
    const uint4 edge = list[i];
    if (edge.x == edge.y || (choices[edge.x] != edge.z && choices[edge.y] != edge.z)) continue;
    flags[edge.z] |= ROW_TAKEN;
    wi_unite(sets, wi_find_halving(sets, edge.x), wi_find_halving(sets, edge.y));
  }
}

// Merge the joined clusters, and list the edges between the clusters that come of it.
//
// In       list[sizes[round]]: edges between roots of clusters; choices: the row that each root has
//          chosen; sets[n]: disjoint sets of roots; level: the level of this round.
// In-out   sizes[round + 1]: the number of edges of the next list, 0 before.
// Out      parents, levels, chosen: the clusters; next_choices: the choices of the remaining roots,
//          which become NO_ROW; next: the remaining edges.
// Launch   any.
// Needs    changes_join.
// Ensures  each root that is none any more has its cluster's root, the level, and one edge of its
//          own among the chosen ones. Two roots that chose the same edge share it: the greater one
//          gets it, and the lesser one gets the choice of the cluster's root, which needs none.
LANES_ATTRIBUTE
kernel void changes_merge(const global uint4 *list, volatile global uint *sizes, uint round,
                          const global uint *choices, const global uint *sets, global uint *parents,
                          global uint *levels, global uint *chosen, global uint *next_choices,
                          global uint4 *next, uint level) {
  const uint n_edges = sizes[round];
  WG_FOR(first, n_edges) {
    const size_t i = first + get_local_id(0);
    bool keep = false;
    uint4 edge = (uint4)(0, 0, 0, 0);
    if (i < n_edges && (edge = list[i]).x != edge.y) {
      const uint a = wi_find(sets, edge.x), b = wi_find(sets, edge.y);
      const bool by_x = choices[edge.x] == edge.z, by_y = choices[edge.y] == edge.z;
      const bool x_shares = by_x && by_y && edge.x < edge.y;
      const bool y_shares = by_x && by_y && edge.y < edge.x;
      if (by_x && edge.x != a) {
        parents[edge.x] = a;
        levels[edge.x] = level;
        chosen[edge.x] = x_shares ? choices[a] : edge.z;
      }
      if (by_y && edge.y != b) {
        parents[edge.y] = b;
        levels[edge.y] = level;
        chosen[edge.y] = y_shares ? choices[b] : edge.z;
      }
      next_choices[a] = next_choices[b] = NO_ROW;
      keep = a != b;
      edge.x = a;
      edge.y = b;
    }
    const uint at = lanes_claim_global(sizes + round + 1, keep);
    if (keep) next[at] = edge;
  }
}

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
