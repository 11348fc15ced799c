// dense: the list of the least plain values of a row's pairs. A plain value is a distance before
// any square root is taken (DISTANCE_PLAIN of distance.cl).
#include "algorithms/dense/filter.cl"

// The list of the least plain values, which are distances before any square root, of a row for one
// part of the columns. Entry j is from[j * stride].
typedef struct {
  global real *from;
  size_t stride;
  uint k, filled, last;  // capacity; number of entries; index of the greatest entry
  real worst;            // the greatest entry if the list is full, else infinity
} list_t;

static inline void list_open(list_t *list, global real *lists, uint part, uint n, uint k,
                             uint row) {
  list->from = lists + (size_t)part * k * n + row;
  list->stride = n;
  list->k = k;
  list->filled = list->last = 0;
  list->worst = REAL_INFINITY;
}

static inline void list_find_worst(list_t *list) {
  list->worst = REAL(-1.0, 0xbff0000000000000);
  for (uint j = 0; j < list->k; ++j) {
    const real value = list->from[j * list->stride];
    if (real_less(list->worst, value)) {
      list->worst = value;
      list->last = j;
    }
  }
}

// Insert the plain value of a pair (its distance before any square root) into the list of a row's
// least values. If the list is full, the value replaces the greatest one in it, or is dropped if it
// is not less.
static inline void list_take(list_t *list, real plain) {
  if (list->filled < list->k) {
    list->from[list->filled * list->stride] = plain;
    list->filled += 1;
    if (list->filled == list->k) list_find_worst(list);
  } else if (real_less(plain, list->worst)) {
    list->from[list->last * list->stride] = plain;
    list_find_worst(list);
  }
}

// Return the greatest filter value (approximate distance before any square root) of a pair that may
// still get into the list of a row's least values.
static inline float list_reach(const list_t *list, const filter_t *filter, uint d) {
  if (list->filled < list->k) return INFINITY;
  return filter_of_distance(filter, DISTANCE_OF_PLAIN(list->worst), d);
}

// Fill the unused entries of a row's list of least values with infinity.
static inline void list_close(list_t *list) {
  for (uint j = list->filled; j < list->k; ++j) list->from[j * list->stride] = REAL_INFINITY;
}
