"""Benchmark cases of sums and prefix sums, by ``clmst.primitives.scan`` and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.case import Case, Method, on_device, returning
from benchmarks.cases.inputs import host_empty, random_walk_steps, random_words
from benchmarks.workspace import Workspace
from clmst.core.weight_keys import Array
from clmst.primitives import scan
from clmst.primitives.chain import chains_by_itself
from clmst.runtime.array import DeviceArray


def reduce(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times the sum of `size` 32-bit words."""
    x = random_words(space, size)
    values, out = space.put(x), space.empty(1, x.dtype)

    def by_pyopencl() -> Callable[[], list[Any]]:
        import pyopencl.array

        source = space.theirs(values)
        return lambda: [pyopencl.array.sum(source)]

    def results(found: list[Any]) -> list[Array]:
        return [found[0].get().reshape(1)]

    return Case(
        name="reduce", size=size, outputs=[out],
        expected=[np.add.reduce(x, dtype=np.uint64, keepdims=True).astype(x.dtype)],
        methods=[
            on_device("clmst", lambda: lambda: scan.reduce(values, out=out), out, traffic=x.nbytes),
            returning("pyopencl", by_pyopencl, results=results, traffic=x.nbytes),
            returning("NumPy", lambda: lambda: [np.sum(x, dtype=x.dtype, keepdims=True)],
                      traffic=x.nbytes),
        ],
    )  # fmt: skip


# For each scan: the function that makes its elements, and whether the scan is exclusive.
SCANS: dict[str, tuple[Callable[[Workspace, int], Array], bool]] = {
    "exclusive_scan": (random_words, True),
    "exclusive_scan_f32": (random_walk_steps, True),
    "exclusive_scan_u64": (partial(random_words, dtype=np.uint64), True),
    "inclusive_scan": (random_words, False),
}


def scanned(space: Workspace, size: int, name: str) -> Case:
    """Build the benchmark case that times prefix sums of `size` elements.

    `name` is a key of SCANS, which says what the elements are and whether the sums are exclusive.
    """
    drawn, exclusive = SCANS[name]
    return _scan(space, name, drawn(space, size), exclusive=exclusive)


def numpy_scan(x: Array, out: Array, *, exclusive: bool) -> None:
    """Compute the prefix sums of `x` with NumPy, in the dtype of `x`, and write them to `out`."""
    if not exclusive:
        np.cumsum(x, out=out, dtype=x.dtype)
        return
    out[:1] = 0
    np.cumsum(x[:-1], out=out[1:], dtype=x.dtype)


def pyopencl_scan(
    space: Workspace, values: DeviceArray, out: DeviceArray, *, exclusive: bool
) -> Callable[[], object]:
    """Return a function that enqueues PyOpenCL's ready-made scan of `values`, which writes `out`.

    The scan computes prefix sums.
    """
    from pyopencl.scan import ExclusiveScanKernel, InclusiveScanKernel

    kind = ExclusiveScanKernel if exclusive else InclusiveScanKernel
    kernel = kind(space.device.context, values.dtype, "a+b", neutral="0")
    source, target = space.theirs(values), space.theirs(out)
    return lambda: kernel(source, target)


def pyopencl_generic_scan(
    space: Workspace, values: DeviceArray, out: DeviceArray, *, exclusive: bool
) -> Callable[[], object]:
    """Return a function that enqueues prefix sums of `values`, which are written to `out`.

    The scan is written with PyOpenCL's GenericScanKernel.
    """
    from pyopencl.scan import GenericScanKernel
    from pyopencl.tools import dtype_to_ctype

    element = dtype_to_ctype(values.dtype)
    kernel = GenericScanKernel(
        space.device.context, values.dtype, input_expr="source[i]", scan_expr="a + b", neutral="0",
        arguments=f"__global const {element} *source, __global {element} *target",
        output_statement=f"target[i] = {'prev_item' if exclusive else 'item'};",
    )  # fmt: skip
    source, target = space.theirs(values), space.theirs(out)
    return lambda: kernel(source, target)


def _scan(space: Workspace, name: str, x: Array, *, exclusive: bool) -> Case:
    values, out = space.put(x), space.empty(x.size, x.dtype)
    expected, host_out = np.empty_like(x), host_empty(x.size, x.dtype)
    numpy_scan(x, expected, exclusive=exclusive)

    def by_clmst(name: str, strategy: Any, passes: int) -> Method:
        scanned = scan.exclusive_scan if exclusive else scan.inclusive_scan
        call = lambda: scanned(values, out=out, strategy=strategy)  # noqa: E731
        return on_device(name, lambda: call, out, traffic=passes * x.nbytes)

    def by_pyopencl(name: str, make: Any) -> Method:
        # PyOpenCL writes a whole array of partial results between its two kernels, and reads it
        # again.
        return on_device(
            name, lambda: make(space, values, out, exclusive=exclusive), out, traffic=4 * x.nbytes
        )

    def by_numpy() -> list[Array]:
        numpy_scan(x, host_out, exclusive=exclusive)
        return [host_out]

    # Rounded sums of floats depend on how elements are grouped. A scan in one pass groups them by
    # chance, so floats are only scanned by three launches.
    one_pass = chains_by_itself(space.device) and x.dtype.kind == "u"
    three_launches = [by_clmst("clmst reduce-then-scan", "reduce-then-scan", 3)]
    return Case(
        name=name, size=x.size, expected=[expected], outputs=[out],
        methods=[
            # The last argument is how often an element is read or written: twice in one pass, and
            # three times by three launches, which read it twice.
            by_clmst("clmst", "auto", 2 if one_pass else 3),
            *(three_launches if one_pass else []),
            # This method scans each block, which reads and writes it once. Adding the totals of
            # earlier blocks reads and writes it again.
            by_clmst("clmst scan-then-propagate", "scan-then-propagate", 4),
            by_pyopencl("pyopencl", pyopencl_scan),
            by_pyopencl("pyopencl generic", pyopencl_generic_scan),
            returning("NumPy", lambda: by_numpy, traffic=2 * x.nbytes),
        ],
    )  # fmt: skip
