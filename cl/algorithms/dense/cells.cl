// dense: the cells of a row of the matrix, stored or computed from points.
//
// A cell is the weight of one edge. It has a key, an integer that sorts as the weight does, and a
// measure, by which the cells of a row are compared. If weights are stored, the measure is the key.
// For points, the measure is a number that increases with the weight and takes less time to compute
// (cl/device/distance.cl). So the weight of most pairs of points is never computed.
#include "device/bound.cl"
#include "device/distance.cl"

// 1: all pairs of vertices are edges. 0: some pairs are not edges. In that case the cells of the
// matrix are weight keys, and the maximum key means "no edge".
#ifndef COMPLETE
#define COMPLETE 1
#endif

typedef distance_key_t dense_key_t;
#if WEIGHT_BITS == 64
#define DENSE_KEY_MAX ULONG_MAX
#else
#define DENSE_KEY_MAX UINT_MAX
#endif

#if METRIC
typedef real cell_t;
typedef real measure_t;
#define MEASURE_MAX REAL_INFINITY
#define MEASURE_LESS(a, b) real_less(a, b)
#else
typedef weight_t cell_t;
typedef dense_key_t measure_t;
#define MEASURE_MAX DENSE_KEY_MAX
#define MEASURE_LESS(a, b) ((a) < (b))
#endif

// 1: for each pair of points, a lower bound of the distance is computed in float32, and most pairs
// are rejected by this bound. 0: the exact measure, by which cells are compared, is computed for
// every cell.
#define ROWS_BOUNDED (BOUNDED && BOUND_IS_FLOAT && !WEIGHT_DESCENDING)

// Means "no vertex". There are at most 2**26 vertices, so this is not the number of a vertex.
#define NO_VERTEX 0xffffffffu

// The lightest cell of a row so far, which is the lightest edge of a vertex. As long as no cell has
// been found, `to` is NO_VERTEX, and `key` is the maximum key.
typedef struct {
  measure_t measure;
  dense_key_t key;
  uint to;
#if ROWS_BOUNDED
  float limit;  // a pair with a bound above this is too far apart
#endif
} candidate_t;

typedef struct {
#if METRIC
  point_t point;
#else
  const global cell_t *cells;  // the row's first cell
#endif
} row_t;

static inline void candidate_clear(candidate_t *best) {
  best->measure = MEASURE_MAX;
  best->key = DENSE_KEY_MAX;
  best->to = NO_VERTEX;
#if ROWS_BOUNDED
  best->limit = INFINITY;
#endif
}

// Prepare to read the row of a vertex, which has the weights of its edges to all vertices. `cells`
// holds the stored rows of the matrix, from `first_row` on. If weights are computed from points, it
// holds the coordinates of all points instead (point_open).
static inline void row_open(row_t *row, const global cell_t *cells, uint n, uint first_row,
                            uint vertex, uint dimensions) {
#if METRIC
  point_open(&row->point, cells, n, vertex, dimensions);
#else
  row->cells = cells + (size_t)(vertex - first_row) * n;
#endif
}

// Return the measure of a cell, by which the cells of a row are compared: the key of a stored
// weight, or for points a value that increases with the weight. A lighter cell has a smaller
// measure.
static inline measure_t row_measure(const row_t *row, uint v) {
#if METRIC
  const real measure = distance_measure(&row->point, v);
  return WEIGHT_DESCENDING ? real_negate(measure) : measure;
#else
  return weight_key(row->cells[v]);
#endif
}

// Return whether a cell of a row with this measure, which increases with the weight, can be lighter
// than the lightest cell so far. Columns are visited in ascending order, and the edge ids of a
// vertex ascend with them. So among cells of equal weight, the one that was found first is kept.
static inline bool candidate_yields(const candidate_t *best, measure_t measure) {
#if COMPLETE
  return MEASURE_LESS(measure, best->measure) || best->to == NO_VERTEX;
#else
  return MEASURE_LESS(measure, best->measure);
#endif
}

// Replace *best, the lightest cell of the row so far, by the cell of column `v` if that is lighter.
// `measure` increases with the weight of the cell. Cells must come in ascending order of their
// columns.
static inline void row_take_measured(const row_t *row, uint v, measure_t measure,
                                     candidate_t *best) {
  if (!candidate_yields(best, measure)) return;
  best->measure = measure;
#if ROWS_BOUNDED
  best->limit = bound_limit_of_measure(measure, row->point.dimensions);
#endif
#if METRIC
  const real rising = WEIGHT_DESCENDING ? real_negate(measure) : measure;
  // Different measures may give equal keys, because square roots are rounded. In that case the cell
  // that was found first is kept.
  const dense_key_t key = distance_key(rising, row->point.points, row->point.n);
  if (best->to != NO_VERTEX && key >= best->key) return;
  best->key = key;
#else
  best->key = measure;
#endif
  best->to = v;
}

static inline void row_take(const row_t *row, uint v, candidate_t *best) {
#if ROWS_BOUNDED
  if (point_bound(&row->point, v) > best->limit) return;
#endif
  row_take_measured(row, v, row_measure(row, v), best);
}
