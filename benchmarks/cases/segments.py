"""Benchmark cases of segmented minima: prefix minima that start anew at each segment.

A round of Borůvka's algorithm needs them to find the lightest edge of each vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks.case import Case, Method, on_device, returning
from benchmarks.cases.inputs import host_empty, random_flags, random_words
from benchmarks.workspace import Workspace
from clmst.core.weight_keys import Array
from clmst.primitives import scan
from clmst.primitives.element import pair_of
from clmst.primitives.monoid import Monoid
from clmst.runtime.array import DeviceArray

# Keys have few bits, so that many are equal. This also leaves enough bits of a 64-bit word for the
# number of a segment: :func:`_segment_minima` numbers up to 2**28 segments.
_KEY_BITS = 6
_TOP = np.uint32(2**31)
_Packing: TypeAlias = Literal["packed", "bytes"]
_LESSER = "((b).x < (a).x || ((b).x == (a).x && (b).y < (a).y)) ? (b) : (a)"


def pairs(space: Workspace, size: int, kind: str) -> Case:
    """Build the benchmark case that times segmented minima of (key, index) pairs.

    A byte flag marks the first pair of each segment. `size` is the number of pairs, and `kind` is a
    key of KINDS, which says how long the segments are.
    """
    flags = KINDS[kind](space, size)
    drawn = _Pairs.random(space, size)
    minima = _segment_minima(drawn.words, flags)
    values, heads = space.put(drawn.elements), space.put(flags)
    out = space.empty(size, drawn.elements.dtype)
    return Case(
        name=f"segmented_scan_{kind}", size=size, expected=[drawn.elements_of(minima)],
        outputs=[out],
        methods=[
            _by_clmst(space, "clmst", values, heads, out),
            _by_pyopencl(space, values, heads, out),
            *_numpy_ways(drawn.words, flags, minima),
        ],
    )  # fmt: skip


def kinds(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times segmented minima by clmst for all lengths of segments.

    It shows how the time depends on the lengths of the segments.
    """
    drawn = _Pairs.random(space, size)
    values, out = space.put(drawn.elements), space.empty(size, drawn.elements.dtype)
    methods = []
    for kind, flags_of in KINDS.items():
        flags = flags_of(space, size)
        method = _by_clmst(space, f"clmst {kind}", values, space.put(flags), out)
        expected = [drawn.elements_of(_segment_minima(drawn.words, flags))]
        methods.append(replace(method, expected=expected))
    name = "segmented_scan_kinds"
    return Case(name=name, size=size, expected=[], outputs=[out], methods=methods)


