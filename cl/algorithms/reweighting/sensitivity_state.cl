// What is noted of an edge, for rounds under weights that hardly move (sensitivity.cl, sensitivity_classify.cl).
#ifndef CLMST_ALGORITHMS_REWEIGHTING_SENSITIVITY_STATE
#define CLMST_ALGORITHMS_REWEIGHTING_SENSITIVITY_STATE

// A noted edge is a word: its place on the scale in the upper 30 bits, what is known of it below.
// Of the forest that was noted: EDGE_IN or EDGE_TREE; of the others: EDGE_OUT or EDGE_OTHER.
#define EDGE_OUT 0u
#define EDGE_IN 1u
#define EDGE_OTHER 2u  // a candidate
#define EDGE_TREE 3u   // a candidate
#define EDGE_STATE 3u
#define EDGE_IS_TREE 1u
#define EDGE_IS_CANDIDATE 2u

#endif
