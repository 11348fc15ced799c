"""A plain copy: what all other traffic is measured by."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.case import Case, Method, Work
from benchmarks.cases.inputs import host_empty, random_words
from benchmarks.workspace import Workspace


def copy(space: Workspace, size: int) -> Case:
    """Return the case of copying 32-bit words."""
    x = random_words(space, size)
    values, out = space.put(x), space.empty(size, x.dtype)
    host_out = host_empty(size, x.dtype)

    def by_driver() -> Work:
        import pyopencl as cl

        def enqueue() -> None:
            copy: Any = cl.enqueue_copy  # whose stub wants one kind of memory
            copy(space.device.queue, out.memory, values.memory, byte_count=x.nbytes)

        return Work(enqueue=enqueue, results=lambda: [out.to_host()])

    def by_pyopencl() -> Work:
        from pyopencl.elementwise import ElementwiseKernel

        kernel = ElementwiseKernel(space.device.context, "const uint *x, uint *y", "y[i] = x[i]")
        source, target = space.theirs(values), space.theirs(out)
        return Work(enqueue=lambda: kernel(source, target), results=lambda: [out.to_host()])

    def by_numpy() -> Work:
        return Work(enqueue=lambda: np.copyto(host_out, x), results=lambda: [host_out])

    traffic = 2 * x.nbytes
    return Case(
        name="copy",
        size=size,
        expected=[x],
        outputs=[out],
        methods=[
            Method(name="OpenCL copy", prepare=by_driver, traffic=traffic),
            Method(name="pyopencl elementwise", prepare=by_pyopencl, traffic=traffic),
            Method(name="NumPy", prepare=by_numpy, traffic=traffic),
        ],
    )
