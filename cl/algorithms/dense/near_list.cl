// dense: a list of the k smallest plain values of the pairs that a row (point) forms with other
// points. A plain value is a distance before any square root is taken (DISTANCE_PLAIN of
// distance.cl).
#include "algorithms/dense/filter.cl"

// A list of the smallest plain values, which are distances before any square root, of the pairs of
// one row (point) with one part of all points. Entry j is from[j * stride].
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
// smallest values. If the list is full, the new value replaces the greatest one in the list, or is
// dropped if it is not smaller.
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

// Return an upper bound of the filter values (approximate distances before any square root) of
// pairs that may still get into the list of a row's smallest plain values.
static inline float list_reach(const list_t *list, const filter_t *filter, uint d) {
  if (list->filled < list->k) return INFINITY;
  return filter_of_distance(filter, DISTANCE_OF_PLAIN(list->worst), d);
}

// Fill the unused entries of a row's list of smallest values with infinity.
static inline void list_close(list_t *list) {
  for (uint j = list->filled; j < list->k; ++j) list->from[j * list->stride] = REAL_INFINITY;
}
