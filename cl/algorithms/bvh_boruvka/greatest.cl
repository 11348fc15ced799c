// bvh-boruvka: the greatest of the work-items' values, of work-groups of any size.
#include "algorithms/bvh_boruvka/tree.cl"

// The greatest value of all work-items.
//
// Temp     scratch: WG_SIZE doubles of local memory, free on return.
// Scope    the whole work-group; valid in each work-item. Ends with a barrier where WG_SIZE > 1.
static inline double wg_max_f64(double value, local double *scratch) {
  const uint me = get_local_id(0);
  scratch[me] = value;
  for (uint width = WG_SIZE, kept; width > 1; width = kept) {
    kept = (width + 1) / 2;
    wg_barrier_local();
    if (me + kept < width) scratch[me] = max(scratch[me], scratch[me + kept]);
  }
  wg_barrier_local();
  const double greatest = scratch[0];
  wg_barrier_local();
  return greatest;
}
