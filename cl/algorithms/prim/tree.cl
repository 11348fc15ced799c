// The trees of Prim's algorithm while they grow: the words of each vertex, and the order of edges.
//
// Rows have every edge in both directions. A vertex outside the trees records the lightest of its
// edges to the tree, if there is one: the edge's key, and its other end, the parent. These
// determine the edge's position in the total order (key, edge id): at one vertex, edges of one key
// are ordered by their other ends; elsewhere by the lesser end, then the greater. Of parallel edges
// any may be recorded; the least of them is looked up at the end.
//
// Vertices are divided into patches, which no edge leaves. One worker grows all trees of a patch, a
// component each. Workers do not share any word.
#include "device/weight_key.cl"
#include "device/work_group.cl"

#if WEIGHT_BITS == 64
typedef ulong prim_key_t;
#define PRIM_KEY_MAX ULONG_MAX
#else
typedef uint prim_key_t;
#define PRIM_KEY_MAX UINT_MAX
#endif

// The parent of a vertex without an edge to a tree; vertices have lesser numbers.
#define PRIM_NONE UINT_MAX
// positions[] of a vertex that is in a tree, and of one that no tree has an edge to. Positions are
// lesser, since a graph has at most 2^32 - 2 vertices.
#define PRIM_TAKEN UINT_MAX
#define PRIM_UNMET (UINT_MAX - 1)

// A graph, and how far its trees have grown.
typedef struct {
  const global uint *indptr, *indices;
  const global weight_t *weights;
  // Of vertices, n each. lightest: the key of the recorded edge; the greatest key without one, and
  // the least in a tree, so that one read nearly always rejects a useless edge.
  global uint *parents, *positions;
  global prim_key_t *lightest;
  // Of positions of the present patch: the vertex there, and the key of its edge.
  global uint *occupants;
  global prim_key_t *keys;
} prim_t;

#define PRIM_PARAMETERS                                                                  \
  const global uint *indptr, const global uint *indices, const global weight_t *weights, \
      global uint *parents, global uint *positions, global prim_key_t *lightest,         \
      global uint *occupants, global prim_key_t *keys

#define PRIM_ARGUMENTS {indptr, indices, weights, parents, positions, lightest, occupants, keys}

// Store a vertex and the key of its edge at a position.
static inline void prim_put(const prim_t *prim, uint position, prim_key_t key, uint vertex) {
  prim->keys[position] = key;
  prim->occupants[position] = vertex;
  prim->positions[vertex] = position;
}

// Mark a vertex as taken into a tree.
static inline void prim_take(const prim_t *prim, uint vertex) {
  prim->positions[vertex] = PRIM_TAKEN;
  prim->lightest[vertex] = 0;
}

// Offer a vertex an edge from `from`, a vertex in a tree; return whether the vertex is in no tree
// and records the edge now. keys[] at its position is not changed.
static inline bool prim_offer(const prim_t *prim, uint vertex, prim_key_t key, uint from) {
  const prim_key_t known = prim->lightest[vertex];
  if (key > known) return false;
  if (prim->positions[vertex] == PRIM_TAKEN) return false;  // so for loops, too
  if (key == known && from >= prim->parents[vertex]) return false;
  prim->lightest[vertex] = key;
  prim->parents[vertex] = from;
  return true;
}

// Whether vertex a's recorded edge comes before vertex b's; a vertex without one is last.
static inline bool prim_precedes(const prim_t *prim, prim_key_t key_a, uint a, prim_key_t key_b,
                                 uint b) {
  if (key_a != key_b) return key_a < key_b;
  const uint from_a = prim->parents[a], from_b = prim->parents[b];
  if ((from_a == PRIM_NONE) != (from_b == PRIM_NONE)) return from_b == PRIM_NONE;
  const uint low_a = min(a, from_a), low_b = min(b, from_b);
  return low_a != low_b ? low_a < low_b : max(a, from_a) < max(b, from_b);
}
