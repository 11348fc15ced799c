// Prim's algorithm with an array. A work-group solves a patch, which is a set of vertices that no
// edge leaves. To find the next vertex of a tree, the work-items together look at all vertices that
// are not in a tree yet. So the work is quadratic.
//
// Source: Prim 1957 (prim.cl); E. W. Dijkstra, "A note on two problems in connexion with graphs",
// Numerische Mathematik 1 (1959), Problem 1.
//
// Every vertex of a patch that is not in a tree yet has a position in an array, and a key, which is
// the weight key of its lightest edge to a tree. The positions 0 .. taken - 1 are free, because
// `taken` vertices have joined trees. The vertex with the minimum key joins the tree next. A vertex
// without an edge to a tree has the maximum key, and comes after all vertices with such an edge. If
// only vertices without an edge are left, the tree is complete, and one of them becomes the root of
// another tree:
//
//     position   0     1     2     3     4        taken = 2
//     vertex     -     -     c     a     b
//     key        -     -     9     4     max      next: a, at position 3; c moves there, taken = 3
#include "algorithms/prim/tree.cl"

// A launch ends after a number of steps. Reading one vertex or one slot (CSR entry) is a step of a
// work-item. Choosing the next vertex counts as this number of further steps.
#define ARRAY_CHOOSE_STEPS 8

// Begin a patch, which is a set of n vertices that no edge leaves: put its vertices at the
// positions 0 to n - 1. No vertex is in a tree yet.
//
// Scope    the whole work-group; ends with a barrier.
static inline void array_begin(const prim_t *prim, const global uint *vertices, uint n) {
  for (uint position = get_local_id(0); position < n; position += WG_SIZE)
    prim_put(prim, position, PRIM_KEY_MAX, vertices[position]);
  wg_barrier();
}