# Functions that make the head flags, by the kind of segments.
KINDS: dict[str, Callable[[Workspace, int], Array]] = {
    "one": lambda _, size: np.zeros(size, np.uint8),
    "16th": lambda space, size: random_flags(space, size, 1 / 16),
    "all": lambda _, size: np.ones(size, np.uint8),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Pairs of a random key and an ascending index, with so few keys that many are equal."""

    elements: Array  # of (key, index)
    words: Array  # the pairs packed into uint64, which order like the pairs
    index_bits: np.uint64  # lower bits of a word

    @classmethod
    def random(cls, space: Workspace, size: int) -> _Pairs:
        elements = np.empty(size, pair_of(np.uint32))
        elements["key"] = random_words(space, size) >> np.uint32(32 - _KEY_BITS)
        elements["index"] = np.arange(size, dtype=np.uint32)
        index_bits = np.uint64(max(size - 1, 1).bit_length())
        words = (elements["key"].astype(np.uint64) << index_bits) | elements["index"]
        return cls(elements=elements, words=words, index_bits=index_bits)

    def elements_of(self, words: Array) -> Array:
        """Convert packed 64-bit words back to (key, index) pairs."""
        elements = np.empty(words.size, self.elements.dtype)
        elements["key"] = words >> self.index_bits
        elements["index"] = words & ((np.uint64(1) << self.index_bits) - np.uint64(1))
        return elements


def _segment_minima(words: Array, flags: Array) -> Array:
    """Return the prefix minima of uint64 `words` within segments, computed with NumPy.

    `flags` mark the first element of each segment. NumPy's running minimum cannot start anew at a
    segment. Therefore the number of segments that are still to come is put into the upper bits of
    each word. This number decreases from each segment to the next. So every word of a segment is
    less than all words of earlier segments, which then do not affect the minima of the segment.
    """
    segments = np.cumsum(flags, dtype=np.uint64)
    bits = np.uint64(int(words.max(initial=0)).bit_length())
    if int(segments[-1]).bit_length() + int(bits) > 64:
        raise ValueError("segments and words do not fit into 64 bits together")
    coming = (segments[-1] - segments) << bits
    minima: Array = np.minimum.accumulate(coming | words) - coming
    return minima


def _by_clmst(
    space: Workspace, name: str, values: DeviceArray, heads: DeviceArray, out: DeviceArray
) -> Method:
    monoid = Monoid.minimum_by_key(np.uint32)

    def call() -> object:
        return scan.segmented_scan(values, heads, monoid=monoid, out=out)

    # The pairs and flags are read, and the result is written.
    traffic = out.nbytes + space.reads * (values.nbytes + heads.nbytes)
    return on_device(name, lambda: call, out, traffic=traffic)


def _by_pyopencl(
    space: Workspace, values: DeviceArray, heads: DeviceArray, out: DeviceArray
) -> Method:
    def make() -> Callable[[], object]:
        import pyopencl.cltypes
        from pyopencl.scan import GenericScanKernel

        uint2 = pyopencl.cltypes.uint2
        kernel = GenericScanKernel(
            space.device.context, uint2, input_expr="x[i]", output_statement="y[i] = item;",
            arguments="__global uint2 *x, __global uchar *heads, __global uint2 *y",
            is_segment_start_expr="heads[i]", neutral="(uint2)(UINT_MAX, UINT_MAX)",
            scan_expr=f"across_seg_boundary ? (b) : ({_LESSER})",
        )  # fmt: skip
        arguments = space.theirs(values, uint2), space.theirs(heads), space.theirs(out, uint2)
        return lambda: kernel(*arguments)

    # PyOpenCL's first kernel reads the pairs and the flags, and writes partial results. Its second
    # kernel reads these, and writes the result.
    return on_device("pyopencl", make, out, traffic=4 * values.nbytes + heads.nbytes)


def _numpy_ways(words: Array, flags: Array, minima: Array) -> list[Method]:
    """Return the methods by which NumPy computes minima of pairs that are packed into words.

    NumPy does not have segmented scans. If there is only one segment, it accumulates the minimum.
    If there are several segments, it computes only the minimum of each whole segment.
    """
    out, starts = host_empty(words.size, words.dtype), _starts(flags)
    ends = np.append(starts[1:], flags.size) - 1

    def over_everything() -> list[Any]:
        return [np.minimum.accumulate(words, out=out)]

    def by_segment() -> list[Any]:
        return [np.minimum.reduceat(words, starts)]

    if starts.size == 1:
        traffic = 2 * words.nbytes
        return [returning("NumPy", lambda: over_everything, traffic=traffic, expected=[minima])]
    return [
        returning(
            "NumPy reduceat (ends of segments only)", lambda: by_segment,
            traffic=words.nbytes + starts.nbytes + 8 * ends.size, expected=[minima[ends]],
        )
    ]  # fmt: skip


def _starts(flags: Array) -> Array:
    """Return the indices at which segments begin. The first element always begins a segment."""
    return np.flatnonzero(np.concatenate(([1], flags[1:])))


def packed(space: Workspace, size: int) -> Case:
    """Build the benchmark case that times segmented minima of `size` 31-bit values.

    The flags that mark the beginnings of segments are in the top bits of the words, or in bytes.
    """
    flags = random_flags(space, size, 1 / 16)
    plain = random_words(space, size) & ~_TOP
    x = plain | (flags.astype(np.uint32) << np.uint32(31))
    minima = _segment_minima(plain.astype(np.uint64), flags).astype(np.uint32)
    values, out = space.put(x), space.empty(size, x.dtype)
    bare, heads = space.put(plain), space.put(flags)

    def by_clmst(name: str, way: _Packing, strategy: Any) -> Method:
        given = (values,) if way == "packed" else (bare, heads)

        def call() -> object:
            monoid = Monoid.minimum(np.uint32)
            return scan.segmented_scan(*given, monoid=monoid, out=out, strategy=strategy)

        reads = 2 if strategy == "reduce-then-scan" else space.reads
        traffic = out.nbytes + reads * sum(one.nbytes for one in given)
        return on_device(name, lambda: call, out, traffic=traffic)

    def by_pyopencl() -> Callable[[], object]:
        from pyopencl.scan import GenericScanKernel

        kernel = GenericScanKernel(
            space.device.context, x.dtype, "__global uint *x, __global uint *y",
            input_expr="x[i] & 0x7fffffff", is_segment_start_expr="x[i] >> 31", neutral="UINT_MAX",
            scan_expr="across_seg_boundary ? (b) : min(a, b)", output_statement="y[i] = item;",
        )  # fmt: skip
        source, target = space.theirs(values), space.theirs(out)
        return lambda: kernel(source, target)

    return Case(
        name="segmented_scan_packed", size=size, expected=[minima], outputs=[out],
        methods=[
            by_clmst("clmst", "packed", "parallel"),
            by_clmst("clmst byte flags", "bytes", "parallel"),
            by_clmst("clmst reduce-then-scan", "packed", "reduce-then-scan"),
            by_clmst("clmst byte flags, reduce-then-scan", "bytes", "reduce-then-scan"),
            on_device("pyopencl", by_pyopencl, out, traffic=4 * x.nbytes),
        ],
    )  # fmt: skip
