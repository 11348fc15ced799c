// The record that is stored for each edge, from which its sensitivity interval follows. This is the
// range in which the edge's weight may change while the classification of edges stays valid
// (sensitivity.cl, sensitivity_classify.cl).

// The record of an edge is one word. It has the position of the edge's reference weight, which is
// its weight in an earlier solve, on a coarse scale, and the edge's state under new weights.
//
//   31 ............................ 2   1 .......... 0
//   position on the scale, 30 bits       state, 2 bits
//
// Edges of the reference forest, which is the forest of the reference weights, are EDGE_IN if they
// are certainly still in the forest, else EDGE_TREE. All other edges are EDGE_OUT if they are
// certainly still out of the forest, else EDGE_OTHER.
#define EDGE_OUT 0u
#define EDGE_IN 1u
#define EDGE_OTHER 2u  // a candidate outside the reference forest
#define EDGE_TREE 3u   // a candidate in the reference forest
#define EDGE_STATE 3u
#define EDGE_IS_TREE 1u
#define EDGE_IS_CANDIDATE 2u
