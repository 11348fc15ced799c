// PMA: many workers grow trees at the same time by Prim's algorithm, until their trees touch. A
// worker is a work-item or a lane group, a group of work-items that run in lockstep.
//
// Source: Nobari, Cao, Karras, Bressan 2012, Algorithms 2 (Partial Prim), 3 and 4 (how the lightest
// edge is found). Algorithm 5 of the paper, which contracts the trees, is in contraction.cl.
// Growing and contracting are repeated in levels: a level grows trees, and contracts each tree to a
// vertex of the next level.
//
// A tree claims one vertex at a time, each by the lightest edge that leads out of the tree. It
// stops when it has gamma vertices (the parameter that limits its size), when no edge leads out, or
// when the lightest edge leads to another worker's tree. In the last case we say that the tree
// touches the other tree, and call this edge its contact. Each vertex but the root chooses the edge
// by which it was claimed, and is joined to the root. The root chooses the contact, if there is
// one, and is joined to the root of the other tree. A choice is stored as one word (edge_list.cl).
//
// Every chosen edge is in the forest, by the cut property: when it is chosen, it is the lightest of
// all edges that lead out of the tree, which is a set of vertices. (All edges have different
// ranks.) This is true whatever vertices other workers claim at the same time. Their claims decide
// how the vertices are divided into trees, and so the number of levels, but never whether a chosen
// edge is in the forest.
//
// A tree stops when it touches another tree, because to grow on, it would have to include the
// vertices of that tree, which may still be growing itself. Stopping early costs only time. Every
// vertex with an edge is in a tree that chose at least one edge (gamma >= 2), so a level at least
// halves the number of vertices that have edges.
//
// A cycle of choices consists of two trees that touched by the same edge. Proof: let trees touch
// one another in a circle. A tree stops when it touches another one, so its contact is the lightest
// edge that leads out of all its vertices. That edge also leads out of the next tree, which shares
// no vertex with the first. So the next tree's contact is as light or lighter. Around the circle
// all contacts are therefore the same edge, which has two ends. So there are two trees. Of their
// two roots, contraction_break_cycles lets the one with the lower number choose no edge.
//
// No worker waits for another one. A claim is one compare-and-swap. If another worker has claimed
// the vertex first, the worker finds that worker's root as the owner, and its tree touches that
// tree.
#include "device/edge_list.cl"
#include "device/work_group.cl"

// Number of work-items of a worker, which grows one tree at a time. It is 1, or LANES, the number
// of work-items in lockstep, if these can exchange values directly (LANES_KHR, LANES_PTX).
#ifndef WORKER_LANES
#define WORKER_LANES 1
#endif

// 1: the edges of each row are sorted by rank (Algorithm 4 of the paper). 0: they are in any order
// (Algorithm 3).
#ifndef ROWS_RISE
#define ROWS_RISE 0
#endif

#define NO_OWNER UINT_MAX
// In the list of a tree's vertices (members), this value replaces a vertex whose edges all lie
// within the tree. They will stay within it, so the vertex need not be looked at again.
#define NO_MEMBER UINT_MAX

// Make the rows of a level's graph, which is the input contracted several times. An edge is stored
// as the word rank << 32 | target, its choice word. The rank is the edge's position in the order of
// all edges.
//
// In       pairs[n_entries]: the two ends of each directed edge as the word source << bits |
//            target, sorted by source;
//          ranks[n_entries]: the rank of each directed edge.
// In-out   rows[2 n]: begin and end of each vertex's row in edges[]. All are 0 before the launch,
//          and vertices without edges keep 0.
// Out      edges[n_entries]: the choice words of the edges, row by row.
// Launch   any.
// Needs    `bits` is the number of bits of a vertex number.
// Ensures  edges[i] = the choice word of directed edge i.
kernel void pma_list_rows(const global ulong *pairs, const global uint *ranks, global uint *rows,
                          global ulong *edges, uint n_entries, uint bits) {
  GRID_FOR(i, n_entries) {
    const ulong pair = pairs[i];
    const size_t u = pair_source(pair, bits);
    edges[i] = make_choice(ranks[i], pair_target(pair, bits));
    if (i == 0 || pair_source(pairs[i - 1], bits) != u) rows[2 * u] = (uint)i;
    if (i + 1 == n_entries || pair_source(pairs[i + 1], bits) != u) rows[2 * u + 1] = (uint)i + 1;
  }
}

// ------------------------------------------------------------------------------ worker scope
//
// A worker is a work-item or a lane group. Its lanes always take the same branches, because every
// condition comes from a ballot, a broadcast or a minimum, which has one value in all lanes. All
// lanes write the same words, so no lane needs to see another lane's write.
//
// The functions below do for a worker what the functions lanes_... of lanes.cl do for a lane group.

#if WORKER_LANES == 1

static inline uint worker_lane(void) {
  return 0;
}
static inline uint worker_ballot(bool flag) {
  return flag;
}
static inline uint worker_broadcast_u32(uint value, uint lane) {
  return value;
}
static inline uint worker_min_u32(uint value) {
  return value;
}
static inline ulong worker_min_u64(ulong value) {
  return value;
}

