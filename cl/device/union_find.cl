// Disjoint sets of vertices in a parent array. All work-items share the array without locks.
//
// parent[v] == v marks a root. Every other vertex points to a vertex with a higher priority, so
// parent pointers lead to a root. Priorities are a bijective hash of the vertex number. This is
// randomised linking (Goel, Khanna, Larkin, Tarjan 2014; concurrent: Jayanti, Tarjan 2016). Trees
// are O(log n) high with high probability, whatever the order of unions, even without path
// compression.
//
// Example: priorities 0: 7, 1: 2, 2: 5, 3: 9; unite(0, 1), unite(2, 3), unite(1, 2):
//
//     0(7)   1(2)   2(5)   3(9)        0   3           3
//                                      |   |          / \
//     four roots                       1   2         0   2      the root of lower priority, 0,
//                                                    |          points to the other, 3
//                                                    1
//
// While one work-item searches for a root, others may join sets and shorten paths (path halving).
// Both only replace the parent of a vertex by one of its ancestors. A parent that was read before
// such a change is an ancestor, too. So a search ends at a vertex that was the root at some moment
// during the call.

static inline uint union_find_priority(uint vertex) {
  vertex ^= vertex >> 16;
  vertex *= 0x7feb352du;
  vertex ^= vertex >> 15;
  vertex *= 0x846ca68bu;
  return vertex ^ vertex >> 16;
}

// Return the root of the set of `vertex`.
//
// Scope    one work-item, in a kernel in which no work-item joins sets or shortens paths.
static inline uint wi_find(const global uint *parent, uint vertex) {
  uint next = parent[vertex];
  while (next != vertex) {
    vertex = next;
    next = parent[vertex];
  }
  return vertex;
}

// Return the root of the set of `vertex` while other work-items join sets. The result was the root
// at some moment during the call.
//
// Scope    one work-item; others may join sets and shorten paths.
static inline uint wi_find_racing(const volatile global uint *parent, uint vertex) {
  uint next = parent[vertex];
  while (next != vertex) {
    vertex = next;
    next = parent[vertex];
  }
  return vertex;
}

// Return the root of the set of `vertex`, and let every second vertex on the path point to its
// grandparent. This is done by plain stores. A store may undo another work-item's shortening of a
// path, but never a link, which joins two sets. A link only changes a root, and this function
// stores only to vertices that are no longer roots.
//
// Scope    one work-item; others may join sets and shorten paths.
static inline uint wi_find_halving(volatile global uint *parent, uint vertex) {
  uint next = parent[vertex];
  while (next != vertex) {
    const uint over = parent[next];
    if (over == next) return next;
    parent[vertex] = over;
    vertex = over;
    next = parent[vertex];
  }
  return vertex;
}

// Return the root of the set of `vertex`, and let every second vertex on the path point to its
// grandparent, while no other work-item uses the sets. The reads here are not volatile. With the
// volatile reads of wi_find_halving, a solve by one work-item takes a fifth longer.
//
// Scope    one work-item; no other work-item uses the parent array. Parents need not have higher
//          priorities than their children.
static inline uint wi_find_alone(global uint *parent, uint vertex) {
  for (;;) {
    const uint next = parent[vertex], over = parent[next];
    if (over == next) return next;
    parent[vertex] = over;
    vertex = over;
  }
}

// Return the root of the set of `vertex`, and let every second vertex on the path point to its
// grandparent, by compare-and-swap. If another work-item has changed a parent meanwhile, nothing is
// stored.
//
// Scope    one work-item; others may join sets and shorten paths.
static inline uint wi_find_halving_exchanging(volatile global uint *parent, uint vertex) {
  uint next = parent[vertex];
  while (next != vertex) {
    const uint over = parent[next];
    if (over == next) return next;
    atomic_cmpxchg(&parent[vertex], next, over);
    vertex = over;
    next = parent[vertex];
  }
  return vertex;
}

// Return the root of the set of `vertex`, and let every vertex on the path point to this root, by
// compare-and-swap. If another work-item has already let a vertex of the path point to an ancestor
// of this root, the rest of the path stays as it is.
//
// Scope    one work-item; others may join sets and shorten paths.
static inline uint wi_find_compressing_exchanging(volatile global uint *parent, uint vertex) {
  uint next = parent[vertex];
  const uint root = wi_find_racing(parent, next);
  if (next == root) return root;
  const uint top = union_find_priority(root);
  while (union_find_priority(next) < top) {
    atomic_cmpxchg(&parent[vertex], next, root);
    vertex = next;
    next = parent[vertex];
  }
  return root;
}

// Join the sets of a and b, while other work-items join sets, too. Return whether a and b were in
// two sets. This is lock-free: a compare-and-swap fails only if another work-item has given the
// same root a new parent in between. The vertex that gets a parent must be a root. The parent need
// not be a root, but it has a higher priority, so no cycle can arise.
//
// Scope    one work-item; others may call any of the functions above.
static inline bool wi_unite(volatile global uint *parent, uint a, uint b) {
  while (a != b) {
    if (union_find_priority(a) > union_find_priority(b)) {
      const uint swap = a;
      a = b;
      b = swap;
    }
    const uint seen = atomic_cmpxchg(&parent[a], a, b);
    if (seen == a) return true;
    a = wi_find_racing(parent, seen);
  }
  return false;
}

// Join the sets of a and b without atomics. Return whether a and b were in two sets.
//
// Scope    one work-item, while no other work-item uses the sets.
static inline bool wi_unite_alone(volatile global uint *parent, uint a, uint b) {
  a = wi_find_halving(parent, a);
  b = wi_find_halving(parent, b);
  const bool is_lower = union_find_priority(a) < union_find_priority(b);
  parent[is_lower ? a : b] = is_lower ? b : a;  // changes nothing if a and b are the same root
  return a != b;
}
