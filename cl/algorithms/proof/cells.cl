// proof: what pairs of vertices of a complete graph weigh, stored or computed from points.
//
// Written apart from what `dense` reads them by (dense/cells.cl), and to the same numbers: distances
// are made of operations that IEEE 754 rounds in one way, and contraction is off. A measure orders as
// keys do, but for measures that share a key; of points it is the square of the distance, or, where
// the order is reversed, its negative.
#ifndef CLMST_ALGORITHMS_PROOF_CELLS
#define CLMST_ALGORITHMS_PROOF_CELLS

#include "device/weight_key.cl"

// Where weights come from: 0, a stored matrix; of points, 1 Euclidean, 2 rounded, 3 great-circle
// distances, which take doubles.
#ifndef METRIC
#define METRIC 0
#endif

// Coordinates of a point: 2 or 3.
#ifndef DIMENSIONS
#define DIMENSIONS 2
#endif

#if METRIC
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef double cell_t;
typedef double measure_t;
#else
typedef weight_t cell_t;
typedef weight_t measure_t;
#endif

#if WEIGHT_BITS == 64
typedef ulong cell_key_t;
#else
typedef uint cell_key_t;
#endif

// Great-circle distances end here, in kilometres.
#define GREAT_CIRCLE_STEPS 20039u
// Of squares: more than rounding can do to them, relative and near zero.
#define SQUARE_SLACK 1e-14
#define SQUARE_SLACK_AT_ZERO 1e-300

// The measure of the pair (u, v). `cells` are the rows of the matrix from `first_row` on; of points,
// their coordinates, one dimension behind the other, then the steps of great-circle distances.
static inline measure_t cell_measure(const global cell_t *cells, uint n, uint first_row, uint u,
                                     uint v) {
#if METRIC
  const double dx = cells[u] - cells[v], dy = cells[(size_t)n + u] - cells[(size_t)n + v];
  double square = dx * dx + dy * dy;
#if DIMENSIONS > 2
  const double dz = cells[(size_t)2 * n + u] - cells[(size_t)2 * n + v];
  square = square + dz * dz;
#endif
  return WEIGHT_DESCENDING ? -square : square;
#else
  return weight_key(cells[(size_t)(u - first_row) * n + v]);
#endif
}

// The key of a measure.
static inline cell_key_t cell_key(const global cell_t *cells, uint n, measure_t measure) {
#if METRIC
  const double square = WEIGHT_DESCENDING ? -measure : measure;
#endif
#if METRIC == 1
  return weight_key(as_ulong(sqrt(square)));
#elif METRIC == 2
  return weight_key((uint)(sqrt(square) + 0.5));
#elif METRIC == 3
  const global double *steps = cells + (size_t)3 * n;
  uint low = 0, high = GREAT_CIRCLE_STEPS;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (steps[middle] <= square) low = middle + 1;
    else high = middle;
  }
  return weight_key(low);
#else
  return measure;
#endif
}

// A measure such that all greater ones have greater keys than this one.
static inline measure_t cell_limit(const global cell_t *cells, uint n, cell_key_t key) {
#if METRIC == 0
  return (measure_t)key;
#else
  const cell_key_t ordered = WEIGHT_DESCENDING ? ~key : key;
#if METRIC == 3
  const global double *steps = cells + (size_t)3 * n;
  if (WEIGHT_DESCENDING) return ordered > 0 ? -steps[ordered - 1] : INFINITY;
  return ordered < GREAT_CIRCLE_STEPS ? steps[ordered] : INFINITY;
#else
#if METRIC == 1
  const double distance = as_double(ordered & ~WEIGHT_SIGN);  // the key of one that is not negative
#else
  const double distance = WEIGHT_DESCENDING ? max(ordered - 0.5, 0.0) : ordered + 0.5;
#endif
  const double square = distance * distance;
  return WEIGHT_DESCENDING ? SQUARE_SLACK_AT_ZERO - square * (1 - SQUARE_SLACK)
                           : SQUARE_SLACK_AT_ZERO + square * (1 + SQUARE_SLACK);
#endif
#endif
}

#endif
