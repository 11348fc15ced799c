// bvh-boruvka: halve segments of points that are too large for one work-group (divide.cl), by a sort
// of all points. This kernel computes what the points are sorted by. It is a program of its own, so
// that it can be built at the same time as divide.cl.
#include "algorithms/bvh_boruvka/halves.cl"

#if WG_SIZE > 1

// Compute a code for each point, by which points are then sorted. This halves segments that are too
// large for a work-group's local memory. A segment is a range of consecutive points that becomes a
// node of the hierarchy. A segment of height h has 2**h leaves. When the points are sorted by their
// codes, the points of each segment are in order along the segment's widest side, at least near its
// middle. So the sort puts the lower half of the points into the first half of the segment.
//
// In       planes[dimensions * n]: the points, with all first coordinates, then all second ones,
//          and so on; ids[n]: the number of the point at each position of the order of points.
// Out      codes[n]: for each position, the number of its segment << bits | the number of the cell
//          that contains the point. Cells are intervals of the coordinate along the segment's
//          widest side.
// Launch   any. `height` is the height of the segments to halve. A work-group handles 2**part
//          leaves of one segment at a time.
// Needs    0 < part <= height; bits >= 2; codes fit 64 bits.
// Ensures  the middle and the widest side of a segment are estimated from a sample of its points.
//          The cells between the first and the last one have equal widths. They cover the range
//          from a quarter of the sample below its middle to a quarter above its middle. The first
//          cell has all points below this range, and the last cell all points above.
LANES_ATTRIBUTE
kernel void bvh_boruvka_encode_segments(const global real *planes, const global uint *ids,
                                        global uint *codes, uint dimensions, uint n, uint height,
                                        uint part, uint bits) {
  local real keys[SAMPLES], window[2];
  local uint sample[SAMPLES], axes[SAMPLES / LEAF];
  const uint last = (1u << bits) - 1;
  TILES_FOR(first, n, SEGMENT_POINTS(part)) {
    const uint segment = (uint)(first / SEGMENT_POINTS(height));
    const size_t begin = segment * SEGMENT_POINTS(height);
    const size_t size = min(SEGMENT_POINTS(height), n - begin);
    for (uint i = get_local_id(0); i < SAMPLES; i += WG_SIZE) {  // one from each share
      const uint within = mul_hi(i * 2654435769u, (uint)(size / SAMPLES));
      sample[i] = ids[begin + i * size / SAMPLES + within];
    }
    wg_barrier_local();
    wg_widest(planes, sample, axes, keys, dimensions, n, SAMPLES, SAMPLES_HEIGHT);
    const uint axis = axes[0];
    for (uint i = get_local_id(0); i < SAMPLES; i += WG_SIZE)
      keys[i] = key_of(planes, sample[i], axis, dimensions, n);
    wg_barrier_local();
    const uint middle = (uint)min(SEGMENT_POINTS(height - 1) * SAMPLES / size, (size_t)SAMPLES);
    for (uint i = get_local_id(0); i < SAMPLES; i += WG_SIZE) {
      uint rank = 0;
      for (uint j = 0; j < SAMPLES; ++j)
        rank += real_less(keys[j], keys[i]) || (real_equal(keys[j], keys[i]) && j < i);
      if (rank + SAMPLES / 4 == max(middle, SAMPLES / 4)) window[0] = keys[i];
      if (rank == min(middle + SAMPLES / 4, SAMPLES - 1)) window[1] = keys[i];
    }
    wg_barrier_local();
    const real lower = window[0], upper = window[1];
    const size_t behind = min(first + SEGMENT_POINTS(part), (size_t)n);
    for (size_t i = first + get_local_id(0); i < behind; i += WG_SIZE) {
      const real key = key_of(planes, ids[i], axis, dimensions, n);
      const real side = real_subtract(upper, lower), above = real_subtract(key, lower);
      const real place = real_less(lower, upper) ? real_divide(above, side) : REAL_ZERO;
      const uint inside = real_to_uint(real_multiply(place, real_from_uint(last - 2)));
      const uint cell = real_less(key, lower) ? 0 : real_less(upper, key) ? last : 1 + inside;
      codes[i] = segment << bits | cell;
    }
    wg_barrier_local();
  }
}

#endif