// Find, among the vertices at the positions [begin, n), the one with the lightest edge to a tree,
// and return its position. The vertices at these positions are not in a tree yet.
//
// Temp     best_keys, best_positions: WG_SIZE entries each, in local memory, which may be reused
//          after another barrier.
// Scope    the whole work-group; the result is the same in all work-items.
static inline uint array_find_least(const prim_t *prim, uint begin, uint n,
                                    local prim_key_t *best_keys, local uint *best_positions) {
  const uint me = get_local_id(0);
  prim_key_t best_key = PRIM_KEY_MAX;
  uint best = PRIM_NONE;
  for (uint position = begin + me; position < n; position += WG_SIZE) {
    const prim_key_t key = prim->keys[position];
    if (key > best_key) continue;
    if (best == PRIM_NONE ||
        prim_precedes(prim, key, prim->occupants[position], best_key, prim->occupants[best])) {
      best_key = key;
      best = position;
    }
  }
#if WG_SIZE == 1
  return best;
#else
  best_keys[me] = best_key;
  best_positions[me] = best;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint width = WG_SIZE; width > 1;) {
    const uint half_width = (width + 1) / 2;
    const uint other = me + half_width < width ? best_positions[me + half_width] : PRIM_NONE;
    if (other != PRIM_NONE) {
      const prim_key_t key = best_keys[me + half_width];
      if (best == PRIM_NONE ||
          prim_precedes(prim, key, prim->occupants[other], best_key, prim->occupants[best])) {
        best_keys[me] = best_key = key;
        best_positions[me] = best = other;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    width = half_width;
  }
  return best_positions[0];
#endif
}

// Take the vertex at a position into the tree. Positions before `first` are free. The vertex at
// position `first` moves to the place that becomes free, so that the vertices outside the trees
// stay together.
//
// Scope    the whole work-group; ends with a barrier.
static inline void array_take(const prim_t *prim, uint first, uint position, uint vertex) {
  if (get_local_id(0) == 0) {
    prim_put(prim, position, prim->keys[first], prim->occupants[first]);
    prim_take(prim, vertex);
  }
  wg_barrier();
}

// Return whether the edge in a slot (CSR entry) of a row has to be offered to the vertex at its
// other end. The row has the slots [begin, end). Before the call, *key is the weight key of the
// slot. If several work-items read a row, only the first slot of a group of parallel edges is
// offered, and *key becomes the minimum key of the group. So only one work-item writes to each
// vertex.
static inline bool array_is_first(const prim_t *prim, uint begin, uint slot, uint end,
                                  prim_key_t *key) {
#if WG_SIZE > 1
  const uint vertex = prim->indices[slot];
  if (slot > begin && prim->indices[slot - 1] == vertex) return false;
  while (++slot < end && prim->indices[slot] == vertex)
    *key = min(*key, (prim_key_t)weight_key(prim->weights[slot]));
#endif
  return true;
}

// Offer the edges of a row, whose vertex has joined the tree, to the vertices at their other ends.
// Each of these vertices stores its lightest edge to a tree.
//
// Scope    the whole work-group; ends with a barrier.
static inline void array_offer(const prim_t *prim, uint from, uint begin, uint end) {
  for (size_t at = (size_t)begin + get_local_id(0); at < end; at += WG_SIZE) {
    const uint slot = (uint)at, vertex = prim->indices[slot];
    prim_key_t key = weight_key(prim->weights[slot]);
    if (!array_is_first(prim, begin, slot, end, &key)) continue;
    if (prim_offer(prim, vertex, key, from)) prim->keys[prim->positions[vertex]] = key;
  }
  wg_barrier();
}

// Grow the trees of all patches. A patch is a set of vertices that no edge leaves. Each work-group
// solves one patch at a time. In a launch it takes at most `steps` steps, and in the next launch it
// continues from there.
//
// In       indptr, indices, weights: rows with both directions of every edge and ascending columns;
//          vertices[n]: the vertices, patch by patch;
//          offsets[n_patches]: where each patch begins in `vertices`.
// In-out   parents[n]: the other end of each vertex's lightest edge to a tree;
//          positions[n]: the position of each vertex in its patch;
//          lightest[n]: the key of each vertex's lightest edge to a tree;
//          occupants[n], keys[n]: for each position, the vertex there and the key of its lightest
//            edge;
//          cursors[2 * work-groups]: how far each work-group has come, not read in launch 0;
//          unfinished[1]: 1 + the number of the last launch that left trees incomplete, or 0 if
//            there is no such launch.
// Launch   the same number of work-groups each time. Launches have the numbers `launch` = 0, 1, and
//          so on. The trees are complete when unfinished[0] is not greater than the number of the
//          last launch. O(n^2 + m) reads in all, divided among the work-items.
// Needs    prim_initialise; steps > 0; no edge leaves a patch.
// Ensures  after the last launch, parents[v] is the other end of the forest edge by which v joined
//          its tree, or PRIM_NONE for a root.
kernel void prim_array_grow(PRIM_PARAMETERS, const global uint *vertices,
                            const global uint *offsets, global uint *cursors,
                            volatile global uint *unfinished, uint n, uint n_patches, uint steps,
                            uint launch) {
  local prim_key_t best_keys[WG_SIZE];
  local uint best_positions[WG_SIZE];
  const uint me = get_group_id(0);
  prim_t prim = PRIM_ARGUMENTS;
  uint patch = launch > 0 ? cursors[2 * me] : me, taken = launch > 0 ? cursors[2 * me + 1] : 0;
  wg_barrier();
  while (patch < n_patches && steps > 0) {
    const uint begin = offsets[patch];
    const uint size = (patch + 1 < n_patches ? offsets[patch + 1] : n) - begin;
    prim.keys = keys + begin;
    prim.occupants = occupants + begin;
    array_begin(&prim, vertices + begin, taken == 0 ? size : 0);
    while (taken < size && steps > 0) {
      const uint position = array_find_least(&prim, taken, size, best_keys, best_positions);
      const uint vertex = prim.occupants[position];
      const uint row = indptr[vertex], row_end = indptr[vertex + 1];
      wg_barrier();
      array_take(&prim, taken, position, vertex);
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
