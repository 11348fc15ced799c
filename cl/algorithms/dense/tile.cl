// dense: filter values, which are approximate distances before any square root in float32, of the
// pairs of points in a tile. A tile is a range of rows times a range of columns. In work-groups of
// one work-item, a tile has ROWS_AT_ONCE rows and 16 columns, and each row is one vector of 16
// filter values. In larger work-groups, a tile has TILE_ROWS x TILE_COLUMNS pairs, and each
// work-item has OWN_ROWS x 8 of them.
#include "algorithms/dense/filter.cl"
#include "device/work_group.cl"

// Means "no vertex". There are at most 2**26 vertices, so this is not the number of a vertex.
#define NO_VERTEX 0xffffffffu

#define TILE_COLUMNS 128
#define PACK 16  // number of points in a pack

// The n points of d coordinates, in the layouts that the kernels read (pack.cl): `rows` has
// coordinates in float64, `singles` and `packs` have `padded` coordinates for each point in
// float32, and `halves` has half of each squared norm.
typedef struct {
  const global real *rows;
  const global float *singles, *packs, *halves;
  uint n, d, padded;
} points_t;

#if WG_SIZE == 1

#define TILE_ROWS 64
#define ROWS_AT_ONCE 8
// Number of columns (points) that stay in the cache while they are compared with all rows of a
// tile.
#define NEAREST_COLUMNS 256

// Compute the filter values, which are approximate distances before any square root, of the pairs
// of ROWS_AT_ONCE points with PACK consecutive points, which are a pack.
static inline void pack_sums(const points_t *of, const uint *vertices, uint pack, float16 *sums) {
  const global float *at = of->packs + (size_t)pack * of->padded * PACK;
  const global float *own[ROWS_AT_ONCE];
#pragma unroll
  for (uint r = 0; r < ROWS_AT_ONCE; ++r) own[r] = of->singles + (size_t)vertices[r] * of->padded;
  float16 sum[ROWS_AT_ONCE];
#pragma unroll
  for (uint r = 0; r < ROWS_AT_ONCE; ++r)
    sum[r] = FILTER_BEGIN(of->halves[vertices[r]], vload16(pack, of->halves));
  for (uint k = 0; k < of->d; ++k) {
    const float16 others = vload16(k, at);
#pragma unroll
    for (uint r = 0; r < ROWS_AT_ONCE; ++r)
      sum[r] = FILTER_STEP(sum[r], (float16)(own[r][k]), others);
  }
#pragma unroll
  for (uint r = 0; r < ROWS_AT_ONCE; ++r)
    sums[r] = FILTER_END(sum[r], of->halves[vertices[r]], vload16(pack, of->halves));
}

// Return the minimum of 16 values. The vector is taken apart by a store to an array, because
// Oclgrind fails at the halves of vectors (quirk: oclgrind-vector-halves).
static inline float least_of(float16 values) {
  float value[PACK], least = INFINITY;
  vstore16(values, 0, value);
  for (uint c = 0; c < PACK; ++c) least = min(least, value[c]);
  return least;
}

#else

// Number of rows of a tile that one work-item takes, each with 8 columns: 8, or 4 if work-items
// have few registers.
#ifndef OWN_ROWS
#define OWN_ROWS 4
#endif

#define TILE_ROWS (WG_SIZE / 16 * OWN_ROWS)
#define CHUNK 16  // number of coordinates that are in local memory at the same time
#define ROW_STRIDE (TILE_ROWS + 4)
#define ROW_LOADS (CHUNK * TILE_ROWS / 4 / WG_SIZE)
#define COLUMN_LOADS (CHUNK * TILE_COLUMNS / 4 / WG_SIZE)
// Number of pairs of a tile whose exact distances are computed at the same time.
#define QUEUE 256
#define QUEUE_END 0xffffffffu

// A work-item compares the points of OWN_ROWS rows of a tile with the points of 8 columns.
// own_row(i) is the index in the tile of the i-th of these rows, and own_column(j) is the index of
// the j-th of these columns.
static inline uint own_row(uint i) {
  return get_local_id(0) / 16 * 4 + i % 4 + i / 4 * (WG_SIZE / 4);
}

static inline uint own_column(uint j) {
  return get_local_id(0) % 16 * 4 + j % 4 + j / 4 * (TILE_COLUMNS / 2);
}

// The local memory of a work-group for one tile. The pairs whose exact distances have to be
// computed are entries of a queue (`pairs`), and those of one row form a linked list (`first`,
// `next`).
typedef struct {
  float rows[CHUNK * ROW_STRIDE];
  float columns[CHUNK * TILE_COLUMNS];
  uint vertices[TILE_ROWS], first[TILE_ROWS];
  float reach[TILE_ROWS];  // for each row: the maximum filter value of pairs that matter
  uint extreme[TILE_ROWS];
  uint pairs[QUEUE], next[QUEUE];
  real distances[QUEUE];
  uint n_pairs[1];
} tile_memory_t;

