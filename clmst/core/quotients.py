"""Metrics that divide: "hamming", "jaccard", "canberra" and "braycurtis", and their checks.

A distance by these metrics is a quotient of two sums, or a sum of quotients. Each operation is
rounded as IEEE 754 specifies, and sums are taken one dimension after the other. So a distance has
the same bits on the host and on every device. cl/device/quotient.cl computes the same quotients.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ldexp
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidGraphError
from clmst.core.mapped_rows import passes
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.core.points import Metric

Doubles = npt.NDArray[np.float64]

DIVIDED = ("hamming", "jaccard", "canberra", "braycurtis")
_WORD = 32  # number of coordinates that "jaccard" has in a word
# Maximum number of coordinates of a point, for metrics that count them. A device counts in float32.
_MOST_COUNTED = (1 << 24) - 1
# Two coordinates of opposite signs differ in their magnitudes by at least 2**-_FRACTION times the
# lesser magnitude, if they differ.
_FRACTION = 53
# Number of bits that are set in each number of 16 bits.
_BITS_OF_16 = np.array([0], np.uint8)
for _ in range(16):
    _BITS_OF_16 = np.concatenate([_BITS_OF_16, _BITS_OF_16 + np.uint8(1)])


def dimensions_of(metric: Metric, d: int) -> int:
    """Return the number of coordinates that distances are computed from, for d of the caller."""
    return max(-(-d // _WORD) if metric == "jaccard" else d, 2)


def planes_of(metric: Metric, coordinates: Any) -> Doubles:
    """Return the coordinates from which distances are computed, one row for each dimension.

    `coordinates` has a row for each point. For "jaccard", the coordinates of the result are words
    of 32 bits, one bit for each coordinate, which is 1 if the coordinate is not 0. A word is stored
    in the lower bits of a double. For all other metrics they are the given coordinates, with -0.0
    replaced by 0.0. If there would be one row only, a second one is added. It is 0, except for
    "hamming", for which it repeats the first one, so that the share of differing coordinates is
    unchanged.
    """
    n, d = coordinates.shape
    planes = np.zeros((dimensions_of(metric, d), n))
    for some in passes(n, d):
        rows = np.asarray(coordinates[some])
        if metric == "jaccard":
            planes[: -(-d // _WORD), some] = _words(rows).view(np.float64).T
        else:
            planes[:d, some] = rows.T
    if metric == "hamming" and d == 1:
        planes[1] = planes[0]
    if metric != "jaccard":
        planes += 0.0  # turns -0.0 into 0.0
    return planes


def _words(rows: Array) -> npt.NDArray[np.uint64]:
    """Return, for each row of coordinates, words with a bit for each coordinate that is not 0."""
    octets = np.packbits(rows != 0, axis=1, bitorder="little")
    padded = np.pad(octets, ((0, 0), (0, -octets.shape[1] % (_WORD // 8))))
    return padded.view("<u4").astype(np.uint64)


def distances(metric: Metric, dimensions: Iterable[tuple[Any, Array]]) -> Array:
    """Return the distances of pairs of points.

    `dimensions` yields, for each row of :func:`planes_of`, the coordinates of the first points and
    the coordinates of the second points of the pairs. The former may be a single number.
    """
    apart: Any = 0.0
    every: Any = 0
    for a, b in dimensions:
        if metric == "hamming":
            apart, every = apart + (a != b), every + 1
        elif metric == "jaccard":
            one, other = np.asarray(a).view(np.uint64), b.view(np.uint64)
            apart, every = apart + _set_bits(one ^ other), every + _set_bits(one | other)
        elif metric == "canberra":
            total = np.abs(a) + np.abs(b)
            apart = apart + np.abs(a - b) / (total + (total == 0))
        else:
            apart, every = apart + np.abs(a - b), every + np.abs(a + b)
    if metric == "canberra":
        return np.asarray(apart)
    with np.errstate(divide="ignore"):
        return np.asarray(apart / np.where(apart == 0, 1, every))


def _set_bits(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Count the set bits among the lower 32 bits of each word."""
    lower, upper = words & np.uint64(0xFFFF), words >> np.uint64(16)
    found: npt.NDArray[np.int64] = _BITS_OF_16[lower].astype(np.int64) + _BITS_OF_16[upper]
    return found


def check_divided(metric: Metric, coordinates: Array, greatest: float, least: float) -> None:
    """Raise InvalidGraphError if a distance by the metric is not defined, or may overflow.

    `greatest` is the greatest magnitude of a coordinate, and `least` is the least magnitude other
    than 0.
    """
    d = coordinates.shape[1]
    if metric in ("hamming", "jaccard"):
        if d > _MOST_COUNTED:
            raise InvalidGraphError(
                f"coordinates have shape {coordinates.shape}; {metric} takes at most "
                f"{_MOST_COUNTED} for each point"
            )
        return
    check_sums(metric, greatest, d)
    if metric != "braycurtis" or not coordinates.size:
        return
    if all(coordinates[some].min(initial=0) >= 0 for some in passes(*coordinates.shape)):
        zeros = np.concatenate(
            [some.start + np.flatnonzero(~coordinates[some].any(axis=1))
             for some in passes(*coordinates.shape)]
        )  # fmt: skip
        if zeros.size > 1:
            _raise_opposite(int(zeros[0]), int(zeros[1]))
        return
    if ldexp(d, _FRACTION + 1) * greatest > 2.0**1023 * min(least, 1.0):
        raise InvalidGraphError(
            f"magnitudes of coordinates go from {least:.3g} to {greatest:.3g}, and some are "
            "negative; the metric 'braycurtis' divides by sums of them, which may be too small"
        )
    _check_opposite(np.asarray(coordinates, np.float64) + 0.0)


def check_sums(metric: Metric, greatest: float, d: int) -> None:
    """Raise InvalidGraphError if a sum of coordinates of two points may overflow.

    "canberra" adds up the two coordinates of one dimension, and "braycurtis" the coordinates of
    both points in all dimensions. `greatest` is the greatest magnitude of a coordinate, and `d` is
    the number of coordinates of each point.
    """
    terms = d if metric == "braycurtis" else 1
    if greatest > 2.0**1023 / terms * (1 - 2.0**-40):
        raise InvalidGraphError(
            f"coordinates go up to {greatest:.3g}; the metric {metric!r} adds up {2 * terms} of "
            "them, which must not exceed the greatest double"
        )


def _check_opposite(rows: Doubles) -> None:
    """Raise InvalidGraphError if the coordinates of two points are opposite: 0 if added up."""
    n = len(rows)
    both = np.concatenate([rows, 0.0 - rows])
    kind = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(kind[:n], kind="stable")
    values = kind[:n][order]
    first = np.searchsorted(values, kind[n:])
    found = first < n
    found[found] = values[first[found]] == kind[n:][found]
    if not found.any():
        return
    # A row of zeros is opposite to itself, which is no pair.
    for u in np.flatnonzero(found).tolist():
        others = order[first[u] : np.searchsorted(values, kind[n + u], side="right")]
        others = others[others != u]
        if others.size:
            _raise_opposite(*sorted((u, int(others[0]))))


def _raise_opposite(u: int, v: int) -> None:
    raise InvalidGraphError(
        f"the coordinates of points {u} and {v} are opposite, or all are 0; the metric "
        "'braycurtis' divides by the sum of the coordinates of both, which must not be 0"
    )