#else

static inline uint worker_lane(void) {
  return lanes_id();
}
static inline uint worker_ballot(bool flag) {
  return lanes_ballot(flag);
}
static inline uint worker_broadcast_u32(uint value, uint lane) {
  return lanes_broadcast_u32(value, lane);
}
static inline uint worker_min_u32(uint value) {
  return lanes_min_u32(value);
}
static inline ulong worker_min_u64(ulong value) {
  return lanes_min_u64(value);
}

#endif

// Return the number of the lowest lane whose bit is set in a ballot, which is the word with one bit
// of each lane. At least one bit must be set.
static inline uint lowest_lane(uint ballot) {
  return 31 - clz(ballot & (~ballot + 1));
}

// A tree that a worker grows: its arrays, its root, and its number of vertices.
typedef struct {
  const global uint2 *rows;      // [n]: begin and end of every row
  global ulong *edges;           // choices, row by row
  volatile global uint *owners;  // [n]: the root of each vertex's tree, or NO_OWNER
  global uint2 *members;         // [gamma], the worker's own: (vertex, position in its row)
  uint root, size;
} tree_t;

// Try to claim a vertex for the tree that grows from `root`. owners[] has the root of each vertex's
// tree. Return the owner that the vertex has afterwards, which may be the root of another worker's
// tree.
//
// All lanes try the same compare-and-swap. If the vertex is free, one lane stores `root`, and all
// other lanes find this root. If the vertex has an owner, all lanes find that owner, because an
// owner never changes. So all lanes have the same result. The broadcast only lets the compiler see
// this.
//
// Scope    a whole worker; result in every lane.
static inline uint worker_claim(volatile global uint *owners, uint vertex, uint root) {
  const uint before = atomic_cmpxchg(&owners[vertex], NO_OWNER, root);
  return worker_broadcast_u32(before == NO_OWNER ? root : before, 0);
}

// Return whether a vertex does not have an owner yet, which means that it is in no worker's tree.
//
// Other workers may claim the vertex at the same time. This does no harm: a worker that finds the
// vertex free still has to claim it, and a vertex with an owner keeps its owner.
static inline bool wi_is_free(const volatile global uint *owners, uint vertex) {
  return owners[vertex] == NO_OWNER;
}

// Return whether an edge of a vertex in the tree leads out of the tree, to a vertex with another
// owner.
//
// Other workers may claim the vertex at the same time. This does no harm: they never store this
// tree's root as an owner, and all claims of this worker are complete.
static inline bool wi_leads_out(const tree_t *tree, ulong edge) {
  return tree->owners[choice_vertex(edge)] != tree->root;
}

// Return the lightest edge in the row of vertex u that leads out of the tree, or NO_CHOICE if there
// is none. Store the position of this edge in *at.
//
// The row has at least one edge. Only the worker whose tree contains the row's vertex reads or
// writes the row.
//
// Scope    a whole worker; results in every lane.
#if ROWS_RISE

// The edges of a row are sorted by rank. So the lightest edge that leads out is the first edge from
// position *at on that leads out. All edges of the row before *at lie within the tree, and will
// stay there.
static inline ulong worker_search_row(const tree_t *tree, uint u, uint *at) {
  const uint end = tree->rows[u].y;
  for (uint base = *at; base < end; base += WORKER_LANES) {
    const uint i = min(base + worker_lane(), end - 1);
    const uint ballot = worker_ballot(wi_leads_out(tree, tree->edges[i]));
    if (ballot != 0) {
      *at = base + lowest_lane(ballot);
      return tree->edges[*at];
    }
  }
  return NO_CHOICE;
}

#else

// The edges of a row are in any order. So this looks at all of them, and moves the lightest edge
// that leads out to the front of the row.
static inline ulong worker_search_row(const tree_t *tree, uint u, uint *at) {
  const uint2 row = tree->rows[u];
  ulong best = NO_CHOICE;
  uint where = row.x;
  for (uint base = row.x; base < row.y; base += WORKER_LANES) {
    const uint i = min(base + worker_lane(), row.y - 1);
    const ulong edge = tree->edges[i];
    if (edge < best && wi_leads_out(tree, edge)) {
      best = edge;
      where = i;
    }
  }
  // Exchange the lightest edge with the first edge of the row. Before any lane writes, every lane
  // has read its edges, and all lanes have the first edge.
  const ulong front = tree->edges[row.x];
  const uint front_rank = worker_broadcast_u32(choice_rank(front), 0);
  const uint front_vertex = worker_broadcast_u32(choice_vertex(front), 0);
  const ulong lightest = worker_min_u64(best);
  const uint found_at = worker_min_u32(best == lightest ? where : UINT_MAX);
  if (lightest != NO_CHOICE) {
    tree->edges[found_at] = make_choice(front_rank, front_vertex);
    tree->edges[row.x] = lightest;
  }
  *at = row.x;
  return lightest;
}

#endif

