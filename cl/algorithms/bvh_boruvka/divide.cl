// bvh-boruvka: halve segments of points again and again, which gives an order in which points that
// are close in space have close positions. encode.cl halves segments that are too large for this
// kernel.
#include "algorithms/bvh_boruvka/halves.cl"

// Halve segments of points again and again, at the median along the widest side. A segment is a
// range of consecutive points that becomes a node of the hierarchy. A segment of height h has 2**h
// leaves. Each segment is halved by one work-group.
//
// In       planes[dimensions * n]: the points, with all first coordinates, then all second ones,
//          and so on.
// In-out   ids[n]: the number of the point at each position of the order of points. The kernel
//          permutes the points within each segment.
// Temp     keys[n]: for each point, the coordinate by which it is compared. Only work-groups of one
//          work-item use the array. Others use local memory.
// Launch   any.
// Needs    end <= height, where `height` is the height of the segments to begin with. If
//          work-groups have several work-items, height <= LOCAL_HEIGHT.
// Ensures  all segments of the heights from `height` down to end + 1 are halved.
LANES_ATTRIBUTE
kernel void bvh_boruvka_divide_segments(const global real *planes, global uint *ids,
                                        global real *keys, uint dimensions, uint n, uint height,
                                        uint end) {
#if WG_SIZE == 1
  TILES_FOR(first, n, SEGMENT_POINTS(height)) {
    const size_t behind = min(first + SEGMENT_POINTS(height), (size_t)n);
    for (uint h = height; h > end; --h) {
      for (size_t at = first; at < behind; at += SEGMENT_POINTS(h)) {
        const uint size = (uint)min(SEGMENT_POINTS(h), behind - at);
        const uint kept = (uint)SEGMENT_POINTS(h - 1);
        if (size <= kept) continue;
        const uint axis = wi_widest(planes, ids + at, dimensions, n, size);
        for (uint i = 0; i < size; ++i)
          keys[at + i] = key_of(planes, ids[at + i], axis, dimensions, n);
        wi_select(keys + at, ids + at, size, kept);
      }
    }
  }
#else
  local real local_keys[LOCAL_POINTS];
  local uint local_ids[LOCAL_POINTS], axes[LOCAL_POINTS / LEAF];
  const uint points = LEAF << height;
  TILES_FOR(first, n, points) {
    for (uint i = get_local_id(0); i < points; i += WG_SIZE)
      local_ids[i] = first + i < n ? ids[first + i] : NO_SLOT;
    wg_barrier_local();
    for (uint h = height; h > end; --h) {
      wg_widest(planes, local_ids, axes, local_keys, dimensions, n, points, h);
      for (uint i = get_local_id(0); i < points; i += WG_SIZE) {
        const uint id = local_ids[i], axis = axes[i / LEAF >> h << h];
        local_keys[i] = id == NO_SLOT ? REAL_INFINITY : key_of(planes, id, axis, dimensions, n);
      }
      wg_barrier_local();
      wg_halve(local_keys, local_ids, points, LEAF << h);
    }
    for (uint i = get_local_id(0); i < points && first + i < n; i += WG_SIZE)
      ids[first + i] = local_ids[i];
    wg_barrier_local();
  }
#endif
}
