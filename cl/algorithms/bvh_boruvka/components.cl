// bvh-boruvka: helpers of several kernels: reading the component of a point, converting a weight
// key to a distance, and appending to lists.
#include "algorithms/bvh_boruvka/tree.cl"

// The components of points. If a leaf of the hierarchy is MIXED (has points of several components),
// each of its points has an entry in `component`. Otherwise the leaf's label is the component of
// all its points.
typedef struct {
  const global uint *labels, *component;
} components_t;

static inline uint component_of(const components_t *components, uint slot) {
  const uint label = components->labels[slot >> LEAF_SHIFT];
  return label == MIXED ? components->component[slot] : label;
}

// Return the distance whose weight key is `key`, or infinity if the key is greater than the keys of
// all distances, which means "no edge".
static inline real distance_of_key(ulong key) {
  return real_of_bits(min(key, (ulong)weight_key(real_bits(REAL_INFINITY))) & ~(ulong)WEIGHT_SIGN);
}

// Append entries to a list, one for every work-item of the work-group that has `keep` set.
//
// In-out   *count: the length of the list, which grows by the number of entries that the work-group
//          appends.
// Temp     scratch: WG_SIZE words of local memory; base: one word. Both may be reused after the
//          call.
// Scope    the whole work-group; ends with a barrier if WG_SIZE > 1.
static inline void wg_append(global uint *list, volatile global uint *count, uint entry, bool keep,
                             local uint *scratch, local uint *base) {
  uint total;
  const uint before = wg_exclusive_sum_u32(keep, &total, scratch);
  if (get_local_id(0) == 0 && total > 0) *base = atomic_add(count, total);
  wg_barrier_local();
  if (keep) list[*base + before] = entry;
  wg_barrier_local();
}
