// Prim's algorithm with an array: a work-group a patch, which looks at every vertex outside the
// trees for the next one. Quadratic, but each of its passes is shared by all work-items.
//
// Source: Prim 1957 (prim.cl); E. W. Dijkstra, "A note on two problems in connexion with graphs",
// Numerische Mathematik 1 (1959), Problem 1.
//
// Places 0 .. taken - 1 of a patch are free, the rest hold the vertices outside the trees. A vertex
// that holds no edge has the greatest key, and comes after those that hold one: if it is the least,
// the tree is full grown, and it becomes the root of another.
#ifndef CLMST_ALGORITHMS_PRIM_ARRAY
#define CLMST_ALGORITHMS_PRIM_ARRAY

#include "algorithms/prim/tree.cl"

// Steps that choosing a vertex counts for beside the places and slots that a work-item looks at.
#define ARRAY_CHOOSE_STEPS 8

// Order global and local memory among the work-items of a work-group.
static inline void array_barrier(void) {
#if WG_SIZE > 1
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

// Let nothing of a patch be taken.
static inline void array_begin(const prim_t *prim, const global uint *vertices, uint n) {
  for (uint place = get_local_id(0); place < n; place += WG_SIZE)
    prim_put(prim, place, PRIM_KEY_MAX, vertices[place]);
  array_barrier();
}

// The place in [begin, n) of the vertex with the lightest edge, everywhere. best_keys, best_places:
// WG_SIZE each, free again after another barrier.
static inline uint array_find_least(const prim_t *prim, uint begin, uint n,
                                    local prim_key_t *best_keys, local uint *best_places) {
  const uint me = get_local_id(0);
  prim_key_t best_key = PRIM_KEY_MAX;
  uint best = PRIM_NONE;
  for (uint place = begin + me; place < n; place += WG_SIZE) {
    const prim_key_t key = prim->keys[place];
    if (key > best_key) continue;
    if (best == PRIM_NONE ||
        prim_precedes(prim, key, prim->holders[place], best_key, prim->holders[best])) {
      best_key = key;
      best = place;
    }
  }
#if WG_SIZE == 1
  return best;
#else
  best_keys[me] = best_key;
  best_places[me] = best;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint width = WG_SIZE; width > 1;) {
    const uint half_width = (width + 1) / 2;
    const uint other = me + half_width < width ? best_places[me + half_width] : PRIM_NONE;
    if (other != PRIM_NONE) {
      const prim_key_t key = best_keys[me + half_width];
      if (best == PRIM_NONE ||
          prim_precedes(prim, key, prim->holders[other], best_key, prim->holders[best])) {
        best_keys[me] = best_key = key;
        best_places[me] = best = other;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    width = half_width;
  }
  return best_places[0];
#endif
}

// Take the vertex at a place into the tree; the one at the first place stands there then.
static inline void array_take(const prim_t *prim, uint first, uint place, uint vertex) {
  if (get_local_id(0) == 0) {
    prim_put(prim, place, prim->keys[first], prim->holders[first]);
    prim_take(prim, vertex);
  }
  array_barrier();
}

// The key to offer for a slot of a row that ends at `end`, if any is: where several work-items look
// at a row, the one at the first of parallel edges offers the lightest of them, so that every
// vertex has one writer.
static inline bool array_speaks(const prim_t *prim, uint begin, uint slot, uint end,
                                prim_key_t *key) {
#if WG_SIZE > 1
  const uint vertex = prim->indices[slot];
  if (slot > begin && prim->indices[slot - 1] == vertex) return false;
  while (++slot < end && prim->indices[slot] == vertex)
    *key = min(*key, (prim_key_t)weight_key(prim->weights[slot]));
#endif
  return true;
}

// Offer the edges of a row, whose vertex is in the tree.
static inline void array_offer(const prim_t *prim, uint from, uint begin, uint end) {
  for (size_t at = (size_t)begin + get_local_id(0); at < end; at += WG_SIZE) {
    const uint slot = (uint)at, vertex = prim->indices[slot];
    prim_key_t key = weight_key(prim->weights[slot]);
    if (!array_speaks(prim, begin, slot, end, &key)) continue;
    if (prim_offer(prim, vertex, key, from)) prim->keys[prim->places[vertex]] = key;
  }
  array_barrier();
}

// Grow the trees of all patches, every work-group by at most `steps`.
//
// In       indptr, indices, weights: rows, sorted; vertices[n], offsets[n_patches]: the patches'
//          vertices.
// In-out   parents, places, held, holders, keys[n]; cursors[2 * work-groups]: not read in launch 0;
//          unfinished[1]: the last launch after which another is needed, plus one.
// Launch   WG_SIZE, always as many work-groups; launches 0, 1, ... until unfinished[0] is the
//          number of the last one. O(n^2 + m) looks in all, shared by the work-items.
// Needs    steps > 0.
kernel void prim_array_grow(PRIM_PARAMETERS, const global uint *vertices,
                            const global uint *offsets, global uint *cursors,
                            volatile global uint *unfinished, uint n, uint n_patches, uint steps,
                            uint launch) {
  local prim_key_t best_keys[WG_SIZE];
  local uint best_places[WG_SIZE];
  const uint me = get_group_id(0);
  prim_t prim = PRIM_ARGUMENTS;
  uint patch = launch > 0 ? cursors[2 * me] : me, taken = launch > 0 ? cursors[2 * me + 1] : 0;
  array_barrier();
  while (patch < n_patches && steps > 0) {
    const uint begin = offsets[patch];
    const uint size = (patch + 1 < n_patches ? offsets[patch + 1] : n) - begin;
    prim.keys = keys + begin;
    prim.holders = holders + begin;
    if (taken == 0) array_begin(&prim, vertices + begin, size);
    while (taken < size && steps > 0) {
      const uint place = array_find_least(&prim, taken, size, best_keys, best_places);
      const uint vertex = prim.holders[place];
      const uint row = indptr[vertex], row_end = indptr[vertex + 1];
      array_barrier();
      array_take(&prim, taken, place, vertex);
      array_offer(&prim, vertex, row, row_end);
      const uint looks = (size - taken) / WG_SIZE + (row_end - row) / WG_SIZE;
      steps -= min(steps, looks + ARRAY_CHOOSE_STEPS);
      taken += 1;
    }
    if (taken == size) {
      patch += get_num_groups(0);
      taken = 0;
    }
  }
  if (get_local_id(0) == 0) {
    cursors[2 * me] = min(patch, n_patches);
    cursors[2 * me + 1] = taken;
    if (patch < n_patches) atomic_max(unfinished, launch + 1);
  }
}

#endif
