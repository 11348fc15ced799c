// bvh-boruvka: the components of points, their best edges, and lists that work-groups append to.
#include "algorithms/bvh_boruvka/tree.cl"

// Components of points: a point has its own entry if its leaf is MIXED, else the leaf's entry.
typedef struct {
  const global uint *labels, *component;
} components_t;

static inline uint component_of(const components_t *components, uint slot) {
  const uint label = components->labels[slot >> LEAF_SHIFT];
  return label == MIXED ? components->component[slot] : label;
}

// Return a lower bound of the distance that a key represents, or infinity if the key means "no
// edge".
static inline double distance_of_key(ulong key) {
  return as_double(min(key, (ulong)weight_key(as_ulong((double)INFINITY))) & ~(ulong)WEIGHT_SIGN);
}

// Append to a list the entry of every work-item that has one.
//
// In-out   *count: the length of the list.
// Temp     scratch: WG_SIZE words of local memory, base: one; both free on return.
// Scope    the whole work-group; ends with a barrier where WG_SIZE > 1.
static inline void wg_append(global uint *list, volatile global uint *count, uint entry, bool keep,
                             local uint *scratch, local uint *base) {
  uint total;
  const uint before = wg_exclusive_sum_u32(keep, &total, scratch);
  if (get_local_id(0) == 0 && total > 0) *base = atomic_add(count, total);
  wg_barrier_local();
  if (keep) list[*base + before] = entry;
  wg_barrier_local();
}
