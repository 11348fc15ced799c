// Prim's algorithm with a heap. A work-item takes a patch, which is a set of vertices that no edge
// leaves.
//
// Source: Prim 1957 (prim.cl); the heap of D. B. Johnson, "Priority queues with update and finding
// minimum spanning trees", Information Processing Letters 4 (1975). A node has four children, whose
// keys share a cache line, and the heap has half as many levels as a binary heap.
//
// The heap is addressable: positions[] has the index of every vertex in the heap. If a vertex gets
// a lighter edge, it rises in the heap from this index. A vertex is in the heap at most once, so
// the capacity of the heap is the number of vertices.
#include "algorithms/prim/tree.cl"

#define HEAP_ARITY 4

// How far a work-item has come in growing trees. A launch ends after a number of steps, at any
// point of the algorithm, and the next launch continues there.
typedef struct {
  uint patch;   // the patch that is being solved; n_patches or more if all are done
  uint seeded;  // number of vertices of the patch that were tried as roots
  uint size;    // number of vertices in the heap
  uint vertex;  // the vertex whose row is being read, unless the slot is at its end
  uint slot, end;
} heap_cursor_t;

#define HEAP_CURSOR_WORDS 6

// A launch ends after a number of steps. Reading a slot (CSR entry) is one step. Removing a vertex
// from the heap counts as this number of steps.
#define HEAP_TAKE_STEPS 16

// Insert a vertex and the key of its lightest edge at a free position of the heap, and move it up
// until the heap is in order.
static inline void heap_raise(const prim_t *prim, uint position, prim_key_t key, uint vertex) {
  while (position > 0) {
    const uint above = (position - 1) / HEAP_ARITY, occupant = prim->occupants[above];
    const prim_key_t above_key = prim->keys[above];
    if (!prim_precedes(prim, key, vertex, above_key, occupant)) break;
    prim_put(prim, position, above_key, occupant);
    position = above;
  }
  prim_put(prim, position, key, vertex);
}

// Insert a vertex and the key of its lightest edge at the free top of a heap that has `size`
// entries, and move it down until the heap is in order.
static inline void heap_sink(const prim_t *prim, uint size, prim_key_t key, uint vertex) {
  uint position = 0;
  while (size > 1 && position <= (size - 2) / HEAP_ARITY) {
    const uint first = HEAP_ARITY * position + 1, n_below = min(size - first, (uint)HEAP_ARITY);
    uint least = first, occupant = prim->occupants[first];
    prim_key_t least_key = prim->keys[first];
    for (uint below = first + 1; below < first + n_below; ++below) {
      const prim_key_t below_key = prim->keys[below];
      if (below_key > least_key) continue;
      const uint other = prim->occupants[below];
      if (!prim_precedes(prim, below_key, other, least_key, occupant)) continue;
      least = below;
      least_key = below_key;
      occupant = other;
    }
    if (!prim_precedes(prim, least_key, occupant, key, vertex)) break;
    prim_put(prim, position, least_key, occupant);
    position = least;
  }
  prim_put(prim, position, key, vertex);
}

// Offer the edge in a slot (CSR entry) of the row of `from`, a vertex in the tree, to the vertex at
// its other end. That vertex stores its lightest edge to the tree. If the offered edge is lighter
// than the stored one, it is stored, and the vertex rises in the heap.
static inline void heap_offer(const prim_t *prim, uint from, uint slot, uint *size) {
  const uint vertex = prim->indices[slot];
  const prim_key_t key = weight_key(prim->weights[slot]);
  if (!prim_offer(prim, vertex, key, from)) return;
  uint position = prim->positions[vertex];
  if (position == PRIM_UNMET) position = (*size)++;
  heap_raise(prim, position, key, vertex);
}

// Remove the vertex with the lightest edge from the heap, and return it.
static inline uint heap_take(const prim_t *prim, uint *size) {
  const uint vertex = prim->occupants[0], last = --*size;
  if (last > 0) heap_sink(prim, last, prim->keys[last], prim->occupants[last]);
  return vertex;
}

