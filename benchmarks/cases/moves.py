"""Benchmark cases of memory traffic: a plain copy, and gather and scatter by a permutation.

The bandwidth of the copy is the limit with which the bandwidth of all other cases is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.case import Case, on_device, returning
from benchmarks.cases.inputs import host_empty, random_words
from benchmarks.workspace import Workspace
from clmst.primitives import permute


def copy(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times copies of `size` 32-bit words."""
    x = random_words(space, size)
    values, out = space.put(x), space.empty(size, x.dtype)
    host_out = host_empty(size, x.dtype)

    def by_driver() -> Callable[[], object]:
        import pyopencl as cl

        copy: Any = cl.enqueue_copy  # whose stub wants one kind of memory
        return lambda: copy(space.device.queue, out.memory, values.memory, byte_count=x.nbytes)

    def by_pyopencl() -> Callable[[], object]:
        from pyopencl.elementwise import ElementwiseKernel

        kernel = ElementwiseKernel(space.device.context, "const uint *x, uint *y", "y[i] = x[i]")
        source, target = space.theirs(values), space.theirs(out)
        return lambda: kernel(source, target)

    def by_numpy() -> list[Any]:
        np.copyto(host_out, x)
        return [host_out]

    traffic = 2 * x.nbytes
    return Case(
        name="copy", size=size, expected=[x], outputs=[out],
        methods=[
            on_device("OpenCL copy", by_driver, out, traffic=traffic),
            on_device("pyopencl elementwise", by_pyopencl, out, traffic=traffic),
            returning("NumPy", lambda: by_numpy, traffic=traffic),
        ],
    )  # fmt: skip


def gather(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times ``out[i] = values[indices[i]]`` for 32-bit words.

    The indices are a random permutation. The kernel does no other work. So its time is a lower
    bound for every kernel that reads as many words in random order.
    """
    x, indices = random_words(space, size), _permutation(space, size)
    values, at, out = space.put(x), space.put(indices), space.empty(size, x.dtype)
    host_out = host_empty(size, x.dtype)

    def by_pyopencl() -> Callable[[], object]:
        import pyopencl.array

        source, where, target = (space.theirs(array) for array in (values, at, out))
        return lambda: pyopencl.array.take(source, where, out=target)

    traffic = 3 * x.nbytes
    return Case(
        name="gather", size=size, expected=[x[indices]], outputs=[out],
        methods=[
            on_device("clmst", lambda: lambda: permute.gather(values, at, out), out,
                      traffic=traffic),
            on_device("pyopencl", by_pyopencl, out, traffic=traffic),
            returning("NumPy", lambda: lambda: [np.take(x, indices, out=host_out, mode="clip")],
                      traffic=traffic),
        ],
    )  # fmt: skip


def scatter(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times ``out[indices[i]] = values[i]`` for 32-bit words.

    The indices are a random permutation.
    """
    x, indices = random_words(space, size), _permutation(space, size)
    values, at, out = space.put(x), space.put(indices), space.empty(size, x.dtype)
    expected, host_out = host_empty(size, x.dtype), np.empty_like(x)
    expected[indices] = x

    def by_pyopencl() -> Callable[[], object]:
        import pyopencl.array

        source, where, target = (space.theirs(array) for array in (values, at, out))
        return lambda: pyopencl.array.multi_put([source], where, out=[target])

    def by_numpy() -> list[Any]:
        host_out[indices] = x
        return [host_out]

    traffic = 3 * x.nbytes
    return Case(
        name="scatter", size=size, expected=[expected], outputs=[out],
        methods=[
            on_device("clmst", lambda: lambda: permute.scatter(values, at, out), out,
                      traffic=traffic),
            on_device("pyopencl", by_pyopencl, out, traffic=traffic),
            returning("NumPy", lambda: by_numpy, traffic=traffic),
        ],
    )  # fmt: skip


def _permutation(space: Workspace, size: int) -> Any:
    return space.rng.permutation(np.arange(size, dtype=np.uint32))
