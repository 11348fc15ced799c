// dense: one work-item goes through the cells of a row, with vectors and without a branch per cell.
#include "algorithms/dense/cells.cl"

// Number of cells of a row that a vector holds.
#define VECTOR_CELLS 16

#if METRIC
typedef real16 measure16_t;
#define CHOICE16 convert_long16
#elif WEIGHT_BITS == 64
typedef ulong16 measure16_t;
#define CHOICE16 convert_long16
#else
typedef uint16 measure16_t;
#define CHOICE16
#endif

#if WEIGHT_BITS == 8
#define WEIGHTS_AS(type) as_##type##char16
#elif WEIGHT_BITS == 16
#define WEIGHTS_AS(type) as_##type##short16
#elif WEIGHT_BITS == 32
#define WEIGHTS_AS(type) as_##type##int16
#else
#define WEIGHTS_AS(type) as_##type##long16
#endif

// Return the measures, by which the cells of a row are compared, of consecutive cells from `v` on.
// For stored weights they equal the results of weight_key of cl/device/weight_key.cl.
static inline measure16_t row_measures(const row_t *row, uint v) {
#if METRIC
#define DIMENSION16(d) vload16(0, point->points + (size_t)(d) * point->n + v)
  const point_t *point = &row->point;
  sum16_t sums = SUM16_NOTHING;
  for (uint d = 0; d < DIMENSIONS(point->dimensions); ++d)
    sums = DISTANCE_ADD(sums, point_at(point, d), DIMENSION16(d));
  real16 measures = DISTANCE_MEASURE(sums);
#if CORE_DISTANCES
  measures = real_fmax(real_fmax(measures, point->core), DIMENSION16(point->dimensions));
#endif
  return WEIGHT_DESCENDING ? real_negate(measures) : measures;
#else
#define CELLS16 vload16(0, row->cells + v)
#if WEIGHT_KIND == WEIGHT_SIGNED
#define KEYS16 (CELLS16 ^ (weight_t)WEIGHT_SIGN)
#elif WEIGHT_KIND == WEIGHT_FLOAT
#define POSITIVE_ZEROS16(bits) ((bits) & ~WEIGHTS_AS(u)((bits) == (weight_t)WEIGHT_SIGN))
#define SIGNS16(bits) WEIGHTS_AS(u)(WEIGHTS_AS()(bits) >> (WEIGHT_BITS - 1))
#define FLOAT_KEYS16(bits) ((bits) ^ (SIGNS16(bits) | (weight_t)WEIGHT_SIGN))
#define KEYS16 FLOAT_KEYS16(POSITIVE_ZEROS16(CELLS16))
#else
#define KEYS16 CELLS16
#endif
#if WEIGHT_BITS == 64
  return WEIGHT_DESCENDING ? ~KEYS16 : KEYS16;
#else
  return convert_uint16(WEIGHT_DESCENDING ? ~KEYS16 : KEYS16);
#endif
#endif
}

#if ROWS_BOUNDED
// Return lower bounds of the plain values, which are distances before any square root, of
// consecutive cells of a row from `v` on.
static inline float16 row_bounds(const row_t *row, uint v) {
  const point_t *point = &row->point;
  float16 bounds = 0;
  for (uint d = 0; d < DIMENSIONS(point->dimensions); ++d) {
    const float16 own = bound_float(point_at(point, d)), others = bound_float(DIMENSION16(d));
    bounds = BOUND_ADD(bounds, BOUND_DIFFERENCE(own, others));
  }
  return bounds;
}
#endif

// Return the measures, by which the cells of a row are compared, of consecutive cells from `v` on.
// Cells inside the component `own` get the maximum measure. If `component` is null, no cell is left
// out.
static inline measure16_t row_leaving(const row_t *row, uint v, const global uint *component,
                                      uint own) {
  const measure16_t measures = row_measures(row, v);
  if (!component) return measures;
  const int16 leaves = vload16(0, component + v) != own;
  return select((measure16_t)MEASURE_MAX, measures, CHOICE16(leaves));
}

// Replace *best, the lightest cell of a row so far, by the lightest of the cells [begin, end) that
// leave the component `own`, if that one is lighter. Cells are compared one after the other.
static inline void row_take_each(const row_t *row, uint begin, uint end,
                                 const global uint *component, uint own, candidate_t *best) {
  for (uint v = begin; v < end; ++v)
    if (!component || component[v] != own) row_take(row, v, best);
}

#if METRIC

// Replace *best, the lightest cell of a row so far, by the lightest of the cells [begin, end) that
// leave the component `own`, if that one is lighter.
static inline void row_take_range(const row_t *row, uint begin, uint end,
                                  const global uint *component, uint own, candidate_t *best) {
  uint v = begin;
  for (; v + VECTOR_CELLS <= end; v += VECTOR_CELLS) {
#if ROWS_BOUNDED
    const bool may_yield = any(row_bounds(row, v) <= (float16)best->limit);
#else
    const measure16_t measures = row_leaving(row, v, component, own);
    const bool may_yield = best->to == NO_VERTEX || any(real_less(measures, best->measure));
#endif
    if (may_yield) row_take_each(row, v, v + VECTOR_CELLS, component, own, best);
  }
  row_take_each(row, v, end, component, own, best);
}

#else

static inline measure_t measure_least(measure16_t measures) {
  measure_t each[VECTOR_CELLS], least = MEASURE_MAX;
  vstore16(measures, 0, each);
  for (uint i = 0; i < VECTOR_CELLS; ++i) least = min(least, each[i]);
  return least;
}

// Replace *best, the lightest cell of a row so far, by the lightest of the cells [begin, end) that
// leave the component `own`, if that one is lighter. A first pass finds the minimum measure, by
// which cells are compared, and a second pass finds the first column that has this measure. Cells
// of equal measures have equal weights, because the weights are stored.
static inline void row_take_range(const row_t *row, uint begin, uint end,
                                  const global uint *component, uint own, candidate_t *best) {
  const uint stop = begin + (end - begin) / VECTOR_CELLS * VECTOR_CELLS;
  measure16_t lanes = MEASURE_MAX;
  for (uint v = begin; v < stop; v += VECTOR_CELLS)
    lanes = min(lanes, row_leaving(row, v, component, own));
  const measure_t least = measure_least(lanes);
  if (candidate_yields(best, least)) {
    bool is_found = false;
    for (uint v = begin; v < stop && !is_found; v += VECTOR_CELLS) {
      if (!any(row_leaving(row, v, component, own) == least)) continue;
      for (uint i = v; i < v + VECTOR_CELLS && !is_found; ++i) {
        is_found = row_measure(row, i) == least && !(component && component[i] == own);
        if (is_found) row_take(row, i, best);
      }
    }
  }
  row_take_each(row, stop, end, component, own, best);
}

#endif
