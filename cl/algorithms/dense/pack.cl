// dense: points of many dimensions, converted to float32 in the two layouts that tile.cl reads.
//
//     singles    each point's `padded` coordinates together, for the rows of a tile
//     packs      16 points together: all their first coordinates, then all their second ones, and
//                so on, for the columns of a tile
//
// Both are padded with zeros, to a multiple of 16 coordinates and of 128 points.

#include "algorithms/dense/filter.cl"
#include "device/atomics.cl"
#include "device/work_group.cl"

// Find the greatest exponent of all coordinates, after the center has been subtracted from each
// point. The scale of the conversion to float32 follows from it.
//
// In       rows[n * d]: the points; center[d]: the center.
// In-out   scaling[SCALING_EXPONENT]: the biased exponent, 0 before.
// Launch   any.
// Needs    no coordinate is NaN.
// Ensures  the biased exponent of each moved coordinate is at most scaling[SCALING_EXPONENT]. For
//          metrics that divide, scaling[SCALING_EXPONENT] is 0 if all coordinates suit filter
//          values in float32, and otherwise 1.
kernel void dense_pack_find_scale(const global real *rows, const global real *center,
                                  volatile global uint *scaling, uint n, uint d) {
  uint most = 0;
  GRID_FOR(i, (size_t)n * d) {
#if METRIC_DIVIDES
    most |= (uint)!filter_suits(rows[i]);
#else
    const real moved = real_subtract(rows[i], center[i % d]);
    most = max(most, (uint)(real_bits(moved) >> 52) & 0x7ff);
#endif
  }
  if (most > 0) atomic_max(scaling + SCALING_EXPONENT, most);
}

// Return a coordinate as a float, after subtracting the center's coordinate and multiplying by the
// scale. For metrics that divide, the coordinate is not changed.
static inline float pack_scaled(real coordinate, real center, real scale) {
#if METRIC_DIVIDES
  return filter_coordinate(coordinate);
#else
  return real_to_float(real_multiply(real_subtract(coordinate, center), scale));
#endif
}

// Convert all points to float32, and store them in two layouts: point by point, and 16 points
// together. Before the conversion, the center is subtracted, and coordinates are scaled.
//
// In       rows[n * d]: the points; center[d]: the center; scaling[SCALING_EXPONENT]: the greatest
//          exponent of the moved coordinates.
// Out      singles[n_padded * padded]: point by point; packs[n_padded * padded]: 16 points
//          together, all their first coordinates, then all their second ones, and so on.
// Launch   any.
// Needs    dense_pack_find_scale.
// Ensures  points keep their order in both layouts; all padding is 0, and so is everything if
//          coordinates of a metric that divides do not suit float32.
kernel void dense_pack_points(const global real *rows, const global real *center,
                              const global uint *scaling, global float *singles,
                              global float *packs, uint n, uint d, uint n_padded, uint padded) {
  const real scale = filter_scale(scaling);
  GRID_FOR(i, (size_t)n_padded * padded) {
    const size_t v = i / padded;
    const uint k = i % padded;
    const bool is_there = v < n && k < d && !filter_is_off(scaling);
    const float single = is_there ? pack_scaled(rows[v * d + k], center[k], scale) : 0.0f;
    singles[i] = single;
    packs[(v / 16 * padded + k) * 16 + v % 16] = single;
  }
}

// Find the norm of each point, and the greatest norm.
//
// In       packs[n_padded * padded]: the float32 coordinates, 16 points together.
// Out      halves[n_padded]: half of each squared norm, 0 for padding.
// In-out   scaling[SCALING_NORM]: the bits of the greatest norm as a float, 0 before.
// Launch   any.
// Needs    dense_pack_points.
// Ensures  scaling[SCALING_NORM] is a float that is not less than the norm of any point. The norm
//          is the point's distance from the origin by the metric.
kernel void dense_pack_find_norm(const global float *packs, global float *halves,
                                 volatile global uint *scaling, uint n_padded, uint d,
                                 uint padded) {
  uint most = 0;
  GRID_FOR(v, n_padded) {
    const global float *at = packs + v / 16 * padded * 16 + v % 16;
    float norm = 0;
    for (uint k = 0; k < d; ++k) norm = FILTER_NORM_ADD(norm, at[(size_t)k * 16]);
    halves[v] = 0.5f * norm;
    const real error = real_multiply(REAL(0x1.1p-24, 0x3e71000000000000),
                                     real_from_uint(d + 4 + (uint)FILTER_TERM_ERRORS));
    const real exact = real_multiply(real_from_float(norm), real_add(REAL_ONE, error));
    most = max(most, as_uint(filter_above(FILTER_ROOT(exact)) + 1e-30f));
  }
  if (most > 0) atomic_max(scaling + SCALING_NORM, most);
}

// For each point, compute a lower bound of the filter values (approximate distances before any
// square root, in float32) of all pairs that are at least as far apart as the point's core
// distance.
//
// In       core[n]: the core distances; scaling: the scale and the greatest norm (filter.cl).
// Out      floors[n]: the bounds.
// Launch   any.
// Needs    dense_pack_find_norm.
// Ensures  floors[v] is at most the filter value of any two points that are core[v] apart or more.
kernel void dense_pack_cores(const global real *core, const global uint *scaling,
                             global float *floors, uint n, uint d) {
  filter_t filter;
  filter_open(&filter, scaling, d);
  GRID_FOR(v, n) floors[v] = filter_of_core(&filter, core[v]);
}
