// The trees of Prim's algorithm while they grow: what is known of vertices, and how edges compare.
//
// Rows hold every edge in both directions. A vertex outside the tree holds the lightest of its
// edges to the tree, if it has any: the edge's key, and the vertex at its other end, the parent.
// That is all that an edge's place in the total order (key, edge id) depends on: at one vertex
// edges of one key are ordered by their other ends, elsewhere by the lesser end, then the greater.
// Of parallel edges it does not matter which is held; the least of them is looked up once, in the
// end.
//
// Vertices are dealt out as patches, which no edge leaves. A patch has one worker, which grows all
// of its trees: a component each. Workers have no word in common.
#ifndef CLMST_ALGORITHMS_PRIM_TREE
#define CLMST_ALGORITHMS_PRIM_TREE

#include "device/weight_key.cl"
#include "device/work_group.cl"

#if WEIGHT_BITS == 64
typedef ulong prim_key_t;
#define PRIM_KEY_MAX ULONG_MAX
#else
typedef uint prim_key_t;
#define PRIM_KEY_MAX UINT_MAX
#endif

// The parent of a vertex that holds no edge; vertices have lesser numbers.
#define PRIM_NONE UINT_MAX
// places[] of a vertex that is in a tree, or that no tree has met; other places are lesser, since a
// graph has at most 2^32 - 2 vertices.
#define PRIM_TAKEN UINT_MAX
#define PRIM_UNMET (UINT_MAX - 1)

// A graph, and how far its trees have grown.
typedef struct {
  const global uint *indptr, *indices;
  const global weight_t *weights;
  // Of vertices, n each. held: the key of the edge held; the greatest where there is none, and the
  // least in a tree, so that one look tells nearly always that an edge is of no use.
  global uint *parents, *places;
  global prim_key_t *held;
  // Of the places of the patch at hand: which vertex stands there, and the key of its edge.
  global uint *holders;
  global prim_key_t *keys;
} prim_t;

#define PRIM_PARAMETERS                                                                        \
  const global uint *indptr, const global uint *indices, const global weight_t *weights,       \
      global uint *parents, global uint *places, global prim_key_t *held,                      \
      global uint *holders, global prim_key_t *keys

#define PRIM_ARGUMENTS {indptr, indices, weights, parents, places, held, holders, keys}

// Put a vertex and the key of its edge at a place.
static inline void prim_put(const prim_t *prim, uint place, prim_key_t key, uint vertex) {
  prim->keys[place] = key;
  prim->holders[place] = vertex;
  prim->places[vertex] = place;
}

// Let a vertex be in a tree.
static inline void prim_take(const prim_t *prim, uint vertex) {
  prim->places[vertex] = PRIM_TAKEN;
  prim->held[vertex] = 0;
}

// Offer a vertex an edge from `from`, a vertex in a tree; returns whether the vertex, which
// is in no tree then, has come to hold it. What stands at its place is left as it was.
static inline bool prim_offer(const prim_t *prim, uint vertex, prim_key_t key, uint from) {
  const prim_key_t held = prim->held[vertex];
  if (key > held) return false;
  if (prim->places[vertex] == PRIM_TAKEN) return false;  // so for loops, too
  if (key == held && from >= prim->parents[vertex]) return false;
  prim->held[vertex] = key;
  prim->parents[vertex] = from;
  return true;
}

// Whether the edge that vertex a holds comes before that of vertex b; one that holds none is last.
static inline bool prim_precedes(const prim_t *prim, prim_key_t key_a, uint a, prim_key_t key_b,
                                 uint b) {
  if (key_a != key_b) return key_a < key_b;
  const uint from_a = prim->parents[a], from_b = prim->parents[b];
  if ((from_a == PRIM_NONE) != (from_b == PRIM_NONE)) return from_b == PRIM_NONE;
  const uint low_a = min(a, from_a), low_b = min(b, from_b);
  return low_a != low_b ? low_a < low_b : max(a, from_a) < max(b, from_b);
}

#endif
