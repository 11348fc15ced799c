// The record of an edge's sensitivity interval, the range in which its weight may change while the
// forest stays the same (sensitivity.cl, sensitivity_classify.cl).

// The record of an edge is one word: the position of its reference weight on a coarse scale, with
// which new weights are compared, and its state.
//
//   31 ............................ 2   1 .......... 0
//   position on the scale, 30 bits       state, 2 bits
//
// Edges of the reference forest are EDGE_IN or EDGE_TREE, all other edges EDGE_OUT or EDGE_OTHER.
#define EDGE_OUT 0u
#define EDGE_IN 1u
#define EDGE_OTHER 2u  // a candidate outside the reference forest
#define EDGE_TREE 3u   // a candidate in the reference forest
#define EDGE_STATE 3u
#define EDGE_IS_TREE 1u
#define EDGE_IS_CANDIDATE 2u
