// Map: apply a function to each element by itself.
#include "device/function.cl"
#include "device/work_group.cl"

// Apply EXPRESSION, a macro that the caller defines, to every element.
//
// In       in[n]: the elements;
//          GIVEN_PARAMETERS: the further arguments of EXPRESSION.
// Out      out[n]: the results. It may be `in`, if their types T and R have the same size.
// Launch   any.
// Needs    n < 2**32.
// Ensures  out[i] = EXPRESSION of in[i] and i.
kernel void map_elements(const global T *in, global R *out, uint n GIVEN_PARAMETERS) {
  const given_t given = GIVEN;
  GRID_FOR(i, n) {
    R value;
    function_of(T_AT(in, i), (uint)i, &given, &value);
    R_PUT(out, i, value);
  }
}