// Grow the trees of a patch, which is a set of n vertices that no edge leaves, in at most *steps
// steps. `cursor` says how far the trees have grown. The steps that are taken are subtracted from
// *steps. Return whether the trees are complete.
static inline bool heap_grow(const prim_t *prim, const global uint *vertices, uint n,
                             heap_cursor_t *cursor, uint *steps) {
  while (*steps > 0) {
    if (cursor->slot == cursor->end) {
      if (cursor->size > 0) {
        cursor->vertex = heap_take(prim, &cursor->size);
        *steps -= min(*steps, (uint)HEAP_TAKE_STEPS);
      } else {
        if (cursor->seeded == n) return true;
        cursor->vertex = vertices[cursor->seeded++];
        *steps -= 1;
        if (prim->positions[cursor->vertex] == PRIM_TAKEN) continue;
      }
      prim_take(prim, cursor->vertex);
      cursor->slot = prim->indptr[cursor->vertex];
      cursor->end = prim->indptr[cursor->vertex + 1];
    }
    const uint stop = cursor->slot + min(*steps, cursor->end - cursor->slot);
    *steps -= stop - cursor->slot;
    uint size = cursor->size;
    for (uint slot = cursor->slot; slot < stop; ++slot)
      heap_offer(prim, cursor->vertex, slot, &size);
    cursor->size = size;
    cursor->slot = stop;
  }
  return false;
}

// Grow the trees of all patches. A patch is a set of vertices that no edge leaves. Each work-item
// solves one patch at a time. In a launch it takes at most `steps` steps, and in the next launch it
// continues from there.
//
// In       indptr, indices, weights: rows with both directions of every edge;
//          vertices[n]: the vertices, patch by patch;
//          offsets[n_patches]: where each patch begins in `vertices`.
// In-out   parents[n]: the other end of each vertex's lightest edge to a tree;
//          positions[n]: the index of each vertex in the heap of its patch, or PRIM_TAKEN or
//            PRIM_UNMET;
//          lightest[n]: the key of each vertex's lightest edge to a tree;
//          occupants[n], keys[n]: the vertex and the key of each entry of the heaps;
//          cursors[HEAP_CURSOR_WORDS * work-items]: how far each work-item has come, not read in
//            launch 0;
//          unfinished[1]: 1 + the number of the last launch that left trees incomplete, or 0 if
//            there is no such launch.
// Launch   the same number of work-items each time. Launches have the numbers `launch` = 0, 1, and
//          so on. The trees are complete when unfinished[0] is not greater than the number of the
//          last launch. O(m + n log n) steps in all.
// Needs    prim_initialise; steps > 0; no edge leaves a patch.
// Ensures  after the last launch, parents[v] is the other end of the forest edge by which v joined
//          its tree, or PRIM_NONE for a root.
kernel void prim_heap_grow(PRIM_PARAMETERS, const global uint *vertices, const global uint *offsets,
                           global uint *cursors, volatile global uint *unfinished, uint n,
                           uint n_patches, uint steps, uint launch) {
  const uint me = get_global_id(0), workers = get_global_size(0);
  prim_t prim = PRIM_ARGUMENTS;
  heap_cursor_t cursor = {me, 0, 0, 0, 0, 0};
  if (launch > 0) {
    const global uint *from = cursors + (size_t)HEAP_CURSOR_WORDS * me;
    cursor = (heap_cursor_t){from[0], from[1], from[2], from[3], from[4], from[5]};
  }
  while (cursor.patch < n_patches && steps > 0) {
    const uint begin = offsets[cursor.patch];
    const uint end = cursor.patch + 1 < n_patches ? offsets[cursor.patch + 1] : n;
    prim.keys = keys + begin;
    prim.occupants = occupants + begin;
    if (heap_grow(&prim, vertices + begin, end - begin, &cursor, &steps))
      cursor = (heap_cursor_t){cursor.patch + workers, 0, 0, 0, 0, 0};
  }
  if (cursor.patch >= n_patches) cursor.patch = n_patches;  // so that it does not wrap around
  else atomic_max(unfinished, launch + 1);
  global uint *to = cursors + (size_t)HEAP_CURSOR_WORDS * me;
  to[0] = cursor.patch;
  to[1] = cursor.seeded;
  to[2] = cursor.size;
  to[3] = cursor.vertex;
  to[4] = cursor.slot;
  to[5] = cursor.end;
}
