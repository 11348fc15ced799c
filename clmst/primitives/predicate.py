"""Predicates: conditions that select records."""

from __future__ import annotations

from dataclasses import dataclass

from clmst.primitives.function import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate(Function):
    """A property of a record, in OpenCL C.

    Attributes
    ----------
    dtype : numpy.dtype
        Of the records: (u)int8, 16, 32, 64, float32, float64; or a structured dtype of 2, 4, 8 or
        16 such fields of one width, which OpenCL C sees as a vector (``uint2`` with ``.x``,
        ``.y``).
    expression : str
        Expression in the record `x`, its index `i` (a ``uint``) and the arguments by their names;
        not 0 if the property holds. It must be a pure function of these.
    preamble : str
        Functions that the expression calls, each made of declarations, assignments and a return.
    name : str
        Its name in errors and compilers' messages.
    scalars, arrays : mapping of str to dtype
        The names of arguments that come at run time, with their dtypes: numbers, and arrays of
        which the expression reads ``name[index]``. The caller must guarantee that each index is
        below the array's length. A call, ``predicate(limit=3)``, gives the arguments. It returns a
        new predicate; nothing is compiled again.

    Raises
    ------
    InvalidArgumentError
        Kernels have no such records; or a text breaks the grammar of
        :mod:`clmst.primitives.expression`.

    Examples
    --------
    Edges that are no loops:

    >>> edge = np.dtype([("u", "u4"), ("v", "u4")])
    >>> Predicate(dtype=edge, expression="x.x != x.y", name="no loop").name
    'no loop'

    Numbers below a limit that is known when the primitive is called:

    >>> below = Predicate(dtype="u4", expression="x < limit", scalars={"limit": "u4"})
    >>> below(limit=3).given
    {'limit': np.uint32(3)}
    """

    name: str = "predicate"

    @property
    def value_type(self) -> str:
        """The OpenCL C type of its value."""
        return "bool"
