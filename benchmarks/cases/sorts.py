"""Benchmark cases of stable sorts, and of a stable split by some bits of the key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.case import Case, Method, on_device, returning
from benchmarks.cases.inputs import random_words
from benchmarks.workspace import Workspace
from clmst.primitives.chain import chains_by_itself
from clmst.primitives.sort import sort, sort_by_key
from clmst.primitives.split import split as split_by_bits
from clmst.runtime.array import DeviceArray

# Number of bits of the key by which one pass of clmst's radix sort sorts. On some GPUs a pass sorts
# by 4 bits only, because work-items of a sub-group cannot count together how often a digit occurs.
_DIGIT_BITS = 8
# Number of bits of the key by which one pass of PyOpenCL's radix sort sorts. For each element, a
# pass writes and reads four counters of 4 bytes.
_PYOPENCL_DIGIT_BITS = 2
_PYOPENCL_PARTIAL_BYTES = 2 * 16


def keys(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times sorts of `size` 32-bit keys."""
    x = random_words(space, size)
    values, out = space.put(x), space.empty(size, x.dtype)
    traffic = _traffic(space, _passes(32), x.nbytes)
    return Case(
        name="sort", size=size, expected=[np.sort(x)], outputs=[out],
        methods=[
            on_device("clmst", lambda: lambda: sort(values, out=out), out, traffic=traffic),
            _pyopencl_sort(space, [values], key_bits=32),
            returning("NumPy", lambda: lambda: [np.sort(x, kind="stable")]),
        ],
    )  # fmt: skip


def pairs(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times sorts of `size` 32-bit values by 32-bit keys."""
    x, y = random_words(space, size), np.arange(size, dtype=np.uint32)
    k, v = space.put(x), space.put(y)
    k_out, v_out = space.empty(size, x.dtype), space.empty(size, y.dtype)

    def by_clmst() -> None:
        sort_by_key(k, v, keys_out=k_out, values_out=v_out)

    def by_numpy() -> list[Any]:
        order = np.argsort(x, kind="stable")
        return [x[order], y[order]]

    traffic = _traffic(space, _passes(32), x.nbytes) + _passes(32) * 2 * y.nbytes
    return Case(
        name="sort_pairs", size=size, expected=by_numpy(), outputs=[k_out, v_out],
        methods=[
            on_device("clmst", lambda: by_clmst, k_out, v_out, traffic=traffic),
            _pyopencl_sort(space, [k, v], key_bits=32),
            returning("NumPy", lambda: by_numpy),
        ],
    )  # fmt: skip


def split(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times one pass of a radix sort, by the lowest eight bits."""
    x = random_words(space, size)
    values, out = space.put(x), space.empty(size, x.dtype)

    def by_clmst() -> object:
        return split_by_bits(values, key_bits=_DIGIT_BITS, out=out)

    def by_numpy() -> list[Any]:
        return [x[np.argsort(x.astype(np.uint8), kind="stable")]]

    traffic = _traffic(space, _passes(_DIGIT_BITS), x.nbytes)
    return Case(
        name="split", size=size, expected=by_numpy(), outputs=[out],
        methods=[
            on_device("clmst", lambda: by_clmst, out, traffic=traffic),
            _pyopencl_sort(space, [values], key_bits=_DIGIT_BITS),
            returning("NumPy", lambda: by_numpy),
        ],
    )  # fmt: skip


def _traffic(space: Workspace, n_passes: int, n_bytes: int) -> int:
    """Return the bytes that a sort by clmst reads and writes, if all keys together have `n_bytes`.

    Each of `n_passes` passes reads and writes all keys. In addition the keys are read to count
    their digits, once for all passes or, on devices without one-pass scans, once in each pass.
    """
    counts = 1 if chains_by_itself(space.device) else n_passes
    return (2 * n_passes + counts) * n_bytes


def _passes(key_bits: int) -> int:
    """Return the number of passes in which clmst sorts by `key_bits` bits."""
    return -(-key_bits // _DIGIT_BITS)


def _pyopencl_sort(space: Workspace, arrays: list[DeviceArray], *, key_bits: int) -> Method:
    """Return the method that sorts by PyOpenCL's radix sort.

    `arrays` has the keys and, if values are sorted with them, the values. Keys are sorted by
    `key_bits` bits.
    """
    names = ["keys", "values"][: len(arrays)]

    def make() -> Callable[[], Sequence[Any]]:
        from pyopencl.algorithm import RadixSort

        sorter = RadixSort(
            space.device.context,
            ", ".join(f"__global uint *{name}" for name in names),
            key_expr="keys[i]",
            sort_arg_names=names,
        )
        sources = [space.theirs(array) for array in arrays]
        return lambda: sorter(*sources, key_bits=key_bits)[0]

    # Keys are read twice, and values once. Both are written once.
    moved = arrays[0].nbytes + 2 * sum(array.nbytes for array in arrays)
    partial = _PYOPENCL_PARTIAL_BYTES * arrays[0].size
    traffic = key_bits // _PYOPENCL_DIGIT_BITS * (moved + partial)
    return returning(
        "pyopencl", make, traffic=traffic, results=lambda found: [one.get() for one in found]
    )
