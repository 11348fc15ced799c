// The trees of Prim's algorithm while they grow: what is stored for each vertex, and how edges are
// compared.
//
// Rows have every edge in both directions. A vertex outside the trees stores the lightest of its
// edges to the tree, if it has one: the weight key of the edge, and its other end, which is called
// the parent. The key, the parent and the vertex itself are enough to compare edges by the total
// order (key, edge id). Two edges of equal key that lead to the same vertex outside the trees are
// compared by their other ends. Any two other edges of equal key are compared by (lesser end,
// greater end). Of parallel edges, any one may be stored. When the tree is complete, the one that
// comes first in the total order is looked up.
//
// The vertices are divided into patches, which no edge leaves. One worker grows all trees of a
// patch, one tree for each component of the graph. So no worker reads or writes the data that
// another worker stores for its vertices.
#include "device/weight_key.cl"
#include "device/work_group.cl"

#if WEIGHT_BITS == 64
typedef ulong prim_key_t;
#define PRIM_KEY_MAX ULONG_MAX
#else
typedef uint prim_key_t;
#define PRIM_KEY_MAX UINT_MAX
#endif

// The parent of a vertex without an edge to a tree. It is greater than the number of any vertex.
#define PRIM_NONE UINT_MAX
// Special values of positions[], which otherwise has the index of each vertex in the arrays of its
// patch, a set of vertices that no edge leaves. PRIM_TAKEN is for a vertex that is in a tree, and
// PRIM_UNMET for a vertex to which no tree has an edge yet. All positions are smaller than these
// values, because a graph has at most 2^32 - 2 vertices.
#define PRIM_TAKEN UINT_MAX
#define PRIM_UNMET (UINT_MAX - 1)

// A graph, and the state of the trees that Prim's algorithm grows in it.
typedef struct {
  const global uint *indptr, *indices;
  const global weight_t *weights;
  // These arrays have one element for each of the n vertices: the other end of the vertex's
  // lightest edge to a tree (parents), the vertex's index in occupants[] and keys[] (positions),
  // and the key of this edge (lightest). The key is the maximum if there is no such edge yet, and 0
  // if the vertex is in a tree. So reading this key is nearly always enough to reject an edge that
  // is not needed.
  global uint *parents, *positions;
  global prim_key_t *lightest;
  // These arrays have one element for each position of the present patch, which is a set of
  // vertices that no edge leaves: the vertex at this position, and the key of its lightest edge to
  // a tree.
  global uint *occupants;
  global prim_key_t *keys;
} prim_t;

#define PRIM_PARAMETERS                                                                  \
  const global uint *indptr, const global uint *indices, const global weight_t *weights, \
      global uint *parents, global uint *positions, global prim_key_t *lightest,         \
      global uint *occupants, global prim_key_t *keys

#define PRIM_ARGUMENTS {indptr, indices, weights, parents, positions, lightest, occupants, keys}

// Store a vertex, and the key of its lightest edge to a tree, at an index of the arrays occupants[]
// and keys[], which have one element for each vertex of the patch. Record this index as the
// position of the vertex. A patch is a set of vertices that no edge leaves.
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

// Offer a vertex an edge from `from`, a vertex in a tree. If the vertex is not in a tree, and the
// edge comes before the vertex's stored edge in the total order, store the edge and return true.
// keys[], which has a second copy of the key at the vertex's position, is not changed here.
static inline bool prim_offer(const prim_t *prim, uint vertex, prim_key_t key, uint from) {
  const prim_key_t known = prim->lightest[vertex];
  if (key > known) return false;
  if (prim->positions[vertex] == PRIM_TAKEN) return false;  // this also leaves out self-loops
  if (key == known && from >= prim->parents[vertex]) return false;
  prim->lightest[vertex] = key;
  prim->parents[vertex] = from;
  return true;
}

// Return whether the stored edge of vertex a, which is its lightest edge to a tree, comes before
// the stored edge of vertex b in the total order. A vertex without an edge comes last.
static inline bool prim_precedes(const prim_t *prim, prim_key_t key_a, uint a, prim_key_t key_b,
                                 uint b) {
  if (key_a != key_b) return key_a < key_b;
  const uint from_a = prim->parents[a], from_b = prim->parents[b];
  if ((from_a == PRIM_NONE) != (from_b == PRIM_NONE)) return from_b == PRIM_NONE;
  const uint low_a = min(a, from_a), low_b = min(b, from_b);
  return low_a != low_b ? low_a < low_b : max(a, from_a) < max(b, from_b);
}
