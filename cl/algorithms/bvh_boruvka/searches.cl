// bvh-boruvka: the kernels that search for the lightest edge of every component. They are a program
// of their own, so that it can be built at the same time as bvh_boruvka.cl.
#include "algorithms/bvh_boruvka/clear.cl"
#include "algorithms/bvh_boruvka/lightest.cl"
