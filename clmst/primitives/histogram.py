"""Histograms: the number of elements in each bin. The kernels are in ``histogram.cl``."""

from __future__ import annotations

import numpy as np

from clmst.core.arguments import check_integer, check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import MAX_LENGTH, check_apart, check_array, launcher_for, output_for
from clmst.primitives.element import element_of
from clmst.primitives.map import Map
from clmst.primitives.shares import Strategy, check_strategy, shape_defines
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher

SOURCE = "primitives/histogram.cl"

# LOCAL_BINS of the kernels: the maximum number of bins whose counters are in local memory, where
# they take 8 KiB.
LOCAL_BINS = 2048
_BIN = np.dtype(np.uint32)


@guarded
def histogram(
    values: DeviceArray,
    n_bins: int,
    *,
    bin_of: Map | None = None,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Count the elements of each bin.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        The elements to count.
    n_bins : int
        Number of bins. Bins are numbered from 0 to `n_bins` - 1.
    bin_of : Map, optional
        A function that computes the bin of an element, with a uint32 result. By default the bin is
        the element itself, which must then be an unsigned integer.
    out : DeviceArray of uint32, shape (n_bins,) or more, optional
        Output for the counts. It must not overlap an array that is read.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray of uint32, shape (n_bins,)
        The number of elements in each bin. An element whose bin is `n_bins` or more is not counted.
        The call returns without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device; an argument of `bin_of` is missing; `out` is too
        short, or overlaps an array that is read.
    KernelBuildError
        The expression does not compile. The error holds the compiler's log.

    Notes
    -----
    The call sets the counts to 0 and reads n elements in one launch. Up to 2,048 bins are counted
    in local memory. With more bins, each element takes an atomic addition in global memory.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([0, 2, 2, 9], np.uint32))
    >>> histogram(values, 3).to_host().tolist()
    [1, 0, 2]
    """
    check_array("values", values)
    check_strategy(strategy)
    n_bins = check_integer("n_bins", n_bins, low=0, high=MAX_LENGTH)
    function = _identity(values) if bin_of is None else check_kind("bin_of", bin_of, Map)
    if function.result_dtype != _BIN:
        raise InvalidArgumentError(
            f"bin_of has a result of {function.result_dtype}; the number of a bin is a {_BIN}"
        )
    out = output_for("out", out, _BIN, n_bins, like=values)
    check_apart("out", out, values=values)
    function.check_for(values, out=out)
    launch = launcher_for(values, launch)
    program = values.device.program(
        SOURCE, function.prelude, LOCAL_BINS=LOCAL_BINS, **shape_defines(strategy)
    )
    launch.fill(out.memory, 0, n_bins)
    if n_bins:
        launch.for_each(
            program, f"histogram_count_{'few' if n_bins <= LOCAL_BINS else 'many'}", values.size,
            values, out, values.size, n_bins, *function.kernel_arguments,
            alone=strategy == "sequential",
        )  # fmt: skip
    return out[:n_bins]


def _identity(values: DeviceArray) -> Map:
    """Return the map from an element of `values` to itself, as uint32.

    A 64-bit element that does not fit into uint32 becomes the greatest uint32, which is not the
    number of a bin. Raises InvalidArgumentError unless the elements are unsigned integers.
    """
    element_of(values.dtype)
    if values.dtype.kind != "u":
        raise InvalidArgumentError(
            f"values are of {values.dtype}; unless bin_of tells their bins, they must be unsigned "
            "integers"
        )
    # A number of more than 32 bits does not belong to a bin.
    wide = "x <= UINT_MAX ? (uint)x : UINT_MAX"
    expression = wide if values.dtype.itemsize == 8 else "x"
    return Map(dtype=values.dtype, result=_BIN, expression=expression, name="bin")
