// edge_stream: generate the edges of a stream. The caller's expressions compute each edge from its
// id alone.
#include "device/function.cl"
#include "device/weight_key.cl"
#include "device/work_group.cl"

// The macros below are OpenCL expressions of the caller, which compute an edge from its id. In
// them, `id` is the edge's id, a ulong. The caller's further arguments have the names that the
// caller gave them (function.cl). The default expressions generate a path.

// The caller's expression for one end of the edge with the id `id`, an integer. The default
// expressions generate a path, whose edge `id` joins the vertices id and id + 1.
#ifndef EDGE_U
#define EDGE_U (id)
#endif

// The caller's expression for the other end of the edge with the id `id`, an integer.
#ifndef EDGE_V
#define EDGE_V (id + 1)
#endif

// The caller's expression for the weight of the edge with the id `id`. Its value is converted to
// EDGE_WEIGHT_TYPE.
#ifndef EDGE_WEIGHT
#define EDGE_WEIGHT (1)
#endif

// The type of EDGE_WEIGHT, which has WEIGHT_BITS bits. Weights are stored as unsigned words with
// the same bits.
#ifndef EDGE_WEIGHT_TYPE
#define EDGE_WEIGHT_TYPE WEIGHT_WORD
#endif

#if WEIGHT_BITS == 8
#define WORD_OF(weight) as_uchar(weight)
#elif WEIGHT_BITS == 16
#define WORD_OF(weight) as_ushort(weight)
#elif WEIGHT_BITS == 32
#define WORD_OF(weight) as_uint(weight)
#else
#define WORD_OF(weight) as_ulong(weight)
#endif

#define NO_VERTEX 0xFFFFFFFFu

static inline ulong edge_u(ulong id, const given_t *Given) {
  ARGUMENTS(NAMED_SCALAR, NAMED_ARRAY)
  return (ulong)(EDGE_U);
}

static inline ulong edge_v(ulong id, const given_t *Given) {
  ARGUMENTS(NAMED_SCALAR, NAMED_ARRAY)
  return (ulong)(EDGE_V);
}

static inline weight_t edge_weight(ulong id, const given_t *Given) {
  ARGUMENTS(NAMED_SCALAR, NAMED_ARRAY)
  const EDGE_WEIGHT_TYPE weight = (EDGE_WEIGHT_TYPE)(EDGE_WEIGHT);
  return WORD_OF(weight);
}

// Generate consecutive edges of a stream from their ids, by the caller's expressions EDGE_U, EDGE_V
// and EDGE_WEIGHT.
//
// In       GIVEN_PARAMETERS: the numbers and arrays that the caller gives for the arguments of the
//          expressions.
// Out      u[m], v[m]: the ends of each edge;
//          weights[m]: its weight.
// Launch   any.
// Needs    nothing.
// Ensures  edge i has the id first + i. An end that does not fit 32 bits becomes NO_VERTEX.
kernel void edge_stream_generate_edges(global uint *u, global uint *v, global weight_t *weights,
                                       uint m, ulong first GIVEN_PARAMETERS) {
  const given_t given = GIVEN;
  GRID_FOR(i, m) {
    const ulong id = first + i;
    u[i] = (uint)min(edge_u(id, &given), (ulong)NO_VERTEX);
    v[i] = (uint)min(edge_v(id, &given), (ulong)NO_VERTEX);
    weights[i] = edge_weight(id, &given);
  }
}
