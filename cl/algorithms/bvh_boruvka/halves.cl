// bvh-boruvka: divide points into halves again and again. This gives the order of the points in the
// leaves of the hierarchy.
//
// Source: Friedman, Bentley, Finkel, "An algorithm for finding best matches in logarithmic expected
// time" (1977). A set of points is divided at the median along the widest side of its box, and each
// half is divided in the same way.
//
// A segment of height h is a range of points that has 2**h leaves. Only the last segment may have
// fewer. Each segment becomes a node of the hierarchy. To halve a segment means to move the points
// of its lower half to its first 2**(h - 1) leaves. A segment that has no more than these leaves
// needs no halving.
#include "algorithms/bvh_boruvka/tree.cl"

// The maximum height of a segment (2**height consecutive leaves of the hierarchy) that a work-group
// of several work-items halves in local memory.
#define LOCAL_HEIGHT 8u
#define LOCAL_POINTS (LEAF << LOCAL_HEIGHT)

// Number of pairs of keys that a work-item loads together, before it compares and exchanges them.
// So it waits for memory only once for all these pairs.
#define BATCH 4

// The middle of a large segment (a range of points) is estimated from a sample of SAMPLES points,
// which is the number of points of 2**SAMPLES_HEIGHT leaves.
#define SAMPLES_HEIGHT 4u
#define SAMPLES (LEAF << SAMPLES_HEIGHT)

// The number of points of a segment (range of points) of height `height`, which has 2**height
// leaves. Only the last segment may have fewer.
#define SEGMENT_POINTS(height) ((size_t)LEAF << (height))

// Tilt of the planes that divide points into halves: the factor by which the coordinates in further
// dimensions count, compared with the coordinate along the widest side. So points with equal
// coordinates along the widest side are divided by their next coordinates.
#define TILT REAL(0x1p-8, 0x3f70000000000000)

#define HALF REAL(0.5, 0x3fe0000000000000)
#define QUARTER REAL(0.25, 0x3fd0000000000000)

// Return the key of a point, by which the points of a segment (consecutive points of the hierarchy)
// are divided into halves. `axis` is the dimension in which the segment is widest. The key is a
// quarter of a sum: the coordinate in this dimension, TILT times the coordinate in the dimension
// after it, and TILT**2 times the coordinate in the one after that. Dimension 0 comes after the
// last one. The small terms divide points that have equal coordinates along `axis`. The quarter
// keeps all keys and differences of keys finite.
static inline real key_of(const global real *planes, uint id, uint axis, uint dimensions, uint n) {
  const uint next = axis + 1 < dimensions ? axis + 1 : 0;
  const uint last = next + 1 < dimensions ? next + 1 : 0;
  const global real *at = planes + id;
  const real second = real_multiply(QUARTER, at[(size_t)next * n]);
  const real third = real_multiply(QUARTER, at[(size_t)last * n]);
  const real tilted = real_add(second, real_multiply(TILT, third));
  return real_add(real_multiply(QUARTER, at[(size_t)axis * n]), real_multiply(TILT, tilted));
}

#if WG_SIZE == 1

// Move all keys of [low, high) that are less than `pivot` to the front, and their ids with them. If
// `equal` is set, also move the keys that are equal to `pivot`. Return the position after the keys
// that were moved. The loop does not branch, because a CPU could not predict the branches.
static inline uint wi_partition(global real *keys, global uint *ids, uint low, uint high,
                                real pivot, bool equal) {
  uint kept = low;
  for (uint i = low; i < high; ++i) {
    const real key = keys[i];
    const uint id = ids[i];
    keys[i] = keys[kept];
    ids[i] = ids[kept];
    keys[kept] = key;
    ids[kept] = id;
    kept += equal ? real_at_most(key, pivot) : real_less(key, pivot);
  }
  return kept;
}

// Move the `rank` smallest of `size` keys to the front, and their ids with them.
//
// This is quickselect. Pivots are medians of three keys at pseudo-random places. The sequence of
// places is the same in each call with the same size. At any time, no key before `low` is greater
// than a key of [low, high), and no key from `high` on is less than a key of [low, high).
static inline void wi_select(global real *keys, global uint *ids, uint size, uint rank) {
  uint low = 0, high = size, seed = size;
  while (low < rank && rank < high) {
    real at[3];
    for (uint k = 0; k < 3; ++k) {
      seed = seed * 1664525u + 1013904223u;
      at[k] = keys[low + mul_hi(seed, high - low)];
    }
    const real upper = real_min(real_max(at[0], at[1]), at[2]);
    const real pivot = real_max(real_min(at[0], at[1]), upper);
    const uint kept = wi_partition(keys, ids, low, high, pivot, false);
    if (kept == low) low = wi_partition(keys, ids, low, high, pivot, true);  // no key is less
    else if (rank < kept) high = kept;
    else low = kept;
  }
}

