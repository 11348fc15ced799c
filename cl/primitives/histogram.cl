// Histogram: how many elements of an array fall into each bin. A function of the caller computes
// the bin of an element.
//
// If there are few bins, each work-group first counts in local memory. Then it adds its counts to
// the result, by one atomic addition for each bin that has elements.
#include "device/function.cl"
#include "device/work_group.cl"

// Maximum number of bins for which a work-group counts in local memory. The counts of more bins
// would not fit there.
#ifndef LOCAL_BINS
#define LOCAL_BINS 2048
#endif

// Count how many elements fall into each of a few bins, first in the local memory of each
// work-group. EXPRESSION, a macro that the caller defines, gives the bin of an element.
//
// In       in[n]: the elements;
//          GIVEN_PARAMETERS: the further arguments of EXPRESSION;
//          n_bins: the number of bins, at most LOCAL_BINS.
// In-out   counts[n_bins]: the number of elements of each bin, 0 before.
// Launch   any.
// Needs    n < 2**32.
// Ensures  counts[b] = the number of elements whose EXPRESSION is b. Elements with larger values
//          are not counted. Sums of atomic additions do not depend on their order.
kernel void histogram_count_few(const global T *in, volatile global uint *counts, uint n,
                                uint n_bins GIVEN_PARAMETERS) {
  const given_t given = GIVEN;
  local uint own[LOCAL_BINS];
  for (uint b = get_local_id(0); b < n_bins; b += WG_SIZE) own[b] = 0;
  wg_barrier_local();
  GRID_FOR(i, n) {
    uint bin;
    function_of(T_AT(in, i), (uint)i, &given, &bin);
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

// Count how many elements fall into each bin, by atomic additions in global memory, for any number
// of bins. EXPRESSION, a macro that the caller defines, gives the bin of an element.
//
// In       in[n]: the elements;
//          GIVEN_PARAMETERS: the further arguments of EXPRESSION.
// In-out   counts[n_bins]: the number of elements of each bin, 0 before.
// Launch   any.
// Needs    n < 2**32.
// Ensures  counts[b] = the number of elements whose EXPRESSION is b. Elements with larger values
//          are not counted.
kernel void histogram_count_many(const global T *in, volatile global uint *counts, uint n,
                                 uint n_bins GIVEN_PARAMETERS) {
  const given_t given = GIVEN;
  GRID_FOR(i, n) {
    uint bin;
    function_of(T_AT(in, i), (uint)i, &given, &bin);
    if (bin < n_bins) atomic_inc(counts + bin);
  }
}
