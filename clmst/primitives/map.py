"""Maps apply a function to each element of an array. The kernel is in ``cl/primitives/map.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.arguments import check_dtype, check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import check_array, check_in_place, launcher_for, output_for
from clmst.primitives.element import ElementTypes, check_supported
from clmst.primitives.function import Function
from clmst.primitives.shares import Strategy, check_strategy, shape_defines
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher

SOURCE = "primitives/map.cl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Map(Function):
    """A function of an element, written in OpenCL C, with a result of any element type.

    Attributes
    ----------
    dtype, expression, preamble, name, scalars, arrays
        See :class:`Predicate`. If results are records, ``result(...)`` creates one from a value for
        each field, in order. ``record(...)`` creates a record of `dtype`.
    result : numpy.dtype, optional
        The dtype of results. It is `dtype` by default. Numbers are converted to it as in C, and so
        is each value in ``result(...)``. Bytes between the fields of a new record are 0.

    Raises
    ------
    InvalidArgumentError
        Kernels do not support a dtype, or a text breaks the grammar of
        :mod:`clmst.primitives.expression`.

    Examples
    --------
    >>> scaled = Map(dtype="f4", expression="factor * x", scalars={"factor": "f4"})
    >>> str(scaled(factor=0.5).result)
    'float32'

    Records of other fields:

    >>> edge = np.dtype([("u", "u4"), ("v", "u4"), ("weight", "f4")])
    >>> keyed = np.dtype([("weight", "f8"), ("edge", "u4")])
    >>> str(Map(dtype=edge, result=keyed, expression="result(-x.weight, i)").result["edge"])
    'uint32'
    """

    name: str = "map"
    result: np.dtype[Any] | None = None

    def __post_init__(self) -> None:
        given = self.dtype if self.result is None else self.result
        object.__setattr__(self, "result", check_dtype("result", given))
        Function.__post_init__(self)

    def _value(self, types: ElementTypes) -> tuple[np.dtype[Any] | None, str]:
        """Return the dtype of results, and the name of their OpenCL C type.

        `types` collects the OpenCL C types of records. If results are records, their type is added
        to it. The base class allows None as the dtype, but here the dtype always exists.
        """
        return self.result_dtype, types.of(self.result_dtype, "Result")

    @property
    def result_dtype(self) -> np.dtype[Any]:
        """The dtype of results, which is never None."""
        assert self.result is not None, "made in __post_init__"
        return self.result


@guarded
def map(
    values: DeviceArray,
    function: Map,
    *,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Apply a function to each element.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        The elements.
    function : Map
        The function, whose `dtype` must be the dtype of `values`. If it has arguments, give
        them by a call: ``function(limit=3)``.
    out : DeviceArray, shape (n,) or more, optional
        Output of the function's result dtype. It may be `values` itself, if the two dtypes have the
        same size.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,)
        ``out[i] = function(values[i], i)``. The call returns without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device; an argument of the function is missing; `out` is too
        short, or overlaps an array that is read.
    KernelBuildError
        The expression does not compile. The error holds the compiler's log.

    Notes
    -----
    It reads n elements and writes n results, in one launch. To combine several arrays, make all but
    the first arguments, and read them at `i`: ``expression="x + other[i]"``.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([1, 2, 3], np.uint32))
    >>> square = Map(dtype="u4", expression="x * x")
    >>> map(values, square).to_host().tolist()
    [1, 4, 9]
    """
    check_array("values", values)
    check_kind("function", function, Map)
    check_strategy(strategy)
    result = function.result_dtype
    check_supported(result, values.device)
    given = out
    out = output_for("out", out, result, values.size, like=values)
    if given is not None:
        check_in_place("out", out, "values", values)
        if out.overlaps(values) and result.itemsize != values.dtype.itemsize:
            raise InvalidArgumentError(
                f"out is where values are, but {values.dtype} and {result} differ in size; in "
                "place both must have one size"
            )
    function.check_for(values, out=out)
    launch = launcher_for(values, launch)
    program = values.device.program(SOURCE, function.prelude, **shape_defines(strategy))
    launch.for_each(
        program, "map_elements", values.size, values, out, values.size,
        *function.kernel_arguments, alone=strategy == "sequential",
    )  # fmt: skip
    return out[: values.size]