// Compute the filter values, which are approximate distances before any square root, of the pairs
// of points that a work-item has in a tile of rows and columns.
//
// Scope    the whole work-group; each work-item has its own results. Begins with a barrier, and
//          contains more.
static inline void tile_sums(const points_t *of, uint column, local tile_memory_t *memory,
                             float8 *sums) {
  const uint lane = get_local_id(0), down = lane / 16, across = lane % 16;
  const global float *from_columns = of->packs + (size_t)(column / PACK) * of->padded * PACK;
  const global float *from_rows[ROW_LOADS];
  float4 next_rows[ROW_LOADS], next_columns[COLUMN_LOADS];
#pragma unroll
  for (uint i = 0; i < ROW_LOADS; ++i) {
    const uint quad = lane + i * WG_SIZE;
    from_rows[i] = of->singles + (size_t)memory->vertices[quad / 4] * of->padded + quad % 4 * 4;
    next_rows[i] = vload4(0, from_rows[i]);
  }
#pragma unroll
  for (uint i = 0; i < COLUMN_LOADS; ++i) {
    const uint quad = lane + i * WG_SIZE;
    next_columns[i] = vload4(quad % 64, from_columns + (size_t)(quad / 64) * of->padded * PACK);
  }
  const float8 halves = (float8)(vload4(across, of->halves + column),
                                 vload4(across, of->halves + column + TILE_COLUMNS / 2));
#pragma unroll
  for (uint i = 0; i < OWN_ROWS; ++i)
    sums[i] = FILTER_BEGIN(of->halves[memory->vertices[own_row(i)]], halves);
  for (uint chunk = 0; chunk < of->padded; chunk += CHUNK) {
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0; i < ROW_LOADS; ++i) {
      const uint quad = lane + i * WG_SIZE;
      local float *to = memory->rows + quad % 4 * 4 * ROW_STRIDE + quad / 4;
      to[0] = next_rows[i].x;
      to[ROW_STRIDE] = next_rows[i].y;
      to[2 * ROW_STRIDE] = next_rows[i].z;
      to[3 * ROW_STRIDE] = next_rows[i].w;
    }
#pragma unroll
    for (uint i = 0; i < COLUMN_LOADS; ++i) {
      const uint quad = lane + i * WG_SIZE;
      const uint k = quad % 64 / 4, at = quad / 64 * PACK + quad % 4 * 4;
      vstore4(next_columns[i], 0, memory->columns + k * TILE_COLUMNS + at);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ahead = min(chunk + CHUNK, of->padded - CHUNK);
#pragma unroll
    for (uint i = 0; i < ROW_LOADS; ++i) next_rows[i] = vload4(0, from_rows[i] + ahead);
#pragma unroll
    for (uint i = 0; i < COLUMN_LOADS; ++i) {
      const uint quad = lane + i * WG_SIZE;
      const size_t pack = (size_t)(quad / 64) * of->padded + ahead;
      next_columns[i] = vload4(quad % 64, from_columns + pack * PACK);
    }
    const uint n_coordinates = min(of->d - chunk, (uint)CHUNK);
#pragma unroll 4
    for (uint k = 0; k < n_coordinates; ++k) {
      const local float *own = memory->rows + k * ROW_STRIDE;
      const local float *theirs = memory->columns + k * TILE_COLUMNS;
      const float4 upper = vload4(down, own);
      const float8 others =
          (float8)(vload4(across, theirs), vload4(across, theirs + TILE_COLUMNS / 2));
      sums[0] = FILTER_STEP(sums[0], (float8)(upper.x), others);
      sums[1] = FILTER_STEP(sums[1], (float8)(upper.y), others);
      sums[2] = FILTER_STEP(sums[2], (float8)(upper.z), others);
      sums[3] = FILTER_STEP(sums[3], (float8)(upper.w), others);
#if OWN_ROWS == 8
      const float4 lower = vload4(down, own + WG_SIZE / 4);
      sums[4] = FILTER_STEP(sums[4], (float8)(lower.x), others);
      sums[5] = FILTER_STEP(sums[5], (float8)(lower.y), others);
      sums[6] = FILTER_STEP(sums[6], (float8)(lower.z), others);
      sums[7] = FILTER_STEP(sums[7], (float8)(lower.w), others);
#endif
    }
  }
#pragma unroll
  for (uint i = 0; i < OWN_ROWS; ++i)
    sums[i] = FILTER_END(sums[i], of->halves[memory->vertices[own_row(i)]], halves);
}

// Choose, among the pairs of points of this work-item, those whose exact distances have to be
// computed. These are the pairs whose filter values (approximate distances before any square root)
// are at most the reach of their rows, which is the maximum that still matters. Reserve consecutive
// positions for them in the queue of the tile. Return the first of these positions.
//
// Out      *found: bit i * 8 + j is set for the pair of row i and column j.
// In-out   n_pairs: the number of pairs in the queue, 0 before.
// Scope    the whole work-group; each work-item has its own results. Ends with a barrier.
static inline uint tile_queue(const float8 *values, local tile_memory_t *memory, ulong *found) {
  ulong bits = 0;
#pragma unroll
  for (uint i = 0; i < OWN_ROWS; ++i) {
    const float reach =
        min(memory->reach[own_row(i)], FLT_MAX);  // entries that are not pairs are infinite
    float value[8];
    vstore8(values[i], 0, value);
#pragma unroll
    for (uint j = 0; j < 8; ++j) bits |= (ulong)(value[j] <= reach) << (i * 8 + j);
  }
  *found = bits;
  uint place = 0;
  if (bits) place = atomic_add(memory->n_pairs, (uint)popcount(bits));
  barrier(CLK_LOCAL_MEM_FENCE);
  return place;
}

// Write the pairs that a work-item has chosen to the queue of the tile, if their positions are in
// [begun, begun + QUEUE). Link the pairs of each row into a list.
//
// In-out   first[TILE_ROWS]: for each row, the index in the queue of the first pair in its list,
//          QUEUE_END before.
// Scope    one work-item.
static inline void tile_fill(local tile_memory_t *memory, ulong found, uint place, uint begun) {
  for (ulong bits = found; bits; bits &= bits - 1, ++place) {
    if (place - begun >= QUEUE) continue;
    const uint at = 63 - (uint)clz(bits & -bits), row = own_row(at / 8), entry = place - begun;
    memory->pairs[entry] = row << 16 | own_column(at % 8);
    memory->next[entry] = atomic_xchg(memory->first + row, entry);
  }
}

#endif
