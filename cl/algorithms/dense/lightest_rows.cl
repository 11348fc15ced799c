// dense: find the lightest pair of a row. A row is a point, and its pairs are the edges that join
// it to all other points. In work-groups of one work-item, ROWS_AT_ONCE rows are searched together.
#include "algorithms/dense/tile.cl"
#include "device/winners.cl"

// The lightest pair of a row so far: its weight key, and the point at its other end.
typedef struct {
  distance_key_t key;
  uint to;
} lightest_t;

// Return the measure, which increases with the distance, of a pair of points that the filter let
// through. If CORE_DISTANCES is 1, it is the maximum of the measure of the distance and of both
// core distances.
static inline real lightest_measure(const points_t *of, const global real *core, uint u, uint v) {
  const real measure = DISTANCE_MEASURE(rows_sum(of->rows, of->d, u, v));
#if CORE_DISTANCES
  return real_fmax(real_fmax(measure, core[u]), core[v]);
#else
  return measure;
#endif
}

static inline void lightest_take(lightest_t *best, distance_key_t key, uint to) {
  if (key > best->key || (key == best->key && to >= best->to)) return;
  best->key = key;
  best->to = to;
}

#if WG_SIZE == 1

#define PACKS_AT_ONCE 16  // packs whose filter values are kept until the minimum is known

// For each of up to ROWS_AT_ONCE points, find its lightest pair with one of the points [begin,
// end). Pairs inside a component are left out.
static inline void lightest_of_rows(const points_t *of, const filter_t *filter,
                                    const global real *core, const global float *floors,
                                    const global uint *component, const uint *vertices, uint n_rows,
                                    uint begin, uint end, lightest_t *best) {
  float16 values[ROWS_AT_ONCE * PACKS_AT_ONCE], least[ROWS_AT_ONCE];
  float reach[ROWS_AT_ONCE];
  for (uint r = 0; r < ROWS_AT_ONCE; ++r) {
    best[r].key = (distance_key_t)-1;
    best[r].to = NO_VERTEX;
    reach[r] = INFINITY;
  }
  for (uint from = begin; from < end; from += PACK * PACKS_AT_ONCE) {
    const uint n_packs = (min(end - from, (uint)(PACK * PACKS_AT_ONCE)) + PACK - 1) / PACK;
    for (uint r = 0; r < ROWS_AT_ONCE; ++r) least[r] = INFINITY;
    for (uint p = 0; p < n_packs; ++p) {
      const uint at = from + p * PACK;
      float16 sums[ROWS_AT_ONCE];
      pack_sums(of, vertices, at / PACK, sums);
      uint owners[PACK];
      float bounds[PACK];
      for (uint c = 0; c < PACK; ++c) {
        owners[c] = at + c < end ? component[at + c] : NO_VERTEX;
        bounds[c] = at + c < end ? (CORE_DISTANCES ? floors[at + c] : 0.0f) : INFINITY;
      }
      const uint16 others = vload16(0, owners);
      const float16 bound = vload16(0, bounds);
#pragma unroll
      for (uint r = 0; r < ROWS_AT_ONCE; ++r) {
        const int16 is_own = others == (uint16)(component[vertices[r]]);
        const float16 value = select(max(sums[r], bound), (float16)INFINITY, is_own);
        values[r * PACKS_AT_ONCE + p] = value;
        least[r] = min(least[r], value);
      }
    }
    for (uint r = 0; r < n_rows; ++r) {
      float nearest = least_of(least[r]);
      if (!(nearest <= reach[r] && nearest < INFINITY)) continue;
      const uint u = vertices[r];
      if (CORE_DISTANCES) nearest = max(nearest, floors[u]);
      reach[r] = min(reach[r], filter_of_nearest(filter, nearest, of->d));
      for (uint p = 0; p < n_packs; ++p) {
        const float16 value = values[r * PACKS_AT_ONCE + p];
        if (!any(value <= (float16)(reach[r]))) continue;
        float one[PACK];
        vstore16(value, 0, one);
        for (uint c = 0; c < PACK; ++c) {
          if (!(one[c] <= reach[r] && one[c] < INFINITY)) continue;
          const uint v = from + p * PACK + c;
          const real measure = lightest_measure(of, core, u, v);
          lightest_take(best + r, distance_key(measure, 0, 0), v);
        }
      }
    }
  }
}

#endif
