// Find the minimum spanning forest after a few weights have changed, from the forest before, by a
// single work-item.
//
// Only two kinds of changed edges matter: raised edges, which are edges of the forest that became
// heavier, and lowered edges, which are other edges that became lighter. Leave the lowered edges
// out at first. Then all edges of the forest that are not raised stay in it: such an edge was the
// lightest across some cut of the graph, and no other edge across this cut became lighter. These
// edges join the vertices to trees, which are called pieces. The first step solves the edges
// between pieces, and so finds the forest of all edges except the lowered ones. The second step
// solves this forest together with the lowered edges. An edge between two vertices of a piece can
// only replace the heaviest edge on the path between them. So of each path in a piece between ends
// of edges outside of pieces, only the heaviest edge has to be looked at.
#include "algorithms/small_matrix/anew.cl"

// Desired number of light edges for each piece. A piece is a tree of forest edges that stay. The
// light edges between pieces are solved first, and join most pieces.
#define PIECE_EDGES 3
#define KEY_GREATEST ((weight_t) ~(weight_t)0)

// Order the vertices of pieces so that children come before their parents. A piece is a tree of
// forest edges that stay. Return the number of vertices that have a parent.
//
// Leaves, which have one edge left, are taken away one after the other. For each vertex, `incident`
// has the exclusive or of its remaining edges. For a leaf this is its only edge. Leaves wait in
// `order` itself until it is their turn. Consecutive leaves are independent, so their memory
// accesses do not wait for each other.
//
// Out      order: each vertex with a parent, its parent, and the slot of the edge between them.
// Temp     incident.
// Scope    one work-item. O(n).
static inline uint wi_order_vertices(round_t round) {
  global uint *incident = round.incident, *order = round.order;
  for (uint vertex = 0; vertex < round.n; ++vertex) vstore4((uint4)(0), vertex, incident);
  const uint n_forest = round.forest[0];
  for (uint k = 0; k < n_forest; ++k) {
    const uint slot = round.forest[k + 1];
    if (round.marks[slot] != MARK_INSIDE) continue;
    const uint u = round.us[slot], v = round.vs[slot];
    const uint4 of_u = vload4(u, incident), of_v = vload4(v, incident);
    vstore4((uint4)(of_u.x + 1, of_u.y ^ v, of_u.z ^ slot, 0), u, incident);
    vstore4((uint4)(of_v.x + 1, of_v.y ^ u, of_v.z ^ slot, 0), v, incident);
  }
  uint count = 0;
  for (uint vertex = 0; vertex < round.n; ++vertex) {
    order[3 * count] = vertex;
    count += incident[4 * vertex] == 1;
  }
  uint done = 0;
  for (uint k = 0; k < count; ++k) {
    const uint vertex = order[3 * k];
    const uint4 one = vload4(vertex, incident);
    if (one.x != 1) continue;  // the other end of its edge was a leaf, too, and was taken first
    vstore3((uint3)(vertex, one.y, one.z), done++, order);
    const uint4 other = vload4(one.y, incident);
    incident[4 * vertex] = 0;
    vstore4((uint4)(other.x - 1, other.y ^ vertex, other.z ^ one.z, 0), one.y, incident);
    order[3 * count] = one.y;
    count += other.x == 2;
  }
  return done;
}

// Number the pieces, which are trees of forest edges that stay. Return their number.
//
// Out      pieces: the number of the piece that contains each vertex.
// Scope    one work-item. O(n).
static inline uint wi_number_pieces(round_t round, uint n_ordered) {
  for (uint vertex = 0; vertex < round.n; ++vertex) round.pieces[vertex] = SMALL_NONE;
  for (uint k = 0; k < n_ordered; ++k) round.pieces[round.order[3 * k]] = 0;
  uint count = 0;
  for (uint vertex = 0; vertex < round.n; ++vertex) {
    if (round.pieces[vertex] == SMALL_NONE) round.pieces[vertex] = count++;
  }
  for (uint k = n_ordered; k-- > 0;) {
    const uint3 one = vload3(k, round.order);
    round.pieces[one.x] = round.pieces[one.y];
  }
  return count;
}

// Choose the pivot, which is the key up to which edges between pieces (trees of forest edges that
// stay) are solved first. Return the maximum key if all edges are to be solved at once.
//
// Temp     round.fewer.keys: a sample of the keys of edges between pieces.
// Scope    one work-item.
static inline weight_t wi_pivot_between(round_t round, uint n_pieces) {
  global weight_t *sample = round.fewer.keys;
  const uint stride = round.n_slots / WINDOW_SAMPLE;
  uint size = 0;
  for (uint k = 0; k < WINDOW_SAMPLE && stride > 0; ++k) {
    const uint slot = k * stride + k % stride;
    sample[size] = weight_key(round.weights[slot]);
    size += round.pieces[round.us[slot]] != round.pieces[round.vs[slot]];
  }
  // The pivot is the key of this rank in the sample. The light edges are about the same fraction of
  // the sample as of all edges between pieces.
  const ulong rank = (ulong)PIECE_EDGES * n_pieces / (stride + 1) + WINDOW_MORE;
  return 2 * rank < size ? wi_key_of_rank(sample, size, rank) : KEY_GREATEST;
}

