// The edge list of a graph that is contracted again and again, as in Borůvka's algorithm, and the
// edges that its vertices choose. A vertex chooses the lightest edge that leads out of it. The
// components that the chosen edges connect become the vertices of a smaller graph, which is called
// the next level.
//
// The edge list of a level holds every edge in both directions, as two arrays.
// pairs[i] = u << bits | v has the two ends of entry i. ranks[i] is the position of the edge in the
// total order, which is by weight key and then by edge id. Both directions of an edge have the same
// rank. The ranks of two edges always differ, whatever the type of the weights. The list is sorted
// by u.
//
// Example: bits = 2, the path 0 - 1 - 2 with weights 5.0 and 3.0:
//
//     pairs    0<<2|1   1<<2|0   1<<2|2   2<<2|1
//     ranks       1        1        0        0         rank 0 is the edge of weight 3.0

static inline uint pair_source(ulong pair, uint bits) {
  return (uint)(pair >> bits);
}

static inline uint pair_target(ulong pair, uint bits) {
  return (uint)(pair & ((1ul << bits) - 1));
}

// The choice of a vertex is a 64-bit word, rank << 32 | target, for its lightest edge. The rank is
// the position of the edge in the order of weights, and the target is the vertex at its other end.
// Ranks are below UINT_MAX, so words with the rank UINT_MAX can say that a vertex has chosen no
// edge. The word NO_CHOICE says that no edge leads out of the vertex.
#define NO_CHOICE ULONG_MAX
// The word of a vertex that chooses no edge on this level of the contraction, although edges may
// lead out of it.
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
