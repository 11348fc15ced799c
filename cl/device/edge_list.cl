// The edge list of a graph that is contracted level by level, and the choices of its vertices.
//
// A level's edge list holds every edge in both directions, as two arrays: pairs, u << bits | v, and
// ranks, the edge's place in the total order (weight key, edge id), which stands for both: whoever
// compares ranks compares weights of any type exactly, and never meets a tie. The list is sorted
// by u.
#ifndef CLMST_DEVICE_EDGE_LIST
#define CLMST_DEVICE_EDGE_LIST

static inline uint pair_source(ulong pair, uint bits) {
  return (uint)(pair >> bits);
}

static inline uint pair_target(ulong pair, uint bits) {
  return (uint)(pair & ((1ul << bits) - 1));
}

// What a vertex chooses is rank << 32 | vertex: an edge for the forest, and the vertex of the same
// level that it is joined to by it. Ranks are below UINT_MAX, so two values are no edges':
// nothing to choose, for no edge leads out of what the vertex stands for;
#define NO_CHOICE ULONG_MAX
// or to stay as it is for now, joined to itself, though edges may lead out.
#define CHOICE_TO_STAY(vertex) ((ulong)UINT_MAX << 32 | (vertex))

static inline ulong make_choice(uint rank, uint vertex) {
  return (ulong)rank << 32 | vertex;
}

static inline uint choice_rank(ulong choice) {
  return (uint)(choice >> 32);
}

static inline uint choice_vertex(ulong choice) {
  return (uint)choice;
}

#endif
