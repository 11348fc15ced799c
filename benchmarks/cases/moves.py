"""Gather and scatter by a random permutation: the least that random access costs."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, Method, Work
from benchmarks.cases.inputs import host_empty, random_words
from benchmarks.workspace import Workspace


def gather(space: Workspace, size: int) -> Case:
    """Return the case of ``out[i] = values[indices[i]]``."""
    x = random_words(space, size)
    indices = space.rng.permutation(np.arange(size, dtype=np.uint32))
    values, at, out = space.put(x), space.put(indices), space.empty(size, x.dtype)
    host_out = host_empty(size, x.dtype)

    def by_clmst() -> Work:
        from clmst.primitives.permute import gather

        return Work(enqueue=lambda: gather(values, at, out), results=lambda: [out.to_host()])

    def by_pyopencl() -> Work:
        import pyopencl.array

        source, where, target = (space.theirs(array) for array in (values, at, out))
        return Work(
            enqueue=lambda: pyopencl.array.take(source, where, out=target),
            results=lambda: [out.to_host()],
        )

    def by_numpy() -> Work:
        return Work(
            enqueue=lambda: np.take(x, indices, out=host_out, mode="clip"),
            results=lambda: [host_out],
        )

    traffic = 3 * x.nbytes
    return Case(
        name="gather",
        size=size,
        expected=[x[indices]],
        outputs=[out],
        methods=[
            Method(name="clmst", prepare=by_clmst, traffic=traffic),
            Method(name="pyopencl", prepare=by_pyopencl, traffic=traffic),
            Method(name="NumPy", prepare=by_numpy, traffic=traffic),
        ],
    )


def scatter(space: Workspace, size: int) -> Case:
    """Return the case of ``out[indices[i]] = values[i]``."""
    x = random_words(space, size)
    indices = space.rng.permutation(np.arange(size, dtype=np.uint32))
    values, at, out = space.put(x), space.put(indices), space.empty(size, x.dtype)
    expected, host_out = host_empty(size, x.dtype), np.empty_like(x)
    expected[indices] = x

    def by_clmst() -> Work:
        from clmst.primitives.permute import scatter

        return Work(enqueue=lambda: scatter(values, at, out), results=lambda: [out.to_host()])

    def by_pyopencl() -> Work:
        import pyopencl.array

        source, where, target = (space.theirs(array) for array in (values, at, out))
        return Work(
            enqueue=lambda: pyopencl.array.multi_put([source], where, out=[target]),
            results=lambda: [out.to_host()],
        )

    def by_numpy() -> Work:
        def enqueue() -> None:
            host_out[indices] = x

        return Work(enqueue=enqueue, results=lambda: [host_out])

    traffic = 3 * x.nbytes
    return Case(
        name="scatter",
        size=size,
        expected=[expected],
        outputs=[out],
        methods=[
            Method(name="clmst", prepare=by_clmst, traffic=traffic),
            Method(name="pyopencl", prepare=by_pyopencl, traffic=traffic),
            Method(name="NumPy", prepare=by_numpy, traffic=traffic),
        ],
    )
