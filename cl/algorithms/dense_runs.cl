// dense: how a lone work-item goes along a row: by vectors, without a branch a cell.
//
// Most runs of cells have nothing lighter than what was found before, which one comparison of
// vectors tells; the others are gone through cell by cell.
#ifndef CLMST_ALGORITHMS_DENSE_RUNS
#define CLMST_ALGORITHMS_DENSE_RUNS

#include "algorithms/dense_cells.cl"

// Cells of a vector, and vectors that are looked at together.
#define VECTOR_CELLS 16
#define RUN_VECTORS 4

#if METRIC
typedef double16 measure16_t;
typedef long16 choice16_t;
#define CHOICE16 convert_long16
#elif WEIGHT_BITS == 64
typedef ulong16 measure16_t;
typedef long16 choice16_t;
#define CHOICE16 convert_long16
#else
typedef uint16 measure16_t;
typedef int16 choice16_t;
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

// The measures of consecutive cells; weights as weight_key of cl/device/weight_key.cl has them.
static inline measure16_t row_measures(const row_t *row, uint v) {
#if METRIC
  const double16 dx = row->x - vload16(0, row->cells + v);
  const double16 dy = row->y - vload16(0, row->cells + row->n + v);
  double16 square = dx * dx + dy * dy;
#if DIMENSIONS > 2
  const double16 dz = row->z - vload16(0, row->cells + (size_t)2 * row->n + v);
  square = square + dz * dz;
#endif
  return WEIGHT_DESCENDING ? -square : square;
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

// Take in the cells [begin, end); with `component`, those that leave the component `own`.
static inline void row_take_run(const row_t *row, uint begin, uint end,
                                const global uint *component, uint own, candidate_t *best) {
  const uint step = VECTOR_CELLS * RUN_VECTORS;
  uint v = begin;
  for (; v + step <= end; v += step) {
    measure16_t least = MEASURE_MAX;
    for (uint k = v; k < v + step; k += VECTOR_CELLS) {
      measure16_t measures = row_measures(row, k);
      if (component) {
        const int16 leaves = vload16(0, component + k) != own;
        measures = select((measure16_t)MEASURE_MAX, measures, CHOICE16(leaves));
      }
      least = min(least, measures);
    }
    const bool has_none = COMPLETE && best->to == NO_VERTEX;
    if (!has_none && !any(least < best->measure)) continue;
    for (uint i = v; i < v + step; ++i)
      if (!component || component[i] != own) row_take(row, i, best);
  }
  for (; v < end; ++v)
    if (!component || component[v] != own) row_take(row, v, best);
}

#endif
