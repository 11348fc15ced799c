// Histogram: how many elements each bin has. A function tells the bin of an element.
//
// Few bins are counted in local memory first, by each work-group for itself; then a work-group adds
// its counts to those of all, one atomic for each bin that has elements.
#include "device/function.cl"
#include "device/work_group.cl"

// Bins that fit the local memory of a work-group.
#ifndef LOCAL_BINS
#define LOCAL_BINS 2048
#endif

// Count the elements of up to LOCAL_BINS bins.
//
// In       in[n]; the function's arguments; n_bins: at most LOCAL_BINS.
// In-out   counts[n_bins]: 0 before.
// Launch   any.
// Needs    n < 2**32.
// Ensures  counts[b] = elements whose EXPRESSION is b. Those with another value are not counted.
//          Sums of atomic additions do not depend on their order.
kernel void histogram_count_few(const global T *in, volatile global uint *counts, uint n,
                                uint n_bins GIVEN_PARAMETERS) {
  const given_t given = GIVEN;
  local uint own[LOCAL_BINS];
  for (uint b = get_local_id(0); b < n_bins; b += WG_SIZE) own[b] = 0;
  wg_barrier_local();
  GRID_FOR(i, n) {
    uint bin;
    function_of(in[i], (uint)i, &given, &bin);
#if WG_SIZE == 1
    if (bin < n_bins) ++own[bin];
#else
    if (bin < n_bins) atomic_inc(own + bin);
#endif
  }
  wg_barrier_local();
  for (uint b = get_local_id(0); b < n_bins; b += WG_SIZE)
    if (own[b] > 0) atomic_add(counts + b, own[b]);
}

// Count the elements of any number of bins; else as histogram_count_few.
//
// In       in[n]; the function's arguments.
// In-out   counts[n_bins]: 0 before.
// Launch   any.
// Needs    n < 2**32.
// Ensures  as histogram_count_few.
kernel void histogram_count_many(const global T *in, volatile global uint *counts, uint n,
                                 uint n_bins GIVEN_PARAMETERS) {
  const given_t given = GIVEN;
  GRID_FOR(i, n) {
    uint bin;
    function_of(in[i], (uint)i, &given, &bin);
    if (bin < n_bins) atomic_inc(counts + bin);
  }
}