// Return the lightest edge that leads out of the tree, or NO_CHOICE if there is none.
//
// For each of its vertices (members), the tree remembers the position of the vertex's lightest edge
// out of the tree, as it was before the member `newest` joined the tree. Such an edge still leads
// out of the tree, unless it leads to `newest`. So only two kinds of rows are searched: those whose
// remembered edge leads to `newest`, and the row of `newest`.
//
// Scope    a whole worker; result in every lane.
static inline ulong worker_find_lightest(const tree_t *tree, uint newest) {
  ulong lightest = NO_CHOICE;
  for (uint base = 0; base < tree->size; base += WORKER_LANES) {
    const uint i = base + worker_lane();
    const uint2 member = tree->members[min(i, tree->size - 1)];
    const ulong edge = tree->edges[member.y];
    const bool counts = (i < tree->size) & (member.x != NO_MEMBER);
    const bool stale = counts & ((member.x == newest) | (choice_vertex(edge) == newest));
    lightest = min(lightest, (counts & !stale) ? edge : NO_CHOICE);
    for (uint ballot = worker_ballot(stale); ballot != 0; ballot &= ballot - 1) {
      const uint lane = lowest_lane(ballot);
      const uint u = worker_broadcast_u32(member.x, lane);
      uint at = worker_broadcast_u32(member.y, lane);
      const ulong found = worker_search_row(tree, u, &at);
      tree->members[base + lane] = (uint2)(found == NO_CHOICE ? NO_MEMBER : u, at);
      lightest = min(lightest, found);
    }
  }
  return worker_min_u64(lightest);
}

// Grow a tree from its root, which the worker has claimed. Stop when the tree has gamma vertices,
// when no edge leads out of it, or when its lightest edge leads to another worker's tree. Store in
// chosen[] the choices of all its vertices but the root. Return the root's choice. It is the edge
// to the other worker's tree, with the root of that tree as the target; or CHOICE_TO_STAY if the
// tree has gamma vertices; or NO_CHOICE if no edge leads out. This is Algorithm 2 of the paper.
//
// Scope    a whole worker; result in every lane.
static inline ulong worker_grow(tree_t *tree, global ulong *chosen, uint gamma) {
  uint newest = tree->root;
  if (tree->rows[newest].x == tree->rows[newest].y) return NO_CHOICE;
  for (tree->size = 0;;) {
    tree->members[tree->size++] = (uint2)(newest, tree->rows[newest].x);
    if (tree->size == gamma) return CHOICE_TO_STAY(tree->root);
    const ulong lightest = worker_find_lightest(tree, newest);
    if (lightest == NO_CHOICE) return NO_CHOICE;
    newest = choice_vertex(lightest);
    const uint owner = worker_claim(tree->owners, newest, tree->root);
    const ulong choice = make_choice(choice_rank(lightest), owner);
    if (owner != tree->root) return choice;
    chosen[newest] = choice;
  }
}

// Grow trees by Prim's algorithm until every vertex is in a tree. A worker (a work-item or a lane
// group) grows one tree at a time, of at most gamma vertices. The vertices are divided into
// n_workers equal ranges, and each worker takes the free vertices of its range as roots, one after
// the other.
//
// In       rows[n]: begin and end of each vertex's row in edges[].
// In-out   edges: the edges of all rows, whose order may change within each row;
//          owners[n]: the root of each vertex's tree, NO_OWNER before the launch.
// Out      chosen[n]: for each vertex the word rank << 32 | target: the rank of the edge that it
//          chose, and the vertex to which this edge joins it. A root without a choice has NO_CHOICE
//          or CHOICE_TO_STAY instead (edge_list.cl).
// Temp     members[n_workers * gamma]: the vertices of each worker's tree.
// Launch   any; n_workers >= 1.
// Needs    if WORKER_LANES > 1, lanes that exchange values directly; gamma >= 2.
// Ensures  every vertex has an owner; each chosen edge is in the forest.
LANES_ATTRIBUTE
kernel void pma_grow_trees(const global uint2 *rows, global ulong *edges,
                           volatile global uint *owners, global uint2 *members,
                           global ulong *chosen, uint n, uint n_workers, uint gamma) {
  const ulong group = get_group_id(0), n_groups = get_num_groups(0);
  const uint end = (uint)((group + 1) * n_workers / n_groups);
  uint worker = (uint)(group * n_workers / n_groups) + (uint)get_local_id(0) / WORKER_LANES;
  for (; worker < end; worker += WG_SIZE / WORKER_LANES) {
    tree_t tree = {rows, edges, owners, members + (size_t)worker * gamma, 0, 0};
    const uint last = (uint)(((ulong)worker + 1) * n / n_workers);
    for (uint base = (uint)((ulong)worker * n / n_workers); base < last; base += WORKER_LANES) {
      const uint vertex = base + worker_lane();
      const bool is_free = wi_is_free(owners, min(vertex, last - 1));
      uint ballot = worker_ballot((vertex < last) & is_free);
      for (; ballot != 0; ballot &= ballot - 1) {
        tree.root = base + lowest_lane(ballot);
        if (worker_claim(owners, tree.root, tree.root) != tree.root) continue;
        chosen[tree.root] = worker_grow(&tree, chosen, gamma);
      }
    }
  }
}
