"""Segmented minimum: what a Borůvka round asks of each vertex's edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases.inputs import random_flags, random_words
from benchmarks.contest import Case, Contestant, Work
from benchmarks.stand import Stand
from clmst.core.weight_keys import Array

_KEY_BITS = 8  # few, so that there are ties, and room for the reference to tell segments apart
_TOP = np.uint32(2**31)
_LESSER = "((b).x < (a).x || ((b).x == (a).x && (b).y < (a).y)) ? (b) : (a)"


def one(stand: Stand, size: int) -> Case:
    """Return the case of one segment."""
    return _pairs(stand, "segmented_scan_one", np.zeros(size, np.uint8))


def random(stand: Stand, size: int) -> Case:
    """Return the case of random segments, of sixteen elements in the mean."""
    return _pairs(stand, "segmented_scan_16th", random_flags(stand, size, 1 / 16))


def every(stand: Stand, size: int) -> Case:
    """Return the case of segments of one element each."""
    return _pairs(stand, "segmented_scan_all", np.ones(size, np.uint8))


def _segment_minima(words: Array, flags: Array) -> Array:
    """Return the running minima of uint64 `words` within segments.

    With the number of segments still to come in the upper bits, the one minimum over everything
    starts afresh at each head.
    """
    segments = np.cumsum(flags, dtype=np.uint64)
    bits = np.uint64(int(words.max(initial=0)).bit_length())
    if int(segments[-1]).bit_length() + int(bits) > 64:
        raise ValueError("segments and words do not fit into 64 bits together")
    coming = (segments[-1] - segments) << bits
    return np.minimum.accumulate(coming | words) - coming


def _pairs(stand: Stand, name: str, flags: Array) -> Case:
    """Return the case of minima of (key, index) pairs with byte flags."""
    from clmst.primitives.monoid import Monoid

    monoid = Monoid.minimum_by_key(np.uint32)
    size = flags.size
    x = np.empty(size, monoid.dtype)
    x["key"] = random_words(stand, size) >> np.uint32(32 - _KEY_BITS)
    x["index"] = np.arange(size, dtype=np.uint32)
    index_bits = np.uint64(max(size - 1, 1).bit_length())
    words = (x["key"].astype(np.uint64) << index_bits) | x["index"]
    minima = _segment_minima(words, flags)
    expected = np.empty_like(x)
    expected["key"] = minima >> index_bits
    expected["index"] = minima & ((np.uint64(1) << index_bits) - np.uint64(1))
    values, heads, out = stand.put(x), stand.put(flags), stand.room(size, x.dtype)

    def by_clmst() -> Work:
        from clmst.primitives import scan

        return Work(
            enqueue=lambda: scan.segmented_scan(values, heads, monoid=monoid, out=out),
            results=lambda: [out.to_host()],
        )

    def by_pyopencl() -> Work:
        import pyopencl.cltypes
        from pyopencl.scan import GenericScanKernel

        uint2 = pyopencl.cltypes.uint2
        kernel = GenericScanKernel(
            stand.device.context,
            uint2,
            arguments="__global uint2 *x, __global uchar *heads, __global uint2 *y",
            input_expr="x[i]",
            is_segment_start_expr="heads[i]",
            scan_expr=f"across_seg_boundary ? (b) : ({_LESSER})",
            neutral="(uint2)(UINT_MAX, UINT_MAX)",
            output_statement="y[i] = item;",
        )
        arguments = stand.theirs(values, uint2), stand.theirs(heads), stand.theirs(out, uint2)
        return Work(enqueue=lambda: kernel(*arguments), results=lambda: [out.to_host()])

    moved = x.nbytes
    return Case(
        name=name,
        size=size,
        expected=[expected],
        outputs=[out],
        contestants=[
            # Two reads of pairs and flags, and a write.
            Contestant(name="clmst", prepare=by_clmst, traffic=3 * moved + 2 * flags.nbytes),
            # Partial results are written and read in between; flags are read once.
            Contestant(name="pyopencl", prepare=by_pyopencl, traffic=4 * moved + flags.nbytes),
            *_numpy_ways(words, flags, minima),
        ],
    )


def _numpy_ways(words: Array, flags: Array, minima: Array) -> list[Contestant]:
    """Return how NumPy can do it, on pairs packed into words; only the minima of whole segments
    where there are many."""  # noqa: D205, D209
    results: list[Any] = [None]
    n_heads = int(np.count_nonzero(flags))

    def over_everything() -> Work:
        out = np.empty_like(words)
        return Work(enqueue=lambda: np.minimum.accumulate(words, out=out), results=lambda: [out])

    def by_segment() -> Work:
        starts = _starts(flags)

        def enqueue() -> None:
            results[0] = np.minimum.reduceat(words, starts)

        return Work(enqueue=enqueue, results=lambda: results)

    if n_heads == 0:
        return [
            Contestant(
                name="NumPy",
                prepare=over_everything,
                traffic=2 * words.nbytes,
                expected=[minima],
            )
        ]
    ends = np.append(_starts(flags)[1:], flags.size) - 1
    return [
        Contestant(
            name="NumPy reduceat (ends of segments only)",
            prepare=by_segment,
            traffic=words.nbytes + 16 * ends.size,
            expected=[minima[ends]],
        )
    ]


def _starts(flags: Array) -> Array:
    """Return where segments begin; the first element begins one in any case."""
    return np.flatnonzero(np.concatenate(([1], flags[1:])))


def packed(stand: Stand, size: int) -> Case:
    """Return the case of minima of 31-bit values whose top bits are the flags."""
    from clmst.primitives.monoid import Monoid

    flags = random_flags(stand, size, 1 / 16)
    plain = random_words(stand, size) & ~_TOP
    x = plain | (flags.astype(np.uint32) << np.uint32(31))
    minima = _segment_minima(plain.astype(np.uint64), flags).astype(np.uint32)
    values, out = stand.put(x), stand.room(size, x.dtype)

    def by_clmst() -> Work:
        from clmst.primitives import scan

        monoid = Monoid.minimum(np.uint32)
        return Work(
            enqueue=lambda: scan.segmented_scan(values, monoid=monoid, out=out),
            results=lambda: [out.to_host()],
        )

    def by_pyopencl() -> Work:
        from pyopencl.scan import GenericScanKernel

        kernel = GenericScanKernel(
            stand.device.context,
            x.dtype,
            arguments="__global uint *x, __global uint *y",
            input_expr="x[i] & 0x7fffffff",
            is_segment_start_expr="x[i] >> 31",
            scan_expr="across_seg_boundary ? (b) : min(a, b)",
            neutral="UINT_MAX",
            output_statement="y[i] = item;",
        )
        source, target = stand.theirs(values), stand.theirs(out)
        return Work(enqueue=lambda: kernel(source, target), results=lambda: [out.to_host()])

    return Case(
        name="segmented_scan_packed",
        size=size,
        expected=[minima],
        outputs=[out],
        contestants=[
            Contestant(name="clmst", prepare=by_clmst, traffic=3 * x.nbytes),
            Contestant(name="pyopencl", prepare=by_pyopencl, traffic=4 * x.nbytes),
        ],
    )
