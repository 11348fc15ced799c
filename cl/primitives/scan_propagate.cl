// Scan-then-propagate, a scan that serves only for comparison with other scans. The array is
// divided into blocks, and every block is scanned by itself. The totals of the blocks are scanned
// in the same way, level by level. Then the result for each total is added to all elements of its
// block. For blocks of b elements and an array of n elements this takes 2 log_b(n) launches, and it
// writes twice as much as reduce-then-scan.
//
// Source: the scheme of CLPP and of Thrust's first scan, as Sun and Skadron 2013 describe it
// (section 2).
#include "primitives/scan_range.cl"

// Scan every block of consecutive elements by itself, and store its total. The next level scans the
// totals. This is the upsweep of one level of a scan.
//
// In       in[n]: the elements;
//          block: the number of elements in a block, a multiple of RANGE_TILE. A lane group scans a
//            block.
// Out      out[n]: the scans of the blocks. It may be `in`.
//          totals[number of blocks]: the combination of the elements of each block.
// Launch   as many work-groups as it takes for the blocks of their lane groups to cover all
//          elements.
// Needs    n < 2**32.
// Ensures  out = the scan of each block alone; totals[b] = the combination of block b, in order.
LANES_ATTRIBUTE
kernel void scan_propagate_scan_blocks(const global element_t *in, global element_t *out,
                                       global element_t *totals, uint n, ulong block) {
  local T sums[LANE_GROUP_SCRATCH];
  local uint heads[LANE_GROUP_SCRATCH];
  const size_t at = (size_t)get_group_id(0) * LANE_GROUPS + lane_group_id();
  const size_t begin = min(at * block, (size_t)n);
  partial_t total;
  partial_clear(&total);
  range_scan(in, 0, out, begin, min(begin + block, (size_t)n), &total, sums, heads);
  if (lane_group_item() == 0 && begin < n) element_store(totals, at, total.sum);
}

// Combine every element of a block's scan with everything before the block. This is the downsweep
// of one level of a scan.
//
// In       before[number of blocks]: the exclusive scan of the totals of the blocks;
//          block: the number of elements in a block.
// In-out   out[n]: before the launch the scan of each block alone, afterwards the scan of the whole
//          array.
// Launch   any.
// Needs    scan_propagate_scan_blocks has run with the same blocks.
// Ensures  out = the scan of the whole array.
kernel void scan_propagate_add_totals(const global element_t *before, global element_t *out, uint n,
                                      ulong block) {
  GRID_FOR(i, n) {
    element_store(out, i, combine(element_load(before, i / block), element_load(out, i)));
  }
}
