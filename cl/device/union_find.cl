// Disjoint sets of vertices in a parent array, shared by all work-items without locks.
//
// Invariants: parent[v] == v marks a root; following parents ends at a root, since every link goes
// from a lower to a higher priority. Priorities are a bijective hash of the vertex number, that is,
// randomised linking (Goel, Khanna, Larkin, Tarjan 2014; concurrent: Jayanti, Tarjan 2016): trees
// are O(log n) high with high probability whatever the order of unions, so that a long chain of
// unions in one round costs no quadratic chasing, even without any path compression.
//
// Finds race with links and with path halving. Both only replace a parent by one of the vertex's
// ancestors, or a root by a vertex above it: a stale read is an ancestor as well, so a find ends
// at a vertex that was the root at some moment during the call.
#ifndef CLMST_DEVICE_UNION_FIND
#define CLMST_DEVICE_UNION_FIND

static inline uint union_find_priority(uint vertex) {
  vertex ^= vertex >> 16;
  vertex *= 0x7feb352du;
  vertex ^= vertex >> 15;
  vertex *= 0x846ca68bu;
  return vertex ^ vertex >> 16;
}

// The root of `vertex`, where no other work-item links or halves in the same kernel.
static inline uint wi_find(const global uint *parent, uint vertex) {
  uint next = parent[vertex];
  while (next != vertex) {
    vertex = next;
    next = parent[vertex];
  }
  return vertex;
}

// The root of `vertex` while others may link.
static inline uint wi_find_racing(const volatile global uint *parent, uint vertex) {
  uint next = parent[vertex];
  while (next != vertex) {
    vertex = next;
    next = parent[vertex];
  }
  return vertex;
}

// The root of `vertex`; lets every vertex on the way point to its grandparent. A store can undo
// another work-item's halving of the same vertex, never a link: links change roots only, and a
// vertex once linked is no root again.
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

// As wi_find_halving, by exchanges: whoever comes too late changes nothing.
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

// The root of `vertex`; lets every vertex on the way point to it, by exchanges. Others may have let
// a vertex point beyond that root, which has been linked then: from there on there is nothing to do.
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

// Join the sets of a and b; returns whether they were two. Lock-free: a failed exchange means that
// somebody else linked that root. Only the vertex that is linked need be a root; the other one has
// the higher priority, so no cycle can close.
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

// The same, where no other work-item has to do with the sets meanwhile.
static inline bool wi_unite_alone(volatile global uint *parent, uint a, uint b) {
  a = wi_find_halving(parent, a);
  b = wi_find_halving(parent, b);
  const bool is_lower = union_find_priority(a) < union_find_priority(b);
  parent[is_lower ? a : b] = is_lower ? b : a;  // stays as it is where both are one
  return a != b;
}

#endif
