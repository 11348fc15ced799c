// Core numbers. The core number of a vertex is the greatest k such that the vertex is in the
// k-core, which is the largest subgraph in which every vertex has at least k neighbours.
//
// Source: peeling (Batagelj, Zaversnik 2003) in the parallel form of PKC (Kabir, Madduri, "Parallel
// k-Core Decomposition on Multicore Platforms", 2017). The vertices of the minimum degree, which is
// called the level, are removed (peeled), and each remaining neighbour loses an edge. The work-item
// that lowers a neighbour's degree to the level peels this neighbour, too, without a round in
// between. Three things differ from PKC. First, each round finds the minimum remaining degree, so
// degrees that no vertex has are skipped. Second, if all remaining vertices are at one level, no
// row is read. Third, if a work-group has too many further neighbours to peel, it leaves them to
// the next round, which divides them evenly among the work-groups.
//
// A round is two launches: k_core_take_level, and then the kernel of peel.cl, or of serial.cl if
// work-groups have one work-item. Example:
//
//     edges 0-1 1-2 2-3 3-1      degrees 1 3 2 2
//     round 0, level 1           vertex 0 is peeled; vertex 1 falls to 2
//     round 1, level 2           vertices 1, 2 and 3 are peeled; no vertex remains
//     core numbers               1 2 2 2
#include "algorithms/k_core/state.cl"
#include "device/rows.cl"

// Number of consecutive slots (CSR entries) that a work-item takes at a time when it counts how
// often each vertex is a column.
#define COLUMN_SEGMENT (WG_SIZE == 1 ? 256u : 32u)
// Minimum length of a range of consecutive columns in a row that is counted by two atomics, one at
// each end of the range. In a shorter range, the columns are counted one by one.
#define MANY_COLUMNS 4
// Number of vertices that each work-item takes from a tile of the list of remaining vertices. A
// work-group takes one tile after the other.
#define LIST_ITEMS (WG_SIZE == 1 ? 1024 : 1)

// Count each of the columns from `begin` to end - 1 once. If there are few of these columns, add 1
// to single[v] for each column v. If there are many, add 1 to ends[begin] and subtract 1 from
// ends[end]. A prefix sum of ends[] turns this into counts later.
static inline void count_consecutive(volatile global uint *single, volatile global uint *ends,
                                     uint begin, uint end, uint n) {
  if (end - begin < MANY_COLUMNS) {
    for (uint column = begin; column < end; ++column) atomic_inc(&single[column]);
    return;
  }
  atomic_inc(&ends[begin]);
  if (end < n) atomic_dec(&ends[end]);
}

// Count how often each vertex occurs as a column, in a graph that stores every edge once.
//
// In       indices[n_slots]: the column of each slot (CSR entry).
// In-out   single[n]: how often each vertex occurs as a column outside of long ranges of
//            consecutive columns, 0 before;
//          ends[n]: for each long range of consecutive columns, +1 where it begins and -1 after its
//            end, 0 before.
// Launch   any. A long range takes two atomic operations, whatever its length. This saves time for
//          dense graphs, whose rows have long ranges.
// Needs    columns are below n.
// Ensures  vertex v occurs as a column single[v] + (ends[0] + ... + ends[v]) times.
kernel void k_core_count_columns(const global uint *indices, volatile global uint *single,
                                 volatile global uint *ends, uint n, uint n_slots) {
  GRID_FOR(segment, SLOT_RUNS(n_slots, COLUMN_SEGMENT)) {
    const uint first = (uint)segment * COLUMN_SEGMENT;
    const uint last = first + min(n_slots - first, (uint)COLUMN_SEGMENT);
    uint begin = indices[first], end = begin + 1;
    for (uint slot = first + 1; slot < last; ++slot) {
      const uint column = indices[slot];
      if (column != end) {
        count_consecutive(single, ends, begin, end, n);
        begin = column;
      }
      end = column + 1;
    }
    count_consecutive(single, ends, begin, end, n);
  }
}

// Compute the degree of every vertex, without self-loops, and the minimum degree.
//
// In       indptr[n + 1], indices[n_slots]: the rows of the graph, with ascending columns;
//          runs[n]: only if each edge is stored once (one_sided), the number of long ranges of
//            consecutive columns that contain each vertex.
// In-out   degree[n]: the degree of each vertex. If each edge is stored once (one_sided), it is
//          before the launch the number of times that the vertex is a column outside of long
//          ranges.
//          state: the word BOUND of the round before the first one (state.cl) becomes the minimum
//          degree.
// Launch   any. O(n log n_slots).
// Needs    state as the host initialises it.
// Ensures  degree[v] = the number of edges at v, with all parallel edges and without self-loops.
LANES_ATTRIBUTE
kernel void k_core_count_rows(const global uint *indptr, const global uint *indices,
                              const global uint *runs, global uint *degree,
                              volatile global uint *state, uint n, uint one_sided) {
  local uint least;
  uint bound = UINT_MAX;
  GRID_FOR(v, n) {
    const uint vertex = (uint)v, begin = indptr[v], end = indptr[v + 1];
    const uint loop = wi_find_column(indices, begin, end, vertex);
    uint loops = 0;
    if (loop < end && indices[loop] == vertex)
      loops = wi_find_column(indices, loop, end, vertex + 1) - loop;
    uint count = end - begin - loops;
    if (one_sided) count += degree[v] + runs[v] - loops;
    degree[v] = count;
    bound = min(bound, count);
  }
  wg_lower(round_words(state, ROUNDS_KEPT - 1) + ROUND_BOUND, bound, &least);
}

