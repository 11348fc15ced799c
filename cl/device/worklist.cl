// Worklists of edges: (u, v, leading key word, id), as 4-tuples or as four arrays.
#ifndef CLMST_DEVICE_WORKLIST
#define CLMST_DEVICE_WORKLIST

// 1: one array of 16-byte tuples. 0: four arrays of `capacity` words (for the ablation).
#ifndef WORKLIST_TUPLES
#define WORKLIST_TUPLES 1
#endif

typedef struct {
  uint u, v;  // endpoints, or what they have been contracted to
  uint key;   // leading 32 bits of the weight key
  uint id;    // slot of the edge in the graph's CSR
} edge_t;

static inline edge_t worklist_load(const global uint *list, uint capacity, uint at) {
#if WORKLIST_TUPLES
  const uint4 words = ((const global uint4 *)list)[at];
#else
  const size_t plane = capacity;
  const uint4 words =
      (uint4)(list[at], list[plane + at], list[2 * plane + at], list[3 * plane + at]);
#endif
  const edge_t edge = {words.x, words.y, words.z, words.w};
  return edge;
}

static inline void worklist_store(global uint *list, uint capacity, uint at, edge_t edge) {
#if WORKLIST_TUPLES
  ((global uint4 *)list)[at] = (uint4)(edge.u, edge.v, edge.key, edge.id);
#else
  const size_t plane = capacity;
  list[at] = edge.u;
  list[plane + at] = edge.v;
  list[2 * plane + at] = edge.key;
  list[3 * plane + at] = edge.id;
#endif
}

#endif
