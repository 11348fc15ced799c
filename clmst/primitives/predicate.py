"""Predicates: conditions that select records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.arguments import check_dtype
from clmst.primitives.element import element_type
from clmst.primitives.expression import check_expression, check_functions, check_title
from clmst.runtime.program import Prelude


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """A property of a record, in OpenCL C.

    Attributes
    ----------
    dtype : numpy.dtype
        Of the records: (u)int32, (u)int64, float32, float64; or a structured dtype of 2, 4, 8 or
        16 such fields of one width, which OpenCL C sees as a vector (``uint2`` with ``.x``,
        ``.y``).
    expression : str
        Expression in the record `x` that is not 0 if the property holds. It must be a pure function
        of `x`.
    preamble : str
        Functions that the expression calls, each made of declarations, assignments and a return.
    name : str
        Its name in errors and compilers' messages.

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
    """

    dtype: np.dtype[Any]
    expression: str
    preamble: str = ""
    name: str = "predicate"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", check_dtype("dtype", self.dtype))
        element_type(self.dtype)
        preamble, functions = check_functions("preamble", self.preamble)
        expression = check_expression("expression", self.expression, {"x"}, functions)
        object.__setattr__(self, "preamble", preamble)
        object.__setattr__(self, "expression", expression)
        object.__setattr__(self, "name", check_title("name", self.name))

    @property
    def prelude(self) -> Prelude:
        """The text that precedes a kernel file: the macros of ``cl/primitives/compact_rule.cl``."""
        macros = (
            f"#define T {element_type(self.dtype)}",
            f"#define PREDICATE ({self.expression})",
        )
        # The preamble first: its lines are counted from 1 in the compiler's messages.
        return Prelude(name=self.name, text="\n".join((self.preamble, *macros)))
