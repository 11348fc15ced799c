// Worklists, which list the edges that are still undecided. Each edge has four words: its ends u
// and v, the leading word of its weight key, and its id. A worklist is one array of 4-tuples, or
// four arrays.

// How a worklist, the list of the edges that are still undecided, is stored. 1: as one array of
// 16-byte tuples. 0: as four arrays of `capacity` words, which is slower and serves an ablation
// study.
#ifndef WORKLIST_TUPLES
#define WORKLIST_TUPLES 1
#endif

typedef struct {
  uint u, v;  // endpoints, or the supervertices that they belong to
  uint key;   // leading 32 bits of the weight key
  uint id;    // slot of the edge in the graph's CSR
} edge_t;

// Return an edge as a vector of four words, the form in which worklists and local memory hold
// edges.
static inline uint4 edge_pack(edge_t edge) {
  return (uint4)(edge.u, edge.v, edge.key, edge.id);
}

static inline void edge_unpack(uint4 words, edge_t *edge) {
  edge->u = words.x;
  edge->v = words.y;
  edge->key = words.z;
  edge->id = words.w;
}

// Load edge number `at` of a worklist, which lists the edges that are still undecided. The edge is
// returned through a pointer (quirk: oclgrind-struct-by-value).
static inline void worklist_load(const global uint *list, uint capacity, uint at, edge_t *edge) {
#if WORKLIST_TUPLES
  edge_unpack(((const global uint4 *)list)[at], edge);
#else
  const size_t plane = capacity;
  edge->u = list[at];
  edge->v = list[plane + at];
  edge->key = list[2 * plane + at];
  edge->id = list[3 * plane + at];
#endif
}

static inline void worklist_store(global uint *list, uint capacity, uint at, edge_t edge) {
#if WORKLIST_TUPLES
  ((global uint4 *)list)[at] = edge_pack(edge);
#else
  const size_t plane = capacity;
  list[at] = edge.u;
  list[plane + at] = edge.v;
  list[2 * plane + at] = edge.key;
  list[3 * plane + at] = edge.id;
#endif
}
