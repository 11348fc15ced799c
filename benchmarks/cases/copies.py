"""A plain copy: what all other traffic is measured by."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.inputs import host_room, random_words
from benchmarks.contest import Case, Contestant, Work
from benchmarks.stand import Stand


def copy(stand: Stand, size: int) -> Case:
    """Return the case of copying 32-bit words."""
    x = random_words(stand, size)
    values, out = stand.put(x), stand.room(size, x.dtype)
    host_out = host_room(size, x.dtype)

    def by_driver() -> Work:
        import pyopencl as cl

        def enqueue() -> None:
            cl.enqueue_copy(stand.device.queue, out.memory, values.memory, byte_count=x.nbytes)

        return Work(enqueue=enqueue, results=lambda: [out.to_host()])

    def by_pyopencl() -> Work:
        from pyopencl.elementwise import ElementwiseKernel

        kernel = ElementwiseKernel(stand.device.context, "const uint *x, uint *y", "y[i] = x[i]")
        source, target = stand.theirs(values), stand.theirs(out)
        return Work(enqueue=lambda: kernel(source, target), results=lambda: [out.to_host()])

    def by_numpy() -> Work:
        return Work(enqueue=lambda: np.copyto(host_out, x), results=lambda: [host_out])

    traffic = 2 * x.nbytes
    return Case(
        name="copy",
        size=size,
        expected=[x],
        outputs=[out],
        contestants=[
            Contestant(name="OpenCL copy", prepare=by_driver, traffic=traffic),
            Contestant(name="pyopencl elementwise", prepare=by_pyopencl, traffic=traffic),
            Contestant(name="NumPy", prepare=by_numpy, traffic=traffic),
        ],
    )
