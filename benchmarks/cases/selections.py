"""Benchmark cases of selections: compaction, partition, the first of each run of equal elements.

Selected elements keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.case import Case, Method, returning
from benchmarks.cases.inputs import random_flags, random_words, sorted_runs
from benchmarks.workspace import Workspace
from clmst.core.weight_keys import Array
from clmst.primitives.compact import compact, partition
from clmst.primitives.compact import unique_by_key as first_by_key
from clmst.primitives.function import Predicate
from clmst.runtime.array import DeviceArray

_MIDDLE = np.uint32(2**31)
_ABOVE = Predicate(dtype=np.dtype(np.uint32), expression=f"x > {_MIDDLE}u")
_RUN_LENGTH = 4  # in the mean


def flagged(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times the selection of flagged words, about half of all."""
    x, flags = random_words(space, size), random_flags(space, size, 1 / 2)
    mask = flags.astype(np.bool_)
    values, marks, out = space.put(x), space.put(flags), space.empty(size, x.dtype)

    def by_pyopencl() -> Callable[[], Sequence[Any]]:
        from pyopencl.algorithm import copy_if

        source, extra = space.theirs(values), [("flags", space.theirs(marks))]
        return lambda: copy_if(source, "flags[i]", extra_args=extra)[:2]

    kept = x[mask]
    traffic = x.nbytes + kept.nbytes
    return Case(
        name="compact", size=size, expected=[kept, np.array([kept.size])], outputs=[out],
        methods=[
            _kept("clmst", lambda: partial(compact, values, marks, out=out),
                  traffic + space.reads * flags.nbytes),
            # PyOpenCL's first kernel writes a partial result of 4 bytes for each element, and its
            # second kernel reads it.
            _kept("pyopencl", by_pyopencl, traffic + 2 * x.nbytes + flags.nbytes),
            _numpy(lambda: [x[mask]], traffic + mask.nbytes, [kept]),
        ],
    )  # fmt: skip


