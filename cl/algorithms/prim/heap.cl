// Prim's algorithm with a heap: a work-item a patch.
//
// Source: Prim 1957 (prim.cl); the heap of D. B. Johnson, "Priority queues with update and finding
// minimum spanning trees", Information Processing Letters 4 (1975), four children a node: a cache
// line of keys, half the levels of two.
//
// The heap is addressable: places[] tells where a vertex stands in it, so a lighter edge raises the
// vertex from there, and there is room for all in an entry a vertex.
#ifndef CLMST_ALGORITHMS_PRIM_HEAP
#define CLMST_ALGORITHMS_PRIM_HEAP

#include "algorithms/prim/tree.cl"

#define HEAP_ARITY 4

// Where a work-item is: a launch ends after so many steps, wherever that is.
typedef struct {
  uint patch;   // n_patches or more: all done
  uint seeded;  // vertices of the patch that were tried as a root
  uint size;    // of the heap
  uint vertex;  // whose row is gone through, unless the slot is at its end
  uint slot, end;
} heap_cursor_t;

#define HEAP_CURSOR_WORDS 6

// Steps that taking a vertex out of the heap counts for; looking at a slot counts for one.
#define HEAP_TAKE_STEPS 16

// Raise (key, vertex) from a place that is free until the heap is in order.
static inline void heap_raise(const prim_t *prim, uint place, prim_key_t key, uint vertex) {
  while (place > 0) {
    const uint above = (place - 1) / HEAP_ARITY, holder = prim->holders[above];
    const prim_key_t above_key = prim->keys[above];
    if (!prim_precedes(prim, key, vertex, above_key, holder)) break;
    prim_put(prim, place, above_key, holder);
    place = above;
  }
  prim_put(prim, place, key, vertex);
}

// Let (key, vertex) sink from the top, which is free, until a heap of `size` is in order.
static inline void heap_sink(const prim_t *prim, uint size, prim_key_t key, uint vertex) {
  uint place = 0;
  while (size > 1 && place <= (size - 2) / HEAP_ARITY) {
    const uint first = HEAP_ARITY * place + 1, n_below = min(size - first, (uint)HEAP_ARITY);
    uint least = first, holder = prim->holders[first];
    prim_key_t least_key = prim->keys[first];
    for (uint below = first + 1; below < first + n_below; ++below) {
      const prim_key_t below_key = prim->keys[below];
      if (below_key > least_key) continue;
      const uint other = prim->holders[below];
      if (!prim_precedes(prim, below_key, other, least_key, holder)) continue;
      least = below;
      least_key = below_key;
      holder = other;
    }
    if (!prim_precedes(prim, least_key, holder, key, vertex)) break;
    prim_put(prim, place, least_key, holder);
    place = least;
  }
  prim_put(prim, place, key, vertex);
}

// Offer the edge at a slot in the row of `from`, which is in the tree.
static inline void heap_offer(const prim_t *prim, uint from, uint slot, uint *size) {
  const uint vertex = prim->indices[slot];
  const prim_key_t key = weight_key(prim->weights[slot]);
  if (!prim_offer(prim, vertex, key, from)) return;
  uint place = prim->places[vertex];
  if (place == PRIM_UNMET) place = (*size)++;
  heap_raise(prim, place, key, vertex);
}

// Take the vertex with the lightest edge out of the heap.
static inline uint heap_take(const prim_t *prim, uint *size) {
  const uint vertex = prim->holders[0], last = --*size;
  if (last > 0) heap_sink(prim, last, prim->keys[last], prim->holders[last]);
  return vertex;
}

// Grow the trees of the patch at the cursor, of n vertices, by at most *steps, which is counted
// down; returns whether they are full grown.
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
        if (prim->places[cursor->vertex] == PRIM_TAKEN) continue;
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

// Grow the trees of all patches, every work-item by at most `steps`.
//
// In       indptr, indices, weights: rows; vertices[n], offsets[n_patches]: the patches' vertices.
// In-out   parents, places, held, holders, keys[n]; cursors[HEAP_CURSOR_WORDS * work-items]: not
//          read in launch 0; unfinished[1]: the last launch after which another is needed, plus
//          one.
// Launch   any, always as many work-items; launches 0, 1, ... until unfinished[0] is the number of
//          the last one. O(m + n log n) steps in all.
// Needs    steps > 0.
kernel void prim_heap_grow(PRIM_PARAMETERS, const global uint *vertices,
                           const global uint *offsets, global uint *cursors,
                           volatile global uint *unfinished, uint n, uint n_patches, uint steps,
                           uint launch) {
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
    prim.holders = holders + begin;
    if (heap_grow(&prim, vertices + begin, end - begin, &cursor, &steps))
      cursor = (heap_cursor_t){cursor.patch + workers, 0, 0, 0, 0, 0};
  }
  if (cursor.patch >= n_patches) cursor.patch = n_patches;  // lest it wrap around
  else atomic_max(unfinished, launch + 1);
  global uint *to = cursors + (size_t)HEAP_CURSOR_WORDS * me;
  to[0] = cursor.patch;
  to[1] = cursor.seeded;
  to[2] = cursor.size;
  to[3] = cursor.vertex;
  to[4] = cursor.slot;
  to[5] = cursor.end;
}

#endif
