// bvh-boruvka: the pairs of points that the tree may take from, as long as no point moves far.
//
// Let B be the heaviest edge on the path of the tree between p and q. If every point moves by at most
// `step`, no pair gets shorter by more than 2 * step, and no edge of the path longer. So a pair that is
// longer than B + 4 * step stays the heaviest edge of a cycle, and out of the tree. All others are
// candidates.
//
// They are found round by round. The path's heaviest edge was the best edge of some component that
// has one of p and q, at some round; and the best edge of every such component is at most B. So in
// each round every point finds all others outside of its component that are not farther than the
// best edge of its component, and the margin. Points that are listed as near ones are candidates in
// any case.
#include "algorithms/bvh_boruvka/components.cl"
#include "algorithms/bvh_boruvka/walk.cl"
#include "device/winners.cl"

// The code of a pair: the lesser number, then the greater one of `bits` bits.
static inline ulong pair_code(uint a, uint b, uint bits) {
  return (ulong)min(a, b) << bits | max(a, b);
}

// Whether a list of pairs is longer than its capacity, so that a search is in vain. The read races with
// appends of others. That is benign: the count only rises, so a stale value costs at most the search
// of a leaf.
static inline bool pairs_overflow(const volatile global uint *count, uint capacity) {
  return *count > capacity;
}

static inline void pairs_append(global ulong *pairs, volatile global uint *count, uint capacity,
                                ulong code) {
  const uint at = atomic_inc(count);
  if (at < capacity) pairs[at] = code;
}

// Write the codes of all pairs of a point and one of its list.
//
// In       lists[n * k]; ids[n].
// Out      pairs[n * k].
// Launch   any.
// Needs    bits <= 32, at least those of a point's number.
// Ensures  a pair whose points have both listed the other one is there twice.
kernel void bvh_boruvka_candidates_list(const global uint *lists, const global uint *ids,
                                        global ulong *pairs, uint n, uint k, uint bits) {
  GRID_FOR(slot, n) {
    for (uint j = 0; j < k; ++j)
      pairs[slot * k + j] = pair_code(ids[slot], ids[lists[LIST_AT(slot, j, k, n)]], bits);
  }
}

// Append all pairs of a point and another component's that are within the margin of a round.
//
// In       the tree (tree.cl); component[n], labels; winners[n * words].
// In-out   seen[n]: all pairs of a point that are shorter are in the list, or inside a component;
//          pairs[capacity]; state[0]: the length of the list. If that is above `capacity`, the rest
//          is lost.
// Launch   any.
// Needs    the round's reservations are complete; margin >= 0.
// Ensures  seen[p] is at least the best edge of p's component, and the margin.
kernel void bvh_boruvka_candidates_find(TREE_PARAMETERS, const global uint *component,
                                        const global uint *labels,
                                        const volatile global uint *winners, global double *seen,
                                        global ulong *pairs, volatile global uint *state, uint n,
                                        uint top, double margin, uint capacity, uint bits) {
  tree_t tree;
  tree_open(&tree, TREE_ARGUMENTS, n, top);
  const components_t components = {labels, component};
  GRID_FOR(slot, n) {
    const uint own = component_of(&components, (uint)slot);
    const double reach = distance_of_key(winner_bound(winners, n, own)) + margin;
    if (seen[slot] > reach) continue;
    search_t search;
    walk_t walk;
    search_open(&search, &tree, (uint)slot, reach);
    walk_open(&walk, (uint)slot >> LEAF_SHIFT);
    for (uint leaf = walk.leaf; leaf != NO_SLOT && !pairs_overflow(state, capacity);
         leaf = walk_next(&walk, &tree, &search, labels, own)) {
      const uint label = labels[leaf];
      if (label == own) continue;
      double plains[LEAF];
      uint remaining = search_leaf(&search, &tree, leaf, plains);
      for (; remaining; remaining &= remaining - 1) {
        const uint lane = 31 - clz(remaining & -remaining), other = leaf * LEAF + lane;
        if ((label == MIXED ? component[other] : label) == own) continue;
        const double plain = SEARCHED_PLAIN(&search, &tree, leaf, lane, plains);
        if (DISTANCE_OF_PLAIN(plain) < seen[slot]) continue;
        pairs_append(pairs, state, capacity, pair_code(search.id, ids[other], bits));
      }
    }
    seen[slot] = reach;
  }
}

// Compute the distances of pairs.
//
// In       planes[dimensions * n]: one dimension after the other; ends[n_pairs]: lesser << bits |
//          greater.
// Out      weights[n_pairs].
// Launch   any.
// Needs    nothing.
// Ensures  as Points.weights_of, bit for bit.
kernel void bvh_boruvka_candidates_weigh(const global double *planes, const global ulong *ends,
                                         global double *weights, uint dimensions, uint n,
                                         uint n_pairs, uint bits) {
  const ulong mask = (1ul << bits) - 1;
  GRID_FOR(i, n_pairs) {
    const global double *u = planes + (ends[i] >> bits), *v = planes + (ends[i] & mask);
    double sum = 0;
#pragma clang loop vectorize(disable)
    for (uint d = 0; d < DIMENSIONS(dimensions); ++d)
      sum = DISTANCE_ADD(sum, u[(size_t)d * n], v[(size_t)d * n]);
    weights[i] = DISTANCE_OF_PLAIN(DISTANCE_PLAIN(sum));
  }
}