// Return the dimension along which a segment is divided: the one in which the points of `ids` are
// farthest apart. If several dimensions are equally wide, return the first of them.
static inline uint wi_widest(const global real *planes, const global uint *ids, uint dimensions,
                             uint n, uint size) {
  uint widest = 0;
  real side = REAL(-1.0, 0xbff0000000000000);
  for (uint d = 0; d < dimensions; ++d) {
    const global real *plane = planes + (size_t)d * n;
    real lower = REAL_INFINITY, upper = real_negate(REAL_INFINITY);
    for (uint i = 0; i < size; ++i) {
      const real x = plane[ids[i]];
      lower = real_min(lower, x);
      upper = real_max(upper, x);
    }
    const real half_side = real_subtract(real_multiply(HALF, upper), real_multiply(HALF, lower));
    if (real_less(side, half_side)) {
      side = half_side;
      widest = d;
    }
  }
  return widest;
}

#else

// For each segment of height `height`, which has the points of 2**height leaves, find the dimension
// in which its points are farthest apart.
//
// In       planes: the coordinates of all points, first all first coordinates, then all second
//          ones, and so on;
//          ids[points]: the numbers of the points of the segments, NO_SLOT after the last point.
// Out      axes[points / LEAF]: at the index of the first leaf of each segment, the dimension.
// Temp     ends[points / LEAF * 3]: the extents of leaves and segments.
// Scope    the whole work-group; ends with a barrier.
static inline void wg_widest(const global real *planes, const local uint *ids, local uint *axes,
                             local real *ends, uint dimensions, uint n, uint points, uint height) {
  const uint leaves = points / LEAF, mask = (1u << height) - 1;
  local real *lower = ends, *upper = lower + leaves, *widest = upper + leaves;
  for (uint d = 0; d < dimensions; ++d) {
    const global real *plane = planes + (size_t)d * n;
    for (uint leaf = get_local_id(0); leaf < leaves; leaf += WG_SIZE) {
      real2 found = (real2)(REAL_INFINITY, real_negate(REAL_INFINITY));
      for (uint i = leaf * LEAF; i < (leaf + 1) * LEAF; ++i) {
        const uint id = ids[i];
        if (id == NO_SLOT) continue;
        found = (real2)(real_min(found.x, plane[id]), real_max(found.y, plane[id]));
      }
      lower[leaf] = found.x;
      upper[leaf] = found.y;
    }
    for (uint stride = 1; stride <= mask; stride *= 2) {
      wg_barrier_local();
      for (uint leaf = get_local_id(0); leaf < leaves; leaf += WG_SIZE) {
        if (leaf & (2 * stride - 1)) continue;
        lower[leaf] = real_min(lower[leaf], lower[leaf + stride]);
        upper[leaf] = real_max(upper[leaf], upper[leaf + stride]);
      }
    }
    for (uint leaf = get_local_id(0); leaf < leaves; leaf += WG_SIZE) {
      if (leaf & mask) continue;
      const real half_upper = real_multiply(HALF, upper[leaf]);
      const real half_side = real_subtract(half_upper, real_multiply(HALF, lower[leaf]));
      if (d > 0 && !real_less(widest[leaf], half_side)) continue;
      widest[leaf] = half_side;
      axes[leaf] = d;
    }
    wg_barrier_local();
  }
}

// One step of a sorting network: exchange pairs of keys, and their ids, that are out of order. Keys
// are in blocks of 2 * stride entries. Usually an entry is paired with the entry that is `stride`
// entries after it in the same block. With `mirrored`, the first entry of a block is paired with
// the last one, the second with the last but one, and so on.
//
// Scope    the whole work-group; ends with a barrier.
static inline void wg_exchange(local real *keys, local uint *ids, uint points, uint stride,
                               bool mirrored) {
  for (uint some = get_local_id(0); some < points / 2; some += BATCH * WG_SIZE) {
    uint at[BATCH], other[BATCH];
    real first[BATCH], second[BATCH];
#pragma unroll
    for (uint b = 0; b < BATCH; ++b) {  // load all pairs before anything is stored
      const uint pair = some + b * WG_SIZE < points / 2 ? some + b * WG_SIZE : some;
      const uint offset = pair & (stride - 1);
      at[b] = 2 * pair - offset;
      other[b] = mirrored ? at[b] ^ (2 * stride - 1) : at[b] + stride;
      first[b] = keys[at[b]];
      second[b] = keys[other[b]];
    }
#pragma unroll
    for (uint b = 0; b < BATCH; ++b) {
      if (some + b * WG_SIZE >= points / 2 || real_at_most(first[b], second[b])) continue;
      const uint id = ids[at[b]];
      keys[at[b]] = second[b];
      keys[other[b]] = first[b];
      ids[at[b]] = ids[other[b]];
      ids[other[b]] = id;
    }
  }
  wg_barrier_local();
}

// Divide each run of `size` keys, and their ids, at the median. A run is a range of consecutive
// entries. First, each half of a run is sorted by a bitonic network, in which all comparisons go in
// one direction. Then the first key of the run is compared with the last one, the second with the
// last but one, and so on. This brings the smaller keys into the lower half.
//
// Source   Batcher, "Sorting networks and their applications" (1968).
// Needs    size is a power of two that divides `points`.
// Scope    the whole work-group; ends with a barrier.
static inline void wg_halve(local real *keys, local uint *ids, uint points, uint size) {
  for (uint half_size = 1; half_size < size / 2; half_size *= 2) {
    wg_exchange(keys, ids, points, half_size, true);
    for (uint stride = half_size / 2; stride > 0; stride /= 2)
      wg_exchange(keys, ids, points, stride, false);
  }
  wg_exchange(keys, ids, points, size / 2, true);
}

#endif