def satisfying(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times the selection of words above 2**31, about half of all."""
    x = random_words(space, size)
    values, out = space.put(x), space.empty(size, x.dtype)

    def by_pyopencl() -> Callable[[], Sequence[Any]]:
        from pyopencl.algorithm import copy_if

        source = space.theirs(values)
        return lambda: copy_if(source, f"ary[i] > {_MIDDLE}u")[:2]

    kept = x[x > _MIDDLE]
    traffic = x.nbytes + kept.nbytes
    return Case(
        name="compact_if", size=size, expected=[kept, np.array([kept.size])], outputs=[out],
        methods=[
            _kept("clmst", lambda: partial(compact, values, predicate=_ABOVE, out=out),
                  kept.nbytes + space.reads * x.nbytes),
            _kept("pyopencl", by_pyopencl, traffic + 3 * x.nbytes),
            _numpy(lambda: [x[x > _MIDDLE]], traffic + 2 * x.size, [kept]),
        ],
    )  # fmt: skip


def partitioned(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times a stable partition: words above 2**31 come first."""
    x = random_words(space, size)
    values, out = space.put(x), space.empty(size, x.dtype)
    n_above = int(np.count_nonzero(x > _MIDDLE))

    def by_pyopencl() -> Callable[[], Sequence[Any]]:
        from pyopencl.algorithm import partition as partition_of

        source = space.theirs(values)
        return lambda: partition_of(source, f"ary[i] > {_MIDDLE}u")[:3]

    def gathered(found: list[Any]) -> list[Array]:
        first, second, count = (result.get() for result in found)
        parts = np.concatenate((first[:n_above], second[: size - n_above]))
        return [parts, count.reshape(1).astype(np.int64)]

    def by_numpy() -> list[Array]:
        mask = x > _MIDDLE
        return [np.concatenate((x[mask], x[~mask]))]

    expected = by_numpy()
    return Case(
        name="partition", size=size, expected=[*expected, np.array([n_above])], outputs=[out],
        methods=[
            _kept("clmst", lambda: partial(partition, values, predicate=_ABOVE, out=out),
                  3 * x.nbytes, whole=True),
            returning("pyopencl", by_pyopencl, results=gathered, traffic=5 * x.nbytes),
            _numpy(by_numpy, None, expected),
        ],
    )  # fmt: skip


def unique(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times the selection of the first of each run of equal words."""
    x = sorted_runs(space, size, _RUN_LENGTH)
    values, out = space.put(x), space.empty(size, x.dtype)

    def by_pyopencl() -> Callable[[], Sequence[Any]]:
        from pyopencl.algorithm import unique

        source = space.theirs(values)
        return lambda: unique(source)[:2]

    kept = x[_heads(x)]
    traffic = x.nbytes + kept.nbytes
    return Case(
        name="unique", size=size, expected=[kept, np.array([kept.size])], outputs=[out],
        methods=[
            _kept("clmst", lambda: partial(first_by_key, values, out=out),
                  kept.nbytes + space.reads * x.nbytes),
            _kept("pyopencl", by_pyopencl, traffic + 3 * x.nbytes),
            _numpy(lambda: [x[_heads(x)]], traffic + x.nbytes + 2 * x.size, [kept]),
        ],
    )  # fmt: skip


def unique_by_key(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times the selection of the first of each run of equal keys.

    The value that belongs to each selected key is selected, too.
    """
    x, y = sorted_runs(space, size, _RUN_LENGTH), random_words(space, size)
    k, v = space.put(x), space.put(y)
    k_out, v_out = space.empty(size, x.dtype), space.empty(size, y.dtype)

    def by_clmst() -> Callable[[], Sequence[Any]]:
        return partial(first_by_key, k, v, out=k_out, values_out=v_out)

    def by_numpy() -> list[Array]:
        heads = _heads(x)
        return [x[heads], y[heads]]

    kept = by_numpy()
    written = sum(array.nbytes for array in kept)
    return Case(
        name="unique_by_key", size=size, expected=[*kept, np.array([kept[0].size])],
        outputs=[k_out, v_out],
        methods=[
            _kept("clmst", by_clmst, space.reads * x.nbytes + y.nbytes + written),
            _kept("pyopencl", _pyopencl_unique_by_key(space, k, v, k_out, v_out),
                  4 * x.nbytes + y.nbytes + written),
            _numpy(by_numpy, None, kept),
        ],
    )  # fmt: skip


def _pyopencl_unique_by_key(
    space: Workspace, k: DeviceArray, v: DeviceArray, k_out: DeviceArray, v_out: DeviceArray
) -> Callable[[], Callable[[], list[Any]]]:
    """Return a function that builds PyOpenCL's selection of the first of each run of equal keys.

    `k` and `v` are the keys and values, and the selected ones are written to `k_out` and `v_out`.
    The selection is built from a scan, because PyOpenCL's own `unique` does not take values.
    """

    def make() -> Callable[[], list[Any]]:
        import pyopencl.array
        from pyopencl.scan import GenericScanKernel

        kernel = GenericScanKernel(
            space.device.context, np.uint32, scan_expr="a+b", neutral="0",
            arguments="uint *k, uint *v, uint *k_out, uint *v_out, uint *count",
            input_fetch_exprs=[("before", "k", -1), ("here", "k", 0)],
            input_expr="(i == 0) || (before != here) ? 1 : 0",
            output_statement="""
                if (prev_item != item) { k_out[item-1] = k[i]; v_out[item-1] = v[i]; }
                if (i+1 == N) *count = item;
                """,
        )  # fmt: skip
        arrays = [space.theirs(array) for array in (k, v, k_out, v_out)]
        count = pyopencl.array.zeros(space.device.queue, 1, np.uint32)

        def call() -> list[Any]:
            kernel(*arrays, count)
            return [*arrays[2:], count]

        return call

    return make


def _heads(x: Array) -> Array:
    """Return a mask that is true at the first element of each run of equal elements."""
    mask = np.empty(x.size, np.bool_)
    mask[:1] = True
    np.not_equal(x[1:], x[:-1], out=mask[1:])
    return mask


def _kept(
    name: str, make: Callable[[], Callable[[], Sequence[Any]]], traffic: int, *, whole: bool = False
) -> Method:
    """Return a method whose timed function returns arrays on the device and a number of elements.

    If the number is k, only the first k elements of each array are results. If `whole` is true, all
    elements are. `make` builds the timed function. `traffic` is the number of bytes that the method
    reads and writes.
    """

    def results(found: list[Any]) -> list[Array]:
        *arrays, count = map(_to_host, found)
        n = int(count.reshape(1)[0])
        return [*(array if whole else array[:n] for array in arrays), np.array([n])]

    return returning(name, make, traffic=traffic, results=results)


def _to_host(array: Any) -> Array:
    found: Array = array.to_host() if isinstance(array, DeviceArray) else array.get()
    return found


def _numpy(
    call: Callable[[], list[Array]], traffic: int | None, expected: Sequence[Array]
) -> Method:
    """Return the method that calls NumPy.

    `call` returns new arrays with only the selected elements. `traffic` is the number of bytes that
    it reads and writes, or None if that is unknown.
    """
    return returning("NumPy", lambda: call, traffic=traffic, expected=expected)