// List the edges that join two different components, in the order of slots, and store them in the
// list from index `at` on. Edges that became lighter (lowered) are left out. Return the index after
// the last stored edge.
//
// In       round.pieces: the component of each vertex;
//          above, pivot: with `above`, only edges whose keys are greater than pivot are listed;
//            without it, only edges whose keys are at most pivot.
// Out      round.slots: the slot of each listed edge;
//          edges: the two ends, the key and the id of each listed edge. The id is its index in the
//            list.
// Scope    one work-item.
static inline uint wi_list_between(round_t round, weight_t pivot, bool above, edges_t *edges,
                                   uint at) {
  uint count = at;
  for (uint slot = 0; slot < round.n_slots; ++slot) {
    const weight_t key = weight_key(round.weights[slot]);
    // Leave out an edge if its key is on the wrong side of the pivot, or if its mark is odd. An odd
    // mark is MARK_INSIDE, for an edge of a piece, or MARK_LOWERED.
    const uint is_out = ((key > pivot) != above) | (round.marks[slot] & 1);
    if (!above && is_out) continue;  // true for most edges, whose ends need not be read
    const uint u = round.pieces[round.us[slot]], v = round.pieces[round.vs[slot]];
    if (is_out | (u == v)) continue;
    round.slots[count] = slot;
    edges->us[count] = u;
    edges->vs[count] = v;
    edges->ids[count] = count;
    edges->keys[count] = key;
    round.chosen[count++] = 0;
  }
  return count;
}

// Solve the edges between pieces, which are trees of forest edges that stay. Edges that became
// lighter (lowered) are left out. Light edges are solved first. They join most pieces, so that few
// heavier edges have to be listed afterwards. Return `count`, the number of edges that the forest
// needs in addition to those of the pieces.
//
// In       n_left: the number of components of the graph.
// In-out   marks: for each slot, MARK_INSIDE if the forest needs the edge, MARK_OUTSIDE if the edge
//            became heavier (raised) and the forest does not need it;
//          pieces: the piece of each vertex before the call, undefined afterwards.
// Out      slots[count]: the slots of the edges that the forest needs.
// Scope    one work-item.
static inline uint wi_join_pieces(round_t round, uint n_pieces, uint n_left, uint *rounds) {
  edges_t edges = round.all;
  weight_t pivot = wi_pivot_between(round, n_pieces);
  uint components = n_pieces, first = 0, count = wi_list_between(round, pivot, false, &edges, 0);
  while (true) {
    const edges_t listed = {edges.us + first,   edges.vs + first, edges.ids + first,
                            edges.keys + first, count - first,    1};
    for (uint piece = 0; piece < n_pieces; ++piece) round.trees[piece] = piece;
    *rounds += wi_rounds(round.parts, listed, listed, round.fewer, round.trees, n_pieces,
                         &components, round.chosen);
    if (pivot == KEY_GREATEST || components == n_left) break;
    for (uint vertex = 0; vertex < round.n; ++vertex)
      round.pieces[vertex] = round.trees[round.pieces[vertex]];
    n_pieces = components;
    first = count;
    count = wi_list_between(round, pivot, true, &edges, first);
    pivot = KEY_GREATEST;
  }
  const uint n_raised = round.opened - round.n_lowered;
  for (uint k = 1; k <= n_raised; ++k) round.marks[round.changed[round.n_slots - k]] = MARK_OUTSIDE;
  uint needed = 0;
  for (uint k = 0; k < count; ++k) {
    const uint slot = round.slots[k];
    if (!round.chosen[k]) continue;
    round.marks[slot] = MARK_INSIDE;
    round.slots[needed++] = slot;
  }
  return needed;
}

// Append an edge, given by its ends, its slot and its key, to a list. The slot is stored at the
// same index of round.slots.
static inline void wi_append(round_t round, edges_t *list, uint u, uint v, uint slot,
                             weight_t key) {
  const uint k = list->count++;
  list->us[k] = u;
  list->vs[k] = v;
  list->ids[k] = k;
  list->keys[k] = key;
  round.slots[k] = slot;
}

