// Core numbers: the greatest k of which a vertex is in the k-core, the largest subgraph in which all
// have k neighbours or more.
//
// Source: peeling (Batagelj, Zaversnik 2003) in the parallel form of PKC (Kabir, Madduri, "Parallel
// k-Core Decomposition on Multicore Platforms", 2017): vertices at the least degree go, one
// decrement for each neighbour that stays, and whoever brings a neighbour to the level peels that
// one, too, without any round in between. Different here: levels that no vertex is at are passed
// over, since a round finds the least degree left on its way; where all that is left is at one
// level, no row is read; and a cascade that gets too wide or too long for a work-group is left to
// the next round, which shares it out.
//
// A round is two launches: k_core_take_level, then k_core_peel_neighbours of peel.cl,
// or the kernel of lone.cl where work-items are alone.
#include "algorithms/k_core/state.cl"
#include "device/rows.cl"

// Consecutive slots that a work-item takes at a time when columns are counted.
#define COLUMN_RUN (WG_SIZE == 1 ? 256u : 32u)
// Consecutive columns from which on they are counted by their ends: two atomics, however many.
#define LONG_RUN 4
// Vertices that a work-item takes of a tile of the list.
#define LIST_ITEMS (WG_SIZE == 1 ? 1024 : 1)

// Count the columns [begin, end), one each.
static inline void count_run(volatile global uint *single, volatile global uint *ends, uint begin,
                             uint end, uint n) {
  if (end - begin < LONG_RUN) {
    for (uint column = begin; column < end; ++column) atomic_inc(&single[column]);
    return;
  }
  atomic_inc(&ends[begin]);
  if (end < n) atomic_dec(&ends[end]);
}

// Count how often each vertex is a column, of a graph that stores each edge once.
//
// In       indices[n_slots].
// In-out   single[n]: columns counted one by one, zeros before; ends[n]: of runs of columns, 1 more
//          where one begins, 1 less behind its end, so that the sum up to a vertex is in how many
//          runs it is; zeros before.
// Launch   any. Rows of a dense graph are runs, which take two atomics however long they are.
kernel void k_core_count_columns(const global uint *indices, volatile global uint *single,
                                 volatile global uint *ends, uint n, uint n_slots) {
  GRID_FOR(run, SLOT_RUNS(n_slots, COLUMN_RUN)) {
    const uint first = (uint)run * COLUMN_RUN;
    const uint last = first + min(n_slots - first, (uint)COLUMN_RUN);
    uint begin = indices[first], end = begin + 1;
    for (uint slot = first + 1; slot < last; ++slot) {
      const uint column = indices[slot];
      if (column != end) {
        count_run(single, ends, begin, end, n);
        begin = column;
      }
      end = column + 1;
    }
    count_run(single, ends, begin, end, n);
  }
}

// Count the edges at every vertex, loops left out, and find the least count.
//
// In       indptr[n + 1], indices: rows that rise; runs[n]: where edges are stored once
//          (one_sided), in how many runs of columns a vertex is.
// In-out   degree[n]: if one_sided, how often a vertex is a column in no run; the degree then.
//          state: BOUND of the round before the first.
// Launch   any. O(n log n_slots).
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

// Order local memory and lists among the work-items of a work-group.
static inline void wg_barrier_lists(void) {
#if WG_SIZE > 1
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

// Begin a round: take the vertices at the next level off the lists of what is left. If the round
// before left some of its level over, those alone are this round's, and lists stay as they are.
//
// In       degree[n].
// In-out   list[n]: a share for each work-group, of which the first lengths[group] are in use; all
//          vertices in round 0, whatever is there. state: the words of this round and of the next.
// Out      frontier[2 n]: in the half of this round, the vertices taken.
// Launch   as many work-groups in every round.
LANES_ATTRIBUTE
kernel void k_core_take_level(const global uint *degree, global uint *list, global uint *lengths,
                              global uint *frontier, volatile global uint *state, uint n,
                              uint round) {
  local uint scratch[WG_SIZE], base, least;
  uint taken[LIST_ITEMS], kept[LIST_ITEMS];
  volatile global uint *before = round_words(state, round - 1), *now = round_words(state, round);
  const bool is_spilled = now[ROUND_SPILLED] > 0;
  const uint level = is_spilled ? before[ROUND_LEVEL] : before[ROUND_BOUND];
  const uint group = get_group_id(0), first = share_begin(n, 0);
  const uint length = round == 0 ? share_begin(n, 1) - first : lengths[group];
  const uint end = is_spilled ? 0 : length;
  uint n_left = 0, bound = UINT_MAX;
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
    // A tile has 1024 vertices at most, so both counts fit a word.
    const uint rank = wg_exclusive_sum_u32(n_taken << 16 | n_kept, &total, scratch);
    if (get_local_id(0) == 0 && total >> 16) base = atomic_add(now + ROUND_TAKEN, total >> 16);
    wg_barrier_lists();
    for (uint i = 0; i < n_taken; ++i) frontier[base + (rank >> 16) + i] = taken[i];
    // No further than what has been read.
    for (uint i = 0; i < n_kept; ++i) list[n_left + (rank & 0xffff) + i] = kept[i];
    n_left += total & 0xffff;
    wg_barrier_local();
  }
  wg_lower(now + ROUND_BOUND, bound, &least);
  wg_barrier_lists();
  if (get_local_id(0) > 0) return;
  if (!is_spilled) lengths[group] = n_left;
  if (n_left > 0) atomic_add(now + ROUND_LEFT, n_left);
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