// Begin a round: move the vertices of the next level from the lists of remaining vertices to the
// frontier. The level is the minimum remaining degree, and the frontier is the list of vertices to
// be removed. If the round before has left some vertices of its level to this round, this round
// removes only these vertices, and the lists are unchanged.
//
// In       degree[n]: the remaining degree of each vertex.
// In-out   list[n]: the remaining vertices, in a segment for each work-group;
//          lengths[work-groups]: the number of vertices in each segment. In round 0 list and
//          lengths are not read, because all vertices remain.
//          state: the words of this round and the next one (state.cl).
// Out      frontier[2 n]: one half for even rounds and one for odd rounds. The half of this round
//          gets the vertices of the level.
// Launch   the same number of work-groups in every round.
// Needs    the round before is complete.
// Ensures  TAKEN = the number of vertices moved to the frontier; LEFT = the number of vertices
//          above the level; BOUND is at most the minimum degree of the vertices above the level.
LANES_ATTRIBUTE
kernel void k_core_take_level(const global uint *degree, global uint *list, global uint *lengths,
                              global uint *frontier, volatile global uint *state, uint n,
                              uint round) {
  local uint scratch[WG_SIZE], base, least;
  uint taken[LIST_ITEMS], kept[LIST_ITEMS];
  volatile global uint *before = round_words(state, round - 1), *now = round_words(state, round);
  const bool is_spilled = now[ROUND_SPILLED] > 0;
  const uint level = is_spilled ? before[ROUND_LEVEL] : before[ROUND_BOUND];
  const uint group = get_group_id(0), first = range_begin(n, 0);
  const uint length = round == 0 ? range_begin(n, 1) - first : lengths[group];
  const uint end = is_spilled ? 0 : length;
  uint n_remaining = 0, bound = UINT_MAX;
  list += first;
  frontier += (size_t)(round % 2) * n;
  for (uint tile = 0; tile < end; tile += WG_SIZE * LIST_ITEMS) {
    const uint begin = tile + get_local_id(0) * LIST_ITEMS;
    const uint n_own = begin < end ? min(end - begin, (uint)LIST_ITEMS) : 0;
    uint n_taken = 0, n_kept = 0, total;
    for (uint i = 0; i < n_own; ++i) {
      const uint vertex = round == 0 ? first + begin + i : list[begin + i];
      const uint own = degree[vertex];
      taken[n_taken] = vertex;
      n_taken += own == level;
      kept[n_kept] = vertex;
      n_kept += own > level;
      bound = min(bound, own > level ? own : UINT_MAX);
    }
    // One prefix sum counts two kinds of vertices: those to remove, in the upper half of the word,
    // and those to keep, in the lower half. A tile has at most 1024 vertices, so each count fits
    // its half.
    const uint rank = wg_exclusive_sum_u32(n_taken << 16 | n_kept, &total, scratch);
    if (get_local_id(0) == 0 && total >> 16) base = atomic_add(now + ROUND_TAKEN, total >> 16);
    wg_barrier();
    for (uint i = 0; i < n_taken; ++i) frontier[base + (rank >> 16) + i] = taken[i];
    // The list of remaining vertices is compacted in place. It never gets longer, so only entries
    // that have been read already are overwritten.
    for (uint i = 0; i < n_kept; ++i) list[n_remaining + (rank & 0xffff) + i] = kept[i];
    n_remaining += total & 0xffff;
    wg_barrier_local();
  }
  wg_lower(now + ROUND_BOUND, bound, &least);
  wg_barrier();
  if (get_local_id(0) > 0) return;
  if (!is_spilled) lengths[group] = n_remaining;
  if (n_remaining > 0) atomic_add(now + ROUND_LEFT, n_remaining);
  if (group > 0) return;
  now[ROUND_LEVEL] = level;
  if (is_spilled) {
    atomic_add(now + ROUND_LEFT, before[ROUND_LEFT]);
    atomic_min(now + ROUND_BOUND, before[ROUND_BOUND]);
  }
  if (round == 0 || before[ROUND_LEFT] > 0) state[BUSY_ROUNDS] += 1;
  volatile global uint *next = round_words(state, round + 1);
  next[ROUND_SPILLED] = next[ROUND_TAKEN] = next[ROUND_LEFT] = 0;
  next[ROUND_BOUND] = UINT_MAX;
}