// Replace paths within pieces, which are trees of forest edges that stay, by single edges. Only two
// kinds of vertices matter: the ends of edges outside of pieces, and the vertices where paths
// between such ends meet. For each path from one of these vertices to the next, list only the
// path's heaviest edge (by weight, then by slot), with the two vertices as its ends.
//
// In-out   reps[n]: before the call, the vertex itself if it is the end of an edge outside of
//          pieces, else SMALL_NONE. Afterwards, the vertex itself if it matters; else the vertex
//          below at which the path through this vertex begins; SMALL_NONE if no path leads through
//          it.
// Temp     last, last_keys: for each vertex, the slot and the key of the heaviest edge on the path
//          to it from the vertex in reps[].
// Scope    one work-item. O(n).
static inline void wi_list_paths(round_t round, uint n_ordered, edges_t *list) {
  for (uint k = 0; k < n_ordered; ++k) {
    const uint3 one = vload3(k, round.order);
    const uint vertex = one.x, parent = one.y, from = round.reps[vertex], to = round.reps[parent];
    if (from == SMALL_NONE) continue;
    uint slot = one.z;
    weight_t key = weight_key(round.weights[slot]);
    if (from != vertex) {
      const weight_t other = round.last_keys[vertex];
      if (other > key || (other == key && round.last[vertex] > slot)) {
        key = other;
        slot = round.last[vertex];
      }
    }
    if (to == SMALL_NONE) {
      round.reps[parent] = from;
      round.last[parent] = slot;
      round.last_keys[parent] = key;
      continue;
    }
    if (to != parent) {
      wi_append(round, list, to, parent, round.last[parent], round.last_keys[parent]);
      round.reps[parent] = parent;
    }
    wi_append(round, list, from, parent, slot, key);
  }
}

// Find the forest of all edges from two sets of edges: the forest without lowered edges, and the
// lowered edges, which are the edges that became lighter. Return the number of rounds of Borůvka's
// algorithm that this took.
//
// In       slots[needed]: the edges, given by slots, that the forest without lowered edges has
//          between pieces. A piece is a tree of forest edges that stay.
// In-out   marks: MARK_INSIDE or MARK_OUTSIDE for each slot: before the call for all except lowered
//          edges, afterwards for all.
// Scope    one work-item.
static inline uint wi_add_lowered(round_t round, uint n_ordered, uint needed) {
  edges_t list = round.all;
  list.count = 0;
  for (uint vertex = 0; vertex < round.n; ++vertex) round.reps[vertex] = SMALL_NONE;
  for (uint k = 0; k < needed + round.n_lowered; ++k) {
    const uint slot = k < needed ? round.slots[k] : round.changed[k - needed];
    const uint u = round.us[slot], v = round.vs[slot];
    round.reps[u] = u;
    round.reps[v] = v;
    wi_append(round, &list, u, v, slot, weight_key(round.weights[slot]));
  }
  wi_list_paths(round, n_ordered, &list);
  global uint *numbers = round.pieces;
  uint count = 0;
  for (uint vertex = 0; vertex < round.n; ++vertex) {
    numbers[vertex] = count;
    count += round.reps[vertex] == vertex;
  }
  for (uint k = 0; k < list.count; ++k) {
    list.us[k] = numbers[list.us[k]];
    list.vs[k] = numbers[list.vs[k]];
    round.chosen[k] = 0;
  }
  // This list is not in the order of slots, so edges of equal weight must be compared by their
  // slots. wi_precedes compares edges by the arrays of their ends, so here the array of slots takes
  // the place of both.
  const edges_t ordered = {round.slots, round.slots, list.ids, list.keys, list.count, 0};
  const uint rounds =
      wi_rounds(round.parts, list, ordered, round.fewer, round.trees, 0, &count, round.chosen);
  for (uint k = 0; k < list.count; ++k)
    round.marks[round.slots[k]] = round.chosen[k] ? MARK_INSIDE : MARK_OUTSIDE;
  return rounds;
}

// Find the forest after a few weights have changed, from the forest before. Return the number of
// rounds of Borůvka's algorithm that this took.
//
// In-out   marks: before the call, whether each slot's edge was in the forest, or MARK_RAISED or
//          MARK_LOWERED if its changed weight may change the forest. After the call, MARK_INSIDE or
//          MARK_OUTSIDE.
// Scope    one work-item. O(n + n_slots), and the time to solve the edges between pieces and on
//          paths.
static inline uint wi_solve_changes(round_t round) {
  if (round.opened == 0) return 0;
  uint rounds = 0, needed = 0;
  const uint n_ordered = wi_order_vertices(round);
  if (round.opened > round.n_lowered) {
    const uint n_pieces = wi_number_pieces(round, n_ordered);
    needed = wi_join_pieces(round, n_pieces, round.n - round.forest[0], &rounds);
  }
  if (round.n_lowered > 0) rounds += wi_add_lowered(round, n_ordered, needed);
  return rounds;
}
