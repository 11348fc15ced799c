// bvh-boruvka: the steps of a round that search for the lightest edge of every component
// (bvh_boruvka.cl).
#include "algorithms/bvh_boruvka/clear.cl"
#include "algorithms/bvh_boruvka/lightest.cl"
